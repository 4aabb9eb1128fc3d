"""Instruments, which observe passes and may veto them. The names are those of ``tvm.ir.instrument``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _passdock
from ._info import PassInfo
from ._passdock import Module

__all__ = [
    "DumpIR",
    "PassInstrument",
    "PassPrintingInstrument",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "WellFormedInstrument",
    "get_instrument",
    "pass_instrument",
]

T = TypeVar("T")

# The arguments of the callbacks, in addition to `self`.
_HOOKS = {
    "enter_pass_ctx": (),
    "exit_pass_ctx": (),
    "should_run": ("mod", "info"),
    "run_before_pass": ("mod", "info"),
    "run_after_pass": ("mod", "info"),
    "pass_failed": ("mod", "info", "error"),
}


class _Name:
    """The instrument's name in messages: by default that of the class."""

    def __get__(self, instrument: object, owner: type) -> Any:
        return self if instrument is None else owner.__name__


class PassInstrument:
    """An observer of the passes in a context. All callbacks are optional, and only overridden ones are called.

    Raises TypeError for a method whose name and arguments resemble a callback's, or a callback with other arguments.
    """

    # With a visible `__setattr__`, type checkers would allow a program to set attributes that don't exist.
    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The instrument's name in messages: by default that of the class."""
    else:
        name = _Name()

        def __setattr__(self, name: str, value: Any) -> None:
            if name in _HOOKS:
                kind = type(self).__name__
                raise TypeError(f"cannot set {kind}.{name} on an object; define it in the class")
            super().__setattr__(name, value)

    def enter_pass_ctx(self) -> None:
        """Called before the context is entered. An exception prevents that."""

    def exit_pass_ctx(self) -> None:
        """Called after the context was left."""

    def should_run(self, mod: Module, info: PassInfo) -> bool:
        """Returns whether the pass may run. Not called for passes that the context requires."""
        return True

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        """Called before the pass runs."""

    def run_after_pass(self, mod: Module, info: PassInfo) -> None:
        """Called after the pass ran, with the resulting module."""

    def pass_failed(self, mod: Module, info: PassInfo, error: BaseException) -> None:
        """Called instead of ``run_after_pass`` if the pass, or an instrument around it, failed."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _check(cls)


def _check(cls: type) -> None:
    if cls.__module__ == __name__:
        return
    # Not at the top: these imports take longer than those of the whole package.
    from ._methods import check_arity, reject_misspelled, takes_self

    for name, arguments in _HOOKS.items():
        hook = getattr(cls, name)
        if hook is getattr(PassInstrument, name):
            hidden = [each for each in cls.__mro__ if name in vars(each) and each is not PassInstrument]
            if hidden:
                after = hidden[0].__name__
                raise TypeError(f"{after}.{name} is never called: {cls.__name__} has the base PassInstrument before {after}")
            continue
        if not callable(hook) and not hasattr(hook, "__get__"):
            raise TypeError(f"{cls.__name__}.{name} must be a method, not {type(hook).__name__}")
        form = ("self", *arguments) if takes_self(cls, name) else arguments
        check_arity(hook, len(form), f"{cls.__name__}.{name}", f"({', '.join(form)})")
    reject_misspelled(cls, {name: 1 + len(arguments) for name, arguments in _HOOKS.items()})


@overload
def pass_instrument(pi_cls: type[T]) -> type[T]: ...
@overload
def pass_instrument(pi_cls: None = None) -> Callable[[type[T]], type[T]]: ...
def pass_instrument(pi_cls: Any = None) -> Any:
    """Converts a class to an instrument: ``@pass_instrument`` or ``@pass_instrument()``.

    Attributes and methods of the class stay unchanged. A subclass of ``PassInstrument`` is returned as it is.

    Raises:
        TypeError: The argument isn't a class, a method looks like a misspelled callback, or a callback has other
            arguments.
    """

    def decorate(cls: Any) -> Any:
        if not isinstance(cls, type):
            raise TypeError("pi_cls must be a class")
        if issubclass(cls, PassInstrument):
            return cls
        namespace = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
        return type(cls.__name__, (cls, PassInstrument), namespace)

    return decorate if pi_cls is None else decorate(pi_cls)


class PassTimingInstrument(PassInstrument):
    """Measures the time of each pass, as a tree. Call ``render()`` before the context is left, which discards the
    times.
    """

    def __init__(self) -> None:
        self._native = _passdock.NativeInstrument("timing")

    @property
    def name(self) -> str:
        return "timing"

    def render(self) -> str:
        """Returns the times so far, a line per pass, indented under its caller. Without times, warns and returns
        ``""``.
        """
        report = self._native.report()
        if report is None:
            warnings.warn("no pass was timed; call render() before the context is left", stacklevel=2)
            return ""
        # A table of passes by name follows the tree.
        return report.partition("\n\n")[0] + "\n"


class _Native(PassInstrument):
    _native: _passdock.NativeInstrument

    @property
    def name(self) -> str:
        return self._native.name

    def __repr__(self) -> str:
        return repr(self._native)

    def report(self) -> str | None:
        """Returns the instrument's report so far; None if it has none."""
        return self._native.report()

    def report_data(self) -> Any:
        """Returns the report as data."""
        return self._native.report_data()


def get_instrument(name: str, /, **options: Any) -> _Native:
    """Returns an instrument of the host or of a plugin by its name: ``get_instrument("op-count")``.

    Raises:
        UnknownNameError: No instrument has the name; the message suggests the nearest one.
        ConfigError: An option is invalid.
    """
    made = _Native()
    made._native = _passdock.NativeInstrument(name, **options)
    return made


class PassPrintingInstrument(PassInstrument):
    """Prints the module before and after passes with the given names, which may be aliases as in ``get_pass``.

    Leaving the context raises ``UnknownNameError`` for a name that isn't registered and didn't run.
    """

    def __init__(self, print_before_pass_names: Sequence[str] = (), print_after_pass_names: Sequence[str] = ()) -> None:
        for names in (print_before_pass_names, print_after_pass_names):
            if isinstance(names, str):
                raise TypeError(f"expected a list of names, got a string; did you mean [{names!r}]?")
        self._before, self._after = list(print_before_pass_names), list(print_after_pass_names)
        self._met: set[str] = set()

    @property
    def name(self) -> str:
        return "PassPrintingInstrument"

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        self._met.add(info.name)
        if info.name in map(_passdock.own_name, self._before):
            print(f"Print IR before: {info.name}\n{mod}\n")

    def run_after_pass(self, mod: Module, info: PassInfo) -> None:
        if info.name in map(_passdock.own_name, self._after):
            print(f"Print IR after: {info.name}\n{mod}\n")

    def exit_pass_ctx(self) -> None:
        for name in (*self._before, *self._after):
            if name not in self._met:
                # Raises UnknownNameError for an unknown name.
                _passdock.PassHandle.registered(name)


class PrintBeforeAll(PassInstrument):
    """Prints the module before each pass."""

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        print(f"Before Running Pass: {info}\n{mod}")


class PrintAfterAll(PassInstrument):
    """Prints the module after each pass."""

    def run_after_pass(self, mod: Module, info: PassInfo) -> None:
        print(f"After Running Pass: {info}\n{mod}")


def WellFormedInstrument(check_ty: bool = True, validate_before_transform: bool = True) -> _Native:
    """Verifies the module before and after each pass, and reports the pass that broke an invariant.

    Args:
        check_ty: Must be True, because types are always verified.
        validate_before_transform: Whether to verify the module before a pass, too.
    """
    if check_ty is not True:
        raise ValueError("check_ty must be True: types are always verified")
    return get_instrument("verify", before=validate_before_transform)


def DumpIR(dump_dir: str | PathLike[str], refresh: bool = False) -> _Native:
    """Writes the module to a file in a directory after each pass.

    Args:
        dump_dir: The directory, which is created if it doesn't exist.
        refresh: Whether to clear the directory first, if it contains only such files.
    """
    return get_instrument("dump", dir=fspath(dump_dir), refresh=refresh)
