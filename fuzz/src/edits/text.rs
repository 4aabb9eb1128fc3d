//! Texts that a plugin hands over: names of ops, of functions and of values, and what is none.

use passdock_abi::{Bytes, Str, SymbolId, Symbols};
use passdock_core::boundary::host;

use super::script::Step;

/// Names of ops and of what calls and regions say.
pub(super) const NAMES: [&str; 40] = [
    "f.A",
    "f.B",
    "f.Two",
    "f.Body",
    "f.Wild",
    "f.Outer",
    "onnx.Relu",
    "onnx.If",
    "onnx.Conv",
    "call",
    "if",
    "for",
    "while",
    "tuple",
    "tuple_get",
    "return",
    "yield",
    "main",
    "f.helper",
    "my.Fn#v2",
    "callee",
    "index",
    "kind",
    "k",
    "then_branch",
    "else_branch",
    "body",
    "a",
    "b",
    "n",
    "alpha",
    "tir.load",
    "f.A#v2",
    "x.\"A.B\"",
    "a b",
    "",
    "onnx",
    "ai.onnx",
    "\u{e9}\u{202e}",
    "doc",
];

/// Texts, some of which are none.
const TEXTS: [&[u8]; 22] = [
    b"x",
    b"y",
    b"",
    b"main",
    b"f.new",
    b"f.helper",
    b"f",
    b"a/b:0",
    b"0",
    b"v3",
    b"%x",
    b"a \"maker\"\n",
    b"nul\0inside",
    b"\xff",
    b"cut \xe2\x82",
    b"\xc2\x85\x1b[31m",
    b"onnx",
    b"ai.onnx",
    b"com.microsoft",
    b"f.new#v2",
    b"_",
    &[b'l'; 70_000],
];

/// A text.
pub(super) fn text(step: &Step) -> Str {
    let byte = step.byte();
    // The longest one is a matter of its own, and slow.
    let at = match byte {
        255 => TEXTS.len() - 1,
        byte => usize::from(byte) % (TEXTS.len() - 1),
    };
    let (ptr, len) = step.list(TEXTS[at]);
    // Of a text that is too long only its length is looked at.
    Str { ptr, len }
}

/// Bytes, which needn't be text.
pub(super) fn bytes(step: &Step) -> Bytes {
    let Str { ptr, len } = text(step);
    Bytes { ptr, len }
}

/// A symbol: of a name mostly, made for it, else a number that may be none.
pub(super) fn symbol(step: &Step, symbols: *const Symbols) -> SymbolId {
    let byte = step.byte();
    match byte {
        0..232 => intern(symbols, NAMES[usize::from(byte) % NAMES.len()]),
        232..244 => SymbolId(u32::from(byte) - 232),
        244..250 => SymbolId(u32::from(byte) + 12),
        250..254 => SymbolId::NONE,
        254 => SymbolId(1 << 31),
        255 => SymbolId(100_000),
    }
}

/// The symbol of a text.
pub(super) fn intern(symbols: *const Symbols, text: &str) -> SymbolId {
    // SAFETY: the host's table lives for good, the symbols as long as the module, the text as long as
    // the call.
    unsafe {
        let table = &*host().get().symbols;
        table.intern.expect("is there")(symbols, Str::new(text))
    }
}

/// What the host answered as a text.
///
/// # Safety
/// The text is there.
pub(super) unsafe fn read(text: Str) -> String {
    if text.len == 0 {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr, text.len) };
    String::from_utf8(bytes.to_vec()).expect("the host's texts are UTF-8")
}
