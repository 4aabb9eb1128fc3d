//! Operators that create tensors from sizes or attributes.

use passdock_plugin_api::{Attr, DType, Dim, OpTraits, attrs};

use super::operator::{Operator, body};
use crate::eval::create;
use crate::infer::{Infer, Inferred, Stop, Ty, invalid, sizes};

const GROWS: OpTraits = OpTraits::GROWS;

pub(super) const OPERATORS: &[Operator] = &[
    CONSTANT,
    CONSTANT
        .since(11)
        .attrs(attrs![sparse_value: opaque, value: tensor]),
    CONSTANT.since(12).attrs(attrs![
        sparse_value: opaque, value: tensor, value_float: float, value_floats: floats,
        value_int: int, value_ints: ints, value_string: string, value_strings: strings,
    ]),
    Operator::new("onnx.ConstantOfShape", 9, (1, 1))
        .attrs(attrs![value: tensor])
        .with(GROWS.with(OpTraits::INJECTIVE))
        .infers(constant_of_shape)
        .folds(create::constant_of_shape),
    Operator::new("onnx.EyeLike", 9, (1, 1))
        .attrs(attrs![dtype: int, k: int = 0])
        .with(GROWS.with(OpTraits::SHAPE_ONLY))
        .infers(like)
        .folds(create::eye_like),
    Operator::new("onnx.OneHot", 9, (3, 3))
        .with(OpTraits::OUT_FUSABLE)
        .attrs(attrs![axis: int = -1])
        .with(GROWS)
        .infers(one_hot)
        .folds(create::one_hot),
    RANGE,
    RANGE.since(27).attrs(attrs![stash_type: int = 1]),
];

const CONSTANT: Operator = Operator::new("onnx.Constant", 1, (0, 0))
    .attrs(attrs![value: required tensor])
    .infers(constant)
    .folds(create::constant);

const RANGE: Operator = Operator::new("onnx.Range", 11, (3, 3))
    .with(GROWS)
    .infers(range)
    .folds(create::range)
    .decomposes(body!("Range"));

/// Infers the attribute's type.
fn constant(op: &Infer) -> Inferred {
    let names = op
        .host
        .attrs(op.host.op())
        .map(|(name, _)| op.host.text(name));
    let count = names.filter(|name| name.contains("value")).count();
    if count > 1 {
        return invalid!("expected one value, found {count}");
    }
    for (name, value) in op.host.attrs(op.host.op()) {
        let list = |count: usize| Some(sizes([count as i64]));
        match (op.host.text(name), value) {
            ("value", Attr::Tensor(id)) => {
                let record = op.host.constant_record(id).ok_or(Stop::Unknown)?;
                op.set_type(0, Ty::Other(op.host.ty(record.ty).into()))?;
            }
            ("value_int", Attr::Int(_)) => op.set(0, DType::I64, Some(vec![]))?,
            ("value_float", Attr::Float(_)) => op.set(0, DType::F32, Some(vec![]))?,
            ("value_string", Attr::String(_)) => op.set(0, DType::STRING, Some(vec![]))?,
            ("value_ints", Attr::Ints(ints)) => op.set(0, DType::I64, list(ints.len()))?,
            ("value_floats", Attr::Floats(floats)) => op.set(0, DType::F32, list(floats.len()))?,
            ("value_strings", Attr::Strings(texts)) => {
                op.set(0, DType::STRING, list(texts.len()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Infers dims from the operand's elements, and the type of `value`, float32 by default.
fn constant_of_shape(op: &Infer) -> Inferred {
    let dtype = match op.host.attr(op.host.op(), "value") {
        None => DType::F32,
        Some(Attr::Tensor(id)) => {
            let record = op.host.constant_record(id).ok_or(Stop::Unknown)?;
            op.host.ty(record.ty).dtype().unwrap_or(DType::NONE)
        }
        Some(_) => return Err(Stop::Unknown),
    };
    let dims = shape_in(op, 0);
    op.set(0, dtype, dims.clone())?;
    // A short list of one integer may be a shape itself.
    let value = op
        .tensor("value")?
        .filter(|value| value.dtype() == DType::I64);
    let count = dims
        .filter(|dims| dims.len() == 1)
        .and_then(|dims| dims[0].as_const());
    if let (Some(value), Some(count @ 0..=256)) = (value, count)
        && let Some(&element) = value.stored::<i64>()?.first()
    {
        op.set_values(0, sizes(vec![element; count as usize]))?;
    }
    Ok(())
}

/// Returns the shape in an operand: its elements, or all `?` if only their number is known.
pub(super) fn shape_in(op: &Infer, index: usize) -> Option<Vec<Dim>> {
    op.values(index).or_else(|| {
        let &[count] = op.dims(index)?.as_slice() else {
            return None;
        };
        let rank = usize::try_from(count.as_const()?)
            .ok()
            .filter(|&rank| rank <= 256)?;
        Some(vec![Dim::UNKNOWN; rank])
    })
}

/// Infers the operand's shape, and its type unless the attribute `dtype` is given.
pub(super) fn like(op: &Infer) -> Inferred {
    let dtype = match op.dtype_attr("dtype")? {
        Some(dtype) => dtype,
        None => op.dtype(0)?,
    };
    op.set(0, dtype, op.dims(0))
}

/// Infers the indices' shape with a new axis of the depth's size.
fn one_hot(op: &Infer) -> Inferred {
    op.set_from(op.dtype(2)?, |mut dims| {
        let at = op.axis(op.int_or("axis", -1)?, dims.len() + 1)?;
        dims.insert(at, op.size(1));
        Ok(dims)
    })
}

/// Infers a list, whose length is known if the operands are. From 0 in steps of 1, it is the limit.
fn range(op: &Infer) -> Inferred {
    let dtype = op.dtype_of_any(0..3)?;
    let scalar = |index: usize| op.values(index)?.first().copied();
    if scalar(2).and_then(Dim::as_const) == Some(0) {
        return invalid!("`delta` is 0");
    }
    let length = match [scalar(0), scalar(1), scalar(2)] {
        [Some(start), Some(limit), Some(delta)] => {
            match (start.as_const(), limit.as_const(), delta.as_const()) {
                (Some(start), Some(limit), Some(delta)) => {
                    let count = create::step_count(start.into(), limit.into(), delta.into());
                    let count = count.and_then(|count| i64::try_from(count).ok());
                    count.map_or(Dim::UNKNOWN, Dim::constant)
                }
                (Some(0), _, Some(1)) => limit,
                _ => Dim::UNKNOWN,
            }
        }
        _ => float_steps(op).map_or(Dim::UNKNOWN, Dim::constant),
    };
    op.set(0, dtype, Some(vec![length]))
}

/// Returns the number of steps between constant floats, if it doesn't depend on their precision.
fn float_steps(op: &Infer) -> Option<i64> {
    let scalar = |index: usize| op.numbers(index)?.first().copied();
    let (start, limit, delta) = (scalar(0)?, scalar(1)?, scalar(2)?);
    let double = ((limit - start) / delta).ceil();
    let single = ((limit as f32 - start as f32) / delta as f32).ceil();
    (double == f64::from(single) && double < 1e9).then_some(double.max(0.0) as i64)
}
