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
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn

from . import _passdock
from .errors import DiagnosticError

if TYPE_CHECKING:
    from ._passdock import Op, PassContext, PassDiagnostics

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

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"{value} is no DiagnosticLevel; they are {', '.join(str(int(level)) for level in cls)}")


class Diagnostic:
    """A diagnostic: a message for the user, and the op that it is about.

    Args:
        level: a ``DiagnosticLevel``, or its number.
        span: an op, or None.
        message: a sentence.
        code: a short stable word.
        help: advice on what to do.
        notes: further sentences.
    """

    level: DiagnosticLevel
    """How bad it is: 10 is a bug, 50 is help."""
    span: Op | None
    """The op that it is about, if the program gave one."""
    message: str
    """The sentence."""
    code: str
    """The short stable word, or an empty string."""
    help: str | None
    """The advice on what to do."""
    notes: list[str]
    """Further sentences."""
    pass_name: str | None = None
    """The name of the pass that emitted it, once it is shown."""
    function: str | None = None
    """The name of the function that it is about, if the host knows it."""
    op_name: str | None = None
    """The op that it is about, as messages name it."""
    location: str | None = None
    """The location of the op: a line and a column, or the name of an ONNX node."""
    _text: str | None = None

    def __init__(
        self,
        level: DiagnosticLevel | int,
        span: Op | None,
        message: str,
        *,
        code: str = "",
        help: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.level = DiagnosticLevel(level)
        self.span, self.message, self.code, self.help, self.notes = span, message, code, help, list(notes)

    @classmethod
    def _of_host(cls, fields: dict[str, Any], text: str) -> Diagnostic:
        level = DiagnosticLevel[fields["severity"].upper()]
        made = cls(level, None, fields["message"], code=fields["code"], help=fields["help"], notes=fields.get("notes", ()))
        made.pass_name, made.function, made.op_name = fields["pass"], fields["function"], fields["op"]
        made.location, made._text = fields["location"], text
        return made

    def __str__(self) -> str:
        """The diagnostic as the command prints it, without colours."""
        return self._text or _passdock.diagnostic_text(self)

    def __repr__(self) -> str:
        return f"<passdock.Diagnostic {self.level.name.lower()}: {self.message}>"


_EMITTED = "One or more error diagnostics were emitted, please check diagnostic render for output."


class DiagnosticContext:
    """Diagnostics, collected until they are shown.

    ``ctx.diag_ctx`` is that of a running pass, whose diagnostics are shown when it has returned. A program may have one
    of its own.

    Args:
        module: what they are about; it isn't looked at.
        renderer: what ``render`` shows them by; ``get_renderer()`` if none is given.
    """

    pass_name: str | None = None
    """The name of the running pass; None for diagnostics of a program's own."""

    def __init__(self, module: Any = None, renderer: DiagnosticRenderer | None = None) -> None:
        self.module = module
        self._renderer = renderer
        self._collected: list[Diagnostic] = []

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics that aren't shown yet."""
        return list(self._collected)

    def emit(self, diagnostic: Diagnostic) -> None:
        """Adds a diagnostic, to be shown when the pass has returned. An error or a bug makes the pass count as failed."""
        self._collected.append(diagnostic)

    def emit_fatal(self, diagnostic: Diagnostic) -> NoReturn:
        """Adds a diagnostic that a pass can't go on after, and raises DiagnosticError."""
        self.emit(diagnostic)
        self.render()
        raise DiagnosticError(_EMITTED)

    def render(self) -> None:
        """Shows the diagnostics of a program's own, in order, each once.

        Raises DiagnosticError if an error or a bug is among them.
        """
        if not self._collected:
            return
        (self._renderer or get_renderer()).render(self)
        shown, self._collected = self._collected, []
        if any(diagnostic.level <= DiagnosticLevel.ERROR for diagnostic in shown):
            raise DiagnosticError(_EMITTED)


class _RunningPass(DiagnosticContext):
    """The diagnostics of a running pass, which the host collects."""

    def __init__(self, ctx: PassContext, collected: PassDiagnostics) -> None:
        self.module = None
        self.pass_name = collected.pass_name
        self._ctx, self._host = ctx, collected

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [Diagnostic._of_host(*each) for each in self._host.collected()]

    def emit(self, diagnostic: Diagnostic) -> None:
        self._ctx.emit(diagnostic)

    def emit_fatal(self, diagnostic: Diagnostic) -> NoReturn:
        self.emit(diagnostic)
        raise DiagnosticError(_EMITTED)

    def render(self) -> None:
        raise RuntimeError("the diagnostics of a running pass are shown when it has returned")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RunningPass) and self._host == other._host

    __hash__ = None  # type: ignore[assignment]


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


def _showing(
    renderer: DiagnosticRenderer | Callable[[DiagnosticContext], Any],
) -> Callable[[list[tuple[dict[str, Any], str]]], None]:
    """A renderer as the host calls it: with the fields and the texts of the diagnostics of one pass."""
    shown_by = renderer if isinstance(renderer, DiagnosticRenderer) else DiagnosticRenderer(renderer)

    def show(emitted: list[tuple[dict[str, Any], str]]) -> None:
        collected = DiagnosticContext(renderer=shown_by)
        for each in emitted:
            collected.emit(Diagnostic._of_host(*each))
        shown_by.render(collected)

    return show
