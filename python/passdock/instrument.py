"""Instruments: what watches passes run, and may veto them. The names are those of ``tvm.ir.instrument``."""

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

# What a callback is called with beside `self`.
_HOOKS = {
    "enter_pass_ctx": (),
    "exit_pass_ctx": (),
    "should_run": ("mod", "info"),
    "run_before_pass": ("mod", "info"),
    "run_after_pass": ("mod", "info"),
    "pass_failed": ("mod", "info", "error"),
}


class _Name:
    """The instrument's name in messages: that of the class, if the object has none of its own."""

    def __get__(self, instrument: object, owner: type) -> Any:
        return self if instrument is None else owner.__name__


class PassInstrument:
    """What watches the passes of a context. Each callback is optional; what a class doesn't have isn't called.

    A method that is nearly named as a callback is and takes the same arguments, or a callback that takes others, is refused.
    """

    # By a `__setattr__` type checkers would let a program set what there isn't.
    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The instrument's name in messages: that of the class, if the object has none of its own."""
    else:
        name = _Name()

        def __setattr__(self, name: str, value: Any) -> None:
            if name in _HOOKS:
                kind = type(self).__name__
                raise TypeError(f"{kind}.{name} is a method of the class: a callback of an object isn't called")
            super().__setattr__(name, value)

    def enter_pass_ctx(self) -> None:
        """Called before the context is entered. What it raises keeps it from being entered."""

    def exit_pass_ctx(self) -> None:
        """Called after the context was left."""

    def should_run(self, mod: Module, info: PassInfo) -> bool:
        """Whether the pass may run. Not called for passes that the context requires."""
        return True

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        """Called before the pass runs."""

    def run_after_pass(self, mod: Module, info: PassInfo) -> None:
        """Called after the pass ran, with the module that it made."""

    def pass_failed(self, mod: Module, info: PassInfo, error: BaseException) -> None:
        """Called in place of ``run_after_pass`` if the pass, or an instrument around it, failed."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _check(cls)


def _check(cls: type) -> None:
    if cls.__module__ == __name__:
        return
    # Not at the top: what it imports takes longer than the whole package.
    from ._methods import check_arity, refuse_misspelt, takes_self

    for name, arguments in _HOOKS.items():
        hook = getattr(cls, name)
        if hook is getattr(PassInstrument, name):
            hidden = [each for each in cls.__mro__ if name in vars(each) and each is not PassInstrument]
            if hidden:
                after = hidden[0].__name__
                raise TypeError(f"{after}.{name} is never called: {cls.__name__} has the base PassInstrument before {after}")
            continue
        if not callable(hook) and not hasattr(hook, "__get__"):
            raise TypeError(f"{cls.__name__}.{name} is called, and is a {type(hook).__name__}")
        form = ("self", *arguments) if takes_self(cls, name) else arguments
        check_arity(hook, len(form), f"{cls.__name__}.{name}", f"({', '.join(form)})")
    refuse_misspelt(cls, {name: 1 + len(arguments) for name, arguments in _HOOKS.items()})


@overload
def pass_instrument(pi_cls: type[T]) -> type[T]: ...
@overload
def pass_instrument(pi_cls: None = None) -> Callable[[type[T]], type[T]]: ...
def pass_instrument(pi_cls: Any = None) -> Any:
    """Makes a class an instrument: ``@pass_instrument`` or ``@pass_instrument()``.

    Attributes and methods of the class stay as they are; a subclass of ``PassInstrument`` is one, too.

    Raises:
        TypeError: what is no class; a callback whose name is nearly right, or that takes other arguments.
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
    """How long each pass took, as a tree. Ask ``render()`` before the context is left; afterwards there is nothing."""

    def __init__(self) -> None:
        self._native = _passdock.NativeInstrument("timing")

    @property
    def name(self) -> str:
        return "timing"

    def render(self) -> str:
        """The times so far: a line for each pass, indented by what ran it. An empty text, and a warning, if there are none."""
        report = self._native.report()
        if report is None:
            warnings.warn("no pass was timed: ask render() before the context is left", stacklevel=2)
            return ""
        # A table of the passes by name follows the tree.
        return report.partition("\n\n")[0] + "\n"


class _Native(PassInstrument):
    _native: _passdock.NativeInstrument

    @property
    def name(self) -> str:
        return self._native.name

    def __repr__(self) -> str:
        return repr(self._native)

    def report(self) -> str | None:
        """What the instrument has to show so far; None if it shows nothing."""
        return self._native.report()

    def report_data(self) -> Any:
        """The same as data."""
        return self._native.report_data()


def get_instrument(name: str, /, **options: Any) -> _Native:
    """An instrument of the host or of a plugin by its name: ``get_instrument("op-count")``.

    Raises:
        UnknownNameError: there is none of the name; the message names the nearest.
        ConfigError: an option isn't right.
    """
    made = _Native()
    made._native = _passdock.NativeInstrument(name, **options)
    return made


class PassPrintingInstrument(PassInstrument):
    """Prints the module before and after passes, by name: any that stands for one, as in ``get_pass``.

    A name that no pass has, registered or run, raises ``UnknownNameError`` when the context is left.
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
                # It raises for what is none.
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
    """Verifies the module before and after each pass, and says which pass broke what.

    Args:
        check_ty: types are always verified: only True is taken.
        validate_before_transform: whether the module is verified before a pass, too.
    """
    if check_ty is not True:
        raise ValueError("types are always verified: check_ty is True")
    return get_instrument("verify", before=validate_before_transform)


def DumpIR(dump_dir: str | PathLike[str], refresh: bool = False) -> _Native:
    """Writes the module to a file of a directory after each pass.

    Args:
        dump_dir: the directory, which is made.
        refresh: whether one that holds nothing but such files is emptied first.
    """
    return get_instrument("dump", dir=fspath(dump_dir), refresh=refresh)
