//! The graph-level standard passes, `relax.transform.*`.
//!
//! There is one file per pass. Its module documentation has a one-line summary, IR before and after, and the limits of
//! the pass. Four folders have passes that apply rewrite rules (`rules`), outline groups of ops (`fusion`), convert
//! layouts (`layout`), and trade precision for speed (`precision`).

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

use passdock_plugin_api::prelude::*;

plugin! {
    name: "relax",
    passes: [
        /// Infers the types of all results from the operators' definitions.
        module "relax.transform.InferType" => infer_type::infer_type {
            changes_interface: true,
            opt_level: 0,
        },
        /// Folds constant expressions.
        function "relax.transform.FoldConstant" => fold_constant::fold_constant {
            opt_level: 2,
            thread_safe: true,
            options: fold_constant::FoldConstant,
            config: "relax.FoldConstant",
        },
        /// Propagates copies: uses of a copy become uses of the original.
        function "relax.transform.CanonicalizeBindings" => canonicalize_bindings::canonicalize_bindings {
            opt_level: 1,
            thread_safe: true,
        },
        /// Eliminates common subexpressions.
        function "relax.transform.EliminateCommonSubexpr" => eliminate_common_subexpr::eliminate_common_subexpr {
            opt_level: 1,
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Binds dim symbols of the model's inputs and outputs to sizes.
        module "relax.transform.BindSymbolicVars" => bind_symbolic_vars::bind_symbolic_vars {
            opt_level: 1,
            changes_interface: true,
            options: bind_symbolic_vars::BindSymbolicVars,
            config: "relax.BindSymbolicVars",
        },
        /// Binds parameters to constants.
        module "relax.transform.BindParams" => bind_params::bind_params {
            opt_level: 0,
            changes_interface: true,
            options: bind_params::BindParams,
            config: "relax.BindParams",
        },
        /// Replaces shape operands with constants that are right for all sizes.
        function "relax.transform.DynamicToStatic" => dynamic_to_static::dynamic_to_static {
            opt_level: 2,
            required: ["relax.transform.InferType", "relax.transform.FoldConstant"],
            thread_safe: true,
        },
        /// Removes dead code: unused ops, constants and functions.
        module "relax.transform.DeadCodeElimination" => dead_code_elimination::dead_code_elimination {
            opt_level: 1,
            required: ["relax.transform.InferType"],
            options: dead_code_elimination::DeadCodeElimination,
            config: "relax.DeadCodeElimination",
        },
        /// Inlines functions of the module into their callers.
        module "relax.transform.InlineFunctions" => inline_functions::inline_functions {
            opt_level: 1,
            aliases: ["relax.transform.Inline", "relax.transform.InlinePrivateFunctions"],
            options: inline_functions::InlineFunctions,
        },
        /// Lifts regions to functions; captured values become parameters.
        module "relax.transform.LambdaLift" => lambda_lift::lambda_lift {
            opt_level: 1,
            options: lambda_lift::LambdaLift,
        },
        /// Converts the model to a later version of ONNX's operators.
        module "relax.transform.RaiseOpset" => raise_opset::raise_opset {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            changes_interface: true,
            options: raise_opset::RaiseOpset,
            config: "relax.RaiseOpset",
        },
        /// Removes ops that have an effect only in training.
        function "relax.transform.SimplifyInference" => simplify_inference::simplify_inference {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: simplify_inference::SimplifyInference,
            config: "relax.SimplifyInference",
        },
        /// Simplifies expressions to fewer ops with equal results.
        function "relax.transform.SimplifyExpr" => rules::simplify_expr::simplify_expr {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: rules::simplify_expr::SimplifyExpr,
            config: "relax.SimplifyExpr",
        },
        /// Fuses sequences of ops into equivalent ONNX operators.
        function "relax.transform.FuseOperators" => rules::fuse_operators::fuse_operators {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: rules::fuse_operators::FuseOperators,
            config: "relax.FuseOperators",
        },
        /// Folds batch normalization in inference mode into the weights of adjacent ops.
        function "relax.transform.FoldBatchNorm" => fold_batch_norm::fold_batch_norm {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: fold_batch_norm::FoldBatchNorm,
            config: "relax.FoldBatchNorm",
        },
        /// Folds scale and bias ops that follow a convolution or matmul into its weights.
        function "relax.transform.BackwardFoldScaleAxis" => fold_scale_axis::backward_fold_scale_axis {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: fold_scale_axis::FoldScaleAxis,
            config: "relax.BackwardFoldScaleAxis",
        },
        /// Folds scale and bias ops before a convolution or matmul into its weights.
        function "relax.transform.ForwardFoldScaleAxis" => fold_scale_axis::forward_fold_scale_axis {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: fold_scale_axis::FoldScaleAxis,
            config: "relax.ForwardFoldScaleAxis",
        },
        /// Combines parallel matmuls of one input into one matmul.
        function "relax.transform.CombineParallelMatmul" => combine_parallel::matmul::combine_parallel_matmul {
            opt_level: 2,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: combine_parallel::CombineParallel,
            config: "relax.CombineParallelMatmul",
        },
        /// Combines parallel convolutions of one input into one convolution.
        function "relax.transform.CombineParallelConv2D" => combine_parallel::conv2d::combine_parallel_conv2d {
            opt_level: 4,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: combine_parallel::CombineParallel,
            config: "relax.CombineParallelConv2D",
        },
        /// Combines parallel Gemms of one input into one Gemm.
        function "relax.transform.CombineParallelGemm" => combine_parallel::gemm::combine_parallel_gemm {
            opt_level: 4,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: combine_parallel::CombineParallel,
            config: "relax.CombineParallelGemm",
        },
        /// Folds explicit padding into the convolutions and pools that follow.
        function "relax.transform.FoldExplicitPadding" => rules::fold_explicit_padding::fold_explicit_padding {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Converts to A-normal form: sorts ops into evaluation order.
        module "relax.transform.ToANormalForm" => to_a_normal_form::to_a_normal_form {
            opt_level: 1,
        },
        /// Converts to graph normal form: sorts ops by the dataflow graph alone.
        function "relax.transform.ToGraphNormalForm" => to_graph_normal_form::to_graph_normal_form {
            opt_level: 1,
            thread_safe: true,
        },
        /// Legalizes ops, replacing them with ops that every back end supports.
        function "relax.transform.Legalize" => legalize::legalize {
            opt_level: 1,
            aliases: ["relax.transform.LegalizeOps"],
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Groups ops that can run as one kernel into functions.
        module "relax.transform.FuseOps" => fusion::fuse_ops::fuse_ops {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            options: fusion::fuse_ops::FuseOps,
            config: "relax.FuseOps",
        },
        /// Inlines fused kernels, restoring the original ops.
        module "relax.transform.DefuseOps" => fusion::defuse_ops::defuse_ops {
            opt_level: 0,
        },
        /// Groups ops that match patterns into functions.
        module "relax.transform.FuseOpsByPattern" => fusion::fuse_ops_by_pattern::fuse_ops_by_pattern {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            options: fusion::fuse_ops_by_pattern::FuseOpsByPattern,
            config: "relax.FuseOpsByPattern",
        },
        /// Annotates the ops that a target supports.
        module "relax.transform.AnnotateTarget" => fusion::partition::annotate_target::annotate_target {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            options: fusion::partition::annotate_target::AnnotateTarget,
            config: "relax.AnnotateTarget",
        },
        /// Merges adjacent annotated regions of the same target.
        module "relax.transform.MergeRegions" => fusion::partition::merge_regions::merge_regions {
            opt_level: 0,
            aliases: ["relax.transform.MergeCompilerRegions"],
        },
        /// Converts annotated regions to partitions for code generation.
        module "relax.transform.PartitionGraph" => fusion::partition::partition_graph::partition_graph {
            opt_level: 0,
            options: fusion::partition::partition_graph::PartitionGraph,
            config: "relax.PartitionGraph",
        },
        /// Decomposes ops into the simpler ops of their definitions.
        function "relax.transform.DecomposeOps" => decompose_ops::decompose_ops {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            options: decompose_ops::DecomposeOps,
            config: "relax.DecomposeOps",
        },
        /// Converts ops to the layouts that the pipeline requests.
        module "relax.transform.ConvertLayout" => layout::convert_layout::convert_layout {
            opt_level: 3,
            required: ["relax.transform.InferType"],
            options: layout::convert_layout::ConvertLayout,
            config: "relax.ConvertLayout",
        },
        /// Converts ops to the layouts that their definitions prefer.
        module "relax.transform.AlterOpLayout" => layout::alter_op_layout::alter_op_layout {
            opt_level: 3,
            required: ["relax.transform.InferType"],
        },
        /// Converts a model to mixed precision, float16 or bfloat16.
        function "relax.transform.ToMixedPrecision" => precision::to_mixed_precision::to_mixed_precision {
            opt_level: 0,
            required: ["relax.transform.InferType"],
            thread_safe: true,
            changes_interface: true,
            options: precision::to_mixed_precision::ToMixedPrecision,
            config: "relax.ToMixedPrecision",
        },
        /// Approximates exponentials and functions derived from them.
        module "relax.transform.FastMath" => precision::fast_math::fast_math {
            opt_level: 4,
            required: ["relax.transform.InferType"],
            options: precision::fast_math::FastMath,
            config: "relax.FastMath",
        },
    ],
    sequentials: [
        /// Folds scale and bias ops around a convolution or matmul into its weights.
        "relax.transform.FoldScaleAxis" => [
            "relax.transform.BackwardFoldScaleAxis",
            "relax.transform.ForwardFoldScaleAxis",
            "relax.transform.FoldConstant",
        ] { opt_level: 2 },
    ],
}
