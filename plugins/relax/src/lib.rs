//! The graph-level standard passes, `relax.transform.*`.
//!
//! One file per pass: what it does in one sentence, before → after, what it doesn't do, the code. Four folders have
//! those that are rewriting rules (`rules`), make functions of groups of ops (`fusion`), bring ops into other layouts
//! (`layout`), and trade precision for speed (`precision`).

pub mod bind_params;
pub mod bind_symbolic_vars;
pub mod canonicalize_bindings;
mod channels;
pub mod combine_parallel;
pub mod dead_code_elimination;
pub mod decompose_ops;
pub mod dynamic_to_static;
pub mod eliminate_common_subexpr;
pub mod fold_batch_norm;
pub mod fold_constant;
pub mod fold_scale_axis;
pub mod fusion;
pub mod infer_type;
pub mod inline_functions;
pub mod lambda_lift;
pub mod layout;
pub mod legalize;
pub mod precision;
pub mod raise_opset;
pub mod rules;
mod shared;
pub mod simplify_inference;
pub mod to_a_normal_form;
pub mod to_graph_normal_form;

use bind_params::{BindParams, bind_params};
use bind_symbolic_vars::{BindSymbolicVars, bind_symbolic_vars};
use canonicalize_bindings::canonicalize_bindings;
use combine_parallel::CombineParallel;
use combine_parallel::conv2d::combine_parallel_conv2d;
use combine_parallel::gemm::combine_parallel_gemm;
use combine_parallel::matmul::combine_parallel_matmul;
use dead_code_elimination::{DeadCodeElimination, dead_code_elimination};
use decompose_ops::{DecomposeOps, decompose_ops};
use dynamic_to_static::dynamic_to_static;
use eliminate_common_subexpr::eliminate_common_subexpr;
use fold_batch_norm::{FoldBatchNorm, fold_batch_norm};
use fold_constant::{FoldConstant, fold_constant};
use fold_scale_axis::{FoldScaleAxis, backward_fold_scale_axis, forward_fold_scale_axis};
use fusion::defuse_ops::defuse_ops;
use fusion::fuse_ops::{FuseOps, fuse_ops};
use fusion::fuse_ops_by_pattern::{FuseOpsByPattern, fuse_ops_by_pattern};
use fusion::partition::annotate_target::{AnnotateTarget, annotate_target};
use fusion::partition::merge_regions::merge_regions;
use fusion::partition::partition_graph::{PartitionGraph, partition_graph};
use infer_type::infer_type;
use inline_functions::{InlineFunctions, inline_functions};
use lambda_lift::{LambdaLift, lambda_lift};
use layout::alter_op_layout::alter_op_layout;
use layout::convert_layout::{ConvertLayout, convert_layout};
use legalize::legalize;
use passdock_plugin_api::prelude::*;
use precision::fast_math::{FastMath, fast_math};
use precision::to_mixed_precision::{ToMixedPrecision, to_mixed_precision};
use raise_opset::{RaiseOpset, raise_opset};
use rules::fold_explicit_padding::fold_explicit_padding;
use rules::fuse_operators::{FuseOperators, fuse_operators};
use rules::simplify_expr::{SimplifyExpr, simplify_expr};
use simplify_inference::{SimplifyInference, simplify_inference};
use to_a_normal_form::to_a_normal_form;
use to_graph_normal_form::to_graph_normal_form;

plugin! {
    name: "relax",
    passes: [
        /// Infers the types of all results from the operators' definitions.
        module "relax.transform.InferType" => infer_type {
            changes_interface: true,
            opt_level: 0,
        },
        /// Folds constant expressions.
        function "relax.transform.FoldConstant" => fold_constant {
            opt_level: 2,
            thread_safe: true,
            options: FoldConstant,
            config: "relax.FoldConstant",
        },
        /// Propagates copies: their uses become uses of the original.
        function "relax.transform.CanonicalizeBindings" => canonicalize_bindings {
            opt_level: 1,
            thread_safe: true,
        },
        /// Eliminates common subexpressions: what several ops compute is computed once.
        function "relax.transform.EliminateCommonSubexpr" => eliminate_common_subexpr {
            opt_level: 1,
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Binds dim symbols of the model's inputs and outputs to sizes.
        module "relax.transform.BindSymbolicVars" => bind_symbolic_vars {
            opt_level: 1,
            changes_interface: true,
            options: BindSymbolicVars,
            config: "relax.BindSymbolicVars",
        },
        /// Binds parameters to constants.
        module "relax.transform.BindParams" => bind_params {
            opt_level: 0,
            changes_interface: true,
            options: BindParams,
            config: "relax.BindParams",
        },
        /// Replaces dynamic shape operands by constants where that makes no difference.
        function "relax.transform.DynamicToStatic" => dynamic_to_static {
            opt_level: 2,
            required: ["relax.transform.InferType", "relax.transform.FoldConstant"],
            thread_safe: true,
        },
        /// Removes dead code: ops, constants and functions that nobody uses.
        module "relax.transform.DeadCodeElimination" => dead_code_elimination {
            opt_level: 1,
            required: ["relax.transform.InferType"],
            options: DeadCodeElimination,
            config: "relax.DeadCodeElimination",
        },
        /// Inlines functions into their callers.
        module "relax.transform.InlineFunctions" => inline_functions {
            opt_level: 1,
            aliases: ["relax.transform.Inline", "relax.transform.InlinePrivateFunctions"],
            options: InlineFunctions,
        },
        /// Lifts regions to functions; what they capture becomes parameters.
        module "relax.transform.LambdaLift" => lambda_lift {
            opt_level: 1,
            options: LambdaLift,
        },
        /// Raises the version of ONNX's own operators that the model means.
        module "relax.transform.RaiseOpset" => raise_opset {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            changes_interface: true,
            options: RaiseOpset,
            config: "relax.RaiseOpset",
        },
        /// Removes ops that only training needs.
        function "relax.transform.SimplifyInference" => simplify_inference {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: SimplifyInference,
            config: "relax.SimplifyInference",
        },
        /// Rewrites expressions to fewer ops that compute the same.
        function "relax.transform.SimplifyExpr" => simplify_expr {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: SimplifyExpr,
            config: "relax.SimplifyExpr",
        },
        /// Writes one operator for what several ops spell out.
        function "relax.transform.FuseOperators" => fuse_operators {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: FuseOperators,
            config: "relax.FuseOperators",
        },
        /// Lets weights take over what BatchNormalizations do in inference.
        function "relax.transform.FoldBatchNorm" => fold_batch_norm {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: FoldBatchNorm,
            config: "relax.FoldBatchNorm",
        },
        /// Lets weights take over what is multiplied and added behind them.
        function "relax.transform.BackwardFoldScaleAxis" => backward_fold_scale_axis {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: FoldScaleAxis,
            config: "relax.BackwardFoldScaleAxis",
        },
        /// Lets weights take over what is multiplied and added before them.
        function "relax.transform.ForwardFoldScaleAxis" => forward_fold_scale_axis {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: FoldScaleAxis,
            config: "relax.ForwardFoldScaleAxis",
        },
        /// Multiplies one value by several weights at once.
        function "relax.transform.CombineParallelMatmul" => combine_parallel_matmul {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: CombineParallel,
            config: "relax.CombineParallelMatmul",
        },
        /// Convolves one value with several weights at once.
        function "relax.transform.CombineParallelConv2D" => combine_parallel_conv2d {
            opt_level: 4,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: CombineParallel,
            config: "relax.CombineParallelConv2D",
        },
        /// Multiplies one matrix by several weights at once.
        function "relax.transform.CombineParallelGemm" => combine_parallel_gemm {
            opt_level: 4,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: CombineParallel,
            config: "relax.CombineParallelGemm",
        },
        /// Lets convolutions and pools pad what was padded before them.
        function "relax.transform.FoldExplicitPadding" => fold_explicit_padding {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Puts ops in the order in which they are evaluated.
        module "relax.transform.ToANormalForm" => to_a_normal_form {
            opt_level: 1,
        },
        /// Puts ops in the order that the graph alone gives.
        function "relax.transform.ToGraphNormalForm" => to_graph_normal_form {
            opt_level: 1,
            thread_safe: true,
        },
        /// Replaces ops by what their makers say that every back end has.
        function "relax.transform.Legalize" => legalize {
            opt_level: 1,
            aliases: ["relax.transform.LegalizeOps"],
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Makes functions of ops that can run as one kernel.
        module "relax.transform.FuseOps" => fuse_ops {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            options: FuseOps,
            config: "relax.FuseOps",
        },
        /// Puts the ops of kernels back in the place of their calls.
        module "relax.transform.DefuseOps" => defuse_ops {
            opt_level: 0,
        },
        /// Makes functions of ops that patterns find.
        module "relax.transform.FuseOpsByPattern" => fuse_ops_by_pattern {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            options: FuseOpsByPattern,
            config: "relax.FuseOpsByPattern",
        },
        /// Says of each op whether a target takes it.
        module "relax.transform.AnnotateTarget" => annotate_target {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            options: AnnotateTarget,
            config: "relax.AnnotateTarget",
        },
        /// Puts together what one target takes.
        module "relax.transform.MergeRegions" => merge_regions {
            opt_level: 0,
            aliases: ["relax.transform.MergeCompilerRegions"],
        },
        /// Makes partitions of what targets take.
        module "relax.transform.PartitionGraph" => partition_graph {
            opt_level: 0,
            options: PartitionGraph,
            config: "relax.PartitionGraph",
        },
        /// Decomposes ops into the simpler ops of their definitions.
        function "relax.transform.DecomposeOps" => decompose_ops {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: DecomposeOps,
            config: "relax.DecomposeOps",
        },
        /// Brings ops into the layouts that the pipeline asks for.
        module "relax.transform.ConvertLayout" => convert_layout {
            opt_level: 3,
            required: ["relax.transform.InferType"],
            options: ConvertLayout,
            config: "relax.ConvertLayout",
        },
        /// Brings ops into the layouts that their definitions want.
        module "relax.transform.AlterOpLayout" => alter_op_layout {
            opt_level: 3,
            required: ["relax.transform.InferType"],
        },
        /// Computes in float16 or bfloat16 what takes it well.
        function "relax.transform.ToMixedPrecision" => to_mixed_precision {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            changes_interface: true,
            options: ToMixedPrecision,
            config: "relax.ToMixedPrecision",
        },
        /// Puts approximations in the place of exponentials and what is made of them.
        module "relax.transform.FastMath" => fast_math {
            opt_level: 4,
            required: ["relax.transform.InferType"],
            options: FastMath,
            config: "relax.FastMath",
        },
    ],
    sequentials: [
        /// Lets weights take over what is multiplied and added around them.
        "relax.transform.FoldScaleAxis" => [
            "relax.transform.BackwardFoldScaleAxis",
            "relax.transform.ForwardFoldScaleAxis",
            "relax.transform.FoldConstant",
        ] { opt_level: 2 },
    ],
}
