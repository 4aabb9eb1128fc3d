"""Rules with code, visitors and mutators: errors have a location."""

from __future__ import annotations

from typing import Any

import pytest

from passdock import Function, Module, Op, PassContext, function_pass
from passdock.rewrite import Match, Rewriter, Rules, rule, rules_pass
from passdock.walk import Mutator, Visitor
from support import module, one_function

RELU_OF_ABS = """
    module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        %a = onnx.Abs(%x) : f32[2]
        %y = onnx.Relu(%a) : f32[2] loc("last")
        return %y
      }
    }
"""


def line_of(raised: pytest.ExceptionInfo[Any]) -> str:
    """Returns the position of the innermost frame as in notes."""
    return f"({__file__}:{raised.traceback[-1].lineno + 1})"


def test_rule_error_names_line_and_op() -> None:
    @rule("onnx.Relu(%x)")
    def fails(rewriter: Rewriter, match: Match) -> Any:
        raise KeyError("no")

    with pytest.raises(KeyError) as raised:
        rules_pass("acme.Fails", fails)(module(RELU_OF_ABS))
    assert raised.value.__notes__ == [
        f"Error in pass acme.Fails, function @main, op1 (onnx.Relu), at last {line_of(raised)}"
    ]


@pytest.mark.parametrize(
    ("results", "message"),
    [(0, "cannot use an op without results"), (2**33, "an op can have at most 1048576 results")],
)
def test_ops_with_invalid_result_count_are_rejected(results: int, message: str) -> None:
    @rule("onnx.Relu(%x)")
    def makes(rewriter: Rewriter, match: Match) -> Any:
        return rewriter.op("onnx.Relu", [match["x"]], results=results)

    with pytest.raises(ValueError, match=message):
        rules_pass("acme.Makes", makes)(module(RELU_OF_ABS))


def test_context_is_unavailable_during_a_rewrite() -> None:
    @function_pass(opt_level=0)
    def rewrites(func: Function, mod: Module, ctx: PassContext) -> Function:
        @rule("onnx.Relu(%x)")
        def asks(rewriter: Rewriter, match: Match) -> None:
            ctx.infer(match.root)

        ctx.rewrite(func, asks)
        return func

    with pytest.raises(RuntimeError, match=r"^the function is being rewritten; .* create ops with the rewriter"):
        rewrites(one_function())


@pytest.mark.parametrize("base", [Visitor, Mutator])
def test_visitor_error_names_its_line(base: type[Any]) -> None:
    def fail(self: Any, op: Op) -> None:
        raise KeyError("no")

    method, start = ("visit_other", "visit") if base is Visitor else ("mutate_other", "mutate")
    walker = type("Walker", (base,), {method: fail})()

    @function_pass(opt_level=0, name="acme.Walks")
    def walks(func: Function, mod: Module, ctx: PassContext) -> Function:
        getattr(walker, start)(func)
        return func

    with pytest.raises(KeyError) as raised:
        walks(one_function())
    assert raised.value.__notes__ == [f"Error in pass acme.Walks, function @main {line_of(raised)}"]


@pytest.mark.parametrize("result", [lambda op: op, lambda op: 3])
def test_mutator_must_return_values(result: Any) -> None:
    mutator = type("Replacer", (Mutator,), {"mutate_other": lambda self, op: result(op)})()

    @function_pass(opt_level=0, name="acme.Mutates")
    def mutates(func: Function, mod: Module, ctx: PassContext) -> Function:
        mutator.mutate(func)
        return func

    with pytest.raises(
        TypeError, match="Replacer must return values for the results of onnx.Relu, or None, not "
    ):
        mutates(one_function())


def test_nested_pass_errors_have_separate_lines() -> None:
    @function_pass(opt_level=0, name="Inner")
    def inner(func: Function, mod: Module, ctx: PassContext) -> Function:
        raise KeyError("no")

    @function_pass(opt_level=0, name="Outer")
    def outer(func: Function, mod: Module, ctx: PassContext) -> Function:
        inner(one_function())
        return func

    with pytest.raises(KeyError) as raised:
        outer(one_function())
    called = next(frame.lineno + 1 for frame in raised.traceback if frame.name == "outer")
    assert raised.value.__notes__ == [
        f"Error in pass Inner, function @main {line_of(raised)}",
        f"Error in pass Outer, function @main ({__file__}:{called})",
    ]


@pytest.mark.parametrize("count", [0, 2])
def test_rule_must_return_one_value_per_result(count: int) -> None:
    @rule("onnx.Relu(%x)")
    def several(rewriter: Rewriter, match: Match) -> Any:
        return [match["x"]] * count

    with pytest.raises(ValueError, match=f"a value for each result of the replaced op: expected 1, found {count}"):
        rules_pass("acme.Several", several)(one_function())


def test_unused_results_may_be_omitted() -> None:
    @rule("%y, %mask = onnx.Dropout(%x)")
    def drop(rewriter: Rewriter, match: Match) -> Any:
        return match["x"]

    mod = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %a, %mask = onnx.Dropout(%x) : f32[2], bool[2]
            %y = onnx.Relu(%a) : f32[2]
            return %y
          }
        }
    """)
    assert [op.name for op in rules_pass("acme.Drop", drop)(mod)["main"].ops] == ["onnx.Relu"]


def test_rules_pass_required_is_a_list() -> None:
    rules = Rules("rule a { onnx.Relu(onnx.Relu(%x)) => onnx.Relu(%x) }")
    assert rules_pass("acme.A", rules, required=("InferType",)).info.required == ("InferType",)
    with pytest.raises(TypeError, match="Required is expected to be the type of list/tuple"):
        rules_pass("acme.A", rules, required="InferType")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dtype", "number", "message"),
    [
        ("f32", 1e60, "f32 cannot represent 1e[+]60"),
        ("f16", 65520.0, "f16 cannot represent 65520.0"),
        ("f64", 10**400, "f64 cannot represent 1000"),
        ("u8", -1, "u8 cannot represent -1"),
        ("i32", float("nan"), "i32 cannot represent nan"),
        ("i64", 2**53 + 1, "cannot represent 9007199254740993 exactly"),
        ("i64", 2**63 - 1, "cannot represent 9223372036854775807 exactly.* `ints`"),
    ],
)
def test_scalar_must_be_representable(dtype: str, number: float, message: str) -> None:
    def adds(rewriter: Rewriter, match: Match) -> Any:
        with pytest.raises(ValueError, match=message):
            rewriter.scalar(dtype, number)
        for dtype_of_it, right in (("f32", 0.5), ("f32", float("inf")), ("f64", 2**53 + 1), ("u64", 2**63), ("bool", 1)):
            created = rewriter.scalar(dtype_of_it, right).constant
            assert created is not None
            assert created.numpy() == right if right != 2**53 + 1 else created.numpy() == 2.0**53

    rules_pass("Adds", rule("onnx.Relu(%x)")(adds))(one_function())
