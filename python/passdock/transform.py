"""Passes: what they are, what they run under, and how to make one of a function or a class.

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
    """What a class has in the place of a handle: its object has none of its own."""

    def __get__(self, pass_: Pass | None, owner: type[Pass]) -> Any:
        if pass_ is None:
            return self
        if issubclass(owner, Sequential):
            raise TypeError(f"the pass isn't made yet: {owner.__name__}.__init__ begins with `super().__init__(…)`")
        decorator = {"Function": "function_pass", "PrimFunc": "prim_func_pass"}.get(owner._pass_kind, "module_pass")
        raise TypeError(f"{owner.__name__} isn't made a pass: decorate the class, `@{decorator}(opt_level=…)`")


class Pass:
    """A map from modules to modules. ``pass_(module)`` runs it under the current context."""

    # The names are none that a program's class would think of.
    _pass_handle: _passdock.PassHandle = _NoHandle()  # type: ignore[assignment]
    _pass_kind: ClassVar[str] = ""

    @classmethod
    def _of(cls, handle: _passdock.PassHandle) -> Self:
        made = cls.__new__(cls)
        made._pass_handle = handle
        return made

    @property
    def info(self) -> PassInfo:
        """What the pass says about itself."""
        return self._pass_handle.info

    def __call__(self, mod: Module, ctx: PassContext | None = None) -> Module:
        """Runs the pass on a module, and answers the one that it makes.

        Args:
            mod: the module, which stays as it is.
            ctx: the context to run under; the current one if none is given. It isn't entered, as in TVM: its instruments
                hear of passes, and nothing of the context.

        Raises:
            PassError: what a pass of a plugin fails with. What a pass of Python raises comes out as itself.
        """
        if not isinstance(mod, Module):
            raise TypeError(f"a pass runs on a passdock.Module, not on {type(mod).__name__}")
        return self._pass_handle.call(mod, ctx)

    def register(self, *, override: bool = False) -> Self:
        """Puts the pass in the registry under its name, so that pipelines and ``required`` find it.

        Args:
            override: whether it takes the place of a pass that has the name: of a notebook's cell that runs again, of a
                plugin, or of one that the name is short for.

        Raises:
            UsageError: the name is another pass's, or stands for one, as ``"FoldConstant"`` does.
        """
        self._pass_handle.register(override)
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        origin = self._pass_handle.origin
        if origin is not None:
            return _registered, (type(self), *origin)
        return _place(self)

    # Nothing of it changes. What may change says otherwise.
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
    """A pass of the registry, out of a pickle."""
    return kind._of(_passdock.PassHandle.registered(name, options or None))


def _place(pass_: Any) -> str:
    """Where pickle finds a pass of a function again: its name in its module."""
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
        f"The pass `{name}` can't be pickled: a pass of Python is pickled by where it is, and `{path or '?'}` of the module "
        f"`{module}` isn't this pass. Define it at the top of a module."
    )


class ModulePass(Pass):
    """A pass on the module."""

    _pass_kind: ClassVar[str] = "Module"


class FunctionPass(Pass):
    """A pass on each graph function."""

    _pass_kind: ClassVar[str] = "Function"


class PrimFuncPass(Pass):
    """A pass on each function of the loop level."""

    _pass_kind: ClassVar[str] = "PrimFunc"

    def __str__(self) -> str:
        info = self._pass_handle.info
        return f"PrimFuncPass({info.name}, opt_level={info.opt_level})"


class Sequential(Pass):
    """Passes in order, each after what it requires, those left out that the context disables or whose level is higher.

    Args:
        passes: the passes.
        opt_level: the level of the Sequential itself.
        name: its name.
        required: names of passes that must have run before it.
        disabled: names of its passes that don't run.
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
        """What a program set: the rest is made anew."""
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
        """The passes that would run, in order, without running any: what a pass requires comes before it, the passes of a nested
        Sequential after it.

        Args:
            ctx: the context that chooses; the current one if none is given.

        Raises:
            UnknownNameError, PassError: a name stands for no pass, passes require each other, or one is required and disabled.
        """
        found = self._pass_handle.resolved(ctx)
        return [one if isinstance(one, Pass) else _wrap(one) for one in found]

    def __str__(self) -> str:
        info = self._pass_handle.info
        names = " ".join(each._pass_handle.info.name for each in self.passes)
        head = f"Run Sequential pass: {info.name} at the optimization level {info.opt_level}."
        return f"{head} The passes will be executed are: [{names} ]"


def _sequential(kind: type[Sequential], passes: list[Pass], *said: Any) -> Sequential:
    """A Sequential out of a pickle."""
    opt_level, name, required, disabled = said
    made = object.__new__(kind)
    # A class of the program's takes what it likes.
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
    """A pass of the registry.

    Args:
        name: its name; ``"FoldConstant"`` is looked up in the namespaces of the standard passes, and TVM's names are
            names, too.
        options: its options.

    Raises:
        UnknownNameError: no pass has the name; the message names the nearest.
        ConfigError: an option isn't right.
    """
    return _wrap(_passdock.PassHandle.registered(name, options or None))


def standard(name: str, /, **options: Any) -> _passdock.PassHandle:
    """A pass with the options that were said; the others are the context's, or the pass's own."""
    return _passdock.PassHandle.registered(name, {key: value for key, value in options.items() if value is not None})


@overload
def register_pass(pass_: T, *, override: bool = ...) -> T: ...
@overload
def register_pass(pass_: None = ..., *, override: bool = ...) -> Callable[[T], T]: ...
def register_pass(pass_: Any = None, *, override: bool = False) -> Any:
    """Puts a pass in the registry under its name; a decorator, too. The arguments are those of ``Pass.register``."""
    if pass_ is None:
        return functools.partial(register_pass, override=override)
    if not isinstance(pass_, Pass):
        raise TypeError(f"register_pass takes a pass, not {type(pass_).__name__}")
    return Pass.register(pass_, override=override)


def list_passes() -> list[str]:
    """The names of the registered passes."""
    return _passdock.list_passes()


def list_configs() -> dict[str, dict[str, Any]]:
    """The config keys that are registered: of each its type, its documentation, and its fields."""
    return PassContext.list_configs()


def register_config_option(key: str, default: Any, doc: str = "") -> None:
    """Registers a config key.

    Args:
        key: the key, ``"acme.limit"``.
        default: its default, whose type is that of the values; a dict is a key with fields.
        doc: what it is.

    Raises:
        ConfigError: the key is registered already.
    """
    _passdock.register_config(key, default, doc)


def build_config(
    opt_level: int = 2,
    fallback_device: Any = None,
    required_pass: Names = None,
    disabled_pass: Names = None,
) -> PassContext:
    """Another way to say ``PassContext``, which the first documents have."""
    config = None if fallback_device is None else {"relax.fallback_device_type": int(fallback_device)}
    return PassContext(opt_level=opt_level, required_pass=required_pass, disabled_pass=disabled_pass, config=config)


def _check_method(cls: type, method: str, count: int, form: str, kind: str) -> None:
    """Refuses a class without its method, or whose method can't be called with so many arguments beside `self`."""
    # Not at the top: what it imports takes longer than the whole package.
    from ._methods import check_arity, takes_self

    if not callable(getattr(cls, method, None)):
        raise TypeError(f"{cls.__name__} has no method {method}{form}, which a {kind} pass is made of")
    if takes_self(cls, method):
        count, form = count + 1, f"(self, {form[1:]}"
    check_arity(getattr(cls, method), count, f"{cls.__name__}.{method}", form)


class _Info:
    """The property `info`, in whose place an object may set what it likes."""

    def __get__(self, pass_: Pass | None, owner: type[Pass]) -> Any:
        return self if pass_ is None else pass_._pass_handle.info


class _Run:
    """What the host runs of an object of a program's class, and the handle of it.

    It is among the object's attributes, and that object's alone: who copies them makes another one.
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
    """What makes a pass of a function, or of a class another class, whose objects are passes."""

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
            f"Please provide opt_level for the {article}: @{kind}_pass(opt_level=1), without which nobody knows when it runs."
        )
    if required is not None and not isinstance(required, (list, tuple)):
        raise TypeError("Required is expected to be the type of list/tuple.")

    def decorate(target: Any) -> Any:
        if isinstance(target, type):
            return _decorated_class(kind, base, method, count, form, target, opt_level, name, required)
        if not callable(target):
            raise TypeError(f"a {article} is made of a function or a class, not of {type(target).__name__}")
        from ._methods import check_arity

        check_arity(target, count, f"a {article}", form)
        called = name if name is not None else str(getattr(target, "__name__", type(target).__name__))
        info = PassInfo(opt_level, called, required)
        made = base._of(_passdock.PassHandle.of_function(kind, info, target))
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
        raise TypeError(f"{wrapped.__name__} is a {other.__name__}, and {kind}_pass makes a {base.__name__} of a class")
    if not issubclass(wrapped, Pass) and any("__call__" in vars(each) for each in wrapped.__mro__):
        raise TypeError(f"{wrapped.__name__} has a __call__ of its own, and a pass is called with a module")
    _check_method(wrapped, method, count, form, kind)
    info = PassInfo(opt_level, name if name is not None else wrapped.__name__, required)

    class Decorated(*((wrapped,) if issubclass(wrapped, base) else (wrapped, base))):  # type: ignore[misc]
        """A pass that is an object of a class of the program."""

        def __init_subclass__(cls, **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            if method in vars(cls):
                _check_method(cls, method, count, form, kind)

        @property
        def _pass_handle(self) -> _passdock.PassHandle:
            run = self.__dict__.get("_pass_run")
            if run is None or run.pass_ is not self:
                run = _Run(self, method)
                run.handle = _passdock.PassHandle.of_function(kind, info, run)
                self.__dict__["_pass_run"] = run
            handle: _passdock.PassHandle = run.handle
            return handle

    if not issubclass(wrapped, Pass) and not hasattr(wrapped, "info"):
        # Its objects may have one of their own.
        Decorated.info = _Info()
    # How it is copied and pickled is the class's own business: what `Pass` has is for what doesn't change.
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
    """Makes a module pass of a function ``(mod, ctx) -> mod``, or of a class with ``transform_module(self, mod, ctx)``.

    The module is the pass's own to edit: ``mod["main"]`` has the edits of ``passdock.Function``. It answers that module,
    or another one; None is refused, since it is what a forgotten ``return`` answers. A decorator, or a call.

    Type checkers know that the objects of a class are passes if it is a subclass of ``ModulePass``, too.

    Args:
        pass_func: the function or class.
        opt_level: the lowest level of the context at which a Sequential runs it.
        name: its name; that of the function or class if none is given.
        required: names of passes that must have run before it.

    Raises:
        ValueError: without an ``opt_level``.
        TypeError: what is no function or class, or takes other arguments.
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
    """Makes a function pass of a function ``(func, mod, ctx) -> func``, or of a class with ``transform_function``.

    It runs on each graph function, which it edits in place, and which it answers; the body of another function that
    it answers goes into its place. The module is there to be read. The arguments are those of ``module_pass``.
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
    """Makes a pass on each function of the loop level; otherwise as ``function_pass``."""
    form = "(func, mod, ctx)"
    return _make("prim_func", PrimFuncPass, "transform_function", 3, form, pass_func, opt_level, name, required)


def PrintIR(header: str = "") -> ModulePass:
    """The pass that prints the module to standard error, and changes nothing."""
    return ModulePass._of(standard("PrintIR", header=header))


def ApplyPassToFunction(
    transform: Pass, func_name_regex: str, error_if_no_function_matches_regex: bool = False
) -> ModulePass:
    """The pass that runs another one on the functions whose names match, and leaves the others as they are."""
    if not isinstance(transform, Pass):
        raise TypeError(f"ApplyPassToFunction takes a pass, not {type(transform).__name__}")
    handle = transform._pass_handle.applied_to(func_name_regex, error_if_no_function_matches_regex)
    return _made(handle, ApplyPassToFunction, transform, func_name_regex, error_if_no_function_matches_regex)


class _Made(ModulePass):
    """A pass that a function of this module makes."""

    _by: tuple[Any, tuple[Any, ...]]

    def __reduce__(self) -> tuple[Any, ...]:
        return self._by

    # The pass that it is made of may change.
    __copy__ = __deepcopy__ = None  # type: ignore[assignment]


def _made(handle: _passdock.PassHandle, maker: Callable[..., ModulePass], *args: Any) -> ModulePass:
    made = _Made._of(handle)
    made._by = maker, args
    return made
