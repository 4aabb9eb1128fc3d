"""The standard passes on functions of the loop level, a function each: ``tir.transform.UnrollLoop()``.

Any other registered pass whose name begins with ``tir.transform.`` is here, too, and so are TVM's names. Written by
``python/factories.py`` of what the passes declare.
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
    # What else is registered.
    __getattr__, __dir__ = registered_in(globals(), "tir.transform.")


def UnrollLoop(
    *,
    auto_max_step: int | None = None,
    auto_max_depth: int | None = None,
    auto_max_extent: int | None = None,
    explicit_unroll: bool | None = None,
    max_ops: int | None = None,
) -> PrimFuncPass:
    """Unrolls loops: copies of their bodies stand in their place.

    Level 0.

    Args:
        auto_max_step: Serial loops of up to this many steps, nested ones multiplied.
        auto_max_depth: Serial loops in which up to this many loops were unrolled.
        auto_max_extent: Serial loops that run up to this many times.
        explicit_unroll: Write the copies out; otherwise only mark the loops.
        max_ops: The most ops that copies may make in a function. A serial loop that would make more stays.
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
