//! Elementwise operators.

use std::cmp::Ordering;

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::operator::{MANY, Operator, body};
use super::shape::same_type;
use crate::eval::bits::bitwise;
use crate::eval::compare_logic::{compare, truth as truth_of};
use crate::eval::unary::map_float;
use crate::eval::{Evaluation, activation, bits, cast, compare_logic, elementwise, unary};
use crate::infer::{Arithmetic, Infer, Inferred, Rule, Stop, invalid, sizes};

const ELEMENTWISE: OpTraits = OpTraits::ELEMENTWISE;
const COMMUTATIVE: OpTraits = OpTraits::COMMUTATIVE;
const IDEMPOTENT: OpTraits = OpTraits::IDEMPOTENT;

const fn unary(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (1, 1))
        .with(ELEMENTWISE)
        .infers(same_type)
        .folds(evaluate)
}

const fn binary(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (2, 2))
        .with(ELEMENTWISE)
        .infers(broadcast)
        .folds(evaluate)
}

const fn predicate(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (2, 2))
        .with(ELEMENTWISE)
        .infers(broadcast_truth)
        .folds(evaluate)
}

const fn variadic(name: &'static str, rule: Rule, evaluate: Evaluation) -> Operator {
    Operator::new(name, 6, (1, MANY))
        .with(ELEMENTWISE.with(COMMUTATIVE))
        .infers(rule)
        .folds(evaluate)
}

pub(super) const OPERATORS: &[Operator] = &[
    unary("onnx.Abs", 6, unary::abs).with(IDEMPOTENT),
    unary("onnx.Acos", 7, |call| map_float(call, f64::acos)),
    unary("onnx.Acosh", 9, activation::acosh),
    binary("onnx.Add", 7, elementwise::add)
        .with(COMMUTATIVE)
        .infers(add),
    predicate("onnx.And", 7, |call| truth_of(call, |a, b| a & b)).with(COMMUTATIVE),
    unary("onnx.Asin", 7, |call| map_float(call, f64::asin)),
    unary("onnx.Asinh", 9, activation::asinh),
    unary("onnx.Atan", 7, |call| map_float(call, f64::atan)),
    unary("onnx.Atanh", 9, activation::atanh),
    unary("onnx.BitCast", 26, bits::bit_cast)
        .attrs(attrs![to: required int])
        .infers(to_type),
    binary("onnx.BitShift", 11, bits::bit_shift).attrs(attrs![direction: required string]),
    binary("onnx.BitwiseAnd", 18, |call| bitwise(call, |a, b| a & b)).with(COMMUTATIVE),
    unary("onnx.BitwiseNot", 18, bits::not),
    binary("onnx.BitwiseOr", 18, |call| bitwise(call, |a, b| a | b)).with(COMMUTATIVE),
    binary("onnx.BitwiseXor", 18, |call| bitwise(call, |a, b| a ^ b)).with(COMMUTATIVE),
    CAST,
    CAST.since(19)
        .attrs(attrs![saturate: int = 1, to: required int]),
    CAST.since(24)
        .attrs(attrs![round_mode: string = "up", saturate: int = 1, to: required int]),
    CAST_LIKE,
    CAST_LIKE.since(19).attrs(attrs![saturate: int = 1]),
    CAST_LIKE
        .since(24)
        .attrs(attrs![round_mode: string = "up", saturate: int = 1]),
    unary("onnx.Ceil", 6, |call| map_float(call, f64::ceil)).with(IDEMPOTENT),
    unary("onnx.Celu", 12, activation::celu)
        .attrs(attrs![alpha: float = 1.0])
        .decomposes(body!("Celu")),
    CLIP,
    CLIP.since(11).operands((1, 3)).attrs(&[]),
    unary("onnx.Cos", 7, |call| map_float(call, f64::cos)),
    unary("onnx.Cosh", 9, |call| map_float(call, f64::cosh)),
    binary("onnx.Div", 7, elementwise::div).infers(quotient),
    unary("onnx.Elu", 6, activation::elu)
        .attrs(attrs![alpha: float = 1.0])
        .decomposes(body!("Elu")),
    predicate("onnx.Equal", 7, compare_logic::equal)
        .with(COMMUTATIVE)
        .infers(equal),
    unary("onnx.Erf", 9, activation::erf),
    unary("onnx.Exp", 6, |call| map_float(call, f64::exp)),
    unary("onnx.Floor", 6, |call| map_float(call, f64::floor)).with(IDEMPOTENT),
    unary("onnx.Gelu", 20, activation::gelu)
        .attrs(attrs![approximate: string = "none"])
        .decomposes(body!("Gelu")),
    predicate("onnx.Greater", 7, |call| compare(call, Ordering::is_gt)).infers(greater),
    predicate("onnx.GreaterOrEqual", 12, |call| {
        compare(call, Ordering::is_ge)
    })
    .decomposes(body!("GreaterOrEqual")),
    unary("onnx.HardSigmoid", 6, activation::hard_sigmoid)
        .attrs(attrs![alpha: float = 0.2, beta: float = 0.5])
        .decomposes(body!("HardSigmoid")),
    unary("onnx.HardSwish", 14, activation::hard_swish).decomposes(body!("HardSwish")),
    unary("onnx.IsInf", 10, unary::is_inf)
        .attrs(attrs![detect_negative: int = 1, detect_positive: int = 1])
        .infers(truth),
    unary("onnx.IsNaN", 9, unary::is_nan).infers(truth),
    unary("onnx.LeakyRelu", 6, activation::leaky_relu)
        .attrs(attrs![alpha: float = 0.01])
        .decomposes(body!("LeakyRelu")),
    predicate("onnx.Less", 7, |call| compare(call, Ordering::is_lt)).infers(less),
    predicate("onnx.LessOrEqual", 12, |call| {
        compare(call, Ordering::is_le)
    })
    .decomposes(body!("LessOrEqual")),
    unary("onnx.Log", 6, |call| map_float(call, f64::ln)),
    variadic("onnx.Max", max, elementwise::max),
    variadic("onnx.Mean", broadcast, elementwise::mean),
    variadic("onnx.Min", min, elementwise::min),
    unary("onnx.Mish", 18, activation::mish).decomposes(body!("Mish")),
    binary("onnx.Mod", 10, elementwise::modulo)
        .attrs(attrs![fmod: int = 0])
        .infers(modulo),
    binary("onnx.Mul", 7, elementwise::mul)
        .with(COMMUTATIVE)
        .infers(mul),
    unary("onnx.Neg", 6, unary::neg).infers(negated),
    unary("onnx.Not", 1, compare_logic::not).infers(truth),
    predicate("onnx.Or", 7, |call| truth_of(call, |a, b| a | b)).with(COMMUTATIVE),
    binary("onnx.Pow", 7, elementwise::pow),
    binary("onnx.PRelu", 7, elementwise::prelu)
        .infers(same_type)
        .decomposes(body!("PRelu")),
    unary("onnx.Reciprocal", 6, |call| map_float(call, f64::recip)),
    unary("onnx.Relu", 6, unary::relu)
        .with(IDEMPOTENT)
        .decomposes(body!("Relu")),
    unary("onnx.Round", 11, |call| {
        map_float(call, f64::round_ties_even)
    })
    .with(IDEMPOTENT),
    unary("onnx.Selu", 6, activation::selu)
        .attrs(attrs![alpha: float = 1.6732632, gamma: float = 1.050701])
        .decomposes(body!("Selu")),
    unary("onnx.Shrink", 9, activation::shrink)
        .attrs(attrs![bias: float = 0.0, lambd: float = 0.5])
        .decomposes(body!("Shrink")),
    unary("onnx.Sigmoid", 6, activation::sigmoid),
    unary("onnx.Sign", 9, unary::sign).with(IDEMPOTENT),
    unary("onnx.Sin", 7, |call| map_float(call, f64::sin)),
    unary("onnx.Sinh", 9, |call| map_float(call, f64::sinh)),
    unary("onnx.Softplus", 1, activation::softplus).decomposes(body!("Softplus")),
    unary("onnx.Softsign", 1, activation::softsign).decomposes(body!("Softsign")),
    unary("onnx.Sqrt", 6, |call| map_float(call, f64::sqrt)),
    binary("onnx.Sub", 7, elementwise::sub).infers(sub),
    variadic("onnx.Sum", broadcast, elementwise::sum),
    unary("onnx.Swish", 24, activation::swish)
        .attrs(attrs![alpha: float = 1.0])
        .decomposes(body!("Swish")),
    unary("onnx.Tan", 7, |call| map_float(call, f64::tan)),
    unary("onnx.Tanh", 6, |call| map_float(call, f64::tanh)),
    unary("onnx.ThresholdedRelu", 10, activation::thresholded_relu)
        .attrs(attrs![alpha: float = 1.0])
        .decomposes(body!("ThresholdedRelu")),
    predicate("onnx.Xor", 7, |call| truth_of(call, |a, b| a ^ b)).with(COMMUTATIVE),
];

const CAST: Operator = unary("onnx.Cast", 6, cast::cast)
    .attrs(attrs![to: required int])
    .infers(to_type);

const CAST_LIKE: Operator = binary("onnx.CastLike", 15, cast::cast_like)
    .infers(|op| as_type(op, op.dtype(1)?))
    .decomposes(body!("CastLike"));

const CLIP: Operator = Operator::new("onnx.Clip", 6, (1, 1))
    .attrs(attrs![max: float = 3.4028235e38, min: float = -3.4028235e38])
    .with(ELEMENTWISE)
    .infers(clip)
    .folds(elementwise::clip)
    .decomposes(body!("Clip"));

/// Infers the broadcast shape of all operands, and their type.
fn broadcast(op: &Infer) -> Inferred {
    let count = op.host.operand_count();
    // Most operators require one type; Pow's result has that of the first operand.
    let dtype = if op.name == "onnx.Pow" {
        op.dtype(0)?
    } else {
        op.dtype_of_any(0..count)?
    };
    broadcast_as(op, dtype)
}

/// Infers the broadcast shape of all operands, as bools.
fn broadcast_truth(op: &Infer) -> Inferred {
    broadcast_as(op, DType::BOOL)
}

fn broadcast_as(op: &Infer, dtype: DType) -> Inferred {
    op.set(0, dtype, op.broadcast_operands(op.host.operand_count())?)
}

macro_rules! arithmetic {
    ($($name:ident = $rule:ident, $what:ident;)*) => {$(
        /// Infers the broadcast shape, and the elements if the operands are shapes.
        fn $name(op: &Infer) -> Inferred {
            $rule(op)?;
            if op.host.operand_count() == 2 {
                op.compute(Arithmetic::$what);
            }
            Ok(())
        }
    )*};
}

arithmetic! {
    add = broadcast, Add;
    sub = broadcast, Sub;
    mul = broadcast, Mul;
    div = broadcast, Div;
    min = broadcast, Min;
    max = broadcast, Max;
    equal = broadcast_truth, Equal;
    less = broadcast_truth, Less;
    greater = broadcast_truth, Greater;
}

/// Infers the broadcast shape, and the elements if the operands are shapes. Rejects integer division by 0.
fn quotient(op: &Infer) -> Inferred {
    div(op)?;
    divides(op)
}

/// Like [`quotient`], but without elements if `fmod` is set.
fn modulo(op: &Infer) -> Inferred {
    broadcast(op)?;
    if !op.flag("fmod", false)? {
        op.compute(Arithmetic::Mod);
    }
    divides(op)
}

/// Rejects a constant integer divisor of 0.
fn divides(op: &Infer) -> Inferred {
    match op.has_zero(1) {
        true => invalid!("integer division by zero"),
        false => Ok(()),
    }
}

/// Infers the operand's type, and negates constant elements.
fn negated(op: &Infer) -> Inferred {
    same_type(op)?;
    let negated =
        |ints: Vec<i64>| -> Option<Vec<i64>> { ints.into_iter().map(i64::checked_neg).collect() };
    match op.known_ints(0).and_then(negated) {
        Some(ints) => op.set_values(0, sizes(ints)),
        None => Ok(()),
    }
}

/// Infers the type of operand 0. Rejects bounds that aren't scalars.
fn clip(op: &Infer) -> Inferred {
    for index in 1..op.host.operand_count() {
        let dims = op.dims(index);
        if let Some(dims) = dims.filter(|dims| !dims.is_empty()) {
            return invalid!("operand {index} has rank {}, expected 0", dims.len());
        }
    }
    same_type(op)
}

/// Infers the operand's shape, as bools.
fn truth(op: &Infer) -> Inferred {
    op.set(0, DType::BOOL, op.dims(0))
}

/// Infers the operand's shape, with the type in the attribute `to`.
fn to_type(op: &Infer) -> Inferred {
    as_type(op, op.dtype_attr("to")?.ok_or(Stop::Unknown)?)
}

fn as_type(op: &Infer, to: DType) -> Inferred {
    op.set(0, to, op.dims(0))?;
    let is_shape = |dtype: DType| matches!(dtype, DType::I64 | DType::I32);
    let from = op.dtype(0)?;
    match op.values(0) {
        // Symbolic sizes are assumed to fit into int32, but a constant may have any value.
        Some(values) if is_shape(from) && is_shape(to) => {
            let fits = |size: i64| to == DType::I64 || i32::try_from(size).is_ok();
            match values.iter().copied().filter_map(Dim::as_const).all(fits) {
                true => op.set_values(0, values),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Moves;

    #[test]
    fn rows_are_sorted_by_name() {
        let names: Vec<String> = OPERATORS
            .iter()
            .map(|row| row.name.to_lowercase())
            .collect();
        assert!(names.is_sorted(), "{names:?}");
        assert!(OPERATORS.iter().all(|row| row.moves == Moves::Nothing));
    }
}
