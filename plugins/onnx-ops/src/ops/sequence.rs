//! Sequences of tensors.

use passdock_plugin_api::{DType, Dim, Type, TypeKind, TypeSpec, attrs};

use super::operator::{MANY, Operator};
use super::shape::same_type;
use crate::infer::{Infer, Inferred, Stop, Ty, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.ConcatFromSequence", 11, (1, 1))
        .attrs(attrs![axis: required int, new_axis: int = 0])
        .infers(concat),
    Operator::new("onnx.SequenceAt", 11, (2, 2)).infers(at),
    Operator::new("onnx.SequenceConstruct", 11, (1, MANY)).infers(construct),
    Operator::new("onnx.SequenceEmpty", 11, (0, 0))
        .attrs(attrs![dtype: int])
        .infers(empty),
    Operator::new("onnx.SequenceErase", 11, (1, 2)).infers(same_type),
    Operator::new("onnx.SequenceInsert", 11, (2, 3)).infers(insert),
    Operator::new("onnx.SequenceLength", 11, (1, 1))
        .infers(|op| op.set(0, DType::I64, Some(vec![]))),
    Operator::new("onnx.SplitToSequence", 11, (1, 2))
        .attrs(attrs![axis: int = 0, keepdims: int = 1])
        .infers(split),
];

/// The item type of a sequence: the element type and the dims, where all items agree on them.
pub(super) type Item = (DType, Option<Vec<Dim>>);

/// Returns a tensor type as an item.
pub(super) fn tensor(ty: Type<'_>) -> Option<Item> {
    let dtype = ty.dtype().filter(|_| ty.is_tensor())?;
    Some((dtype, ty.dims().map(Iterator::collect)))
}

/// Returns the dims that two tensors have in common.
pub(super) fn common_dims(a: Option<Vec<Dim>>, b: Option<Vec<Dim>>) -> Option<Vec<Dim>> {
    let (a, b) = (a?, b?);
    let one = |(a, b): (Dim, Dim)| if a.is_same(b) { a } else { Dim::UNKNOWN };
    (a.len() == b.len()).then(|| a.into_iter().zip(b).map(one).collect())
}

/// Returns the type that two tensors have in common.
fn both(a: Item, b: Item) -> Inferred<Item> {
    if a.0 != b.0 {
        let name = |dtype: DType| dtype.name().unwrap_or("?");
        return invalid!(
            "expected sequence items of one element type, found {} and {}",
            name(a.0),
            name(b.0)
        );
    }
    Ok((a.0, common_dims(a.1, b.1)))
}

/// Returns the item type of a sequence operand.
fn item_of(op: &Infer, index: usize) -> Inferred<Item> {
    tensor(op.item(index, TypeKind::SEQUENCE)?).ok_or(Stop::Unknown)
}

fn tensors(item: Item) -> TypeSpec {
    Ty::Tensor(item.0, item.1).spec()
}

/// Infers a sequence of what all operands have in common.
fn construct(op: &Infer) -> Inferred {
    let operand = |index| -> Inferred<Item> { Ok((op.dtype(index)?, op.dims(index))) };
    let mut item = operand(0)?;
    for index in 1..op.host.operand_count() {
        item = both(item, operand(index)?)?;
    }
    op.set_sequence(0, &tensors(item))
}

/// Infers a sequence of tensors of the type in `dtype`, float32 by default.
fn empty(op: &Infer) -> Inferred {
    let dtype = op.dtype_attr("dtype")?.unwrap_or(DType::F32);
    op.set_sequence(0, &TypeSpec::unranked(dtype))
}

/// Infers a sequence of what the items and the inserted one have in common.
fn insert(op: &Infer) -> Inferred {
    let item = both(item_of(op, 0)?, (op.dtype(1)?, op.dims(1)))?;
    op.set_sequence(0, &tensors(item))
}

/// Infers the item type of the sequence.
fn at(op: &Infer) -> Inferred {
    let item = op.item(0, TypeKind::SEQUENCE)?;
    op.set_type(0, Ty::Other(item.into()))
}

/// Infers the items' dims. The size along `axis` is unknown.
fn concat(op: &Infer) -> Inferred {
    let (dtype, dims) = item_of(op, 0)?;
    let Some(axis) = op.int("axis")? else {
        return invalid!("missing attribute `axis`");
    };
    let Some(mut dims) = dims else {
        return op.set(0, dtype, None);
    };
    if op.flag("new_axis", false)? {
        dims.insert(op.axis(axis, dims.len() + 1)?, Dim::UNKNOWN);
    } else {
        let axis = op.axis(axis, dims.len())?;
        dims[axis] = Dim::UNKNOWN;
    }
    op.set(0, dtype, Some(dims))
}

/// Infers a sequence of tensors with the operand's dims. Along the axis, their size is the one in `split`. Without
/// `split`, it is 1, or the axis is removed if `keepdims` is 0.
fn split(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let Some(mut dims) = op.dims(0) else {
        return op.set_sequence(0, &TypeSpec::unranked(dtype));
    };
    let axis = op.axis(op.int_or("axis", 0)?, dims.len())?;
    if !op.has(1) {
        match op.flag("keepdims", true)? {
            true => dims[axis] = Dim::constant(1),
            false => _ = dims.remove(axis),
        }
        return op.set_sequence(0, &TypeSpec::tensor(dtype, dims));
    }
    match (
        op.known_ints(1).as_deref(),
        op.dims(1).map(|dims| dims.len()),
    ) {
        (Some(&[length @ ..=0]), Some(0)) => {
            return invalid!("`split` is {length}, expected at least 1");
        }
        (Some(lengths), Some(1)) => {
            let whole = lengths
                .iter()
                .try_fold(0i64, |sum, &one| sum.checked_add(one));
            op.agree(dims[axis], whole.map_or(Dim::UNKNOWN, Dim::constant))?;
        }
        _ => {}
    }
    dims[axis] = piece(op, dims[axis]);
    op.set_sequence(0, &TypeSpec::tensor(dtype, dims))
}

/// Returns the size of all pieces along the axis, if it is equal.
fn piece(op: &Infer, dim: Dim) -> Dim {
    let rank = op.dims(1).map(|dims| dims.len());
    match (op.values(1).as_deref(), dim.as_const(), rank) {
        // One number is the size of all pieces, of which the last may be smaller.
        (Some(&[length]), Some(size), Some(0)) => match length.as_const() {
            Some(fixed @ 1..) if size % fixed == 0 => length,
            _ => Dim::UNKNOWN,
        },
        (Some([first, rest @ ..]), _, Some(1)) => {
            match rest.iter().all(|&other| other.is_same(*first)) {
                true => *first,
                false => Dim::UNKNOWN,
            }
        }
        _ => Dim::UNKNOWN,
    }
}
