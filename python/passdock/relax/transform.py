"""The standard passes on graph functions, a function each: ``relax.transform.FoldConstant()``.

Any other registered pass whose name begins with ``relax.transform.`` is here, too, and so are TVM's names. Written by
``python/factories.py`` of what the passes declare.
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
    # What else is registered.
    __getattr__, __dir__ = registered_in(globals(), "relax.transform.")


def AlterOpLayout() -> ModulePass:
    """Brings ops into the layouts that their definitions want.

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
    """Says of each op whether a target takes it.

    Level 0. Requires InferType.

    Args:
        target: The target's name.
        domain: The domain of its functions; none: the target's name, with `_` for what isn't a letter, a digit or a
            point between parts.
        ops: Names of ops that it takes.
        traits: Traits of ops that it takes.
        dtypes: The element types that it takes; none: any.
        static_shapes: Whether all sizes have to be known.
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
    """Lets weights take over what is multiplied and added behind them.

    Level 2. Requires InferType.

    Args:
        allow_growth: Fold also where the function grows by more than 1/2000 of the bytes of its constants, each way.
            Within that, all that costs something is folded, otherwise none.
    """
    return FunctionPass._of(standard("relax.transform.BackwardFoldScaleAxis", allow_growth=allow_growth))


def BindParams(*, defaults: bool | None = None, params: Mapping[str, Any] | None = None) -> ModulePass:
    """Binds parameters to constants.

    Level 0.

    Args:
        defaults: Whether parameters that have a default become what they default to.
        params: A value for each parameter, by its name.
    """
    return ModulePass._of(standard("relax.transform.BindParams", defaults=defaults, params=params))


def BindSymbolicVars(*, dims: Mapping[str, int] | None = None) -> ModulePass:
    """Binds dim symbols of the model's inputs and outputs to sizes.

    Level 1.

    Args:
        dims: A size for each symbol, by its name.
    """
    return ModulePass._of(standard("relax.transform.BindSymbolicVars", dims=dims))


def CanonicalizeBindings() -> FunctionPass:
    """Propagates copies: their uses become uses of the original.

    Level 1.
    """
    return FunctionPass._of(standard("relax.transform.CanonicalizeBindings"))


def CombineParallelConv2D(*, min_num_branches: int | None = None) -> FunctionPass:
    """Convolves one value with several weights at once.

    Level 4. Requires InferType.

    Args:
        min_num_branches: The number of ops from which on they are put together, also where that leaves more ops; 0:
            where it leaves fewer.
    """
    return FunctionPass._of(standard("relax.transform.CombineParallelConv2D", min_num_branches=min_num_branches))


def CombineParallelGemm(*, min_num_branches: int | None = None) -> FunctionPass:
    """Multiplies one matrix by several weights at once.

    Level 4. Requires InferType.

    Args:
        min_num_branches: The number of ops from which on they are put together, also where that leaves more ops; 0:
            where it leaves fewer.
    """
    return FunctionPass._of(standard("relax.transform.CombineParallelGemm", min_num_branches=min_num_branches))


def CombineParallelMatmul(*, min_num_branches: int | None = None) -> FunctionPass:
    """Multiplies one value by several weights at once.

    Level 2. Requires InferType.

    Args:
        min_num_branches: The number of ops from which on they are put together, also where that leaves more ops; 0:
            where it leaves fewer.
    """
    return FunctionPass._of(standard("relax.transform.CombineParallelMatmul", min_num_branches=min_num_branches))


def ConvertLayout(*, desired_layouts: Mapping[str, Any] | None = None) -> ModulePass:
    """Brings ops into the layouts that the pipeline asks for.

    Level 3. Requires InferType.

    Args:
        desired_layouts: Of each operator the layouts of its operands: `{ "onnx.Conv" = ["NHWC", "default"] }`.
    """
    return ModulePass._of(standard("relax.transform.ConvertLayout", desired_layouts=desired_layouts))


def DeadCodeElimination(*, entry_functions: str | None = None) -> ModulePass:
    """Removes dead code: ops, constants and functions that nobody uses.

    Level 1. Requires InferType.

    Args:
        entry_functions: The functions that are called from outside, separated by commas.
    """
    return ModulePass._of(standard("relax.transform.DeadCodeElimination", entry_functions=entry_functions))


def DecomposeOps(*, ops: Sequence[str] | None = None, except_: Sequence[str] | None = None) -> FunctionPass:
    """Decomposes ops into the simpler ops of their definitions.

    Level 0. Requires InferType.

    Args:
        ops: The ops to replace, by name (`onnx.Gelu`); none: all that have a body.
        except_: Ops that stay.
    """
    return FunctionPass._of(standard("relax.transform.DecomposeOps", ops=ops, **{"except": except_}))


def DefuseOps() -> ModulePass:
    """Puts the ops of kernels back in the place of their calls.

    Level 0.
    """
    return ModulePass._of(standard("relax.transform.DefuseOps"))


def DynamicToStatic() -> FunctionPass:
    """Replaces dynamic shape operands by constants where that makes no difference.

    Level 2. Requires InferType, FoldConstant.
    """
    return FunctionPass._of(standard("relax.transform.DynamicToStatic"))


def EliminateCommonSubexpr() -> FunctionPass:
    """Eliminates common subexpressions: what several ops compute is computed once.

    Level 1. Requires InferType.
    """
    return FunctionPass._of(standard("relax.transform.EliminateCommonSubexpr"))


def FastMath(*, ops: Sequence[str] | None = None) -> ModulePass:
    """Puts approximations in the place of exponentials and what is made of them.

    Level 4. Requires InferType.

    Args:
        ops: The operators, by name.
    """
    return ModulePass._of(standard("relax.transform.FastMath", ops=ops))


def FoldBatchNorm(*, allow_growth: bool | None = None) -> FunctionPass:
    """Lets weights take over what BatchNormalizations do in inference.

    Level 2. Requires InferType.

    Args:
        allow_growth: Fold also where the function grows by more than 1/1000 of the bytes of its constants. Within that,
            all that costs something is folded, otherwise none.
    """
    return FunctionPass._of(standard("relax.transform.FoldBatchNorm", allow_growth=allow_growth))


def FoldConstant(*, max_growth: int | None = None, allow_growth: bool | None = None) -> FunctionPass:
    """Folds constant expressions.

    Level 2.

    Args:
        max_growth: The bytes by which one folded op may make the function larger, or 1/1600 of the bytes of its
            constants if that is more; all folded ops together by 8 times as much. Expressions of several ops may take
            as many 1/1600 as they have ops, all of them together 8.
        allow_growth: Fold also where the function grows beyond that.
    """
    return FunctionPass._of(standard("relax.transform.FoldConstant", max_growth=max_growth, allow_growth=allow_growth))


def FoldExplicitPadding() -> FunctionPass:
    """Lets convolutions and pools pad what was padded before them.

    Level 0. Requires InferType.
    """
    return FunctionPass._of(standard("relax.transform.FoldExplicitPadding"))


def FoldScaleAxis() -> Sequential:
    """Lets weights take over what is multiplied and added around them.

    Level 2.
    """
    return Sequential._of(standard("relax.transform.FoldScaleAxis"))


def ForwardFoldScaleAxis(*, allow_growth: bool | None = None) -> FunctionPass:
    """Lets weights take over what is multiplied and added before them.

    Level 2. Requires InferType.

    Args:
        allow_growth: Fold also where the function grows by more than 1/2000 of the bytes of its constants, each way.
            Within that, all that costs something is folded, otherwise none.
    """
    return FunctionPass._of(standard("relax.transform.ForwardFoldScaleAxis", allow_growth=allow_growth))


def FuseOperators(*, ops: Sequence[str] | None = None, except_: Sequence[str] | None = None) -> FunctionPass:
    """Writes one operator for what several ops spell out.

    Level 2. Requires InferType.

    Args:
        ops: The operators to make, by name (`onnx.Swish`); none: all that the pass knows, but for those that ONNX
            Runtime is slower at.
        except_: Operators that aren't made.
    """
    return FunctionPass._of(standard("relax.transform.FuseOperators", ops=ops, **{"except": except_}))


def FuseOps(
    *,
    max_depth: int | None = None,
    max_args: int | None = None,
    fuse_opt_level: int | None = None,
) -> ModulePass:
    """Makes functions of ops that can run as one kernel.

    Level 0. Requires InferType.

    Args:
        max_depth: The largest number of ops of a function.
        max_args: The largest number of parameters and results of a function; 0: any.
        fuse_opt_level: 0: nothing is fused; -1: as the context's level says.
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
    """Makes functions of ops that patterns find.

    Level 0. Requires InferType.

    Args:
        patterns: Patterns, each behind its name: `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`.
        rules: Texts of rules, of which what stands in front of the arrows is looked for. A pipeline names files of
            them: `npu.rules`.
        inner_results: Whether ops are taken of which others use results in between, and the function gives those, too.
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
    """Inlines functions into their callers.

    Level 1.

    Args:
        functions: The functions to inline; none: all but `main`.
        max_ops: A call stays that would make a function of more ops than this.
    """
    return ModulePass._of(standard("relax.transform.InlineFunctions", functions=functions, max_ops=max_ops))


def LambdaLift(*, ops: Sequence[str] | None = None, domain: str | None = None) -> ModulePass:
    """Lifts regions to functions; what they capture becomes parameters.

    Level 1.

    Args:
        ops: The ops whose regions are lifted, by name; none: all.
        domain: The domain of the functions.
    """
    return ModulePass._of(standard("relax.transform.LambdaLift", ops=ops, domain=domain))


def Legalize() -> FunctionPass:
    """Replaces ops by what their makers say that every back end has.

    Level 1. Requires InferType.
    """
    return FunctionPass._of(standard("relax.transform.Legalize"))


def MergeRegions() -> ModulePass:
    """Puts together what one target takes.

    Level 0.
    """
    return ModulePass._of(standard("relax.transform.MergeRegions"))


def PartitionGraph(*, bind_constants: bool | None = None) -> ModulePass:
    """Makes partitions of what targets take.

    Level 0.

    Args:
        bind_constants: Whether constants of any size are inside, not operands.
    """
    return ModulePass._of(standard("relax.transform.PartitionGraph", bind_constants=bind_constants))


def RaiseOpset(*, to: int | None = None) -> ModulePass:
    """Raises the version of ONNX's own operators that the model means.

    Level 0. Requires InferType.

    Args:
        to: The version of ONNX's own operators; 0: as it is.
    """
    return ModulePass._of(standard("relax.transform.RaiseOpset", to=to))


def SimplifyExpr(*, keep_negative_zero: bool | None = None) -> FunctionPass:
    """Rewrites expressions to fewer ops that compute the same.

    Level 0. Requires InferType.

    Args:
        keep_negative_zero: Keep `x + 0.0` and `x - -0.0`, which turn a `-0.0` into `0.0`.
    """
    return FunctionPass._of(standard("relax.transform.SimplifyExpr", keep_negative_zero=keep_negative_zero))


def SimplifyInference(*, batch_norm: bool | None = None) -> FunctionPass:
    """Removes ops that only training needs.

    Level 0. Requires InferType.

    Args:
        batch_norm: Take BatchNormalization apart too.
    """
    return FunctionPass._of(standard("relax.transform.SimplifyInference", batch_norm=batch_norm))


def ToANormalForm() -> ModulePass:
    """Puts ops in the order in which they are evaluated.

    Level 1.
    """
    return ModulePass._of(standard("relax.transform.ToANormalForm"))


def ToGraphNormalForm() -> FunctionPass:
    """Puts ops in the order that the graph alone gives.

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
    """Computes in float16 or bfloat16 what takes it well.

    Level 0. Requires InferType.

    Args:
        dtype: The smaller type.
        always: Operators that are always computed in it, by name (`onnx.Conv`).
        follow: Operators that are computed in it if what they are among is.
        never: Operators that never are.
        keep_io: Whether the model's inputs and outputs keep their types.
        accumulate_float32: Whether ops that sum up compute in float32, of rounded operands.
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
