"""Diagnostics: what passes say to the user, and what shows it. The names are those of ``tvm.ir.diagnostics``.

A pass emits them to the context that it is given::

    @function_pass(opt_level=1)
    def check_loops(func, mod, ctx):
        for op in func.ops_named("onnx.Loop"):
            ctx.emit(Diagnostic(DiagnosticLevel.WARNING, op, "Loops aren't fused."))
        return func

They are shown when the pass has returned. If an error or a bug is among them, the pass has failed: ``DiagnosticError``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from . import _passdock
from ._passdock import Diagnostic, DiagnosticContext
from .errors import DiagnosticError

__all__ = [
    "Diagnostic",
    "DiagnosticContext",
    "DiagnosticError",
    "DiagnosticLevel",
    "DiagnosticRenderer",
    "get_renderer",
    "override_renderer",
]


class DiagnosticLevel(IntEnum):
    """How bad it is, the worst first."""

    BUG = 10
    """A mistake of the compiler itself; the pass has failed."""
    ERROR = 20
    """The pass can't go on: it has failed."""
    WARNING = 30
    """What may be a mistake."""
    NOTE = 40
    """A remark beside another diagnostic."""
    HELP = 50
    """Advice what to do."""


class DiagnosticRenderer:
    """What shows diagnostics.

    Args:
        render_func: a function that gets a ``DiagnosticContext``, and shows its ``diagnostics``. What it raises masks no
            error: Python's ``sys.unraisablehook`` hears of it.
    """

    def __init__(self, render_func: Callable[[DiagnosticContext], Any]) -> None:
        if not callable(render_func):
            kind = type(render_func).__name__
            raise TypeError(f"a renderer is a function that takes a DiagnosticContext, not {kind}")
        self._render = render_func

    def render(self, ctx: DiagnosticContext) -> None:
        """Shows the diagnostics that a context has collected."""
        self._render(ctx)


def _to_stderr(ctx: DiagnosticContext) -> None:
    for said in ctx.diagnostics:
        print(said, file=sys.stderr)


_STANDARD = DiagnosticRenderer(_to_stderr)
_renderer = _STANDARD


def get_renderer() -> DiagnosticRenderer:
    """What shows the diagnostics of passes, in contexts without a renderer of their own."""
    return _renderer


def override_renderer(render_func: DiagnosticRenderer | Callable[[DiagnosticContext], Any] | None) -> None:
    """Sets what shows the diagnostics of passes that start from now on, in all threads.

    Args:
        render_func: a function that gets a ``DiagnosticContext``, or a renderer; None for standard error again.
    """
    global _renderer
    if render_func is None:
        _passdock.override_renderer(None)
        _renderer = _STANDARD
        return
    renderer = render_func if isinstance(render_func, DiagnosticRenderer) else DiagnosticRenderer(render_func)
    _passdock.override_renderer(_showing(renderer))
    _renderer = renderer


def _showing(renderer: DiagnosticRenderer | Callable[[DiagnosticContext], Any]) -> Callable[[list[Diagnostic]], None]:
    """A renderer as the host calls it: with the diagnostics of one pass."""
    shown_by = renderer if isinstance(renderer, DiagnosticRenderer) else DiagnosticRenderer(renderer)

    def show(said: list[Diagnostic]) -> None:
        collected = DiagnosticContext(renderer=shown_by)
        for one in said:
            collected.emit(one)
        shown_by.render(collected)

    return show
