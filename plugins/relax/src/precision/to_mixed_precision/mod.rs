//! `relax.transform.ToMixedPrecision`: computes in float16 or bfloat16 what takes it well.
//!
//! ```ir
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,1,2]) opset("" = 17) {
//!   %w = const f32[1,1,3] [1.0, 0.5, 0.1]
//!   %0 = onnx.Conv(%x, %w) : f32[1,1,2]
//!   %1 = onnx.Relu(%0) : f32[1,1,2]
//!   %2 = onnx.Softmax(%1) : f32[1,1,2]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,1,2]) opset("" = 17) {
//!   %w = const f16[1,1,3] [1.0, 0.5, 0.1]
//!   %0 = onnx.Cast(%x) {to = 10} : f16[1,1,4]
//!   %1 = onnx.Conv(%0, %w) : f16[1,1,2]
//!   %2 = onnx.Relu(%1) : f16[1,1,2]
//!   %3 = onnx.Cast(%2) {to = 1} : f32[1,1,2]
//!   %4 = onnx.Softmax(%3) : f32[1,1,2]
//!   return %4
//! }
//! ```
//!
//! Operators are of three categories. Those that are **always** computed in the smaller type: `Conv`, `ConvTranspose`,
//! `DeformConv`, `Einsum`, `Gemm`, `MatMul`. Those that **follow** what they are among: what moves data, and what works
//! element by element on numbers that stay of their size (`Add`, `Relu`, `Tanh`, pooling). All others **never** are:
//! those that sum up, exponentials and logarithms, normalizations. The options `always`, `follow` and `never` name
//! operators of another category (one of ONNX's that there isn't is an error); a vendor's operators take part where
//! their definitions say what they result in.
//!
//! An op that follows is in the smaller type if its operands are, constants aside; where another choice needs fewer
//! `Cast`s, that one is taken, and it is the one with the fewest that there is. A value is cast once to a type,
//! behind what makes it; casts back and forth are removed. Constants are converted once and shared.
//!
//! **A constant that would turn to infinity, or to nothing but zeros, keeps its op in float32**: a note names it.
//! Another note is about constants of which more than a tenth would be smaller than what the type has full precision
//! for. An op stays in float32, too, if its version doesn't take the type, which most operators do for bfloat16 from
//! opset 13 on, and `Conv` from 22 on (a note says so; `RaiseOpset` raises it), and if an operand's or result's type
//! isn't known.
//!
//! Ops next to a `DequantizeLinear` or a `QuantizeLinear` stay as they are, as runtimes compute them in integers, and
//! so do `ScatterElements` and `ScatterND` with a `reduction`, which ONNX Runtime doesn't have in float16.
//!
//! With `accumulate_float32`, an op that sums up rounds its operands and computes in float32, as an accelerator does
//! that multiplies in the smaller type: ONNX has no attribute for that. Its weights are cast in the model, until
//! FoldConstant makes float32 ones of them. Without `keep_io` the model's inputs and outputs become of the smaller type
//! where that saves a `Cast`, which changes its interface; functions, regions and loops keep the types of what they
//! take and give in any case.
//!
//! The instrument `numerics` and `--verify-outputs` hold what it makes to what the smaller type allows. A model that
//! takes differences of large numbers may be further off: basic_pitch is, one of the models that the project tests
//! with, by up to 0.06 of outputs between 0 and 1.
//!
//! It does not touch float64, nor what is of a smaller type already, nor inputs that have defaults.
//!
//! ```ir
//! fn @main(%x: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
//!   %w = const f32[2,2] [1.0, 0.5, 0.25, 2.0]
//!   %0 = onnx.MatMul(%x, %w) : f32[n,2]
//!   return %0
//! }
//! → { dtype = "bfloat16", keep_io = false }
//! fn @main(%x: bf16[n,2]) -> (%y: bf16[n,2]) opset("" = 17) {
//!   %w = const bf16[2,2] [1.0, 0.5, 0.25, 2.0]
//!   %0 = onnx.MatMul(%x, %w) : bf16[n,2]
//!   return %0
//! }
//! ```
//!
//! Source: TVM `src/relax/transform/to_mixed_precision.cc`, `src/relax/transform/infer_amp_utils.cc`.

mod category;
mod constants;
mod cut;
mod decide;
mod flow;
mod operators;
mod rewrite;
mod trial;

use passdock_plugin_api::prelude::*;

use crate::shared::operators::is_operator;
use category::Categories;
use flow::Flows;

options! {
    /// What is computed in a smaller type, and in which.
    pub struct ToMixedPrecision {
        /// The smaller type.
        #[choices("float16", "bfloat16")]
        dtype: String = "float16",
        /// Operators that are always computed in it, by name (`onnx.Conv`).
        always: Vec<String> = [],
        /// Operators that are computed in it if what they are among is.
        follow: Vec<String> = [],
        /// Operators that never are.
        never: Vec<String> = [],
        /// Whether the model's inputs and outputs keep their types.
        keep_io: bool = true,
        /// Whether ops that sum up compute in float32, of rounded operands.
        accumulate_float32: bool = false,
    }
}

/// The smaller type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Low {
    dtype: DType,
    /// As options call it.
    name: &'static str,
    /// As ONNX's `Cast` calls it.
    onnx: i64,
    /// The first opset whose `Cast` knows it, under a number.
    since: i64,
}

impl Low {
    const F16: Low = Low {
        dtype: DType::F16,
        name: "float16",
        onnx: 10,
        since: 6,
    };
    const BF16: Low = Low {
        dtype: DType::BF16,
        name: "bfloat16",
        onnx: 16,
        since: 13,
    };
}

const CAST: &str = "onnx.Cast";

/// float32, as ONNX's `Cast` calls it.
const FLOAT: i64 = 1;

/// Computes a function in mixed precision.
pub fn to_mixed_precision(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<ToMixedPrecision>()?;
    let low = match &*options.dtype {
        "bfloat16" => Low::BF16,
        _ => Low::F16,
    };
    if let Some(module) = cx.module() {
        module.check_operators("always", &options.always)?;
        module.check_operators("follow", &options.follow)?;
        module.check_operators("never", &options.never)?;
    }
    let categories = Categories::new(&options)?;
    let opset = f.opset("").unwrap_or(0);
    if !is_operator(cx, CAST) || opset < low.since {
        return Ok(());
    }
    let mut flows = Flows::new(f, cx, &options, &categories, low)?;
    decide::decide(f, cx, &mut flows)?;
    rewrite::rewrite(f, &flows)
}
