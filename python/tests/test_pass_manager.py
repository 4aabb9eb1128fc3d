"""Passes and Sequentials: the cases of TVM's ``test_pass_manager.py``, and what follows from them."""

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
    pass_instrument,
    prim_func_pass,
)
from passdock.transform import ApplyPassToFunction, FunctionPass, ModulePass, Pass, PrimFuncPass, PrintIR
from support import Watch, check, ir, module, one_function, recorder, two_functions

ADD = """
    module {
      fn @my_add(%x: f32[5,10], %y: f32[5,10]) -> (%z: f32[5,10]) opset("" = 17) {
        %z = onnx.Add(%x, %y) : f32[5,10]
        return %z
      }
    }
"""

SUB_AND_LOG = """
    module {
      fn @my_sub(%x: f32[10], %y: f32[10]) -> (%d: f32[10]) opset("" = 17) {
        %d = onnx.Sub(%x, %y) : f32[10]
        return %d
      }
      fn @my_log(%z: f32[10]) -> (%l: f32[10]) opset("" = 17) {
        %l = onnx.Log(%z) : f32[10]
        return %l
      }
    }
"""


def add_abs(mod: Module, ctx: PassContext) -> Module:
    """Adds a function that is the absolute value of its parameter."""
    func = mod.create("my_abs", like=next(iter(mod)))
    a = func.add_param("a", "f32[5,10]")
    b = ctx.create_value(func, "onnx.Abs", [a])
    func.set_results([b], names=["b"])
    return mod


def double_params(func: Function, mod: Module, ctx: PassContext) -> Function:
    """Puts twice each parameter in its place."""
    first = func.ops[0]
    for param in func.params:
        uses = param.uses
        twice = ctx.create_value(func, "onnx.Add", [param, param], before=first)
        for op, index in uses:
            func.set_operand(op, index, twice)
    return func


def test_module_pass() -> None:
    """TVM's case of the name: a module pass of a decorated function, and what it adds to the module."""
    transform = module_pass(opt_level=0, name="module_pass_test")(add_abs)
    assert isinstance(transform, ModulePass)
    assert transform.info == PassInfo(0, "module_pass_test")
    assert "module_pass_test" in str(transform)

    mod = module(ADD)
    check(
        transform(mod),
        """
        module {
          fn @my_add(%x: f32[5,10], %y: f32[5,10]) -> (%z: f32[5,10]) opset("" = 17) {
            %z = onnx.Add(%x, %y) : f32[5,10]
            return %z
          }
          fn @my_abs(%a: f32[5,10]) -> (%b: f32[5,10]) opset("" = 17) {
            %0 = onnx.Abs(%a) : f32[5,10]
            return %0
          }
        }
        """,
    )
    check(mod, ADD)


def test_module_pass_no_decorator() -> None:
    """TVM's ``test_pass_registration_no_decorator``: a call in place of the decorator."""
    made = module_pass(add_abs, opt_level=3)
    assert isinstance(made, ModulePass)
    assert made.info.name == "add_abs"
    assert made.info.opt_level == 3


def test_function_pass() -> None:
    """TVM's case of the name: a function pass edits each function."""
    transform = function_pass(opt_level=1, name="function_pass_test")(double_params)
    assert isinstance(transform, FunctionPass)
    assert transform.info == PassInfo(1, "function_pass_test")
    assert "function_pass_test" in str(transform)
    check(
        transform(
            module("""
                module {
                  fn @my_log(%x: f32[10]) -> (%y: f32[10]) opset("" = 17) {
                    %y = onnx.Log(%x) : f32[10]
                    return %y
                  }
                }
            """)
        ),
        """
        module {
          fn @my_log(%x: f32[10]) -> (%y: f32[10]) opset("" = 17) {
            %0 = onnx.Add(%x, %x) : f32[10]
            %y = onnx.Log(%0) : f32[10]
            return %y
          }
        }
        """,
    )


def test_function_class_pass() -> None:
    """TVM's case of the name: a class whose object answers another function."""

    @function_pass(opt_level=1)
    class TestReplaceFunc(FunctionPass):
        """Puts one function in the place of each."""

        def __init__(self, new_func: Function) -> None:
            self.new_func = new_func

        def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
            return self.new_func

    f1 = module("""
        module {
          fn @f1(%x: f32[10,20]) -> (%y: f32[10,20]) opset("" = 17) {
            %y = onnx.Neg(%x) : f32[10,20]
            return %y
          }
        }
    """)
    f2 = module("""
        module {
          fn @main(%x: f32[10,20]) -> (%y: f32[10,20]) opset("" = 17) {
            %y = onnx.Log(%x) : f32[10,20]
            return %y
          }
        }
    """)
    fpass = TestReplaceFunc(f1["f1"])
    assert fpass.info == PassInfo(1, "TestReplaceFunc")
    assert [op.name for op in fpass(f2)["main"].ops] == ["onnx.Neg"]
    assert [op.name for op in f2["main"].ops] == ["onnx.Log"]


def test_module_class_pass() -> None:
    """TVM's case of the name: the module that a pass answers is the one that comes out."""

    @module_pass(opt_level=1)
    class TestPipeline(ModulePass):
        """Puts a module in the place of another, or doesn't."""

        def __init__(self, new_mod: Module, replace: bool) -> None:
            self.new_mod = new_mod
            self.replace = replace

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            return self.new_mod if self.replace else mod

    m1, m2 = one_function(), two_functions()
    fpass = TestPipeline(m2, replace=True)
    assert fpass.info.name == "TestPipeline"
    assert str(fpass(m1)) == str(m2)
    assert TestPipeline(m2, replace=False)(m1) is m1


def test_pass_info() -> None:
    """TVM's case of the name."""
    info = PassInfo(opt_level=1, name="xyz")
    assert info.opt_level == 1
    assert info.name == "xyz"
    assert info.required == ()


DOUBLED = """
    module {
      fn @my_sub(%x: f32[10], %y: f32[10]) -> (%d: f32[10]) opset("" = 17) {
        %0 = onnx.Add(%x, %x) : f32[10]
        %1 = onnx.Add(%y, %y) : f32[10]
        %d = onnx.Sub(%0, %1) : f32[10]
        return %d
      }
      fn @my_log(%z: f32[10]) -> (%l: f32[10]) opset("" = 17) {
        %0 = onnx.Add(%z, %z) : f32[10]
        %l = onnx.Log(%0) : f32[10]
        return %l
      }
    }
"""


class TestSequential:
    """TVM's ``test_sequential_pass``: module passes and function passes in one Sequential."""

    mod_transform = module_pass(add_abs, opt_level=1, name="mod_transform")
    func_transform = function_pass(double_params, opt_level=1, name="func_transform")

    def test_pass_registration(self) -> None:
        sequential = Sequential(passes=[self.mod_transform, self.func_transform], opt_level=2)
        assert sequential.info.name == "sequential"
        assert sequential.info.opt_level == 2

    def test_no_pass(self) -> None:
        mod = module(SUB_AND_LOG)
        assert Sequential(opt_level=1, passes=[])(mod) is mod

    def test_only_module_pass(self) -> None:
        with PassContext(required_pass=["mod_transform"]):
            after = Sequential(opt_level=1, passes=[self.mod_transform])(module(SUB_AND_LOG))
        assert list(after) == ["my_sub", "my_log", "my_abs"]
        assert str(after["my_sub"]) == str(module(SUB_AND_LOG)["my_sub"])

    def test_only_function_pass(self) -> None:
        with PassContext(required_pass=["func_transform"]):
            after = Sequential(opt_level=1, passes=[self.func_transform])(module(SUB_AND_LOG))
        check(after, DOUBLED)

    def test_multiple_passes(self) -> None:
        """The function pass sees the function that the module pass added."""
        sequential = Sequential(opt_level=1, passes=[self.mod_transform, self.func_transform])
        with PassContext(required_pass=["mod_transform", "func_transform"]):
            after = sequential(module(SUB_AND_LOG))
        assert str(after).startswith(ir(DOUBLED).removesuffix("}\n"))
        assert str(after["my_abs"]) == ir("""
            fn @my_abs(%a: f32[5,10]) -> (%b: f32[5,10]) opset("" = 17) {
              %0 = onnx.Add(%a, %a) : f32[5,10]
              %1 = onnx.Abs(%0) : f32[5,10]
              return %1
            }
        """)


def test_sequential_with_scoping() -> None:
    """TVM's case of the name: constants are folded, and what is computed twice is computed once."""
    sequential = Sequential(
        [get_pass("InferType"), get_pass("FoldConstant"), get_pass("EliminateCommonSubexpr")],
    )
    with PassContext(opt_level=3):
        after = sequential(
            module("""
                module {
                  fn @main(%x: f32[3]) -> (%z: f32[3]) opset("" = 17) {
                    %c = const f32[3] [1.0, 2.0, 3.0]
                    %two = const f32[] [2.0]
                    %a = onnx.Add(%c, %c)
                    %b = onnx.Mul(%a, %two)
                    %y = onnx.Add(%x, %b)
                    %p = onnx.Add(%y, %c)
                    %q = onnx.Add(%y, %c)
                    %z = onnx.Add(%p, %q)
                    return %z
                  }
                }
            """)
        )
    main = after["main"]
    assert [op.name for op in main.ops] == ["onnx.Add"] * 3
    y, p, z = main.ops
    folded = y.operands[1]
    assert folded is not None and folded.constant is not None
    assert folded.constant.numpy().tolist() == [4.0, 8.0, 12.0]
    assert z.operands == [p.result, p.result]


def test_nested_sequential_with_scoping() -> None:
    """TVM's case of the name: a Sequential in a Sequential."""
    with PassContext(opt_level=1):
        after = Sequential([Sequential([get_pass("SimplifyExpr")])])(
            module("""
                module {
                  fn @main(%x: f32[2,3]) -> (%y: f32[6]) opset("" = 17) {
                    %s = const i64[2] [3, 2]
                    %t = const i64[1] [6]
                    %a = onnx.Reshape(%x, %s) : f32[3,2]
                    %y = onnx.Reshape(%a, %t) : f32[6]
                    return %y
                  }
                }
            """)
        )
    assert [op.name for op in after["main"].ops] == ["onnx.Reshape"]


def test_print_ir(capfd: pytest.CaptureFixture[str]) -> None:
    """TVM's case of the name (rule 140): a pass that prints, and changes nothing."""
    mod = one_function()
    with PassContext(opt_level=3):
        assert Sequential([get_pass("InferType"), PrintIR("here"), get_pass("DeadCodeElimination")])(mod) is not None
        assert PrintIR()(mod) is mod
    err = capfd.readouterr().err
    assert err.startswith("PrintIR(here):\nmodule {\n")
    assert "onnx.Relu" in err
    assert PrintIR().info == PassInfo(0, "PrintIR")


@pass_instrument
class PassCounter:
    """Counts passes, in a context."""

    def __init__(self) -> None:
        self.counts = 1234

    def enter_pass_ctx(self) -> None:
        self.counts = 0

    def exit_pass_ctx(self) -> None:
        self.counts = 0

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        self.counts += 1

    def get_counts(self) -> int:
        return self.counts


def test_print_debug_callback() -> None:
    """TVM's case of the name: an instrument that counts. No pass runs that nobody named (rule 92), so there are 4."""
    counter = PassCounter()
    sequential = Sequential([get_pass("InferType"), get_pass("FoldConstant"), get_pass("DeadCodeElimination")])
    with PassContext(opt_level=3, instruments=[counter]):
        assert counter.get_counts() == 0
        sequential(one_function())
        assert counter.get_counts() == 4
    assert counter.get_counts() == 0


def test_r003_a_pass_is_called_after_its_function_or_class() -> None:
    """KEEP. Passes made of functions and classes without a name are called after them."""

    @module_pass(opt_level=0)
    class Cleanup(ModulePass):
        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            return mod

    assert module_pass(add_abs, opt_level=0).info.name == "add_abs"
    assert function_pass(double_params, opt_level=0).info.name == "double_params"
    assert Cleanup().info.name == "Cleanup"


def test_r004_a_level_has_to_be_said() -> None:
    """KEEP. A pass without a level is refused."""
    with pytest.raises(
        ValueError, match=r"Please provide opt_level for the module pass\b.*@module_pass\(opt_level=1\)"
    ):
        module_pass(add_abs)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="Please provide opt_level for the function pass"):
        function_pass(double_params)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="Please provide opt_level for the prim_func pass"):
        prim_func_pass(double_params)  # type: ignore[call-overload]


@pytest.mark.parametrize("required", ["abc", {"a"}, 5])
def test_r005_what_a_pass_requires_is_a_list(required: object) -> None:
    with pytest.raises(TypeError):
        PassInfo(0, "x", required)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Required is expected to be the type of list/tuple"):
        module_pass(add_abs, opt_level=0, required=required)  # type: ignore[call-overload]


@pytest.mark.parametrize("level", [True, "1", 1.0, None])
def test_r007_a_level_is_an_int(level: object) -> None:
    with pytest.raises(TypeError, match="opt_level is an int"):
        PassInfo(level, "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="opt_level is an int from 0 on, not -1"):
        PassInfo(-1, "x")


@pytest.mark.parametrize("name", ["", " x", "x "])
def test_r006_a_name_has_no_blanks_at_its_ends(name: str) -> None:
    with pytest.raises(ValueError, match="a pass can't be called"):
        PassInfo(0, name)


def test_r001_an_info_is_read_only() -> None:
    info = PassInfo(1, "x", ["a", "b"])
    assert (info.opt_level, info.name, info.required) == (1, "x", ("a", "b"))
    with pytest.raises(AttributeError):
        info.name = "y"  # type: ignore[misc]


def test_r002_nothing_is_required_by_default() -> None:
    assert PassInfo(1, "x", None).required == PassInfo(1, "x").required == ()


def test_r008_infos_are_compared_by_value() -> None:
    assert PassInfo(1, "x", ["a"]) == PassInfo(1, "x", ("a",))
    assert len({PassInfo(1, "x"), PassInfo(1, "x"), PassInfo(2, "x")}) == 2


def test_r046_to_052_what_a_sequential_runs() -> None:
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
    # Called directly, a pass runs whatever the context says.
    assert ran(high, opt_level=0, disabled_pass=["High"]) == ["High"]


def test_r054_a_sequential_may_have_disabled_passes_of_its_own() -> None:
    events: list[str] = []
    passes = [recorder(events, "A"), recorder(events, "B")]
    Sequential(passes, disabled=["A"])(one_function())
    assert events == ["B"]
    with pytest.raises(TypeError, match=r"disabled: expected a list of names, got a string; did you mean \['A'\]\?"):
        Sequential(passes, disabled="A")


def test_r055_what_a_pass_requires_runs_before_it() -> None:
    """A pass of Python may be required by another, and be required by a plugin's."""
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


def test_r057_a_cycle_is_refused_before_anything_runs() -> None:
    events: list[str] = []
    first = recorder(events, "tests.r057.A", required=["tests.r057.B"]).register()
    recorder(events, "tests.r057.B", required=["tests.r057.A"]).register()
    with pytest.raises(passdock.PassError, match=r"tests\.r057\.A.*tests\.r057\.B.*tests\.r057\.A"):
        Sequential([recorder(events, "Before"), first])(one_function())
    assert events == []


def test_r065_names_are_resolved_before_the_first_pass_runs() -> None:
    events: list[str] = []
    passes = [recorder(events, "First"), recorder(events, "Second", required=["FoldConstnt"])]
    with pytest.raises(passdock.UnknownNameError, match="FoldConstnt.*FoldConstant.*required by `Second`") as raised:
        Sequential(passes)(one_function())
    assert isinstance(raised.value, LookupError)
    assert events == []


def test_r070_a_sequential_takes_a_list_of_passes() -> None:
    with pytest.raises(TypeError, match="passes must be a list of Pass objects, not ModulePass"):
        Sequential(module_pass(add_abs, opt_level=0))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="passes must be a list of Pass objects, not generator"):
        Sequential(one for one in [module_pass(add_abs, opt_level=0)])  # type: ignore[arg-type]


def test_r071_none_is_no_child() -> None:
    fine = module_pass(add_abs, opt_level=0)
    with pytest.raises(TypeError, match=r"passes\[1\] is no pass, but None"):
        Sequential([fine, None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"passes\[0\] is no pass, but <function add_abs"):
        Sequential([add_abs])  # type: ignore[list-item]


def test_r072_the_same_pass_may_occur_twice() -> None:
    events: list[str] = []
    one = recorder(events, "One")
    Sequential([one, one])(one_function())
    assert events == ["One", "One"]


def test_r074_a_deep_nest_is_an_error() -> None:
    nest: Pass = recorder([], "Leaf")
    for _ in range(300):
        nest = Sequential([nest])
    with pytest.raises(passdock.PassError, match="nested"):
        nest(one_function())


def test_r078_a_module_pass_that_forgets_to_return_is_refused() -> None:
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
    with pytest.raises(TypeError, match=r"a module pass returns a passdock\.Module, not str"):
        answers_text(mod)


def test_r079_a_pass_is_called_with_a_module() -> None:
    """Checked before any instrument hears of it."""
    events: list[str] = []
    with PassContext(instruments=[Watch(events)]):
        for wrong in (None, "module {}", two_functions()["main"]):
            with pytest.raises(TypeError, match=r"a pass runs on a passdock\.Module, not on "):
                get_pass("FoldConstant")(wrong)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match=r"a pass runs on a passdock\.Module, not on "):
                Sequential([])(wrong)  # type: ignore[arg-type]
    assert events == ["enter", "exit"]


def test_r081_each_kind_of_pass_gets_its_kind_of_function() -> None:
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
    made = prim_func_pass(see, opt_level=0)
    assert isinstance(made, PrimFuncPass)
    assert made(mod) is mod
    # Rule 87: the module is whole for both.
    assert seen == ["fn b of 3", "fn a of 3", "prim loop of 3"]


def test_r082_no_function_sees_what_became_of_another() -> None:
    seen: list[int] = []

    @function_pass(opt_level=0)
    def look(func: Function, mod: Module, ctx: PassContext) -> Function:
        seen.append(sum(len(each.ops) for each in mod.functions))
        func.create_op("onnx.Relu", [func.params[0]])
        return func

    after = look(two_functions())
    assert seen == [2, 2]
    assert after.op_count == 4


def test_r083_a_function_pass_reads_its_module() -> None:
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
        with pytest.raises(ValueError, match="is there to be read; passes edit the one that they are given"):
            wrong(two_functions())


def test_r084_a_function_pass_that_forgets_to_return_is_refused() -> None:
    """The error names the pass and the function."""

    @function_pass(opt_level=0)
    def forgets(func: Function, mod: Module, ctx: PassContext) -> None:
        pass

    with pytest.raises(TypeError, match="The return value of a function pass must be set") as raised:
        forgets(one_function())
    assert raised.value.__notes__ == ["Error in pass forgets, function @main"]


def test_r085_a_function_pass_returns_a_function() -> None:
    @function_pass(opt_level=0)
    def answers_module(func: Function, mod: Module, ctx: PassContext) -> Module:
        return mod

    with pytest.raises(TypeError, match=r"a function pass returns a passdock\.Function, not Module") as raised:
        answers_module(one_function())
    assert raised.value.__notes__ == ["Error in pass answers_module, function @main"]


def test_r088_a_pass_that_changes_nothing_returns_the_same_module() -> None:
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


def test_r089_if_one_function_fails_none_is_changed() -> None:
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


def test_r090_functions_that_ask_for_it_are_skipped() -> None:
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


def test_r096_a_pass_may_be_applied_to_some_functions() -> None:
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
