"""Passes: their classes, Sequentials, and decorators that create passes from functions and classes.

The names are those of ``tvm.ir.transform`` and ``tvm.relax.transform``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeVar, overload

from . import _passdock
from ._info import PassInfo
from ._passdock import Module, PassContext
from .instrument import PassInstrument

__all__ = [
    "ApplyPassToFunction",
    "FunctionPass",
    "ModulePass",
    "Pass",
    "PassContext",
    "PassInfo",
    "PassInstrument",
    "PrimFuncPass",
    "PrintIR",
    "Sequential",
    "build_config",
    "function_pass",
    "get_pass",
    "list_configs",
    "list_passes",
    "module_pass",
    "prim_func_pass",
    "register_config_option",
    "register_pass",
]

T = TypeVar("T")
Made_co = TypeVar("Made_co", bound="Pass", covariant=True)
Names = Collection[str] | None
# In the order in which they run.
Required = list[str] | tuple[str, ...] | None


class _NoHandle:
    """The handle attribute of classes: reports an object without its own handle."""

    def __get__(self, pass_: Pass | None, owner: type[Pass]) -> Any:
        if pass_ is None:
            return self
        if issubclass(owner, Sequential):
            raise TypeError(f"uninitialized pass; call `super().__init__(…)` first in {owner.__name__}.__init__")
        decorator = {"Function": "function_pass", "PrimFunc": "prim_func_pass"}.get(owner._pass_kind, "module_pass")
        raise TypeError(f"{owner.__name__} is not a pass; decorate the class with `@{decorator}(opt_level=…)`")


class Pass:
    """A map from modules to modules. ``pass_(module)`` runs it under the current context."""

    # Names that are unlikely to clash with those of a program's class.
    _pass_handle: _passdock.PassHandle = _NoHandle()  # type: ignore[assignment]
    _pass_kind: ClassVar[str] = ""

    @classmethod
    def _of(cls, handle: _passdock.PassHandle) -> Self:
        made = cls.__new__(cls)
        made._pass_handle = handle
        return made

    @property
    def info(self) -> PassInfo:
        """The metadata of the pass."""
        return self._pass_handle.info

    def __call__(self, mod: Module, ctx: PassContext | None = None) -> Module:
        """Runs the pass on a module and returns the resulting module.

        Args:
            mod: The module, which isn't changed.
            ctx: The context to run under; the current one by default. As in TVM, it isn't entered: its instruments
                observe passes, but get no context callbacks.

        Raises:
            PassError: A plugin's pass failed. Exceptions of Python passes are propagated unchanged.
        """
        if not isinstance(mod, Module):
            raise TypeError(f"a pass must be called with a passdock.Module, not {type(mod).__name__}")
        return self._pass_handle.call(mod, ctx)

    def register(self, *, override: bool = False) -> Self:
        """Registers the pass under its name, so that pipelines and ``required`` find it.

        Args:
            override: Whether to replace a pass with the same name: when a notebook cell runs again, or to replace a
                plugin's pass or one with that short name.

        Raises:
            UsageError: Another pass has the name, or the name is short for another pass, as ``"FoldConstant"`` is.
        """
        self._pass_handle.register(override)
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        origin = self._pass_handle.origin
        if origin is not None:
            return _registered, (type(self), *origin)
        return _place(self)

    # Passes are immutable. Classes whose objects may change override this.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __str__(self) -> str:
        return str(_describe(self))

    def __repr__(self) -> str:
        info = self._pass_handle.info
        return f"<{type(self).__name__} {info.name} opt_level={info.opt_level}>"


def _describe(pass_: Pass) -> str:
    info = pass_._pass_handle.info
    return f"Run {pass_._pass_kind} pass: {info.name} at the optimization level {info.opt_level}"


def _registered(kind: type[Pass], name: str, options: dict[str, Any]) -> Pass:
    """Recreates a pass of the registry from a pickle."""
    return kind._of(_passdock.PassHandle.registered(name, options or None))


def _place(pass_: Any) -> str:
    """Returns the reference by which pickle finds a pass created from a function: its qualified name in its module."""
    import pickle
    import sys

    path = str(getattr(pass_, "__qualname__", ""))
    found: Any = sys.modules.get(str(getattr(pass_, "__module__", "")))
    for name in path.split("."):
        found = getattr(found, name, None)
    if found is pass_:
        return path
    name, module = pass_._pass_handle.info.name, getattr(pass_, "__module__", "?")
    raise pickle.PicklingError(
        f"cannot pickle pass `{name}`: `{path or '?'}` of module `{module}` is not this pass; define it at the top "
        "level of a module"
    )


class ModulePass(Pass):
    """A pass on the module."""

    _pass_kind: ClassVar[str] = "Module"


class FunctionPass(Pass):
    """A pass on each graph function."""

    _pass_kind: ClassVar[str] = "Function"


class PrimFuncPass(Pass):
    """A pass on each loop-level function."""

    _pass_kind: ClassVar[str] = "PrimFunc"

    def __str__(self) -> str:
        info = self._pass_handle.info
        return f"PrimFuncPass({info.name}, opt_level={info.opt_level})"


class Sequential(Pass):
    """Passes in order, each after the passes that it requires. Skips passes that the context disables or whose level is
    higher.

    Args:
        passes: The passes.
        opt_level: The level of the Sequential itself.
        name: The name of the Sequential.
        required: Names of passes that must run before it.
        disabled: Names of its passes that don't run.
    """

    _pass_kind: ClassVar[str] = "Sequential"

    def __init__(
        self,
        passes: Sequence[Pass] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Required = None,
        *,
        disabled: Names = None,
    ) -> None:
        if passes is not None and not isinstance(passes, (list, tuple)):
            raise TypeError(f"passes must be a list of Pass objects, not {type(passes).__name__}")
        info = PassInfo(opt_level, name, required)
        self._pass_handle = _passdock.PassHandle.sequential(list(passes or ()), info, disabled)
        self._disabled = None if disabled is None else list(disabled)

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._pass_handle.origin is not None:
            return super().__reduce__()
        info = self._pass_handle.info
        said = (self.passes, info.opt_level, info.name, list(info.required), self._disabled)
        return _sequential, (type(self), *said), self.__getstate__()

    def __getstate__(self) -> Any:
        """Returns the attributes that a program set; the others are recreated."""
        state: Any = super().__getstate__()
        own, slots = state if isinstance(state, tuple) else (state, None)
        own = {name: value for name, value in (own or {}).items() if name not in ("_pass_handle", "_disabled")}
        return (own, slots) if slots else own or None

    __copy__ = __deepcopy__ = None  # type: ignore[assignment]

    @property
    def passes(self) -> list[Pass]:
        """The passes, in order."""
        given = self._pass_handle.children
        return given if given is not None else [_wrap(handle) for handle in self._pass_handle.child_handles]

    def resolve_dependency(self, ctx: PassContext | None = None) -> list[Pass]:
        """Returns the passes that would run, in order, without running any.

        A required pass precedes the pass that requires it, and the passes of a nested Sequential follow it.

        Args:
            ctx: The context that selects passes; the current one by default.

        Raises:
            UnknownNameError, PassError: A name is unknown, passes require each other, or a pass is both required and
                disabled.
        """
        found = self._pass_handle.resolved(ctx)
        return [one if isinstance(one, Pass) else _wrap(one) for one in found]

    def __str__(self) -> str:
        info = self._pass_handle.info
        names = " ".join(each._pass_handle.info.name for each in self.passes)
        head = f"Run Sequential pass: {info.name} at the optimization level {info.opt_level}."
        return f"{head} The passes will be executed are: [{names} ]"


def _sequential(kind: type[Sequential], passes: list[Pass], *said: Any) -> Sequential:
    """Recreates a Sequential from a pickle."""
    opt_level, name, required, disabled = said
    made = object.__new__(kind)
    # A class of the program may have another signature.
    Sequential.__init__(made, passes, opt_level, name, required, disabled=disabled)
    return made


_CLASSES: dict[str, type[Pass]] = {
    "module": ModulePass,
    "function": FunctionPass,
    "prim_func": PrimFuncPass,
    "sequential": Sequential,
}


def _wrap(handle: _passdock.PassHandle) -> Pass:
    return _CLASSES[handle.kind]._of(handle)


def get_pass(name: str, /, **options: Any) -> Pass:
    """Returns a pass of the registry.

    Args:
        name: The name of the pass. Short names such as ``"FoldConstant"`` are looked up in the namespaces of the
            standard passes, and TVM's names are aliases.
        options: The options of the pass.

    Raises:
        UnknownNameError: No pass has the name; the message suggests the nearest one.
        ConfigError: An option is invalid.
    """
    return _wrap(_passdock.PassHandle.registered(name, options or None))


def standard(name: str, /, **options: Any) -> _passdock.PassHandle:
    """Returns a pass with the given options; for others, the context's values or the defaults apply."""
    return _passdock.PassHandle.registered(name, {key: value for key, value in options.items() if value is not None})


@overload
def register_pass(pass_: T, *, override: bool = ...) -> T: ...
@overload
def register_pass(pass_: None = ..., *, override: bool = ...) -> Callable[[T], T]: ...
def register_pass(pass_: Any = None, *, override: bool = False) -> Any:
    """Registers a pass under its name. Also a decorator. The arguments are those of ``Pass.register``."""
    if pass_ is None:
        return functools.partial(register_pass, override=override)
    if not isinstance(pass_, Pass):
        raise TypeError(f"register_pass expects a pass, not {type(pass_).__name__}")
    return Pass.register(pass_, override=override)


def list_passes() -> list[str]:
    """Returns the names of the registered passes."""
    return _passdock.list_passes()


def list_configs() -> dict[str, dict[str, Any]]:
    """Returns the registered config keys, each with its type, documentation and fields."""
    return PassContext.list_configs()


def register_config_option(key: str, default: Any, doc: str = "") -> None:
    """Registers a config key.

    Args:
        key: The key, ``"acme.limit"``.
        default: The default, which determines the type of values; a dict for a key with fields.
        doc: The documentation.

    Raises:
        ConfigError: The key is already registered.
    """
    _passdock.register_config(key, default, doc)


def build_config(
    opt_level: int = 2,
    fallback_device: Any = None,
    required_pass: Names = None,
    disabled_pass: Names = None,
) -> PassContext:
    """Returns a ``PassContext``. This name is from TVM's early documentation."""
    config = None if fallback_device is None else {"relax.fallback_device_type": int(fallback_device)}
    return PassContext(opt_level=opt_level, required_pass=required_pass, disabled_pass=disabled_pass, config=config)


def _check_method(cls: type, method: str, count: int, form: str, kind: str) -> None:
    """Rejects a class without its method, or whose method can't be called with ``count`` arguments besides `self`."""
    # Not at the top: these imports take longer than those of the whole package.
    from ._methods import check_arity, takes_self

    if not callable(getattr(cls, method, None)):
        raise TypeError(f"{cls.__name__} is missing the method {method}{form} of a {kind} pass")
    if takes_self(cls, method):
        count, form = count + 1, f"(self, {form[1:]}"
    check_arity(getattr(cls, method), count, f"{cls.__name__}.{method}", form)


class _Info:
    """The property `info`, which objects may override with an attribute."""

    def __get__(self, pass_: Pass | None, owner: type[Pass]) -> Any:
        return self if pass_ is None else pass_._pass_handle.info


class _Run:
    """The callable that the host runs for an object of a program's class, and its handle.

    It is an attribute of that object and belongs to it alone: a copy of the object gets a new one.
    """

    __slots__ = ("handle", "method", "pass_")
    handle: _passdock.PassHandle

    def __init__(self, pass_: Any = None, method: str = "") -> None:
        self.pass_, self.method = pass_, method

    def __call__(self, *args: Any) -> Any:
        return getattr(self.pass_, self.method)(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Run, ()


class _Decorator(Protocol[Made_co]):
    """A decorator that creates a pass from a function, or a class of passes from a class."""

    @overload
    def __call__(self, target: type[T], /) -> type[T]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, target: Callable[..., Any], /) -> Made_co: ...


def _make(
    kind: str,
    base: type[Pass],
    method: str,
    count: int,
    form: str,
    target: Any,
    opt_level: int | None,
    name: str | None,
    required: Required,
) -> Any:
    article = {"module": "module pass", "function": "function pass", "prim_func": "prim_func pass"}[kind]
    if opt_level is None:
        raise ValueError(
            f"Please provide opt_level for the {article}: @{kind}_pass(opt_level=1)."
        )
    if required is not None and not isinstance(required, (list, tuple)):
        raise TypeError("Required is expected to be the type of list/tuple.")

    def decorate(target: Any) -> Any:
        if isinstance(target, type):
            return _decorated_class(kind, base, method, count, form, target, opt_level, name, required)
        if not callable(target):
            raise TypeError(f"a {article} must be a function or a class, not {type(target).__name__}")
        from ._methods import check_arity

        check_arity(target, count, f"a {article}", form)
        called = name if name is not None else str(getattr(target, "__name__", type(target).__name__))
        info = PassInfo(opt_level, called, required)
        made = base._of(_passdock.PassHandle.from_function(kind, info, target))
        functools.update_wrapper(made, target, updated=())
        return made

    return decorate if target is None else decorate(target)


def _decorated_class(
    kind: str,
    base: type[Pass],
    method: str,
    count: int,
    form: str,
    wrapped: type,
    opt_level: int,
    name: str | None,
    required: Required,
) -> type[Pass]:
    other = next((each for each in _CLASSES.values() if issubclass(wrapped, each) and each is not base), None)
    if other is not None:
        raise TypeError(f"{wrapped.__name__} is a {other.__name__}, but {kind}_pass creates a {base.__name__}")
    if not issubclass(wrapped, Pass) and any("__call__" in vars(each) for each in wrapped.__mro__):
        raise TypeError(f"{wrapped.__name__} must not define __call__: a pass is called with a module")
    _check_method(wrapped, method, count, form, kind)
    info = PassInfo(opt_level, name if name is not None else wrapped.__name__, required)

    class Decorated(*((wrapped,) if issubclass(wrapped, base) else (wrapped, base))):  # type: ignore[misc]
        """A pass that is an object of the program's class."""

        def __init_subclass__(cls, **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            if method in vars(cls):
                _check_method(cls, method, count, form, kind)

        @property
        def _pass_handle(self) -> _passdock.PassHandle:
            run = self.__dict__.get("_pass_run")
            if run is None or run.pass_ is not self:
                run = _Run(self, method)
                run.handle = _passdock.PassHandle.from_function(kind, info, run)
                self.__dict__["_pass_run"] = run
            handle: _passdock.PassHandle = run.handle
            return handle

    if not issubclass(wrapped, Pass) and not hasattr(wrapped, "info"):
        # Its objects may have their own `info`.
        Decorated.info = _Info()
    # The class decides how its objects are copied and pickled: `Pass` implements this for immutable objects.
    for special, usual in (("__reduce__", object.__reduce__), ("__copy__", None), ("__deepcopy__", None)):
        if getattr(wrapped, special, None) in (usual, getattr(Pass, special)):
            setattr(Decorated, special, usual)
    Decorated.__name__ = wrapped.__name__
    Decorated.__qualname__ = wrapped.__qualname__
    Decorated.__doc__ = wrapped.__doc__
    Decorated.__module__ = wrapped.__module__
    return Decorated


@overload
def module_pass(  # type: ignore[overload-overlap]
    pass_func: type[T], opt_level: int, name: str | None = ..., required: Required = ...
) -> type[T]: ...
@overload
def module_pass(
    pass_func: Callable[..., Any], opt_level: int, name: str | None = ..., required: Required = ...
) -> ModulePass: ...
@overload
def module_pass(
    pass_func: None = ..., *, opt_level: int, name: str | None = ..., required: Required = ...
) -> _Decorator[ModulePass]: ...
def module_pass(
    pass_func: Any = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Required = None,
) -> Any:
    """Creates a module pass from a function ``(mod, ctx) -> mod``, or from a class with ``transform_module(self, mod,
    ctx)``.

    The pass may edit its module: ``mod["main"]`` has the edit methods of ``passdock.Function``. It returns that module, or
    another one. None is rejected, because it is usually a forgotten ``return``. Can be used as a decorator, or called.

    For type checkers, derive the class from ``ModulePass``, so that its objects are passes.

    Args:
        pass_func: The function or class.
        opt_level: The minimum level of the context at which a Sequential runs it.
        name: The name of the pass; by default that of the function or class.
        required: Names of passes that must run before it.

    Raises:
        ValueError: ``opt_level`` is missing.
        TypeError: The argument isn't a function or class, or takes other arguments.
    """
    return _make("module", ModulePass, "transform_module", 2, "(mod, ctx)", pass_func, opt_level, name, required)


@overload
def function_pass(  # type: ignore[overload-overlap]
    pass_func: type[T], opt_level: int, name: str | None = ..., required: Required = ...
) -> type[T]: ...
@overload
def function_pass(
    pass_func: Callable[..., Any], opt_level: int, name: str | None = ..., required: Required = ...
) -> FunctionPass: ...
@overload
def function_pass(
    pass_func: None = ..., *, opt_level: int, name: str | None = ..., required: Required = ...
) -> _Decorator[FunctionPass]: ...
def function_pass(
    pass_func: Any = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Required = None,
) -> Any:
    """Creates a function pass from a function ``(func, mod, ctx) -> func``, or from a class with
    ``transform_function``.

    It runs on each graph function, edits it in place and returns it. If it returns another function, that function's
    body replaces the body. The module is read-only. The arguments are those of ``module_pass``.
    """
    form = "(func, mod, ctx)"
    return _make("function", FunctionPass, "transform_function", 3, form, pass_func, opt_level, name, required)


@overload
def prim_func_pass(  # type: ignore[overload-overlap]
    pass_func: type[T], opt_level: int, name: str | None = ..., required: Required = ...
) -> type[T]: ...
@overload
def prim_func_pass(
    pass_func: Callable[..., Any], opt_level: int, name: str | None = ..., required: Required = ...
) -> PrimFuncPass: ...
@overload
def prim_func_pass(
    pass_func: None = ..., *, opt_level: int, name: str | None = ..., required: Required = ...
) -> _Decorator[PrimFuncPass]: ...
def prim_func_pass(
    pass_func: Any = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Required = None,
) -> Any:
    """Creates a pass on each loop-level function; otherwise like ``function_pass``."""
    form = "(func, mod, ctx)"
    return _make("prim_func", PrimFuncPass, "transform_function", 3, form, pass_func, opt_level, name, required)


def PrintIR(header: str = "") -> ModulePass:
    """Returns a pass that prints the module to standard error without changing it."""
    return ModulePass._of(standard("PrintIR", header=header))


def ApplyPassToFunction(
    transform: Pass, func_name_regex: str, error_if_no_function_matches_regex: bool = False
) -> ModulePass:
    """Returns a pass that runs another one on the functions with matching names."""
    if not isinstance(transform, Pass):
        raise TypeError(f"ApplyPassToFunction expects a pass, not {type(transform).__name__}")
    handle = transform._pass_handle.applied_to(func_name_regex, error_if_no_function_matches_regex)
    return _made(handle, ApplyPassToFunction, transform, func_name_regex, error_if_no_function_matches_regex)


class _Made(ModulePass):
    """A pass that a function of this module created."""

    _by: tuple[Any, tuple[Any, ...]]

    def __reduce__(self) -> tuple[Any, ...]:
        return self._by

    # The wrapped pass may be mutable.
    __copy__ = __deepcopy__ = None  # type: ignore[assignment]


def _made(handle: _passdock.PassHandle, maker: Callable[..., ModulePass], *args: Any) -> ModulePass:
    made = _Made._of(handle)
    made._by = maker, args
    return made
