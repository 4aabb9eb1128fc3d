"""Passes and Sequentials: tests of the rules of the pass infrastructure."""

from __future__ import annotations

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
from passdock.transform import ApplyPassToFunction, ModulePass, Pass, PrimFuncPass
from support import Watch, add_abs, check, double_params, module, one_function, recorder, two_functions


def test_r003_pass_is_named_after_function_or_class() -> None:
    """KEEP. A pass made from a function or class without a name is named after it."""

    @module_pass(opt_level=0)
    class Cleanup(ModulePass):
        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            return mod

    assert module_pass(add_abs, opt_level=0).info.name == "add_abs"
    assert function_pass(double_params, opt_level=0).info.name == "double_params"
    assert Cleanup().info.name == "Cleanup"


def test_r004_missing_level_is_rejected() -> None:
    """KEEP. A pass without a level is rejected."""
    with pytest.raises(
        ValueError, match=r"Please provide opt_level for the module pass\b.*@module_pass\(opt_level=1\)"
    ):
        module_pass(add_abs)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="Please provide opt_level for the function pass"):
        function_pass(double_params)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="Please provide opt_level for the prim_func pass"):
        prim_func_pass(double_params)  # type: ignore[call-overload]


@pytest.mark.parametrize("required", ["abc", {"a"}, 5])
def test_r005_required_is_a_list(required: object) -> None:
    with pytest.raises(TypeError):
        PassInfo(0, "x", required)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Required is expected to be the type of list/tuple"):
        module_pass(add_abs, opt_level=0, required=required)  # type: ignore[call-overload]


@pytest.mark.parametrize("level", [True, "1", 1.0, None])
def test_r007_levels_are_non_negative_integers(level: object) -> None:
    with pytest.raises(TypeError, match="opt_level must be an int"):
        PassInfo(level, "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="opt_level must be at least 0, not -1"):
        PassInfo(-1, "x")


@pytest.mark.parametrize("name", ["", " x", "x "])
def test_r006_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="invalid pass name"):
        PassInfo(0, name)


def test_r001_info_is_read_only() -> None:
    info = PassInfo(1, "x", ["a", "b"])
    assert (info.opt_level, info.name, info.required) == (1, "x", ("a", "b"))
    with pytest.raises(AttributeError):
        info.name = "y"  # type: ignore[misc]


def test_r002_nothing_is_required_by_default() -> None:
    assert PassInfo(1, "x", None).required == PassInfo(1, "x").required == ()


def test_r008_infos_are_compared_by_value() -> None:
    assert PassInfo(1, "x", ["a"]) == PassInfo(1, "x", ("a",))
    assert len({PassInfo(1, "x"), PassInfo(1, "x"), PassInfo(2, "x")}) == 2


def test_r046_to_052_passes_that_a_sequential_runs() -> None:
    """Levels, disabled names and required names, of direct children only (rules 46 to 52)."""
    events: list[str] = []
    low, high = recorder(events, "Low", 1), recorder(events, "High", 3)
    inner = Sequential([high, low], name="inner")

    def ran(pass_: Pass, **context: object) -> list[str]:
        events.clear()
        with PassContext(**context):  # type: ignore[arg-type]
            pass_(one_function())
        return list(events)

    assert ran(Sequential([low, high])) == ["Low"]
    assert ran(Sequential([low, high]), opt_level=3) == ["Low", "High"]
    assert ran(Sequential([low, high]), required_pass=["High"]) == ["Low", "High"]
    assert ran(Sequential([low, high]), opt_level=3, disabled_pass=["Low"]) == ["High"]
    assert ran(Sequential([inner, low]), disabled_pass=["inner"]) == ["Low"]
    assert ran(Sequential([inner]), opt_level=3, disabled_pass=["Low"]) == ["High"]
    # A pass that is called directly runs under any context.
    assert ran(high, opt_level=0, disabled_pass=["High"]) == ["High"]


def test_r054_sequential_has_its_own_disabled_list() -> None:
    events: list[str] = []
    passes = [recorder(events, "A"), recorder(events, "B")]
    Sequential(passes, disabled=["A"])(one_function())
    assert events == ["B"]
    with pytest.raises(TypeError, match=r"disabled: expected a list of names, got a string; did you mean \['A'\]\?"):
        Sequential(passes, disabled="A")


def test_r055_required_passes_run_first() -> None:
    """A Python pass may be required by another one and by a plugin's."""
    events: list[str] = []
    recorder(events, "tests.r055.First").register()
    recorder(events, "tests.r055.Second", required=["tests.r055.First"]).register()
    third = recorder(events, "Third", required=["tests.r055.Second", "FoldConstant"])
    watch: list[str] = []
    with PassContext(instruments=[Watch(watch)]):
        Sequential([third])(one_function())
    assert events == ["tests.r055.First", "tests.r055.Second", "Third"]
    assert [event.split()[1] for event in watch if event.startswith("before")] == [
        "sequential",
        "tests.r055.First",
        "tests.r055.Second",
        "relax.transform.FoldConstant",
        "Third",
    ]


def test_r057_cycle_is_rejected_before_anything_runs() -> None:
    events: list[str] = []
    first = recorder(events, "tests.r057.A", required=["tests.r057.B"]).register()
    recorder(events, "tests.r057.B", required=["tests.r057.A"]).register()
    with pytest.raises(passdock.PassError, match=r"tests\.r057\.A.*tests\.r057\.B.*tests\.r057\.A"):
        Sequential([recorder(events, "Before"), first])(one_function())
    assert events == []


def test_r065_names_are_resolved_before_anything_runs() -> None:
    events: list[str] = []
    passes = [recorder(events, "First"), recorder(events, "Second", required=["FoldConstnt"])]
    with pytest.raises(passdock.UnknownNameError, match="FoldConstnt.*FoldConstant.*required by `Second`") as raised:
        Sequential(passes)(one_function())
    assert isinstance(raised.value, LookupError)
    assert events == []


def test_r070_sequential_takes_a_list_of_passes() -> None:
    with pytest.raises(TypeError, match="passes must be a list of Pass objects, not ModulePass"):
        Sequential(module_pass(add_abs, opt_level=0))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="passes must be a list of Pass objects, not generator"):
        Sequential(one for one in [module_pass(add_abs, opt_level=0)])  # type: ignore[arg-type]


def test_r071_none_is_rejected_as_child() -> None:
    fine = module_pass(add_abs, opt_level=0)
    with pytest.raises(TypeError, match=r"passes\[1\] must be a pass, not None"):
        Sequential([fine, None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"passes\[0\] must be a pass, not <function add_abs"):
        Sequential([add_abs])  # type: ignore[list-item]


def test_r072_same_pass_may_occur_twice() -> None:
    events: list[str] = []
    one = recorder(events, "One")
    Sequential([one, one])(one_function())
    assert events == ["One", "One"]


def test_r074_too_deep_nesting_is_an_error() -> None:
    nest: Pass = recorder([], "Leaf")
    for _ in range(300):
        nest = Sequential([nest])
    with pytest.raises(passdock.PassError, match="nested"):
        nest(one_function())


def test_r078_module_pass_without_return_value_is_rejected() -> None:
    """The error names the pass."""

    @module_pass(opt_level=0)
    def forgets(mod: Module, ctx: PassContext) -> None:
        mod.remove("other")

    @module_pass(opt_level=0)
    def answers_text(mod: Module, ctx: PassContext) -> str:
        return "module {}"

    mod = two_functions()
    with pytest.raises(TypeError, match="The return value of a module pass must be set") as raised:
        forgets(mod)
    assert raised.value.__notes__ == ["Error in pass forgets"]
    assert len(mod) == 2
    with pytest.raises(TypeError, match=r"a module pass must return a passdock\.Module, not str"):
        answers_text(mod)


def test_r079_pass_must_be_called_with_a_module() -> None:
    """The check precedes all calls of instruments."""
    events: list[str] = []
    with PassContext(instruments=[Watch(events)]):
        for wrong in (None, "module {}", two_functions()["main"]):
            with pytest.raises(TypeError, match=r"a pass must be called with a passdock\.Module, not "):
                get_pass("FoldConstant")(wrong)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match=r"a pass must be called with a passdock\.Module, not "):
                Sequential([])(wrong)  # type: ignore[arg-type]
    assert events == ["enter", "exit"]


def test_r081_each_kind_gets_its_functions() -> None:
    mod = module("""
        module {
          fn @b(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.Relu(%x) : f32[2]
            return %y
          }
          prim @loop(%a: buffer<f32[4]>) {
            for %i in 0..4 {
              %v = tir.load(%a, %i) : f32
            }
          }
          fn @a(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.Relu(%x) : f32[2]
            return %y
          }
        }
    """)
    seen: list[str] = []

    def see(func: Function, mod: Module, ctx: PassContext) -> Function:
        seen.append(f"{func.kind} {func.name} of {len(mod)}")
        return func

    assert function_pass(see, opt_level=0)(mod) is mod
    result = prim_func_pass(see, opt_level=0)
    assert isinstance(result, PrimFuncPass)
    assert result(mod) is mod
    # Rule 87: both see the complete module.
    assert seen == ["fn b of 3", "fn a of 3", "prim loop of 3"]


def test_r082_functions_do_not_see_results_of_others() -> None:
    seen: list[int] = []

    @function_pass(opt_level=0)
    def look(func: Function, mod: Module, ctx: PassContext) -> Function:
        seen.append(sum(len(each.ops) for each in mod.functions))
        func.create_op("onnx.Relu", [func.params[0]])
        return func

    after = look(two_functions())
    assert seen == [2, 2]
    assert after.op_count == 4


def test_r083_module_of_function_pass_is_read_only() -> None:
    @function_pass(opt_level=0)
    def adds(func: Function, mod: Module, ctx: PassContext) -> Function:
        mod.create("new")
        return func

    @function_pass(opt_level=0)
    def edits_another(func: Function, mod: Module, ctx: PassContext) -> Function:
        other = mod["other"]
        other.erase_op(other.ops[0])
        return func

    for wrong in (adds, edits_another):
        with pytest.raises(ValueError, match="is read-only; edit the one that the pass received"):
            wrong(two_functions())


def test_r084_function_pass_without_return_value_is_rejected() -> None:
    """The error names the pass and the function."""

    @function_pass(opt_level=0)
    def forgets(func: Function, mod: Module, ctx: PassContext) -> None:
        pass

    with pytest.raises(TypeError, match="The return value of a function pass must be set") as raised:
        forgets(one_function())
    assert raised.value.__notes__ == ["Error in pass forgets, function @main"]


def test_r085_function_pass_must_return_a_function() -> None:
    @function_pass(opt_level=0)
    def answers_module(func: Function, mod: Module, ctx: PassContext) -> Module:
        return mod

    with pytest.raises(TypeError, match=r"a function pass must return a passdock\.Function, not Module") as raised:
        answers_module(one_function())
    assert raised.value.__notes__ == ["Error in pass answers_module, function @main"]


def test_r088_unchanged_module_is_the_same_object() -> None:
    mod = two_functions()

    @function_pass(opt_level=0)
    def looks(func: Function, mod: Module, ctx: PassContext) -> Function:
        assert [op.name for op in func.ops]
        return func

    @module_pass(opt_level=0)
    def looks_at_all(mod: Module, ctx: PassContext) -> Module:
        assert [op.name for func in mod.functions for op in func.ops]
        return mod

    assert looks(mod) is mod
    assert looks_at_all(mod) is mod
    assert Sequential([looks, looks_at_all, Sequential([])])(mod) is mod


def test_r089_failure_in_one_function_changes_none() -> None:
    @function_pass(opt_level=0)
    def fails_later(func: Function, mod: Module, ctx: PassContext) -> Function:
        func.create_op("onnx.Relu", [func.params[0]])
        if func.name == "other":
            raise ZeroDivisionError("later")
        return func

    mod = two_functions()
    with pytest.raises(ZeroDivisionError, match="later"):
        fails_later(mod)
    check(mod, str(two_functions()))


def test_r090_functions_with_skip_optimization_are_skipped() -> None:
    mod = two_functions()

    @module_pass(opt_level=0)
    def mark(mod: Module, ctx: PassContext) -> Module:
        mod["main"].set_function_attr("SkipOptimization", 1)
        return mod

    seen: list[str] = []

    @function_pass(opt_level=0)
    def see(func: Function, mod: Module, ctx: PassContext) -> Function:
        seen.append(func.name)
        return func

    see(mark(mod))
    assert seen == ["other"]


def test_r096_apply_pass_to_function() -> None:
    seen: list[str] = []

    @function_pass(opt_level=0)
    def see(func: Function, mod: Module, ctx: PassContext) -> Function:
        seen.append(func.name)
        return func

    applied = ApplyPassToFunction(see, "oth.*")
    assert applied.info.name == "ApplyPassTooth.*"
    applied(two_functions())
    assert seen == ["other"]
    with pytest.raises(passdock.PassError, match="main.*other"):
        ApplyPassToFunction(see, "none", error_if_no_function_matches_regex=True)(two_functions())
