"""Passes from functions and classes, their printed form, and lookup by name."""

from __future__ import annotations

from typing import Any

import pytest

import passdock
from passdock import (
    Function,
    Module,
    PassContext,
    PassInfo,
    Sequential,
    function_pass,
    get_pass,
    module_pass,
    prim_func_pass,
)
from passdock.transform import ApplyPassToFunction, FunctionPass, ModulePass, Pass, PrimFuncPass
from support import Watch, add_abs, double_params, one_function, recorder


def test_r156_and_157_printed_passes() -> None:
    """The printed forms of TVM's earlier versions."""
    first = module_pass(add_abs, opt_level=1, name="a")
    second = function_pass(double_params, opt_level=2, name="b")
    third = prim_func_pass(double_params, opt_level=3, name="c")
    assert str(first) == "Run Module pass: a at the optimization level 1"
    assert str(second) == "Run Function pass: b at the optimization level 2"
    assert str(third) == "PrimFuncPass(c, opt_level=3)"
    assert str(Sequential([first, second], opt_level=4)) == (
        "Run Sequential pass: sequential at the optimization level 4. The passes will be executed are: [a b ]"
    )
    assert repr(first) == "<ModulePass a opt_level=1>"


def test_r158_printed_info() -> None:
    info = PassInfo(1, "x", ["a", "b"])
    assert str(info) == "The meta data of the pass - pass name: x, opt_level: 1, required passes: [a, b]"
    assert repr(info) == 'transform.PassInfo(opt_level=1, name="x", required=("a", "b"))'
    assert repr(PassInfo(0, "y", ["a"])) == 'transform.PassInfo(opt_level=0, name="y", required=("a",))'


def test_r160_decorators_accept_functions_classes_and_calls() -> None:
    """KEEP. The decorators accept a function, or a class with `transform_module` or `transform_function`, and can
    also be called directly.
    """

    @prim_func_pass(opt_level=0)
    class Prim:
        def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
            return func

    assert isinstance(module_pass(add_abs, opt_level=0), ModulePass)
    assert isinstance(module_pass(opt_level=0)(add_abs), ModulePass)
    assert isinstance(Prim(), PrimFuncPass)
    assert module_pass(lambda mod, ctx: mod, opt_level=0, name="lambda")(one_function()) is not None


def test_r161_decorated_class_keeps_its_attributes() -> None:
    """KEEP. A decorated class makes passes; its arguments, attributes, name, documentation and module are kept."""

    class Plain:
        """What it does."""

        LIMIT = 3

        def __init__(self, factor: int, *, name: str = "n") -> None:
            self.factor = factor
            self.label = name

        @classmethod
        def twice(cls) -> int:
            return 2 * cls.LIMIT

        def scaled(self) -> int:
            return self.factor * self.LIMIT

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            self.factor += 1
            return mod

    Made: Any = module_pass(Plain, opt_level=0)
    result = Made(5, name="five")
    assert (Made.__name__, Made.__doc__, Made.__module__) == ("Plain", "What it does.", __name__)
    assert Made.__qualname__ == Plain.__qualname__
    assert (result.factor, result.label, result.scaled()) == (5, "five", 15)
    assert (Made.LIMIT, Made.twice()) == (3, 6)
    result(one_function())
    assert result.factor == 6
    result.factor = 1
    assert result.scaled() == 3
    assert not hasattr(result, "missing")
    with pytest.raises(TypeError, match="factor"):
        Made()


def test_subclass_overrides_methods_of_decorated_class() -> None:
    """The subclass's methods and attributes are used, and later changes of the class, too."""
    ran: list[object] = []

    @module_pass(opt_level=0)
    class Base:
        limit = 1

        def __init__(self, factor: int = 1) -> None:
            self.factor = factor

        def label(self) -> str:
            return f"base {self.factor}"

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            Base.limit += 1
            ran.extend((self.label(), self.limit))
            return mod

    result: Any = Base

    class Twice(result):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(2)

        def label(self) -> str:
            return f"twice {super().label()}"

    mod = one_function()
    assert Twice()(mod) is mod
    result.limit = 7
    result()(mod)
    assert ran == ["twice base 2", 2, "base 1", 8]
    assert result.limit == 8

    class Other(result):  # type: ignore[misc]
        def __init__(self) -> None:
            self.factor = 3

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            ran.append(self.factor)
            del self.factor
            return mod

    other = Other()
    other(mod)
    assert ran[-1] == 3
    assert not hasattr(other, "factor")
    assert (other.info.name, isinstance(other, Base)) == ("Base", True)
    with pytest.raises(TypeError, match=r"Wrong\.transform_module must accept \(self, mod, ctx\)"):
        type("Wrong", (result,), {"transform_module": lambda self, mod: mod})


def test_static_and_class_methods() -> None:
    @module_pass(opt_level=0)
    class Static:
        @staticmethod
        def transform_module(mod: Module, ctx: PassContext) -> Module:
            return mod

    @function_pass(opt_level=0)
    class OfClass:
        ran = 0

        @classmethod
        def transform_function(cls, func: Function, mod: Module, ctx: PassContext) -> Function:
            cls.ran += 1
            return func

    result: Any = Sequential([Static(), OfClass()])  # type: ignore[list-item]
    result(one_function())
    assert OfClass.ran == 1

    class Wrong:
        @staticmethod
        def transform_module(this: object, mod: Module, ctx: PassContext) -> Module:
            return mod

    with pytest.raises(TypeError, match=r"Wrong\.transform_module must accept \(mod, ctx\), but is declared as \(this"):
        module_pass(Wrong, opt_level=0)


def test_instance_of_decorated_class_is_the_pass() -> None:
    """The base class that a type checker sees is the real one."""
    described: list[object] = []

    @function_pass(opt_level=2)
    class Tells(FunctionPass):
        def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
            described.extend((repr(self), str(self), self.info.opt_level))
            return func

    with PassContext(opt_level=3):
        Tells()(one_function())
    assert described == ["<Tells Tells opt_level=2>", "Run Function pass: Tells at the optimization level 2", 2]


def test_pass_attributes_do_not_conflict_with_the_class() -> None:
    @module_pass(opt_level=1, name="tests.decorators.Free")
    class Free:
        passes = 3

        def __init__(self) -> None:
            self.info = "mine"
            self._handle, self._kind = 1, 2

        def register(self) -> int:
            return self.passes

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            return mod

    result: Any = Free()
    assert (result.info, result.register(), result._handle) == ("mine", 3, 1)
    assert (
        str(Sequential([result]))
        == "Run Sequential pass: sequential at the optimization level 0. The passes will be executed are: "
        "[tests.decorators.Free ]"
    )
    passdock.register_pass(result)
    assert "tests.decorators.Free" in passdock.list_passes()
    add: Any = lambda self, mod, ctx: mod  # noqa: E731
    with pytest.raises(TypeError, match="Called must not define __call__"):
        module_pass(type("Called", (), {"transform_module": add, "__call__": add}), opt_level=0)
    with pytest.raises(TypeError, match="Other is a FunctionPass, but module_pass creates a ModulePass"):
        module_pass(type("Other", (FunctionPass,), {"transform_module": add}), opt_level=0)


def test_undecorated_class_is_rejected() -> None:
    class Forgotten(FunctionPass):
        def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
            return func

    class Unmade(Sequential):
        def __init__(self) -> None:
            pass

    message = r"Forgotten is not a pass; decorate the class with `@function_pass\(opt_level=…\)`"
    uses: list[Any] = [
        repr,
        str,
        lambda result: result.info,
        lambda result: result(one_function()),
        lambda result: Sequential([result]),
        lambda result: passdock.register_pass(result),
    ]
    for use in uses:
        with pytest.raises(TypeError, match=message):
            use(Forgotten())
        with pytest.raises(TypeError, match=r"call `super\(\).__init__\(…\)` first in Unmade.__init__"):
            use(Unmade())
    with pytest.raises(TypeError, match=r"Pass is not a pass"):
        repr(Pass())
    with pytest.raises(TypeError, match="ApplyPassToFunction expects a pass, not int"):
        ApplyPassToFunction(5, "main")  # type: ignore[arg-type]


def test_empty_name_is_rejected() -> None:
    with pytest.raises(ValueError, match="name"):
        module_pass(add_abs, opt_level=0, name="")
    with pytest.raises(ValueError, match="name"):
        module_pass(type("Plain", (), {"transform_module": lambda self, mod, ctx: mod}), opt_level=0, name="")


def test_r162_decorated_functions_are_passes_with_an_info() -> None:
    """KEEP. Decorated functions are `ModulePass`, `FunctionPass`, `PrimFuncPass`; all are `Pass`, and have an
    `info`.
    """
    result = module_pass(add_abs, opt_level=3)
    assert isinstance(result, Pass)
    assert isinstance(Sequential([]), Pass)
    assert isinstance(get_pass("FoldConstant"), Pass)
    assert result.info == PassInfo(3, "add_abs")
    assert result.__doc__ == add_abs.__doc__


def test_r163_bare_decorator_error_shows_correct_form() -> None:
    """KEEP. A decorator without a level is rejected with a message that shows the right form."""
    with pytest.raises(ValueError, match=r"@module_pass\(opt_level=1\)"):

        @module_pass  # type: ignore[call-overload]
        def bare(mod: Module, ctx: PassContext) -> Module:
            return mod


def test_r164_non_callable_is_rejected() -> None:
    """FIX. An argument that is neither a function nor a class is a TypeError.

    TVM: an AttributeError about `__name__`.
    """
    with pytest.raises(TypeError, match="a module pass must be a function or a class, not int"):
        module_pass(5, opt_level=1)  # type: ignore[call-overload]


def test_r165_invalid_signature_is_rejected_at_decoration() -> None:
    """FIX. A class without its method, or a function with other parameters, is rejected when it is decorated.

    TVM: it fails when it runs.
    """

    class Nothing:
        pass

    class Wrong:
        def transform_function(self, func: Function) -> Function:
            return func

    def one(mod: Module) -> Module:
        return mod

    with pytest.raises(TypeError, match=r"Nothing is missing the method transform_module\(mod, ctx\)"):
        module_pass(Nothing, opt_level=0)
    with pytest.raises(TypeError, match=r"Wrong\.transform_function must accept \(self, func, mod, ctx\)"):
        function_pass(Wrong, opt_level=0)
    with pytest.raises(TypeError, match=r"a module pass must accept \(mod, ctx\), but is declared as \(mod"):
        module_pass(one, opt_level=0)


def test_r166_call_accepts_a_context() -> None:
    """FIX. `pass(mod, ctx)` runs under that context.

    TVM: documented, but a TypeError.
    """
    levels: list[int] = []

    @module_pass(opt_level=0)
    def tell(mod: Module, ctx: PassContext) -> Module:
        levels.append(ctx.opt_level)
        levels.append(PassContext.current().opt_level)
        return mod

    tell(one_function(), PassContext(opt_level=4))
    tell(one_function())
    assert levels == [4, 4, 2, 2]
    with pytest.raises(TypeError):
        tell(one_function(), "context")  # type: ignore[arg-type]


def test_r167_pass_must_be_called_with_a_module() -> None:
    """KEEP. Calling a pass with anything but a module is a TypeError."""
    with pytest.raises(TypeError, match=r"a pass must be called with a passdock\.Module, not int"):
        recorder([], "One")(5)  # type: ignore[arg-type]


def test_r171_python_and_plugin_passes_can_be_combined() -> None:
    """KEEP. Passes and instruments of Python, of plugins and of the host can be combined, under the same rules."""
    events: list[str] = []
    timing = passdock.instrument.PassTimingInstrument()
    passes = [recorder(events, "First"), get_pass("FoldConstant"), recorder(events, "Last")]
    with PassContext(instruments=[Watch(events), timing, passdock.get_instrument("op-count")]):
        Sequential(passes)(one_function())
        rendered = timing.render()
    assert events == [
        "enter",
        "should_run sequential",
        "before sequential",
        "should_run First",
        "before First",
        "First",
        "after First",
        "should_run relax.transform.FoldConstant",
        "before relax.transform.FoldConstant",
        "after relax.transform.FoldConstant",
        "should_run Last",
        "before Last",
        "Last",
        "after Last",
        "after sequential",
        "exit",
    ]
    assert [line.split(":")[0] for line in rendered.splitlines()] == [
        "sequential",
        "\tFirst",
        "\trelax.transform.FoldConstant",
        "\tLast",
    ]


def test_r173_each_standard_pass_has_a_function() -> None:
    """KEEP. There is a plain function for each standard pass, with its name."""
    from passdock import relax

    assert relax.FoldConstant().info.name == "relax.transform.FoldConstant"
    assert relax.FoldConstant.__name__ == "FoldConstant"


def test_r009_and_011_short_and_full_names_are_equivalent() -> None:
    for name in ("FoldConstant", "relax.transform.FoldConstant", "relay._transform.FoldConstant"):
        assert get_pass(name).info.name == "relax.transform.FoldConstant"
    with pytest.raises(passdock.UnknownNameError, match=r"FoldConstan\b.*FoldConstant") as raised:
        get_pass("FoldConstan")
    assert raised.value.exit_status == 2
    assert raised.value.code == "unknown-pass"


def test_r010_duplicate_name_is_rejected() -> None:
    recorder([], "tests.r010.One").register()
    with pytest.raises(passdock.UsageError, match=r"tests\.r010\.One"):
        recorder([], "tests.r010.One").register()
    assert "tests.r010.One" in passdock.list_passes()
