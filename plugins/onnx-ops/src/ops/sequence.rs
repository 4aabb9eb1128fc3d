//! Sequences of tensors.

use passdock_plugin_api::{DType, Dim, TypeKind, attrs};

use super::shape::same_type;
use super::{MANY, Operator};
use crate::infer::{Answer, Infer, Stop, Ty, as_const, same};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.ConcatFromSequence", 11, (1, 1))
        .attrs(attrs![axis: required int, new_axis: int = 0]),
    Operator::new("onnx.SequenceAt", 11, (2, 2)).infers(item),
    Operator::new("onnx.SequenceConstruct", 11, (1, MANY)),
    Operator::new("onnx.SequenceEmpty", 11, (0, 0)).attrs(attrs![dtype: int]),
    Operator::new("onnx.SequenceErase", 11, (1, 2)).infers(same_type),
    Operator::new("onnx.SequenceInsert", 11, (2, 3)),
    Operator::new("onnx.SequenceLength", 11, (1, 1)).infers(count),
    Operator::new("onnx.SplitToSequence", 11, (1, 2))
        .attrs(attrs![axis: int = 0, keepdims: int = 1])
        .infers(pieces),
];

/// What the sequence is made of.
fn item(op: &Infer) -> Answer {
    let ty = op.host.operand_type(0);
    match (ty.kind(), ty.items()) {
        (TypeKind::SEQUENCE, &[item]) => op.set_type(0, Ty::Other(op.host.ty(item).into())),
        _ => Err(Stop::Unknown),
    }
}

/// A number.
fn count(op: &Infer) -> Answer {
    op.set(0, DType::I64, Some(vec![]))
}

/// A sequence of tensors with the operand's dims, that along the axis aside.
fn pieces(op: &Infer) -> Answer {
    let dtype = op.dtype(0)?;
    let dims = match op.dims(0) {
        None => None,
        Some(mut dims) => {
            let at = op.axis(op.int_or("axis", 0)?, dims.len())?;
            // Pieces of one element may lose the dim, when no lengths are given.
            if !op.has(1) && !op.flag("keepdims", true)? {
                dims.remove(at);
            } else {
                dims[at] = piece(op, dims[at]);
            }
            Some(dims)
        }
    };
    let item = op
        .host
        .add_type(&Ty::Tensor(dtype, dims).spec())
        .map_err(|_| Stop::Unknown)?;
    op.set_type(0, Ty::Other(passdock_plugin_api::TypeSpec::sequence(item)))
}

/// How long all pieces are along the axis, if they are equally long.
fn piece(op: &Infer, dim: Dim) -> Dim {
    if !op.has(1) {
        return Dim::constant(1);
    }
    let rank = op.dims(1).map(|dims| dims.len());
    match (op.values(1).as_deref(), as_const(dim), rank) {
        // One number: pieces of that length, of which the last may be shorter.
        (Some(&[length]), Some(size), Some(0)) => match as_const(length) {
            Some(fixed @ 1..) if size % fixed == 0 => length,
            _ => Dim::UNKNOWN,
        },
        (Some([first, rest @ ..]), _, Some(1)) => {
            match rest.iter().all(|&other| same(other, *first)) {
                true => *first,
                false => Dim::UNKNOWN,
            }
        }
        _ => Dim::UNKNOWN,
    }
}
