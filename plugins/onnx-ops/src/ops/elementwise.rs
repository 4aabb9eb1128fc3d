//! Operators that work element by element.

use super::{MANY, Operator};
use crate::eval::unary::map_float;
use crate::eval::{Evaluate, bits, cast, compare_logic, elementwise, quantize, unary};

const fn unary(name: &'static str, since: i64, evaluate: Evaluate) -> Operator {
    Operator::new(name, since, (1, 1)).folds(evaluate)
}

const fn binary(name: &'static str, since: i64, evaluate: Evaluate) -> Operator {
    Operator::new(name, since, (2, 2)).folds(evaluate)
}

const fn variadic(name: &'static str, evaluate: Evaluate) -> Operator {
    Operator::new(name, 8, (1, MANY)).folds(evaluate)
}

pub(super) const OPERATORS: &[Operator] = &[
    unary("Abs", 6, unary::abs),
    unary("Acos", 7, |call| map_float(call, f32::acos, f64::acos)),
    unary("Acosh", 9, |call| map_float(call, f32::acosh, f64::acosh)),
    binary("Add", 7, elementwise::add),
    binary("And", 7, compare_logic::and),
    unary("Asin", 7, |call| map_float(call, f32::asin, f64::asin)),
    unary("Asinh", 9, |call| map_float(call, f32::asinh, f64::asinh)),
    unary("Atan", 7, |call| map_float(call, f32::atan, f64::atan)),
    unary("Atanh", 9, |call| map_float(call, f32::atanh, f64::atanh)),
    unary("BitCast", 26, bits::bit_cast).attrs(&["to"]),
    binary("BitShift", 11, bits::bit_shift).attrs(&["direction"]),
    binary("BitwiseAnd", 18, bits::and),
    unary("BitwiseNot", 18, bits::not),
    binary("BitwiseOr", 18, bits::or),
    binary("BitwiseXor", 18, bits::xor),
    unary("Cast", 6, cast::cast).attrs(&["to", "saturate", "round_mode"]),
    binary("CastLike", 15, cast::cast_like).attrs(&["saturate", "round_mode"]),
    unary("Ceil", 6, |call| map_float(call, f32::ceil, f64::ceil)),
    Operator::new("Clip", 6, (1, 3))
        .attrs(&["min", "max"])
        .folds(elementwise::clip),
    unary("Cos", 7, |call| map_float(call, f32::cos, f64::cos)),
    unary("Cosh", 9, |call| map_float(call, f32::cosh, f64::cosh)),
    Operator::new("DequantizeLinear", 10, (2, 3))
        .attrs(&["axis", "block_size", "output_dtype"])
        .folds(quantize::dequantize),
    binary("Div", 7, elementwise::div),
    binary("Equal", 7, compare_logic::equal),
    unary("Exp", 6, |call| map_float(call, f32::exp, f64::exp)),
    unary("Floor", 6, |call| map_float(call, f32::floor, f64::floor)),
    binary("Greater", 7, compare_logic::greater),
    binary("GreaterOrEqual", 12, compare_logic::greater_or_equal),
    unary("HardSigmoid", 6, unary::hard_sigmoid).attrs(&["alpha", "beta"]),
    unary("IsInf", 10, unary::is_inf).attrs(&["detect_negative", "detect_positive"]),
    unary("IsNaN", 9, unary::is_nan),
    unary("LeakyRelu", 6, unary::leaky_relu).attrs(&["alpha"]),
    binary("Less", 7, compare_logic::less),
    binary("LessOrEqual", 12, compare_logic::less_or_equal),
    unary("Log", 6, |call| map_float(call, f32::ln, f64::ln)),
    variadic("Max", elementwise::max),
    variadic("Mean", elementwise::mean),
    variadic("Min", elementwise::min),
    binary("Mod", 10, elementwise::modulo).attrs(&["fmod"]),
    binary("Mul", 7, elementwise::mul),
    unary("Neg", 6, unary::neg),
    unary("Not", 1, compare_logic::not),
    binary("Or", 7, compare_logic::or),
    binary("Pow", 7, elementwise::pow),
    binary("PRelu", 7, elementwise::prelu),
    unary("Reciprocal", 6, |call| {
        map_float(call, f32::recip, f64::recip)
    }),
    unary("Relu", 6, unary::relu),
    unary("Round", 11, |call| {
        map_float(call, f32::round_ties_even, f64::round_ties_even)
    }),
    unary("Sigmoid", 6, unary::sigmoid),
    unary("Sign", 9, unary::sign),
    unary("Sin", 7, |call| map_float(call, f32::sin, f64::sin)),
    unary("Sinh", 9, |call| map_float(call, f32::sinh, f64::sinh)),
    unary("Softplus", 1, unary::softplus),
    unary("Softsign", 1, unary::softsign),
    unary("Sqrt", 6, |call| map_float(call, f32::sqrt, f64::sqrt)),
    binary("Sub", 7, elementwise::sub),
    variadic("Sum", elementwise::sum),
    unary("Tan", 7, |call| map_float(call, f32::tan, f64::tan)),
    unary("Tanh", 6, |call| map_float(call, f32::tanh, f64::tanh)),
    binary("Xor", 7, compare_logic::xor),
];
