//! The text form (`.ir`): `docs/ir.md` is its grammar.
//!
//! Printing what was parsed from a print gives the same text. Values with names print `%x` or
//! `%"a/b:0"`, the others are numbered in program order. The printer is robust, since it is also
//! what one looks at when something is broken; the parser accepts only functions that the verifier
//! would.
//!
//! ```
//! use passdock_ir::{text, verify};
//!
//! let module = text::parse("module { fn @f(%x: f32[n]) -> (%y) { %0 = onnx.Relu(%x) return %0 } }")?;
//! verify::verify_module(&module).expect("what can be read is right");
//! let printed = text::print(&module);
//! assert_eq!(printed.lines().nth(2), Some("    %0 = onnx.Relu(%x)"));
//! assert_eq!(text::print(&text::parse(&printed)?), printed);
//! # Ok::<(), text::ParseError>(())
//! ```
//!
//! [`print`](mod@print) writes, [`parse`](mod@parse) reads; [`element`] is what both know of the
//! elements of constants, [`lex`] cuts text into words, [`walk`] goes through nested regions
//! without recursion. [`TextSource`] and [`OpSpans`] are for messages that show a line of a text.

mod element;
mod lex;
mod parse;
mod print;
mod source;
mod spans;
mod types;
mod walk;

pub use parse::{Open, ParseError, ParseOptions, parse, parse_body, parse_with, set_attr_text};
pub use print::{
    Constants, Naming, Pieces, PrintOptions, attr_text, print, print_function, print_with,
    write_module,
};
pub use source::TextSource;
pub use spans::OpSpans;
pub use types::{dim_text, is_hidden, type_text, value_text};

/// Constants with more elements than this don't stand among the ops.
pub const MAX_INLINE_ELEMENTS: u64 = 64;

/// What can't be an op's bare name, because it means something behind an op.
const RESERVED: &[&str] = &["loc", "doc", "meta", "extra", "region", "symbol"];

/// The names of attribute kinds in references.
const ATTR_KINDS: &[(passdock_abi::AttrKind, &str)] = {
    use passdock_abi::AttrKind as K;
    &[
        (K::NONE, "none"),
        (K::INT, "int"),
        (K::FLOAT, "float"),
        (K::STRING, "string"),
        (K::TENSOR, "tensor"),
        (K::TYPE, "type"),
        (K::REGION, "region"),
        (K::INTS, "ints"),
        (K::FLOATS, "floats"),
        (K::STRINGS, "strings"),
        (K::TENSORS, "tensors"),
        (K::TYPES, "types"),
        (K::REGIONS, "regions"),
        (K::REFERENCE, "reference"),
        (K::OPAQUE, "opaque"),
    ]
};

/// The kinds that the short form of a `for` names.
const LOOP_KINDS: &[&str] = &["serial", "parallel", "vectorized", "unroll", "thread"];

/// Whether a constant of this type is written without brackets: one element, no dims.
fn is_single(f: &crate::Function, ty: passdock_abi::TypeId) -> bool {
    use passdock_abi::TypeKind;
    let Ok(record) = f.live_type(ty) else {
        return false;
    };
    match record.kind {
        TypeKind::SCALAR => record.lanes <= 1,
        _ => f.shape(ty).is_some_and(<[_]>::is_empty),
    }
}
