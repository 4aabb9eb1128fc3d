"""Instruments: what watches passes run, and may veto them. The names are those of ``tvm.ir.instrument``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import Any, TypeVar, overload

from . import _passdock
from ._passdock import Module, PassInfo
from .transform import get_pass

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

_HOOKS = {
    "enter_pass_ctx": ("(self)", 1),
    "exit_pass_ctx": ("(self)", 1),
    "should_run": ("(self, mod, info)", 3),
    "run_before_pass": ("(self, mod, info)", 3),
    "run_after_pass": ("(self, mod, info)", 3),
    "pass_failed": ("(self, mod, info, error)", 4),
}


class PassInstrument:
    """What watches the passes of a context. Each callback is optional; what a class doesn't have isn't called.

    A subclass with a name that is nearly a callback's, or a callback of other arguments, is refused.
    """

    @property
    def name(self) -> str:
        """The instrument's name in messages: that of the class."""
        return type(self).__name__

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
    # Not at the top: they take longer to import than the whole package.
    import difflib
    import inspect

    for name, value in vars(cls).items():
        if name.startswith("__") or not callable(value):
            continue
        if name not in _HOOKS:
            # What begins as callbacks do is taken for one.
            is_like = name.startswith(("enter_", "exit_", "run_"))
            near = difflib.get_close_matches(name, _HOOKS, n=1, cutoff=0.4 if is_like else 0.85)
            if is_like or near:
                meant = f"did you mean {near[0]}?" if near else f"callbacks are {', '.join(_HOOKS)}"
                raise TypeError(f"{cls.__name__}.{name} is never called; {meant}")
            continue
        form, count = _HOOKS[name]
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):
            continue
        is_bound = isinstance(vars(cls)[name], (classmethod, staticmethod))
        try:
            signature.bind(*[None] * (count - is_bound))
        except TypeError:
            raise TypeError(f"{cls.__name__}.{name} is called as {form}, and declared as {signature}") from None


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
        _check(cls)
        namespace = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
        return type(cls.__name__, (cls, PassInstrument), namespace)

    return decorate if pi_cls is None else decorate(pi_cls)


class PassTimingInstrument(PassInstrument):
    """How long each pass took, as a tree. Ask ``render()`` before the context is left; afterwards there is nothing."""

    def __init__(self) -> None:
        self._native = _passdock.Timing()

    @property
    def name(self) -> str:
        return "timing"

    def render(self) -> str:
        """The times so far: a line for each pass, indented by what ran it. An empty text, and a warning, if there are none."""
        times = self._native.render()
        if not times:
            warnings.warn("no pass was timed: ask render() before the context is left", stacklevel=2)
        return times


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
                get_pass(name)


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
