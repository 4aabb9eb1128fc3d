"""Factories of the standard passes on functions of the loop level, such as ``tir.transform.UnrollLoop()``.

The module also has every other registered pass whose name begins with ``tir.transform.``, and TVM's names.
``python/factories.py`` generates this file from the declarations of the passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._finding import registered_in
from ..transform import PrimFuncPass, prim_func_pass, standard

__all__ = [
    "UnrollLoop",
    "prim_func_pass",
]

if not TYPE_CHECKING:
    # Other registered passes.
    __getattr__, __dir__ = registered_in(globals(), "tir.transform.")


def UnrollLoop(
    *,
    auto_max_step: int | None = None,
    auto_max_depth: int | None = None,
    auto_max_extent: int | None = None,
    explicit_unroll: bool | None = None,
    max_ops: int | None = None,
) -> PrimFuncPass:
    """Unrolls loops.

    Level 0.

    Args:
        auto_max_step: The maximum number of steps of a serial loop that is unrolled, multiplied over nested loops.
        auto_max_depth: The maximum number of nested unrolled loops in a serial loop that is unrolled.
        auto_max_extent: The maximum trip count of a serial loop that is unrolled.
        explicit_unroll: Whether to unroll the selected serial loops. If `false`, they are only marked `unroll`.
        max_ops: The maximum number of ops that unrolling may create per function. Serial loops that would exceed it
            aren't unrolled.
    """
    return PrimFuncPass._of(
        standard(
            "tir.transform.UnrollLoop",
            auto_max_step=auto_max_step,
            auto_max_depth=auto_max_depth,
            auto_max_extent=auto_max_extent,
            explicit_unroll=explicit_unroll,
            max_ops=max_ops,
        )
    )
