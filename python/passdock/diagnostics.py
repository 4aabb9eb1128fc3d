"""Diagnostics that passes emit, and their renderers. The names are those of ``tvm.ir.diagnostics``.

A pass emits them to its context::

    @function_pass(opt_level=1)
    def check_loops(func, mod, ctx):
        for op in func.ops_named("onnx.Loop"):
            ctx.emit(Diagnostic(DiagnosticLevel.WARNING, op, "loops are not fused"))
        return func

They are rendered after the pass returns. An error or a bug among them makes the pass fail with ``DiagnosticError``.
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
    """The severity of a diagnostic, the most severe first."""

    BUG = 10
    """An error in the compiler itself; the pass fails."""
    ERROR = 20
    """The pass can't continue and fails."""
    WARNING = 30
    """A possible error."""
    NOTE = 40
    """A remark that belongs to another diagnostic."""
    HELP = 50
    """A suggestion."""
    DEBUG = 60
    """A detail for the author of a pass, shown only on request."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        levels = ", ".join(str(int(level)) for level in cls)
        raise ValueError(f"{value} is not a valid DiagnosticLevel; expected one of {levels}")


class Diagnostic:
    """A diagnostic: a message for the user, and the op that it refers to.

    Args:
        level: A ``DiagnosticLevel``, or its number.
        span: An op, or None.
        message: The message.
        code: A short, stable identifier.
        help: A suggestion.
        notes: Further messages.
    """

    level: DiagnosticLevel
    """The severity: 10 is a bug, 50 is help."""
    span: Op | None
    """The op that it refers to, if the program gave one."""
    message: str
    """The message."""
    code: str
    """The short, stable identifier, or an empty string."""
    help: str | None
    """The suggestion."""
    notes: list[str]
    """Further messages."""
    pass_name: str | None = None
    """The name of the pass that emitted it; set when it is rendered."""
    function: str | None = None
    """The name of the function that it refers to, if known."""
    op_name: str | None = None
    """The op that it refers to, as in messages."""
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
        """Returns the diagnostic as the command prints it, without colors."""
        return self._text or _passdock.diagnostic_text(self)

    def __repr__(self) -> str:
        return f"<passdock.Diagnostic {self.level.name.lower()}: {_passdock.one_line(self.message)}>"


_EMITTED = "One or more error diagnostics were emitted, please check diagnostic render for output."


class DiagnosticContext:
    """Diagnostics, collected until they are rendered.

    ``ctx.diag_ctx`` is the context of a running pass, whose diagnostics are rendered after it returns. A program may
    create its own.

    Args:
        module: The module that they refer to; not used.
        renderer: The renderer for ``render``; ``get_renderer()`` by default.
    """

    pass_name: str | None = None
    """The name of the running pass; None for diagnostics of a program."""

    def __init__(self, module: Any = None, renderer: DiagnosticRenderer | None = None) -> None:
        self.module = module
        self._renderer = renderer
        self._collected: list[Diagnostic] = []

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics that aren't rendered yet."""
        return list(self._collected)

    def emit(self, diagnostic: Diagnostic) -> None:
        """Adds a diagnostic, to be rendered after the pass returns. An error or a bug makes the pass fail."""
        self._collected.append(diagnostic)

    def emit_fatal(self, diagnostic: Diagnostic) -> NoReturn:
        """Adds a diagnostic after which the pass can't continue, and raises DiagnosticError."""
        self.emit(diagnostic)
        self.render()
        raise DiagnosticError(_EMITTED)

    def render(self) -> None:
        """Renders the diagnostics of a program in order, each once.

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
        raise RuntimeError("cannot render the diagnostics of a running pass, which are rendered after it returns")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RunningPass) and self._host == other._host

    __hash__ = None  # type: ignore[assignment]


class DiagnosticRenderer:
    """A renderer of diagnostics.

    Args:
        render_func: A function that receives a ``DiagnosticContext`` and shows its ``diagnostics``. Its exceptions are
            passed to ``sys.unraisablehook`` and don't mask other errors.
    """

    def __init__(self, render_func: Callable[[DiagnosticContext], Any]) -> None:
        if not callable(render_func):
            kind = type(render_func).__name__
            raise TypeError(f"a renderer must be a function of a DiagnosticContext, not {kind}")
        self._render = render_func

    def render(self, ctx: DiagnosticContext) -> None:
        """Renders the diagnostics that a context has collected."""
        self._render(ctx)


def _to_stderr(ctx: DiagnosticContext) -> None:
    for said in ctx.diagnostics:
        print(said, file=sys.stderr)


_STANDARD = DiagnosticRenderer(_to_stderr)
_renderer = _STANDARD


def get_renderer() -> DiagnosticRenderer:
    """Returns the renderer for the diagnostics of passes in contexts without their own renderer."""
    return _renderer


def override_renderer(render_func: DiagnosticRenderer | Callable[[DiagnosticContext], Any] | None) -> None:
    """Sets the renderer for the diagnostics of passes that start from now on, in all threads.

    Args:
        render_func: A renderer, or a function of a ``DiagnosticContext``; None restores the standard renderer.
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
    """Returns a renderer for the host, which calls it with the fields and texts of the diagnostics of one pass."""
    shown_by = renderer if isinstance(renderer, DiagnosticRenderer) else DiagnosticRenderer(renderer)

    def show(emitted: list[tuple[dict[str, Any], str]]) -> None:
        collected = DiagnosticContext(renderer=shown_by)
        for each in emitted:
            collected.emit(Diagnostic._of_host(*each))
        shown_by.render(collected)

    return show
