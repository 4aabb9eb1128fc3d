"""The exceptions of the host.

An exception that a Python pass or instrument raises is propagated unchanged. Errors of the host and of plugins' passes
have these classes. They derive from builtin exceptions where TVM raises those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _passdock

if TYPE_CHECKING:
    from ._passdock import Op

__all__ = [
    "ConfigError",
    "ContextError",
    "DiagnosticError",
    "EditError",
    "ModelError",
    "PassError",
    "PassWarning",
    "PipelineError",
    "PluginError",
    "StaleError",
    "UnknownNameError",
    "UsageError",
    "VerifyError",
]


class PassError(RuntimeError):
    """A pass failed, or the host rejected an operation. The input module is unchanged.

    Attributes:
        code: A short, stable identifier for the kind of error, ``"pass-failed"``.
        exit_status: The exit status of the command: 1 for a pass, the model or the output, 2 for the request, 3 for a
            plugin.
        pass_name, plugin, function, op_name, location: Where the error occurred; None if unknown.
        help: A suggestion, or None.
        notes: Further messages.
        rendered: The error as the command prints it, with the source line.
        report: The report of the run, if it was a run of a pipeline.
    """

    code: str
    exit_status: int
    pass_name: str | None
    plugin: str | None
    function: str | None
    op_name: str | None
    location: str | None
    help: str | None
    notes: list[str]
    rendered: str
    report: Any

    def __init__(
        self,
        message: str,
        *,
        code: str = "pass-failed",
        exit_status: int = 1,
        pass_name: str | None = None,
        plugin: str | None = None,
        function: str | None = None,
        op_name: str | None = None,
        location: str | None = None,
        help: str | None = None,
        notes: list[str] | None = None,
        rendered: str | None = None,
    ) -> None:
        message = _passdock.escaped(message)
        super().__init__(message)
        self.code = code
        self.exit_status = exit_status
        self.pass_name = pass_name
        self.plugin = plugin
        self.function = function
        self.op_name = op_name
        self.location = location
        self.help = help
        self.notes = notes or []
        self.rendered = rendered if rendered is not None else message
        self.report = None


class PassWarning(UserWarning):
    """A warning of a pass or the host; the run continued. Ignore it with ``warnings.simplefilter("ignore",
    PassWarning)``.

    Attributes:
        report: The report of the run, if a filter turns the warning into an error; None if nothing ran yet.
    """

    report: Any = None


class UnknownNameError(PassError, LookupError):
    """No pass or instrument has the name."""


class UsageError(PassError, ValueError):
    """A name is invalid or taken."""


class ConfigError(PassError, AttributeError, TypeError):
    """A config key, a field or a value is invalid."""


class PipelineError(PassError, ValueError):
    """A pipeline or a file of rules is invalid."""


class PluginError(PassError, OSError):
    """A plugin can't be used."""


class DiagnosticError(PassError):
    """Error diagnostics were emitted, and rendered when the pass ended."""


class VerifyError(PassError):
    """A pass produced invalid IR."""


class ModelError(PassError, ValueError):
    """A model can't be read."""


class ContextError(PassError):
    """A context can't be entered or left."""


class EditError(ValueError):
    """An edit was rejected; nothing was changed.

    Attributes:
        op: The op of the error, None if unknown; the failure of the pass refers to it. A program may set it. It is
            valid while its pass runs.
        op_text: The op's line of IR text, which stays valid.
    """

    op: Op | None = None
    op_text: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # An op can't be pickled.
        return type(self), self.args


class StaleError(EditError):
    """An op, a value, a region, a function or a constant was erased."""


# Modules of the package that call a program's methods and rules during a pass.
_BETWEEN = ("passdock.walk", "passdock.rewrite")


def _line(error: BaseException) -> str | None:
    """Returns the line of a program in an exception's traceback, ``passes.py:24``.

    The line belongs to the code that the host called, directly or through the package. Lines of a nested pass don't
    count.
    """
    line, is_called, at = None, True, error.__traceback__
    while at is not None:
        module = at.tb_frame.f_globals.get("__name__") or ""
        if module.startswith("passdock."):
            if line is not None and module not in _BETWEEN:
                break
            is_called = True
        elif is_called:
            line, is_called = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}", False
        at = at.tb_next
    return line


def _note(error: BaseException, note: str) -> None:
    """Adds a note to an exception, unless it already has the same note."""
    if note and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _remark(
    error: BaseException, location: tuple[str | None, str | None, str | None, str | None], notes: list[str]
) -> None:
    """Adds the location of a pass's exception and the host's notes to it."""
    pass_name, function, op_name, loc = location
    if pass_name is not None:
        line = _line(error)
        parts = [f"Error in pass {pass_name}", function and f"function @{function}", op_name, loc and f"at {loc}"]
        _note(error, ", ".join(filter(None, parts)) + (f" ({line})" if line else ""))
    for note in notes:
        _note(error, note)
