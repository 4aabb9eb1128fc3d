"""The exceptions of the host.

An exception that a pass or an instrument of Python raises comes out of the host as itself. What the host refuses, and
what passes of plugins fail with, are these. Where TVM raises a builtin exception, ours is one, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    """A pass that failed, or something that the host refused. The module that went in is as it was.

    Attributes:
        code: a short stable word for the kind of error, ``"pass-failed"``.
        exit_status: the status that the command ends with: 1 for a pass, the model or the output, 2 for the request,
            3 for a plugin.
        pass_name, plugin, function, op_name, location: where it happened; None where that isn't known.
        help: advice what to do, or None.
        notes: further sentences.
        rendered: the error as the command shows it, with the line that it is about.
        report: the report of the run, if it was a run of a pipeline.
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
    """What a pass warns of, or the host, and the run went on: ``warnings.simplefilter("ignore", PassWarning)``.

    Attributes:
        report: the report of the run, if a filter makes an error of the warning; None if nothing ran yet.
    """

    report: Any = None


class UnknownNameError(PassError, LookupError):
    """No pass or instrument has that name."""


class UsageError(PassError, ValueError):
    """A name that can't be used, or is taken."""


class ConfigError(PassError, AttributeError, TypeError):
    """A config key, a field or a value that isn't right."""


class PipelineError(PassError, ValueError):
    """A pipeline, or a file of rules, that isn't right."""


class PluginError(PassError, OSError):
    """A plugin that can't be used."""


class DiagnosticError(PassError):
    """One or more error diagnostics were emitted, and were shown when the pass ended."""


class VerifyError(PassError):
    """A pass left IR that isn't right."""


class ModelError(PassError, ValueError):
    """A model that can't be read."""


class ContextError(PassError):
    """A context that can't be entered or left."""


class EditError(ValueError):
    """An edit that the host refused; nothing was changed.

    Attributes:
        op: the op that it is about, None if the host names none: the failure of the pass points at it. A program may
            set it. It is there as long as its pass runs.
        op_text: its line of IR text, which stays.
    """

    op: Op | None = None
    op_text: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # An op stays in its process.
        return type(self), self.args


class StaleError(EditError):
    """An op, a value, a region, a function or a constant that isn't there any more."""


# The modules of the package that call a program's methods and rules while its pass runs.
_BETWEEN = ("passdock.walk", "passdock.rewrite")


def _line(error: BaseException) -> str | None:
    """Returns the line of a program that an exception went through, ``passes.py:24``.

    It is a line of the code that the host called, or that the package called for it. A pass that was run from there has
    lines of its own.
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
    """Adds a note to an exception, unless it has the note already."""
    if note and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _remark(
    error: BaseException, location: tuple[str | None, str | None, str | None, str | None], notes: list[str]
) -> None:
    """Adds the notes of the host to the exception of a pass, which went through it at a location."""
    pass_name, function, op_name, loc = location
    if pass_name is not None:
        line = _line(error)
        parts = [f"Error in pass {pass_name}", function and f"function @{function}", op_name, loc and f"at {loc}"]
        _note(error, ", ".join(filter(None, parts)) + (f" ({line})" if line else ""))
    for note in notes:
        _note(error, note)
