//! Arithmetic that changes nothing.

use passdock_plugin_api::prelude::*;

pub(super) static NEUTRAL: Rules = rules! {
    rule sub_zero { onnx.Sub(%x, 0) => %x }
    rule mul_one { onnx.Mul(%x, 1) => %x }
    rule div_one { onnx.Div(%x, 1) => %x }
    rule pow_one { onnx.Pow(%x, 1) => %x }
    rule and_true { onnx.And(%x, 1) => %x }
    rule or_false { onnx.Or(%x, 0) => %x }
    rule where_true { onnx.Where(1, %x, _) => %x }
    rule where_false { onnx.Where(0, _, %x) => %x }
    rule where_not { onnx.Where(onnx.Not(%c), %a, %b) => onnx.Where(%c, %b, %a) }
    rule where_of_same_condition {
        %inner = onnx.Where(%c, %lost, %b)
        onnx.Where(%c, %a, %inner) => onnx.Where(%c, %a, %b) where stretches_to(%lost, %c)
    }
    rule where_in_same_condition {
        %inner = onnx.Where(%c, %a, %lost)
        onnx.Where(%c, %inner, %b) => onnx.Where(%c, %a, %b) where stretches_to(%lost, %c)
    }
    rule where_same { onnx.Where(_, %x, %x) => %x }
    rule min_same { onnx.Min|onnx.Max(%x, %x) => %x }
    rule min_one { onnx.Min|onnx.Max|onnx.Sum|onnx.Mean(%x) => %x }
    rule sum_two { onnx.Sum(%x, %y) => onnx.Add(%x, %y) }
};

/// `x + 0.0`, which turns `-0.0` into `0.0`.
pub(super) static ADD_ZERO: Rules = rules! {
    rule add_zero { onnx.Add(%x, 0) => %x }
};

pub(super) static INVERSES: Rules = rules! {
    rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    rule not_not { onnx.Not(onnx.Not(%x)) => %x }
    rule idempotent_abs { %y = onnx.Abs(_) onnx.Abs(%y) => %y }
    rule idempotent_relu { %y = onnx.Relu(_) onnx.Relu(%y) => %y }
    rule idempotent_ceil { %y = onnx.Ceil|onnx.Floor|onnx.Round(_) onnx.Ceil|onnx.Floor|onnx.Round(%y) => %y }
    rule idempotent_sign { %y = onnx.Sign(_) onnx.Sign(%y) => %y }
    rule abs_neg { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }
    rule relu_abs { %y = onnx.Abs(_) onnx.Relu(%y) => %y where float(%y) }
};
