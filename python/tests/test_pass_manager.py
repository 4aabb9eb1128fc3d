"""Passes and Sequentials: the cases of TVM's ``test_pass_manager.py``, and further ones."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped, unused-ignore]
import pytest

import passdock
from passdock import (
    ConfigError,
    EditError,
    Function,
    Module,
    PassContext,
    PassInfo,
    Sequential,
    function_pass,
    get_pass,
    list_passes,
    module_pass,
    pass_instrument,
)
from passdock.transform import FunctionPass, ModulePass, PrintIR
from support import ADD, SUB_AND_LOG, add_abs, check, double_params, ir, module, one_function, two_functions


def test_module_pass() -> None:
    """TVM's case of this name: a module pass from a decorated function that adds a function to the module."""
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
    """TVM's ``test_pass_registration_no_decorator``: a call instead of the decorator."""
    created = module_pass(add_abs, opt_level=3)
    assert isinstance(created, ModulePass)
    assert created.info.name == "add_abs"
    assert created.info.opt_level == 3


def test_function_pass() -> None:
    """TVM's case of this name: a function pass edits each function."""
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


def test_documented_module_pass_runs_in_onnx_runtime() -> None:
    """TVM's documented example: a module pass that adds a function of the absolute value, here in a model for ONNX
    Runtime.
    """

    @module_pass(opt_level=2)
    def transform(mod: Module, ctx: PassContext) -> Module:
        # ONNX functions have a domain.
        func = mod.create("docs.abs", like="main" if "main" in mod else None)
        func.set_opset("", 17)
        x = func.add_param("x", "f32[10]")
        func.set_results([ctx.create_value(func, "onnx.Abs", [x])], names=["y"])
        return mod

    assert isinstance(transform, ModulePass)
    assert transform.info.opt_level == 2
    check(
        transform(Module.from_text("module { }")),
        """
        module {
          fn @docs.abs(%x: f32[10]) -> (%y: f32[10]) opset("" = 17) {
            %0 = onnx.Abs(%x) : f32[10]
            return %0
          }
        }
        """,
    )

    @module_pass(opt_level=2, name="calls_abs")
    def calls(mod: Module, ctx: PassContext) -> Module:
        main = mod["main"]
        (result,) = main.ops[-1].results
        call = main.create_op("docs.abs", [result], after=main.ops[-1])
        main.set_results([call.result])
        return mod

    given = module("""
        module {
          fn @main(%x: f32[10]) -> (%y: f32[10]) opset("" = 17) {
            %y = onnx.Sin(%x) : f32[10]
            return %y
          }
        }
    """)
    # To ONNX and back, before and after: the function becomes a model-local function.
    data = Sequential([transform, calls])(Module.from_onnx(given.to_onnx())).to_onnx()
    assert list(Module.from_onnx(data)) == ["main", "docs.abs"]
    proto = onnx.load_from_string(data)
    onnx.checker.check_model(proto)
    assert [(function.domain, function.name) for function in proto.functions] == [("docs", "abs")]
    x = np.linspace(-3, 3, 10, dtype=np.float32)
    (created,) = onnxruntime.InferenceSession(data).run(None, {"x": x})
    assert np.allclose(np.asarray(created), np.abs(np.sin(x)), atol=1e-6)


def test_function_class_pass() -> None:
    """TVM's case of this name: a class whose object returns another function."""

    @function_pass(opt_level=1)
    class TestReplaceFunc(FunctionPass):
        """Replaces each function with the same one."""

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


def test_function_of_earlier_opset_keeps_its_semantics() -> None:
    """Another function is raised to the opset and brings its callees. It is rejected if its interface or meaning would
    change.
    """
    given = module("""
        module {
          fn @main(%x: f32[1,2,3]) -> (%y: f32[1,2,3]) opset("" = 17) {
            %y = onnx.Neg(%x) : f32[1,2,3]
            return %y
          }
        }
    """)

    def replaced(header: str, op: str, more: str = "") -> Module:
        end = "" if "return" in op else "return %y"
        other = Module.from_text(f"module {{ fn @f{header} {{ {op} {end} }} {more} }}")
        return function_pass(opt_level=0, name="replace")(lambda func, mod, ctx: other["f"])(given)

    header = '(%x: f32[n,c,s]) -> (%y: f32[n,c,s]) opset("" = {}, "acme" = 1)'
    softmax = "%y = onnx.Softmax(%x) : f32[n,c,s]"
    callee = f'fn @acme.Soft(%x: f32[n,c,s]) -> (%y: f32[n,c,s]) opset("" = 11) {{ {softmax} return %y }}'
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(1, 2, 3)
    for created in (
        replaced(header.format(11), softmax),
        replaced(header.format(11), "%y = acme.Soft(%x) : f32[n,c,s]", callee),
    ):
        assert created["main"].opsets[""] == 17
        data = created.to_onnx()
        onnx.checker.check_model(onnx.load_from_string(data))
        (result,) = onnxruntime.InferenceSession(data).run(None, {"x": x})
        # From opset 13 on, each of the two rows would sum to 1.
        assert np.isclose(np.asarray(result).sum(), 1.0)
    assert "acme.Soft" in created
    assert replaced(header.format(20), "%y = onnx.Relu(%x)")["main"].opsets[""] == 17
    with pytest.raises(EditError, match=r"`onnx.Gelu` of `@f` \(opset 20\).*`@main` \(opset 17\)"):
        replaced(header.format(20), "%y = onnx.Gelu(%x)")
    with pytest.raises(EditError, match="wrong number of results: expected 1, found 2"):
        replaced("(%x: f32[1,2,3]) -> (%y, %z)", "%y = onnx.Relu(%x) return %y, %x")
    with pytest.raises(EditError, match=r"expected type `f32\[1,2,3\]` for result 0, found `i64\[n\]`"):
        replaced("(%x: f32[1,2,3]) -> (%y: i64[n])", "%y = onnx.Shape(%x)")


def test_module_class_pass() -> None:
    """TVM's case of this name: the module that a pass returns is the result."""

    @module_pass(opt_level=1)
    class TestPipeline(ModulePass):
        """Replaces a module with another one, or doesn't."""

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
    """TVM's case of this name."""
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
        """The function pass runs on the function that the module pass added."""
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
    """TVM's case of this name: constants are folded, and common subexpressions are eliminated."""
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
    """TVM's case of this name: a Sequential in a Sequential."""
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
    """TVM's case of this name (rule 140): a pass that prints and changes nothing."""
    mod = one_function()
    with PassContext(opt_level=3):
        assert Sequential([get_pass("InferType"), PrintIR("here"), get_pass("DeadCodeElimination")])(mod) is not None
        assert PrintIR()(mod) is mod
    err = capfd.readouterr().err
    assert err.startswith("PrintIR(here):\nmodule {\n")
    assert "onnx.Relu" in err
    assert PrintIR().info == PassInfo(0, "PrintIR")


def test_print_ir_is_registered(capfd: pytest.CaptureFixture[str]) -> None:
    """As in the command: for pipelines, and under TVM's names."""
    assert "PrintIR" in list_passes()
    mod = one_function()
    passes = [
        get_pass("PrintIR", header="a"),
        get_pass("relay.transform.PrintIR"),
        get_pass("transform.PrintIR", header="b"),
    ]
    assert Sequential(passes)(mod) is mod
    passdock.run(mod, {"passes": [{"name": "PrintIR", "options": {"header": "c"}}]})
    passdock.run(mod, passdock.Pipeline("[[passes]]\nname = 'PrintIR'\noptions = { header = 'd' }\n"))
    printed = capfd.readouterr().err
    assert printed == "".join(f"PrintIR({header}):\n{mod}" for header in ("a", "", "b", "c", "d"))
    with pytest.raises(ConfigError, match=r"heder.*did you mean `header`"):
        get_pass("PrintIR", heder="a")


@pass_instrument
class PassCounter:
    """Counts passes in a context."""

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
    """TVM's case of this name: an instrument that counts. There are 4 passes, because no implicit ones run (rule
    92).
    """
    counter = PassCounter()
    sequential = Sequential([get_pass("InferType"), get_pass("FoldConstant"), get_pass("DeadCodeElimination")])
    with PassContext(opt_level=3, instruments=[counter]):
        assert counter.get_counts() == 0
        sequential(one_function())
        assert counter.get_counts() == 4
    assert counter.get_counts() == 0
