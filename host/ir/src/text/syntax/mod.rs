//! Syntax shared by the parser and the printer: words, elements, types.

pub(super) mod element;
pub(super) mod error;
pub(super) mod lex;
pub(crate) mod types;

use passdock_abi::{AttrKind, ExprKind, TypeId, TypeKind};

use crate::function::Function;

/// The maximum number of elements of a constant that is written inline.
pub const MAX_INLINE_ELEMENTS: u64 = 64;

/// Words that can't be the bare name of an op or region, because they start a clause.
pub(crate) const RESERVED: &[&str] = &["loc", "doc", "meta", "extra", "region", "symbol"];

/// The names of attribute kinds in references.
pub(crate) const ATTR_KINDS: &[(AttrKind, &str)] = {
    use AttrKind as K;
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

/// The kinds of dim expressions with function-call syntax.
pub(crate) const CHOICES: [(ExprKind, &str); 3] = [
    (ExprKind::MIN, "min"),
    (ExprKind::MAX, "max"),
    (ExprKind::BROADCAST, "broadcast"),
];

/// The loop kinds of the short form of `for`.
pub(crate) const LOOP_KINDS: &[&str] = &["serial", "parallel", "vectorized", "unroll", "thread"];

/// Writes an integer without the overhead of `fmt`: most values have a number.
pub(crate) fn write_number(out: &mut String, number: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Writes items with a separator between them.
pub(crate) fn write_list<T>(
    out: &mut String,
    separator: &str,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    for (at, item) in items.into_iter().enumerate() {
        out.push_str(if at > 0 { separator } else { "" });
        write(out, item);
    }
}

/// Whether a constant of this type is written without brackets: it has one element and no dims.
pub(crate) fn is_single(f: &Function, ty: TypeId) -> bool {
    let Ok(record) = f.live_type(ty) else {
        return false;
    };
    match record.kind {
        TypeKind::SCALAR => record.lanes <= 1,
        _ => f.shape(ty).is_some_and(<[_]>::is_empty),
    }
}
