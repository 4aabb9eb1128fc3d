"""Edits: IR text, a pass, IR text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import passdock
from passdock import EditError, Function, Module, Op, PassContext, Value, module_pass
from support import check, module, on_functions

RELUS = """
    module {
      fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17) {
        %a = onnx.Relu(%x) : f32[n,3] loc("first")
        %b = onnx.Relu(%a) : f32[n,3] loc("second")
        %y = onnx.Abs(%b) : f32[n,3]
        return %y
      }
    }
"""


def edited(text: str, edit: Callable[[Function, PassContext], object]) -> Module:
    """Returns the result of a function pass that edits; the input module isn't changed."""
    mod = module(text)
    before = str(mod)

    def run(func: Function, ctx: PassContext) -> Function:
        assert func.is_editable
        edit(func, ctx)
        return func

    after = on_functions("Edits", run)(mod)
    assert str(mod) == before
    return after


def rejected(text: str, edit: Callable[[Function, PassContext], object], message: str, op: str | None = None) -> None:
    """Checks a rejected edit, which names an op: the pass continues, and nothing is changed."""

    def run(func: Function, ctx: PassContext) -> None:
        before = str(func)
        with pytest.raises(EditError, match=message) as raised:
            edit(func, ctx)
        named = raised.value.op
        assert (named.name if named else None) == op
        assert str(func) == before

    check(edited(text, run), text)


def test_ops_are_created() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        a, b, y = func.ops
        first = func.create_op("onnx.Neg", [func.params[0]], results=["f32[n,3]"], before=a)
        func.set_value_name(first.result, "first")
        attrs: dict[str, Any] = {"mode": "edge", "axes": [1], "v": 1.5}
        second = func.create_op("onnx.Pad", [a.result, None], attrs=attrs, after=a, custom=True)
        assert second.attrs == {"mode": "edge", "axes": [1], "v": 1.5}
        func.create_op("acme.Two", [], results=2, before=y, custom=True)
        func.create_op("acme.None", [b.result], results=0, custom=True)

    check(
        edited(RELUS, edit),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17, "acme" = 1) {
            %first = onnx.Neg(%x) : f32[n,3]
            %a = onnx.Relu(%x) : f32[n,3] loc("first")
            %0 = onnx.Pad(%a, _) {mode = "edge", axes = [1], v = 1.5}
            %b = onnx.Relu(%a) : f32[n,3] loc("second")
            %1, %2 = acme.Two()
            %y = onnx.Abs(%b) : f32[n,3]
            acme.None(%b)
            return %y
          }
        }
        """,
    )


@pytest.mark.parametrize(
    ("name", "count", "message"),
    [
        ("Relu", 1, r"no plugin defines operator `Relu`; did you mean `onnx\.Relu`\?"),
        ("Rleu", 1, r"`Rleu`; did you mean `onnx\.Relu`\?"),
        ("onnx.Rleu", 1, r"`onnx\.Rleu`; did you mean `onnx\.Relu`\?"),
        ("onx.Relu", 1, r"`onx\.Relu`; did you mean `onnx\.Relu`\?"),
        ("ai.onnx.ml.Relu", 1, r"did you mean `onnx\.Relu`\?"),
        ("onnx.Frobnicate", 1, r"`onnx\.Frobnicate`.* \(`custom=True` disables this check\)"),
        ("acme.Relu", 1, r"`acme\.Relu`.* \(`custom=True` disables this check\)"),
        ("onnx.Relu", 2, r"`onnx\.Relu` expects 1 operand, found 2 \("),
        ("onnx.Add", 1, r"`onnx\.Add` expects 2 operands, found 1 \("),
        ("onnx.Concat", 0, r"`onnx\.Concat` expects at least 1 operand, found 0 \("),
        ("onnx.Gelu", 1, r"`onnx\.Gelu` requires opset 20, but the function imports opset 17 \("),
    ],
)
def test_undefined_operators_are_rejected(name: str, count: int, message: str) -> None:
    def operands(func: Function) -> list[Value]:
        return [func.params[0]] * count

    rejected(RELUS, lambda func, _: func.create_op(name, operands(func)), message)
    rejected(RELUS, lambda func, _: func.replace_op(func.ops[1], name, operands(func)), message)
    rejected(RELUS, lambda func, ctx: ctx.create_value(func, name, operands(func)), message)
    created = edited(RELUS, lambda func, _: func.create_op(name, operands(func), custom=True))
    assert [op.name for op in created["main"].ops][-1] == name


def test_operators_of_an_imported_domain_are_accepted() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        func.set_opset("acme", 2)
        func.create_op("acme.Mine", [func.params[0]])
        ctx.create_value(func, "acme.Other", func.params)

    assert edited(RELUS, edit).op_count == 5


def test_function_calls_are_created() -> None:
    @module_pass(opt_level=0)
    def run(mod: Module, ctx: PassContext) -> Module:
        helper = mod.create("acme.helper", like="main")
        p = helper.add_param("p", "f32[n]")
        helper.set_results([ctx.create_value(helper, "onnx.Abs", [p])], names=["q"])
        main = mod["main"]
        main.create_op("acme.helper", [main.params[0]])
        return mod

    assert run(module(RELUS))["main"].op_count == 4


def test_type_arguments_accept_three_forms() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        (x,) = func.params
        func.create_op(
            "acme.A",
            [x],
            results=["f32[n, 3,?]", ("i64", ("n", 2, None)), x.type, None, ("f16", None), "i8[*]"],
            custom=True,
        )

    after = edited(RELUS, edit)
    (op,) = after["main"].ops_named("acme.A")
    assert [str(result.type) for result in op.results] == [
        "f32[n,3,?]",
        "i64[n,2,?]",
        "f32[n,3]",
        "?",
        "f16[*]",
        "i8[*]",
    ]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("f32[", r"invalid type `f32\[`: expected a dim, found end of input; expected a form such as "),
        ("f33[2]", "unknown dtype `f33`"),
        ("f32[a b]", "invalid type `f32.a b.`: expected `,` between dims, found `b`"),
        ("f32[n,3]]", "expected end of input after the type"),
        ("seq<f3>", "unknown type `f3`"),
        (5, "a type must be a string like"),
        (("f32", (1.5,)), r"a size must be an int, a string \(a symbol or an expression\), or None"),
    ],
)
def test_invalid_types_are_rejected(spec: Any, message: str) -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            func.create_op("acme.A", [], results=[spec], custom=True)

    check(edited(RELUS, edit), RELUS)


@pytest.mark.parametrize(
    "ty",
    [
        "f32[n*2,m]",
        "f32[(n+1)*m,?,n/2-1]",
        'f32["a b","batch-size","é","n*2","3"]',
        "f32[max(n,4),3]@IMAGE",
        "i64[]",
        "f32[*]",
        "seq<f32[n*2]>",
        "optional<tuple<f32[2], i64[]>>",
        "map<str, f32[n]>",
    ],
)
def test_read_types_can_be_used_as_arguments(ty: str) -> None:
    text = f'module {{ fn @main(%x: {ty}, %n: f32[n,m]) opset("" = 17) {{ return }} }}'
    other = module(text)["main"].params[0].type

    def edit(func: Function, ctx: PassContext) -> None:
        x = func.params[0]
        specs: list[Any] = [x.type, str(x.type), other]
        if x.type.kind == "tensor" and "@" not in ty:
            specs.append((x.dtype, x.shape))
        op = func.create_op("acme.A", [], results=specs, custom=True)
        assert {result.type for result in op.results} == {x.type}
        assert str(x.type) == ty

    edited(text, edit)


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        ("n", "n"),
        ("n * 2", "n*2"),
        ("batch size", '"batch size"'),
        ('"batch size"', '"batch size"'),
        ("batch-size", "batch-size"),
        ("n,m", '"n,m"'),
        ("é", '"é"'),
        ("?", "?"),
        ("*", '"*"'),
        ("3", "3"),
    ],
)
def test_dims_accept_symbols_and_expressions(spec: str, kept: str) -> None:
    """A string that parses as a size is that size; others are names of symbols."""

    def edit(func: Function, ctx: PassContext) -> None:
        op = func.create_op("acme.A", [], results=[("f32", (spec, 2))], custom=True)
        assert op.result.type == f"f32[{kept},2]"

    edited(RELUS, edit)


def test_result_count_is_limited() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        for make in (func.create_op, lambda *a, **k: ctx.create_value(func, *a, **k)):
            with pytest.raises(ValueError, match="an op can have at most 1048576 results, not 8589934592"):
                make("acme.A", [], results=2**33, custom=True)

    edited(RELUS, edit)


def test_created_values_have_inferred_types() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        created = ctx.create_value(func, "onnx.Transpose", [func.params[0]], attrs={"perm": [1, 0]}, before=func.ops[0])
        assert created.shape == (3, "n")
        assert func.ops[0].is_pure
        op = func.create_op("onnx.Transpose", [created], attrs={"perm": [1, 0]}, before=func.ops[1])
        ctx.infer(op)
        func.set_operand(func.ops[2], 0, op.result)
        assert ctx.attr_default(func.create_op("onnx.Flatten", [created]), "axis") == 1

    check(
        edited(RELUS, edit),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17) {
            %0 = onnx.Transpose(%x) {perm = [1, 0]} : f32[3,n]
            %1 = onnx.Transpose(%0) {perm = [1, 0]} : f32[n,3]
            %a = onnx.Relu(%1) : f32[n,3] loc("first")
            %b = onnx.Relu(%a) : f32[n,3] loc("second")
            %y = onnx.Abs(%b) : f32[n,3]
            %2 = onnx.Flatten(%0)
            return %y
          }
        }
        """,
    )


def test_ops_are_replaced() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        a, b, y = func.ops
        created = func.replace_op(b, "acme.Relu", [a.result], attrs={"limit": 6}, custom=True)
        assert (created.name, b.is_live) == ("acme.Relu", False)
        func.replace_op(y, "onnx.Neg", [created.result])
        func.replace_op_with(a, [func.params[0]])

    check(
        edited(RELUS, edit),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17, "acme" = 1) {
            %b = acme.Relu(%x) {limit = 6} : f32[n,3] loc("second")
            %y = onnx.Neg(%b) : f32[n,3]
            return %y
          }
        }
        """,
    )


def test_dead_ops_are_erased_with_the_replaced_op() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        func.replace_op_with(func.ops[2], [func.params[0]], erase_dead=True)

    check(
        edited(RELUS, edit),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17) {
            return %x
          }
        }
        """,
    )


def test_ops_move_and_are_erased() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        a, b, y = func.ops
        extra = func.create_op("onnx.Neg", [func.params[0]])
        func.move_op(extra, before=a)
        func.set_operand(y, 0, a.result)
        func.erase_op(b)
        assert [op.name for op in func.ops] == ["onnx.Neg", "onnx.Relu", "onnx.Abs"]
        func.move_op(extra, after=y)
        func.move_op(extra, end_of=func.body)
        with pytest.raises(TypeError, match="expected only one of `before`, `after` and `end_of`"):
            func.move_op(extra, before=a, after=y)

    check(
        edited(RELUS, edit),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17) {
            %a = onnx.Relu(%x) : f32[n,3] loc("first")
            %y = onnx.Abs(%a) : f32[n,3]
            %0 = onnx.Neg(%x)
            return %y
          }
        }
        """,
    )


def test_attributes_names_types_locations_and_opsets_are_set() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        a, b, y = func.ops
        func.set_attr(a, "i", True, custom=True)
        tensor = func.add_constant([1, 2]).constant
        assert tensor is not None
        func.set_attr(a, "t", tensor, custom=True)
        func.set_attr(a, "ty", y.result.type, custom=True)
        func.set_attr(a, "s", "text", custom=True)
        func.set_attr(a, "gone", 1, custom=True)
        func.remove_attr(a, "gone")
        func.set_value_name(a.result, "renamed")
        func.set_loc_from(y, [a, b])
        func.set_opset("acme", 3)
        func.set_function_attr("level", 2)
        func.set_function_attr("other", [1.0, 2.5])
        func.remove_function_attr("other")
        func.replace_uses(b.result, a.result)

    check(
        edited(RELUS, edit),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17, "acme" = 3) attributes {level = 2} {
            %0 = const i64[2] [1, 2]
            %renamed = onnx.Relu(%x) {i = 1, t = tensor i64[2] [1, 2], ty = type f32[n,3], s = "text"} : f32[n,3] loc("first")
            %b = onnx.Relu(%renamed) : f32[n,3] loc("second")
            %y = onnx.Abs(%renamed) : f32[n,3] loc("first", "second")
            return %y
          }
        }
        """,
    )


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.int64(2), 2),
        (np.float32(0.5), 0.5),
        (np.bool_(True), 1),
        ([np.int64(1), 2], [1, 2]),
        ([1, 2.5], [1.0, 2.5]),
        (float("inf"), float("inf")),
        (2**63, OverflowError),
        ([1, 2**63], OverflowError),
        ([np.uint64(2**63)], OverflowError),
        (1e300, OverflowError),
        ([1.0, -1e300], OverflowError),
        (np.zeros((1, 1)), TypeError),
    ],
)
def test_numbers_in_attributes_are_exact_or_rejected(value: Any, kept: Any) -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        if isinstance(kept, type):
            with pytest.raises(kept):
                func.set_attr(func.ops[0], "k", value, custom=True)
            return
        func.set_attr(func.ops[0], "k", value, custom=True)
        created = func.ops[0].attrs["k"]
        assert created == kept and type(created) is type(kept)

    edited(RELUS, edit)


def test_results_are_set() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        a, _, y = func.ops
        func.set_results([y.result, a.result], names=["out", "relu"])
        with pytest.raises(ValueError, match="found 1 names and 2 results"):
            func.set_results([y.result, a.result], names=["out"])
        # Unnamed results get the names and types of their values.
        func.set_results([y.result, a.result, func.params[0], a.result])

    @module_pass(opt_level=0)
    def run(mod: Module, ctx: PassContext) -> Module:
        edit(mod["main"], ctx)
        return mod

    check(
        run(module(RELUS)),
        """
        module {
          fn @main(%x: f32[n,3]) -> (%out: f32[n,3], %relu: f32[n,3], %x: f32[n,3], %a: f32[n,3]) opset("" = 17) {
            %a = onnx.Relu(%x) : f32[n,3] loc("first")
            %b = onnx.Relu(%a) : f32[n,3] loc("second")
            %y = onnx.Abs(%b) : f32[n,3]
            return %y, %a, %x, %a
          }
        }
        """,
    )


@pytest.mark.parametrize(
    ("edit", "message", "op"),
    [
        (lambda f, cx: f.erase_op(f.ops[0]), "result %a is used by op1", "onnx.Relu"),
        (lambda f, cx: f.set_operand(f.ops[0], 0, f.ops[1].result), "is not visible at operand 0", "onnx.Relu"),
        (lambda f, cx: f.set_operand(f.ops[2], 5, f.params[0]), "operand", "onnx.Abs"),
        (lambda f, cx: f.move_op(f.ops[0], after=f.ops[1]), "after op1", "onnx.Relu"),
        (lambda f, cx: f.replace_op_with(f.ops[0], []), "result", "onnx.Relu"),
        (lambda f, cx: f.set_type(f.params[0], "i64[n,3]"), "f32", None),
        (lambda f, cx: f.remove_function_attr("k"), "function `@main` has no attribute `k`", None),
        (lambda f, cx: f.set_results([None]), "a result of a function cannot be None", None),
    ],
)
def test_invalid_edits_are_rejected(edit: Any, message: str, op: str | None) -> None:
    rejected(RELUS, edit, message, op)


@pytest.mark.parametrize("index", [-1, -(2**62)])
def test_negative_operand_index_is_rejected(index: int) -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises(IndexError, match="negative operand index"):
            func.set_operand(func.ops[0], index, func.params[0])

    edited(RELUS, edit)


def test_entities_of_another_function_are_rejected() -> None:
    other = module(RELUS)["main"]

    def edit(func: Function, ctx: PassContext) -> None:
        for wrong in (
            lambda: func.create_op("onnx.Relu", [other.params[0]]),
            lambda: func.erase_op(other.ops[0]),
            lambda: func.create_op("onnx.Relu", [func.params[0]], before=other.ops[0]),
            lambda: func.replace_uses(other.params[0], func.params[0]),
        ):
            with pytest.raises(ValueError, match="an object of function `@main`, found one of another function"):
                wrong()

    check(edited(RELUS, edit), RELUS)


def test_regions_of_another_function_are_rejected() -> None:
    other = module(RELUS)["main"]

    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises(ValueError, match="found one of another function"):
            func.create_op("onnx.Relu", [func.params[0]], end_of=other.body)
        with pytest.raises(ValueError, match="found one of another function"):
            func.set_results([func.params[0]], other.body)

    check(edited(RELUS, edit), RELUS)


def test_op_is_evaluated() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        two = func.add_constant([2.0, 3.0])
        mul = func.create_op("onnx.Mul", [two, two])
        ctx.infer(mul)
        created = ctx.evaluate(mul)
        assert created is not None
        (value,) = created
        assert value is not None and value.constant is not None
        assert value.constant.numpy().tolist() == [4.0, 9.0]
        assert ctx.evaluate(func.ops[0]) is None
        func.erase_op(mul)

    edited(RELUS, edit)


def test_functions_are_created_and_removed() -> None:
    @module_pass(opt_level=0)
    def run(mod: Module, ctx: PassContext) -> Module:
        helper = mod.create("helper")
        p = helper.add_param("p", "f32[n]")
        helper.set_results([ctx.create_value(helper, "onnx.Abs", [p])], names=["q"])
        loop = mod.create("loop", kind="prim", like=None)
        assert loop.kind == "prim"
        mod.remove("loop")
        assert list(mod) == ["main", "helper"]
        assert mod.get("loop") is None
        with pytest.raises(EditError, match="main"):
            mod.create("main")
        with pytest.raises(EditError, match="nothing"):
            mod.remove("nothing")
        with pytest.raises(ValueError, match='unknown function kind `graph`: expected "fn" or "prim"'):
            mod.create("x", kind="graph")
        return mod

    after = run(module(RELUS))
    assert str(after["helper"]) == (
        'fn @helper(%p: f32[n]) -> (%q: f32[n]) opset("" = 17) {\n  %0 = onnx.Abs(%p) : f32[n]\n  return %0\n}\n'
    )


def test_run_pass_runs_a_pass_by_name() -> None:
    @module_pass(opt_level=0)
    def run(mod: Module, ctx: PassContext) -> Module:
        before: Op = mod["main"].ops[0]
        ctx.run_pass(mod, "DeadCodeElimination")
        assert [op.name for op in mod["main"].ops] == ["onnx.Abs"]
        with pytest.raises(passdock.StaleError):
            _ = before.name
        return mod

    after = run(
        module("""
            module {
              fn @main(%x: f32[n,3]) -> (%y: f32[n,3]) opset("" = 17) {
                %a = onnx.Relu(%x) : f32[n,3]
                %y = onnx.Abs(%x) : f32[n,3]
                return %y
              }
            }
        """)
    )
    assert after.op_count == 1


def test_rewrites_are_counted() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        assert ctx.may_rewrite("mine")
        func.replace_op_with(func.ops[1], [func.ops[0].result])
        ctx.rewrote("mine")

    assert edited(RELUS, edit).op_count == 2


def test_pass_only_methods_are_rejected_outside_passes() -> None:
    ctx = PassContext()
    func = module(RELUS)["main"]
    for ask in (lambda: ctx.infer(func.ops[0]), lambda: ctx.may_rewrite("x"), lambda: ctx.evaluate(func.ops[0])):
        with pytest.raises(RuntimeError, match="is only available on the context that a pass receives"):
            ask()


def test_edits_outside_of_passes_are_rejected() -> None:
    """They raise EditError; the op of an error is only available as text after the pass."""
    func = module(RELUS)["main"]
    with pytest.raises(EditError, match="is read-only; edit the one that the pass received"):
        func.erase_op(func.ops[0])
    caught: list[EditError] = []

    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises(EditError) as raised:
            func.erase_op(func.ops[0])
        caught.append(raised.value)

    edited(RELUS, edit)
    assert caught[0].op is not None
    assert caught[0].op_text == "%a = onnx.Relu(%x) : f32[n,3]"


def test_unnamed_values_are_found_by_number() -> None:
    func = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2]
            %1 = onnx.Abs(%0) : f32[2]
            return %1
          }
        }
    """)["main"]
    assert func.value("1") == func.ops[1].result
    assert str(func.value("0").defining_op) == "%0 = onnx.Relu(%x) : f32[2]"
    assert str(func.ops[1]) == "%1 = onnx.Abs(%0) : f32[2]"
    with pytest.raises(KeyError, match="no value is named `2`"):
        func.value("2")
