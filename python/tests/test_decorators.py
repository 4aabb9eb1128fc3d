"""Passes made of functions and classes, how they are printed, and how they are found by name."""

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
from passdock.transform import ModulePass, Pass, PrimFuncPass
from support import Watch, add_abs, double_params, one_function, recorder


def test_r156_and_157_printed_passes() -> None:
    """The forms that TVM had when it had forms of its own."""
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


def test_r158_a_printed_info() -> None:
    info = PassInfo(1, "x", ["a", "b"])
    assert str(info) == "The meta data of the pass - pass name: x, opt_level: 1, required passes: [a, b]"
    assert repr(info) == 'transform.PassInfo(opt_level=1, name="x", required=("a", "b"))'
    assert repr(PassInfo(0, "y", ["a"])) == 'transform.PassInfo(opt_level=0, name="y", required=("a",))'


def test_r160_passes_of_functions_of_classes_and_of_calls() -> None:
    """KEEP. The decorators take a function, or a class with `transform_module` or `transform_function`, and are called directly, too."""

    @prim_func_pass(opt_level=0)
    class Prim:
        def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
            return func

    assert isinstance(module_pass(add_abs, opt_level=0), ModulePass)
    assert isinstance(module_pass(opt_level=0)(add_abs), ModulePass)
    assert isinstance(Prim(), PrimFuncPass)
    assert module_pass(lambda mod, ctx: mod, opt_level=0, name="lambda")(one_function()) is not None


def test_r161_a_class_keeps_what_it_is() -> None:
    """KEEP. A decorated class makes passes; arguments, attributes, name, documentation and module are its own."""

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
    made = Made(5, name="five")
    assert (Made.__name__, Made.__doc__, Made.__module__) == ("Plain", "What it does.", __name__)
    assert Made.__qualname__ == Plain.__qualname__
    assert (made.factor, made.label, made.scaled()) == (5, "five", 15)
    assert (Made.LIMIT, Made.twice()) == (3, 6)
    made(one_function())
    assert made.factor == 6
    made.factor = 1
    assert made.scaled() == 3
    assert not hasattr(made, "missing")
    with pytest.raises(TypeError, match="factor"):
        Made()


def test_what_a_subclass_of_a_decorated_class_may_do() -> None:
    @module_pass(opt_level=0)
    class Base:
        def __init__(self, factor: int = 1) -> None:
            self.factor = factor

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            return mod

    made: Any = Base

    class Twice(made):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(2)

    assert Twice().factor == 2
    mod = one_function()
    assert Twice()(mod) is mod
    with pytest.raises(TypeError, match=r"Other.transform_module would never be called: Base is a pass already"):
        type("Other", (made,), {"transform_module": lambda self, mod, ctx: mod})

    class Forgets(made):  # type: ignore[misc]
        def __init__(self) -> None:
            self.factor = 3

    with pytest.raises(AttributeError, match=r"Forgets.__init__ begins with `super\(\).__init__\(…\)`"):
        Forgets()


def test_r162_all_are_passes_with_an_info() -> None:
    """KEEP. Decorated functions are `ModulePass`, `FunctionPass`, `PrimFuncPass`; all are `Pass`, and have an `info`."""
    made = module_pass(add_abs, opt_level=3)
    assert isinstance(made, Pass)
    assert isinstance(Sequential([]), Pass)
    assert isinstance(get_pass("FoldConstant"), Pass)
    assert made.info == PassInfo(3, "add_abs")
    assert made.__doc__ == add_abs.__doc__


def test_r163_a_bare_decorator_says_the_right_form() -> None:
    """KEEP. A decorator without a level is refused, by a message that shows the right form."""
    with pytest.raises(ValueError, match=r"@module_pass\(opt_level=1\)"):

        @module_pass  # type: ignore[call-overload]
        def bare(mod: Module, ctx: PassContext) -> Module:
            return mod


def test_r164_what_cant_be_called_is_refused() -> None:
    """FIX. What is no function and no class is a TypeError.

    TVM: an AttributeError about `__name__`.
    """
    with pytest.raises(TypeError, match="a module pass is made of a function or a class, not of int"):
        module_pass(5, opt_level=1)  # type: ignore[call-overload]


def test_r165_what_cant_run_is_refused_when_it_is_decorated() -> None:
    """FIX. A class without its method, or a function of other arguments, is refused when it is decorated.

    TVM: it fails when it runs.
    """

    class Nothing:
        pass

    class Wrong:
        def transform_function(self, func: Function) -> Function:
            return func

    def one(mod: Module) -> Module:
        return mod

    with pytest.raises(TypeError, match=r"Nothing has no method transform_module\(mod, ctx\)"):
        module_pass(Nothing, opt_level=0)
    with pytest.raises(TypeError, match=r"Wrong\.transform_function takes \(self, func, mod, ctx\)"):
        function_pass(Wrong, opt_level=0)
    with pytest.raises(TypeError, match=r"a module pass takes \(mod, ctx\), and this one is declared as \(mod"):
        module_pass(one, opt_level=0)


def test_r166_a_call_may_say_the_context() -> None:
    """FIX. `pass(mod, ctx)` runs under that context.

    TVM: its documentation says so, and it is a TypeError.
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


def test_r167_a_pass_is_called_with_a_module_only() -> None:
    """KEEP. A pass that is called with something else than a module is a TypeError."""
    with pytest.raises(TypeError, match=r"a pass runs on a passdock\.Module, not on int"):
        recorder([], "One")(5)  # type: ignore[arg-type]


def test_r171_passes_of_python_and_of_plugins_mix() -> None:
    """KEEP. Passes and instruments of Python, of plugins and of the host mix freely, by the same rules."""
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


def test_r173_a_function_for_each_standard_pass() -> None:
    """KEEP. There is a plain function for each standard pass, called after it."""
    from passdock import relax

    assert relax.FoldConstant().info.name == "relax.transform.FoldConstant"
    assert relax.FoldConstant.__name__ == "FoldConstant"


def test_r009_and_011_short_and_full_names_are_one_pass() -> None:
    for name in ("FoldConstant", "relax.transform.FoldConstant", "relay._transform.FoldConstant"):
        assert get_pass(name).info.name == "relax.transform.FoldConstant"
    with pytest.raises(passdock.UnknownNameError, match=r"FoldConstan\b.*FoldConstant") as raised:
        get_pass("FoldConstan")
    assert raised.value.exit_status == 2
    assert raised.value.code == "unknown-pass"


def test_r010_a_name_is_registered_once() -> None:
    recorder([], "tests.r010.One").register()
    with pytest.raises(passdock.UsageError, match=r"tests\.r010\.One"):
        recorder([], "tests.r010.One").register()
    assert "tests.r010.One" in passdock.list_passes()
