//! `relax.transform.FastMath`: approximates exponentials and functions derived from them.
//!
//! ```ir
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
//!   %0 = onnx.Tanh(%x) : f32[n]
//!   return %0
//! }
//! →
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17, "passdock.fast" = 1) {
//!   %0 = passdock.fast.fast_tanh(%x) : f32[n]
//!   return %0
//! }
//! fn @passdock.fast.fast_tanh(%x: ?) -> (%y) opset("" = 17) {
//!   %0 = const f32[] 9.0
//!   %1 = const f32[] -9.0
//!   %2 = const f32[] -2.7607684e-16
//!   %3 = const f32[] 2.000188e-13
//!   %4 = const f32[] -8.604672e-11
//!   %5 = const f32[] 5.1222973e-8
//!   %6 = const f32[] 1.48572235e-5
//!   %7 = const f32[] 0.00063726195
//!   %8 = const f32[] 0.0048935246
//!   %9 = const f32[] 1.1982584e-6
//!   %10 = const f32[] 0.00011853471
//!   %11 = const f32[] 0.0022684347
//!   %12 = const f32[] 0.004893525
//!   %13 = onnx.Min(%x, %0)
//!   %14 = onnx.Max(%13, %1)
//!   %15 = onnx.Mul(%14, %14)
//!   %16 = onnx.Mul(%2, %15)
//!   %17 = onnx.Add(%16, %3)
//!   %18 = onnx.Mul(%17, %15)
//!   %19 = onnx.Add(%18, %4)
//!   %20 = onnx.Mul(%19, %15)
//!   %21 = onnx.Add(%20, %5)
//!   %22 = onnx.Mul(%21, %15)
//!   %23 = onnx.Add(%22, %6)
//!   %24 = onnx.Mul(%23, %15)
//!   %25 = onnx.Add(%24, %7)
//!   %26 = onnx.Mul(%25, %15)
//!   %27 = onnx.Add(%26, %8)
//!   %28 = onnx.Mul(%14, %27)
//!   %29 = onnx.Mul(%9, %15)
//!   %30 = onnx.Add(%29, %10)
//!   %31 = onnx.Mul(%30, %15)
//!   %32 = onnx.Add(%31, %11)
//!   %33 = onnx.Mul(%32, %15)
//!   %34 = onnx.Add(%33, %12)
//!   %35 = onnx.Div(%28, %34)
//!   return %35
//! }
//! ```
//!
//! Calls of functions in the domain `passdock.fast` replace `Exp`, `Tanh`, `Erf`, `Sigmoid` and `Softmax` of float32,
//! in functions and regions. A `Softmax` along the last axis becomes `fast_softmax`, along another axis for example
//! `fast_softmax_axis1`. The bodies of the functions consist of ONNX ops, so the model runs everywhere, but not faster.
//! A back end recognizes the names and provides kernels. Functions are shared by all calls and reused if the module
//! already has them. Callers with different opsets need separate functions.
//!
//! | function | method | maximum error |
//! |---|---|---|
//! | `fast_exp` | `2^n` times a polynomial of degree 7, as in Cephes | 2e-7 relative, plus 1.5e-45 |
//! | `fast_tanh` | quotient of two polynomials on [-9, 9], as in Eigen | 4e-7 |
//! | `fast_erf` | quotient of two polynomials on [-4, 4], as in Eigen | 5e-7 |
//! | `fast_sigmoid` | `1 / (1 + fast_exp(-x))` | 4e-7 relative, plus 3e-39 |
//! | `fast_softmax` | `fast_exp(x - max)` divided by its sum | 5e-7, plus the rounding error of the sum |
//!
//! NaN gives NaN, and infinities give exact results. A test over all float32 values verifies this.
//!
//! The pass has level 4 and is in no built-in pipeline, because it changes results. It doesn't approximate other
//! element types, a `Softmax` before opset 13, which has other semantics, or ops of functions that skip optimization.
//! `Gelu` stays as well, as the error of `fast_erf` would grow with its operand; `DecomposeOps` converts it to an
//! `Erf`.
//!
//! Source: TVM `src/relay/transforms/fast_math.cc`, `include/tvm/topi/elemwise.h`.

mod functions;

use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::optimized_functions;
use crate::shared::read::int_or;
use functions::{FastFunction, Functions};

options! {
    /// Options of FastMath.
    pub struct FastMath {
        /// The operators to approximate, by name.
        ops: Vec<String> = ["onnx.Exp", "onnx.Tanh", "onnx.Erf", "onnx.Sigmoid", "onnx.Softmax"],
    }
}

/// The domain of the functions.
const DOMAIN: &str = "passdock.fast";

/// Runs `relax.transform.FastMath`.
pub fn fast_math(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<FastMath>()?;
    if let Some(other) = options.ops.iter().find(|name| kind(name).is_none()) {
        return Err(PassError::config(format!(
            "no approximation of `{other}` in option `ops`; expected `onnx.Exp`, `onnx.Tanh`, `onnx.Erf`, \
             `onnx.Sigmoid` or `onnx.Softmax`"
        )));
    }
    let mut functions = Functions::default();
    for name in optimized_functions(m)? {
        let own = m.text(name).rsplit_once('.');
        if own.is_some_and(|(domain, _)| domain == DOMAIN) {
            continue;
        }
        let f = m.snapshot(name)?;
        let found: Vec<(OpId, FastFunction)> = f
            .iter()
            .filter_map(|op| Some((op, requested(&f, op, &options)?)))
            .collect();
        drop(f);
        let mut calls = Vec::with_capacity(found.len());
        for (op, requested) in found {
            let rule = requested.kind.name;
            if cx.may_rewrite(rule) {
                calls.push((op, functions.get(m, cx, requested)?));
                cx.rewrote(rule);
            }
        }
        if calls.is_empty() {
            continue;
        }
        let f = m.edit(name)?;
        if f.opset(DOMAIN).is_none() {
            f.set_opset(DOMAIN, 1)?;
        }
        for (op, function) in calls {
            let x = f.operand(op, 0).unwrap_or(ValueId::NONE);
            f.replace_op(op, OpBuilder::new(function).operand(x))?;
        }
    }
    Ok(())
}

/// An operator, and the function that approximates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Kind {
    operator: &'static str,
    name: &'static str,
    /// The first opset in which the operator has the function's semantics, and the body's ops exist.
    since: i64,
}

impl Kind {
    const EXP: Kind = Kind::new("onnx.Exp", "fast_exp", 8);
    const TANH: Kind = Kind::new("onnx.Tanh", "fast_tanh", 8);
    const ERF: Kind = Kind::new("onnx.Erf", "fast_erf", 9);
    const SIGMOID: Kind = Kind::new("onnx.Sigmoid", "fast_sigmoid", 8);
    const SOFTMAX: Kind = Kind::new("onnx.Softmax", "fast_softmax", 13);

    const ALL: [Kind; 5] = [
        Kind::EXP,
        Kind::TANH,
        Kind::ERF,
        Kind::SIGMOID,
        Kind::SOFTMAX,
    ];

    const fn new(operator: &'static str, name: &'static str, since: i64) -> Kind {
        Kind {
            operator,
            name,
            since,
        }
    }
}

fn kind(operator: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.operator == operator)
}

/// Returns the function that replaces an op, or `None` if the op stays.
fn requested(f: &Function, op: OpId, options: &FastMath) -> Option<FastFunction> {
    let kind = kind(f.name(op)).filter(|_| options.ops.iter().any(|name| name == f.name(op)))?;
    let opset = f.opset("").filter(|opset| *opset >= kind.since)?;
    let x = f.operand(op, 0).filter(|_| f.result_count(op) == 1)?;
    let is_float = f.type_of(x).is_tensor() && f.dtype(x) == Some(DType::F32);
    if !is_float || f.traits(op).is_ambiguous() {
        return None;
    }
    let axis = match kind {
        // An attribute parameter of the enclosing function may have any value.
        Kind::SOFTMAX => int_or(f, op, "axis", -1)?,
        _ => -1,
    };
    let is_last = f
        .rank(x)
        .is_some_and(|rank| rank as i64 == axis.saturating_add(1));
    let axis = if is_last { -1 } else { axis };
    Some(FastFunction { kind, axis, opset })
}
