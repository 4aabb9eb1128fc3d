//! C descriptions for the host, which borrow their data until the call returns.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;

use passdock_abi as abi;
use passdock_abi::{symbol, AttrKind, OpId, Str, SymbolId, TypeId};

use super::descriptions::PortDesc;
use super::gate::Panicked;
use crate::data::{AttrValue, Diagnostic, OpSpan, PassError};

/// A description with the lifetime of the data that it points to.
#[repr(transparent)]
pub(crate) struct Borrowed<'a, T> {
    desc: T,
    borrow: PhantomData<&'a ()>,
}

impl<'a, T> Borrowed<'a, T> {
    pub(super) fn new(desc: T) -> Borrowed<'a, T> {
        let borrow = PhantomData;
        Borrowed { desc, borrow }
    }

    pub(crate) fn get(&self) -> *const T {
        &self.desc
    }
}

/// Returns the distance between elements of an array, in bytes.
fn stride<T>() -> u32 {
    size_of::<T>() as u32
}

/// Returns ports with these names and types.
pub(crate) fn ports<'a>(
    ports: impl IntoIterator<Item = (&'a str, TypeId)>,
) -> Vec<Borrowed<'a, abi::PortDesc>> {
    let port = |(name, ty)| PortDesc { flags: 0, ty, name };
    ports.into_iter().map(|one| port(one).borrowed()).collect()
}

/// Returns the strings of an attribute, for its description.
pub(crate) fn strings(value: &AttrValue) -> Vec<Borrowed<'_, abi::Bytes>> {
    match value {
        AttrValue::Strings(values) => {
            let each = values
                .iter()
                .map(|text| Borrowed::new(abi::Bytes::new(text)));
            each.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns an attribute; `strings` is the result of [`strings`] for its value.
pub(crate) fn attr<'a>(
    name: SymbolId,
    value: &'a AttrValue,
    strings: &'a [Borrowed<'a, abi::Bytes>],
) -> Borrowed<'a, abi::AttrDesc> {
    let mut desc = abi::AttrDesc {
        name,
        ..abi::AttrDesc::EMPTY
    };
    fn list<T>(desc: &mut abi::AttrDesc, kind: AttrKind, items: &[T]) {
        let data: *const c_void = items.as_ptr().cast();
        (desc.kind, desc.data, desc.count) = (kind, data, items.len());
    }
    let mut bits = |kind, bits| (desc.kind, desc.bits) = (kind, bits);
    match value {
        AttrValue::Int(value) => bits(AttrKind::INT, *value as u64),
        AttrValue::Float(value) => bits(AttrKind::FLOAT, u64::from(value.to_bits())),
        AttrValue::Tensor(id) => bits(AttrKind::TENSOR, u64::from(id.0)),
        AttrValue::Type(id) => bits(AttrKind::TYPE, u64::from(id.0)),
        AttrValue::Reference(symbol, kind) => {
            bits(AttrKind::REFERENCE, u64::from(symbol.0));
            desc.stands_for = *kind;
        }
        AttrValue::String(value) => list(&mut desc, AttrKind::STRING, value),
        AttrValue::Ints(values) => list(&mut desc, AttrKind::INTS, values),
        AttrValue::Floats(values) => list(&mut desc, AttrKind::FLOATS, values),
        AttrValue::Strings(_) => list(&mut desc, AttrKind::STRINGS, strings),
        AttrValue::Tensors(ids) => list(&mut desc, AttrKind::TENSORS, ids),
        AttrValue::Types(ids) => list(&mut desc, AttrKind::TYPES, ids),
    }
    Borrowed::new(desc)
}

/// Returns an attribute parameter of a function. Without a value it has no default.
pub(crate) fn attr_param<'a>(
    name: SymbolId,
    value: Option<&'a AttrValue>,
    strings: &'a [Borrowed<'a, abi::Bytes>],
) -> Borrowed<'a, abi::AttrDesc> {
    let mut desc = match value {
        Some(value) => attr(name, value, strings).desc,
        None => abi::AttrDesc {
            name,
            ..abi::AttrDesc::EMPTY
        },
    };
    desc.flags = abi::Attr::PARAM;
    Borrowed::new(desc)
}

/// Returns the labels of a diagnostic.
pub(crate) fn labels(diagnostic: &Diagnostic) -> Vec<Borrowed<'_, abi::Label>> {
    let label = |(span, text): &'_ (OpSpan, String)| {
        Borrowed::new(abi::Label {
            op: span.op,
            part: span.part,
            index: span.index,
            function: span.function.unwrap_or(symbol::EMPTY),
            attr: Str::new(&span.attr),
            text: Str::new(text),
            ..abi::Label::EMPTY
        })
    };
    diagnostic.labels.iter().map(label).collect()
}

/// Returns strings for a description.
pub(crate) fn texts<'a, T: AsRef<str> + 'a>(
    texts: impl IntoIterator<Item = &'a T>,
) -> Vec<Borrowed<'a, Str>> {
    let texts = texts.into_iter();
    texts
        .map(|text| Borrowed::new(Str::new(text.as_ref())))
        .collect()
}

/// Returns a diagnostic with its labels and notes.
pub(crate) fn diagnostic<'a>(
    diagnostic: &'a Diagnostic,
    labels: &'a [Borrowed<'a, abi::Label>],
    notes: &'a [Borrowed<'a, Str>],
) -> Borrowed<'a, abi::Diagnostic> {
    let first = labels.first().map(|label| &label.desc);
    Borrowed::new(abi::Diagnostic {
        severity: diagnostic.severity,
        op: first.map_or(OpId::NONE, |label| label.op),
        code: Str::new(&diagnostic.code),
        message: Str::new(&diagnostic.message),
        help: Str::new(&diagnostic.help),
        function: first.map_or(symbol::EMPTY, |label| label.function),
        label_stride: stride::<abi::Label>(),
        labels: labels.as_ptr().cast(),
        label_count: labels.len(),
        notes: notes.as_ptr().cast(),
        note_count: notes.len(),
        ..abi::Diagnostic::EMPTY
    })
}

/// Returns the failure of a pass.
pub(crate) fn failure(error: &PassError) -> Borrowed<'_, abi::Diagnostic> {
    Borrowed::new(abi::Diagnostic {
        severity: abi::Severity::ERROR,
        flags: abi::Diagnostic::REASON,
        op: error.op.unwrap_or(OpId::NONE),
        function: error.function.unwrap_or(symbol::EMPTY),
        message: Str::new(&error.message),
        ..abi::Diagnostic::EMPTY
    })
}

/// Returns the panic of a pass.
pub(crate) fn panicked(panic: &Panicked) -> Borrowed<'_, abi::Diagnostic> {
    Borrowed::new(abi::Diagnostic {
        severity: abi::Severity::BUG,
        flags: abi::Diagnostic::REASON,
        op: OpId::NONE,
        message: Str::new(&panic.message),
        file: Str::new(&panic.file),
        line: panic.line,
        column: panic.column,
        ..abi::Diagnostic::EMPTY
    })
}
