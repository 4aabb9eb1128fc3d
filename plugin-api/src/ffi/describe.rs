//! Descriptions for the host: what they point to is borrowed until the call returns.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;

use passdock_abi as abi;
use passdock_abi::{symbol, AttrKind, OpId, Position, RegionId, Str, SymbolId, TypeId, ValueId};

use super::gate::Panicked;
use crate::data::{AttrValue, Diagnostic, PassError, Place};

/// A description, while what it points to is there.
#[repr(transparent)]
pub(crate) struct Borrowed<'a, T> {
    desc: T,
    borrow: PhantomData<&'a ()>,
}

impl<'a, T> Borrowed<'a, T> {
    fn new(desc: T) -> Borrowed<'a, T> {
        let borrow = PhantomData;
        Borrowed { desc, borrow }
    }

    pub(crate) fn get(&self) -> *const T {
        &self.desc
    }
}

/// The bytes from one element of an array to the next.
fn stride<T>() -> u32 {
    size_of::<T>() as u32
}

/// The ports of these names and types.
pub(crate) fn ports<'a>(
    ports: impl IntoIterator<Item = (&'a str, TypeId)>,
) -> Vec<Borrowed<'a, abi::PortDesc>> {
    let port = |(name, ty)| {
        Borrowed::new(abi::PortDesc {
            ty,
            name: Str::new(name),
            ..abi::PortDesc::EMPTY
        })
    };
    ports.into_iter().map(port).collect()
}

pub(crate) fn results<'a>(
    values: &'a [ValueId],
    ports: &'a [Borrowed<'_, abi::PortDesc>],
) -> Borrowed<'a, abi::ResultsDesc> {
    assert_eq!(values.len(), ports.len());
    Borrowed::new(abi::ResultsDesc {
        port_stride: stride::<abi::PortDesc>(),
        values: values.as_ptr(),
        ports: ports.as_ptr().cast(),
        count: values.len(),
        ..abi::ResultsDesc::EMPTY
    })
}

/// A region without ops.
pub(crate) fn region<'a>(
    name: SymbolId,
    args: &'a [Borrowed<'_, abi::PortDesc>],
) -> Borrowed<'a, abi::RegionDesc> {
    Borrowed::new(abi::RegionDesc {
        name,
        args: args.as_ptr().cast(),
        arg_count: args.len(),
        arg_stride: stride::<abi::PortDesc>(),
        ..abi::RegionDesc::EMPTY
    })
}

/// An op; `like` has what isn't a list.
pub(crate) fn op<'a>(
    like: abi::OpDesc,
    operands: &'a [ValueId],
    result_types: &'a [TypeId],
    attrs: &'a [Borrowed<'_, abi::AttrDesc>],
    regions: &'a [Borrowed<'_, abi::RegionDesc>],
) -> Borrowed<'a, abi::OpDesc> {
    Borrowed::new(abi::OpDesc {
        operands: operands.as_ptr(),
        operand_count: operands.len(),
        result_types: result_types.as_ptr(),
        result_count: result_types.len(),
        attrs: attrs.as_ptr().cast(),
        attr_count: attrs.len(),
        attr_stride: stride::<abi::AttrDesc>(),
        regions: regions.as_ptr().cast(),
        region_count: regions.len(),
        region_stride: stride::<abi::RegionDesc>(),
        ..like
    })
}

/// The strings of an attribute, as its description has them.
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

/// An attribute, with what [`strings`] makes of its value.
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

/// The same, of a function: a parameter. Without a value it has no default.
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

/// A type; `like` has what isn't a list.
pub(crate) fn ty<'a>(
    like: abi::TypeDesc,
    dims: &'a [abi::Dim],
    layout: &'a [abi::Dim],
    items: &'a [TypeId],
) -> Borrowed<'a, abi::TypeDesc> {
    Borrowed::new(abi::TypeDesc {
        dims: dims.as_ptr(),
        dim_count: dims.len(),
        layout: layout.as_ptr(),
        layout_count: layout.len(),
        items: items.as_ptr(),
        item_count: items.len(),
        ..like
    })
}

/// A constant, with its name and its elements.
pub(crate) fn constant<'a>(
    (ty, region, flags): (TypeId, RegionId, u32),
    name: &'a str,
    data: &'a [u8],
) -> Borrowed<'a, abi::ConstantDesc> {
    Borrowed::new(abi::ConstantDesc {
        flags,
        ty,
        region,
        name: Str::new(name),
        data: abi::Bytes::new(data),
        ..abi::ConstantDesc::EMPTY
    })
}

/// A region to copy, from another function if `source` isn't null.
pub(crate) fn clone_region<'a>(
    source: abi::FunctionRef,
    (region, at): (RegionId, Position),
    args: &'a [ValueId],
    captures: &'a [[ValueId; 2]],
    results: &'a mut [ValueId],
) -> Borrowed<'a, abi::CloneDesc> {
    Borrowed::new(abi::CloneDesc {
        region,
        source,
        at,
        args: args.as_ptr(),
        arg_count: args.len(),
        captures: captures.as_ptr(),
        capture_count: captures.len(),
        results: results.as_mut_ptr(),
        result_count: results.len(),
        ..abi::CloneDesc::EMPTY
    })
}

/// Ops to copy, from another function if `source` isn't null.
pub(crate) fn clone_ops<'a>(
    source: abi::FunctionRef,
    ops: &'a [OpId],
    at: Position,
    captures: &'a [[ValueId; 2]],
    results: &'a mut [ValueId],
) -> Borrowed<'a, abi::CloneOpsDesc> {
    Borrowed::new(abi::CloneOpsDesc {
        source,
        ops: ops.as_ptr(),
        op_count: ops.len(),
        at,
        captures: captures.as_ptr(),
        capture_count: captures.len(),
        results: results.as_mut_ptr(),
        result_count: results.len(),
        ..abi::CloneOpsDesc::EMPTY
    })
}

/// Ops as text.
pub(crate) fn text<'a>(
    op: OpId,
    text: &'a str,
    args: &'a [ValueId],
    results: &'a mut [ValueId],
) -> Borrowed<'a, abi::TextDesc> {
    Borrowed::new(abi::TextDesc {
        op,
        text: Str::new(text),
        args: args.as_ptr(),
        arg_count: args.len(),
        results: results.as_mut_ptr(),
        result_count: results.len(),
        ..abi::TextDesc::EMPTY
    })
}

pub(crate) fn outline<'a>(
    function: SymbolId,
    ops: &'a [OpId],
    name: &'a str,
) -> Borrowed<'a, abi::OutlineDesc> {
    Borrowed::new(abi::OutlineDesc {
        function,
        ops: ops.as_ptr(),
        op_count: ops.len(),
        name: Str::new(name),
        ..abi::OutlineDesc::EMPTY
    })
}

pub(crate) fn function(
    name: &str,
    kind: abi::FunctionKind,
    opsets_of: SymbolId,
) -> Borrowed<'_, abi::FunctionDesc> {
    Borrowed::new(abi::FunctionDesc {
        kind,
        name: Str::new(name),
        opsets_of,
        ..abi::FunctionDesc::EMPTY
    })
}

/// A pass to run.
pub(crate) fn run(name: &str) -> Borrowed<'_, abi::RunDesc> {
    Borrowed::new(abi::RunDesc {
        name: Str::new(name),
        ..abi::RunDesc::EMPTY
    })
}

pub(crate) fn evaluation(max_bytes: u64) -> Borrowed<'static, abi::EvaluateDesc> {
    Borrowed::new(abi::EvaluateDesc {
        max_bytes,
        ..abi::EvaluateDesc::EMPTY
    })
}

/// The places of a diagnostic.
pub(crate) fn labels(said: &Diagnostic) -> Vec<Borrowed<'_, abi::Label>> {
    let label = |(place, text): &'_ (Place, String)| {
        Borrowed::new(abi::Label {
            op: place.op,
            part: place.part,
            index: place.index,
            function: place.function.unwrap_or(symbol::EMPTY),
            attr: Str::new(&place.attr),
            text: Str::new(text),
            ..abi::Label::EMPTY
        })
    };
    said.labels.iter().map(label).collect()
}

/// Texts.
pub(crate) fn texts<'a, T: AsRef<str> + 'a>(
    texts: impl IntoIterator<Item = &'a T>,
) -> Vec<Borrowed<'a, Str>> {
    let texts = texts.into_iter();
    texts
        .map(|text| Borrowed::new(Str::new(text.as_ref())))
        .collect()
}

/// A diagnostic, with its places and notes.
pub(crate) fn diagnostic<'a>(
    said: &'a Diagnostic,
    labels: &'a [Borrowed<'a, abi::Label>],
    notes: &'a [Borrowed<'a, Str>],
) -> Borrowed<'a, abi::Diagnostic> {
    let first = labels.first().map(|label| &label.desc);
    Borrowed::new(abi::Diagnostic {
        severity: said.severity,
        op: first.map_or(OpId::NONE, |label| label.op),
        code: Str::new(&said.code),
        message: Str::new(&said.message),
        help: Str::new(&said.help),
        function: first.map_or(symbol::EMPTY, |label| label.function),
        label_stride: stride::<abi::Label>(),
        labels: labels.as_ptr().cast(),
        label_count: labels.len(),
        notes: notes.as_ptr().cast(),
        note_count: notes.len(),
        ..abi::Diagnostic::EMPTY
    })
}

/// The reason why a pass fails.
pub(crate) fn failure(error: &PassError) -> Borrowed<'_, abi::Failure> {
    Borrowed::new(abi::Failure {
        op: error.op.unwrap_or(OpId::NONE),
        function: error.function.unwrap_or(symbol::EMPTY),
        message: Str::new(&error.message),
        ..abi::Failure::EMPTY
    })
}

/// The panic of a pass.
pub(crate) fn panicked(panic: &Panicked) -> Borrowed<'_, abi::Failure> {
    Borrowed::new(abi::Failure {
        op: OpId::NONE,
        message: Str::new(&panic.message),
        file: Str::new(&panic.file),
        line: panic.line,
        column: panic.column,
        ..abi::Failure::EMPTY
    })
}
