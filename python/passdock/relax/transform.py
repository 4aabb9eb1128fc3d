"""Factories of the standard passes on graph functions, such as ``relax.transform.FoldConstant()``.

The module also has every other registered pass whose name begins with ``relax.transform.``, and TVM's names.
``python/factories.py`` generates this file from the declarations of the passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._finding import registered_in
from ..transform import FunctionPass, ModulePass, Sequential, function_pass, standard

__all__ = [
    "AlterOpLayout",
    "AnnotateTarget",
    "BackwardFoldScaleAxis",
    "BindParams",
    "BindSymbolicVars",
    "CanonicalizeBindings",
    "CombineParallelConv2D",
    "CombineParallelGemm",
    "CombineParallelMatmul",
    "ConvertLayout",
    "DeadCodeElimination",
    "DecomposeOps",
    "DefuseOps",
    "DynamicToStatic",
    "EliminateCommonSubexpr",
    "FastMath",
    "FoldBatchNorm",
    "FoldConstant",
    "FoldExplicitPadding",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "FuseOperators",
    "FuseOps",
    "FuseOpsByPattern",
    "InferType",
    "InlineFunctions",
    "LambdaLift",
    "Legalize",
    "MergeRegions",
    "PartitionGraph",
    "RaiseOpset",
    "SimplifyExpr",
    "SimplifyInference",
    "ToANormalForm",
    "ToGraphNormalForm",
    "ToMixedPrecision",
    "function_pass",
]

if not TYPE_CHECKING:
    # Other registered passes.
    __getattr__, __dir__ = registered_in(globals(), "relax.transform.")


def AlterOpLayout() -> ModulePass:
    """Converts ops to the layouts that their definitions prefer.

    Level 3. Requires InferType.
    """
    return ModulePass._of(standard("relax.transform.AlterOpLayout"))


def AnnotateTarget(
    *,
    target: str | None = None,
    domain: str | None = None,
    ops: Sequence[str] | None = None,
    traits: Sequence[str] | None = None,
    dtypes: Sequence[str] | None = None,
    static_shapes: bool | None = None,
) -> ModulePass:
    """Annotates the ops that a target supports.

    Level 0. Requires InferType.

    Args:
        target: The target's name.
        domain: The domain of the created functions. If empty, the target's name, in which `_` replaces characters other
            than letters, digits, and dots between parts.
        ops: Names of ops that the target supports.
        traits: Traits of ops that the target supports.
        dtypes: Element types that the target supports. If empty, any.
        static_shapes: Whether all sizes must be known.
    """
    return ModulePass._of(
        standard(
            "relax.transform.AnnotateTarget",
            target=target,
            domain=domain,
            ops=ops,
            traits=traits,
            dtypes=dtypes,
            static_shapes=static_shapes,
        )
    )


def BackwardFoldScaleAxis(*, allow_growth: bool | None = None) -> FunctionPass:
    """Folds scale and bias ops that follow a convolution or matmul into its weights.

    Level 2. Requires InferType.

    Args:
        allow_growth: Whether to fold even if the function grows by more than 1/2000 of the bytes of its constants, per
            direction. Within that limit, either all folds with a cost are applied or none.
    """
    return FunctionPass._of(standard("relax.transform.BackwardFoldScaleAxis", allow_growth=allow_growth))


def BindParams(*, defaults: bool | None = None, params: Mapping[str, Any] | None = None) -> ModulePass:
    """Binds parameters to constants.

    Level 0.

    Args:
        defaults: Whether parameters with a default are replaced by their default.
        params: Values of parameters, by parameter name.
    """
    return ModulePass._of(standard("relax.transform.BindParams", defaults=defaults, params=params))


def BindSymbolicVars(*, dims: Mapping[str, int] | None = None) -> ModulePass:
    """Binds dim symbols of the model's inputs and outputs to sizes.

    Level 1.

    Args:
        dims: Sizes of dim symbols, by symbol name.
    """
    return ModulePass._of(standard("relax.transform.BindSymbolicVars", dims=dims))


def CanonicalizeBindings() -> FunctionPass:
    """Propagates copies: uses of a copy become uses of the original.

    Level 1.
    """
    return FunctionPass._of(standard("relax.transform.CanonicalizeBindings"))


def CombineParallelConv2D(*, min_num_branches: int | None = None) -> FunctionPass:
    """Combines parallel convolutions of one input into one convolution.

    Level 4. Requires InferType.

    Args:
        min_num_branches: Combine groups of at least this many ops, even if that leaves more ops. With 0, combine groups
            only if that leaves fewer ops.
    """
    return FunctionPass._of(standard("relax.transform.CombineParallelConv2D", min_num_branches=min_num_branches))


def CombineParallelGemm(*, min_num_branches: int | None = None) -> FunctionPass:
    """Combines parallel Gemms of one input into one Gemm.

    Level 4. Requires InferType.

    Args:
        min_num_branches: Combine groups of at least this many ops, even if that leaves more ops. With 0, combine groups
            only if that leaves fewer ops.
    """
    return FunctionPass._of(standard("relax.transform.CombineParallelGemm", min_num_branches=min_num_branches))


def CombineParallelMatmul(*, min_num_branches: int | None = None) -> FunctionPass:
    """Combines parallel matmuls of one input into one matmul.

    Level 2. Requires InferType.

    Args:
        min_num_branches: Combine groups of at least this many ops, even if that leaves more ops. With 0, combine groups
            only if that leaves fewer ops.
    """
    return FunctionPass._of(standard("relax.transform.CombineParallelMatmul", min_num_branches=min_num_branches))


def ConvertLayout(*, desired_layouts: Mapping[str, Any] | None = None) -> ModulePass:
    """Converts ops to the layouts that the pipeline requests.

    Level 3. Requires InferType.

    Args:
        desired_layouts: The layouts of the operands, by operator: `{ "onnx.Conv" = ["NHWC", "default"] }`.
    """
    return ModulePass._of(standard("relax.transform.ConvertLayout", desired_layouts=desired_layouts))


def DeadCodeElimination(*, entry_functions: str | None = None) -> ModulePass:
    """Removes dead code: unused ops, constants and functions.

    Level 1. Requires InferType.

    Args:
        entry_functions: Names of the entry functions, separated by commas.
    """
    return ModulePass._of(standard("relax.transform.DeadCodeElimination", entry_functions=entry_functions))


def DecomposeOps(*, ops: Sequence[str] | None = None, except_: Sequence[str] | None = None) -> FunctionPass:
    """Decomposes ops into the simpler ops of their definitions.

    Level 0. Requires InferType.

    Args:
        ops: Ops to decompose, by name (`onnx.Gelu`). If empty, all ops that have a body.
        except_: Ops that are not decomposed, by name.
    """
    return FunctionPass._of(standard("relax.transform.DecomposeOps", ops=ops, **{"except": except_}))


def DefuseOps() -> ModulePass:
    """Inlines fused kernels, restoring the original ops.

    Level 0.
    """
    return ModulePass._of(standard("relax.transform.DefuseOps"))


def DynamicToStatic() -> FunctionPass:
    """Replaces shape operands with constants that are right for all sizes.

    Level 2. Requires InferType, FoldConstant.
    """
    return FunctionPass._of(standard("relax.transform.DynamicToStatic"))


def EliminateCommonSubexpr() -> FunctionPass:
    """Eliminates common subexpressions.

    Level 1. Requires InferType.
    """
    return FunctionPass._of(standard("relax.transform.EliminateCommonSubexpr"))


def FastMath(*, ops: Sequence[str] | None = None) -> ModulePass:
    """Approximates exponentials and functions derived from them.

    Level 4. Requires InferType.

    Args:
        ops: The operators to approximate, by name.
    """
    return ModulePass._of(standard("relax.transform.FastMath", ops=ops))


def FoldBatchNorm(*, allow_growth: bool | None = None) -> FunctionPass:
    """Folds batch normalization in inference mode into the weights of adjacent ops.

    Level 2. Requires InferType.

    Args:
        allow_growth: Whether to fold even if the function grows by more than 1/1000 of the bytes of its constants.
            Within that limit, either all folds with a cost are applied or none.
    """
    return FunctionPass._of(standard("relax.transform.FoldBatchNorm", allow_growth=allow_growth))


def FoldConstant(*, max_growth: int | None = None, allow_growth: bool | None = None) -> FunctionPass:
    """Folds constant expressions.

    Level 2.

    Args:
        max_growth: The number of bytes by which one folded op may make the function larger, or 1/1600 of the bytes of
            its constants if that is more. The limit for all folded ops together is 8 times as high. An expression of
            several ops may use 1/1600 for each op, and all such expressions together 8/1600.
        allow_growth: Whether to fold even if the function grows beyond `max_growth`.
    """
    return FunctionPass._of(standard("relax.transform.FoldConstant", max_growth=max_growth, allow_growth=allow_growth))


def FoldExplicitPadding() -> FunctionPass:
    """Folds explicit padding into the convolutions and pools that follow.

    Level 0. Requires InferType.
    """
    return FunctionPass._of(standard("relax.transform.FoldExplicitPadding"))


def FoldScaleAxis() -> Sequential:
    """Folds scale and bias ops around a convolution or matmul into its weights.

    Level 2.
    """
    return Sequential._of(standard("relax.transform.FoldScaleAxis"))


def ForwardFoldScaleAxis(*, allow_growth: bool | None = None) -> FunctionPass:
    """Folds scale and bias ops before a convolution or matmul into its weights.

    Level 2. Requires InferType.

    Args:
        allow_growth: Whether to fold even if the function grows by more than 1/2000 of the bytes of its constants, per
            direction. Within that limit, either all folds with a cost are applied or none.
    """
    return FunctionPass._of(standard("relax.transform.ForwardFoldScaleAxis", allow_growth=allow_growth))


def FuseOperators(*, ops: Sequence[str] | None = None, except_: Sequence[str] | None = None) -> FunctionPass:
    """Fuses sequences of ops into equivalent ONNX operators.

    Level 2. Requires InferType.

    Args:
        ops: The operators to create, by name (`onnx.Swish`). If empty: all that the pass supports, except the slow
            ones.
        except_: Operators that the pass doesn't create.
    """
    return FunctionPass._of(standard("relax.transform.FuseOperators", ops=ops, **{"except": except_}))


def FuseOps(
    *,
    max_depth: int | None = None,
    max_args: int | None = None,
    fuse_opt_level: int | None = None,
) -> ModulePass:
    """Groups ops that can run as one kernel into functions.

    Level 0. Requires InferType.

    Args:
        max_depth: The maximum number of ops per function.
        max_args: The maximum number of parameters and results of a function together; 0 means unlimited.
        fuse_opt_level: 0 disables fusion; -1 uses the level of the context.
    """
    return ModulePass._of(
        standard(
            "relax.transform.FuseOps",
            max_depth=max_depth,
            max_args=max_args,
            fuse_opt_level=fuse_opt_level,
        )
    )


def FuseOpsByPattern(
    *,
    patterns: Sequence[str] | None = None,
    rules: Sequence[str] | None = None,
    inner_results: bool | None = None,
) -> ModulePass:
    """Groups ops that match patterns into functions.

    Level 0. Requires InferType.

    Args:
        patterns: Patterns with names: `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`.
        rules: Text of rules whose left-hand sides are the patterns. A pipeline file takes names of files: `npu.rules`.
        inner_results: Whether to match ops whose intermediate results have other users. The function then returns these
            results as well.
    """
    return ModulePass._of(
        standard(
            "relax.transform.FuseOpsByPattern",
            patterns=patterns,
            rules=rules,
            inner_results=inner_results,
        )
    )


def InferType() -> ModulePass:
    """Infers the types of all results from the operators' definitions.

    Level 0.
    """
    return ModulePass._of(standard("relax.transform.InferType"))


def InlineFunctions(*, functions: Sequence[str] | None = None, max_ops: int | None = None) -> ModulePass:
    """Inlines functions of the module into their callers.

    Level 1.

    Args:
        functions: The functions to inline. If empty, all except `main`.
        max_ops: The maximum number of ops of a function after inlining. Calls that would exceed it stay.
    """
    return ModulePass._of(standard("relax.transform.InlineFunctions", functions=functions, max_ops=max_ops))


def LambdaLift(*, ops: Sequence[str] | None = None, domain: str | None = None) -> ModulePass:
    """Lifts regions to functions; captured values become parameters.

    Level 1.

    Args:
        ops: Names of the ops whose regions are lifted. If empty, all.
        domain: The domain of the functions.
    """
    return ModulePass._of(standard("relax.transform.LambdaLift", ops=ops, domain=domain))


def Legalize() -> FunctionPass:
    """Legalizes ops, replacing them with ops that every back end supports.

    Level 1. Requires InferType.
    """
    return FunctionPass._of(standard("relax.transform.Legalize"))


def MergeRegions() -> ModulePass:
    """Merges adjacent annotated regions of the same target.

    Level 0.
    """
    return ModulePass._of(standard("relax.transform.MergeRegions"))


def PartitionGraph(*, bind_constants: bool | None = None) -> ModulePass:
    """Converts annotated regions to partitions for code generation.

    Level 0.

    Args:
        bind_constants: Whether constants of any size move into the partition instead of being operands.
    """
    return ModulePass._of(standard("relax.transform.PartitionGraph", bind_constants=bind_constants))


def RaiseOpset(*, to: int | None = None) -> ModulePass:
    """Converts the model to a later version of ONNX's operators.

    Level 0. Requires InferType.

    Args:
        to: The requested version of ONNX's operators; 0 keeps the current one.
    """
    return ModulePass._of(standard("relax.transform.RaiseOpset", to=to))


def SimplifyExpr(*, keep_negative_zero: bool | None = None) -> FunctionPass:
    """Simplifies expressions to fewer ops with equal results.

    Level 0. Requires InferType.

    Args:
        keep_negative_zero: Whether to keep `x + 0.0` and `x - -0.0`, which turn a `-0.0` into `0.0`.
    """
    return FunctionPass._of(standard("relax.transform.SimplifyExpr", keep_negative_zero=keep_negative_zero))


def SimplifyInference(*, batch_norm: bool | None = None) -> FunctionPass:
    """Removes ops that have an effect only in training.

    Level 0. Requires InferType.

    Args:
        batch_norm: Whether to decompose BatchNormalization as well.
    """
    return FunctionPass._of(standard("relax.transform.SimplifyInference", batch_norm=batch_norm))


def ToANormalForm() -> ModulePass:
    """Converts to A-normal form: sorts ops into evaluation order.

    Level 1.
    """
    return ModulePass._of(standard("relax.transform.ToANormalForm"))


def ToGraphNormalForm() -> FunctionPass:
    """Converts to graph normal form: sorts ops by the dataflow graph alone.

    Level 1.
    """
    return FunctionPass._of(standard("relax.transform.ToGraphNormalForm"))


def ToMixedPrecision(
    *,
    dtype: str | None = None,
    always: Sequence[str] | None = None,
    follow: Sequence[str] | None = None,
    never: Sequence[str] | None = None,
    keep_io: bool | None = None,
    accumulate_float32: bool | None = None,
) -> FunctionPass:
    """Converts a model to mixed precision, float16 or bfloat16.

    Level 0. Requires InferType.

    Args:
        dtype: The low-precision type.
        always: Operators that are always computed in the low-precision type, by name (`onnx.Conv`).
        follow: Operators that are computed in the low-precision type if their neighbors are.
        never: Operators that stay in float32.
        keep_io: Whether the model's inputs and outputs keep their types.
        accumulate_float32: Whether ops that accumulate round their operands and compute in float32.
    """
    return FunctionPass._of(
        standard(
            "relax.transform.ToMixedPrecision",
            dtype=dtype,
            always=always,
            follow=follow,
            never=never,
            keep_io=keep_io,
            accumulate_float32=accumulate_float32,
        )
    )
