"""Ops and attributes are checked against the op definitions."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
import pytest

from passdock import EditError, Function, Module, Op, PassContext
from passdock.rewrite import Match, Rewriter, rule, rules_pass
from support import module, on_functions

MODEL = """
    module {
      fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
        %a = onnx.LeakyRelu(%x) {alpha = 0.5} : f32[2,3]
        %y = onnx.Relu(%a) : f32[2,3]
        return %y
      }
    }
"""

WRONG = [
    ("onnx.Relu", 1, {"axis": 1}, r"`onnx\.Relu` has no attribute `axis`; it has none"),
    ("onnx.Concat", 2, {"axsi": 1}, r"`onnx\.Concat` has no attribute `axsi`; did you mean `axis`\?"),
    ("onnx.LeakyRelu", 1, {"zzz": 1}, r"`onnx\.LeakyRelu` has no attribute `zzz`; it has `alpha`"),
    ("onnx.Concat", 2, {"axis": "x"}, r"invalid attribute `axis` of `onnx\.Concat`: expected an int, found a string"),
    ("onnx.Concat", 2, {"axis": [1]}, "expected an int, found a list of ints"),
    ("onnx.Concat", 2, {"axis": 1.0}, "expected an int, found a float"),
    ("onnx.Transpose", 1, {"perm": ["a"]}, "expected a list of ints, found a list of strings"),
    ("onnx.LeakyRelu", 1, {"alpha": 2**24 + 1}, "expected a float, found an int"),
    ("onnx.Concat", 2, {}, r"missing attribute `axis` of `onnx\.Concat`"),
    ("onnx.If", 1, {}, r"`onnx\.If` requires region `\w+`, but new ops have no regions"),
    # In this opset, ReduceSum's axes are an operand.
    ("onnx.ReduceSum", 1, {"axes": [0]}, r"`onnx\.ReduceSum` has no attribute `axes`"),
]


def edited(edit: Callable[[Function, PassContext], object]) -> Module:
    def run(func: Function, ctx: PassContext) -> Function:
        edit(func, ctx)
        return func

    return on_functions("Edits", run)(module(MODEL))


@pytest.mark.parametrize(("name", "count", "attrs", "message"), WRONG)
@pytest.mark.parametrize("way", ["create_op", "create_value", "replace_op", "rewriter"])
def test_ops_are_checked_against_definitions(
    way: str, name: str, count: int, attrs: dict[str, Any], message: str
) -> None:
    def make(func: Function, ctx: PassContext, custom: bool) -> object:
        operands = [func.params[0]] * count
        if way == "create_op":
            return func.create_op(name, operands, attrs=attrs, custom=custom)
        if way == "replace_op":
            return func.replace_op(func.ops[1], name, operands, attrs=attrs, custom=custom)
        return ctx.create_value(func, name, operands, attrs=attrs, custom=custom)

    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises(EditError, match=message + r".* \(`custom=True` disables this check\)"):
            make(func, ctx, False)
        assert func.op_count == 2
        if way != "create_value":
            make(func, ctx, True)

    @rule("onnx.Relu(%x)")
    def makes(rewriter: Rewriter, match: Match) -> Any:
        with pytest.raises(EditError, match=message):
            rewriter.op(name, [match["x"]] * count, attrs)

    if way == "rewriter":
        rules_pass("acme.Makes", makes)(module(MODEL))
    else:
        edited(edit)


def test_missing_required_operand_is_rejected() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises(EditError, match=r"^missing operand 0 of `onnx\.Relu`"):
            func.create_op("onnx.Relu", [None])
        func.create_op("onnx.Clip", [func.params[0], None, None])

    edited(edit)


def test_kept_attributes_are_checked_only_if_defined() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        leaky = func.ops[0]
        with pytest.raises(EditError, match=r"`onnx\.Relu` has no attribute `alpha`"):
            func.replace_op(leaky, "onnx.Relu", [func.params[0]], keep_attrs=True)
        elu = func.replace_op(leaky, "onnx.Elu", [func.params[0]], keep_attrs=True)
        assert elu.attrs == {"alpha": 0.5}
        # Extra attributes of a model's op aren't the program's error.
        func.set_attr(elu, "more", 1, custom=True)
        elu = func.replace_op(elu, "onnx.Elu", [func.params[0]], keep_attrs=True)
        assert elu.attrs == {"alpha": 0.5, "more": 1}

    edited(edit)


def test_ints_are_converted_for_float_attributes() -> None:
    """An empty list is accepted for any kind of list."""

    def edit(func: Function, ctx: PassContext) -> None:
        op = func.create_op("onnx.LeakyRelu", [func.params[0]], attrs=MappingProxyType({"alpha": 2}))
        assert isinstance(op.attr("alpha"), float)
        three: Any = np.int64(3)
        func.set_attr(op, "alpha", three)
        assert op.attr("alpha") == 3.0 and isinstance(op.attr("alpha"), float)
        with pytest.raises(EditError, match="float"):
            func.set_attr(op, "alpha", 2**63 - 1)
        scaler = func.create_op("ai.onnx.ml.Scaler", [func.params[0]], attrs={"offset": [1, 2], "scale": []})
        assert repr(scaler.attrs) == "{'offset': [1.0, 2.0], 'scale': []}"
        func.set_opset("ai.onnx.ml", 3)

    onnx.checker.check_model(onnx.load_from_string(edited(edit).to_onnx()))


def test_set_attr_checks_the_definition() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        leaky, relu = func.ops
        with pytest.raises(EditError, match=r"`onnx\.LeakyRelu` has no attribute `alhpa`; did you mean `alpha`\?"):
            func.set_attr(leaky, "alhpa", 1.0)
        with pytest.raises(EditError, match=r"expected a float, found a string \(`custom=True` disables this check\)"):
            func.set_attr(leaky, "alpha", "1")
        func.set_attr(leaky, "alpha", 1.0)
        func.set_attr(relu, "k", 1, custom=True)
        assert (leaky.attrs, relu.attrs) == ({"alpha": 1.0}, {"k": 1})
        # An operator without a definition.
        own = func.create_op("acme.A", [], custom=True)
        func.set_attr(own, "k", 1)

    edited(edit)


def attr_of(op: Op, func: Function, value: Any) -> Any:
    func.set_attr(op, "a", value, custom=True)
    return op.attr("a")


def test_read_attributes_can_be_set_again() -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        op = func.ops[0]
        constant, ty = func.add_constant([1.0]).constant, func.params[0].type
        for value, kept in (
            (np.array([True, False]), "[1, 0]"),
            ([np.True_], "[1]"),
            (np.True_, "1"),
            (np.arange(3), "[0, 1, 2]"),
            (np.array([1.5]), "[1.5]"),
            ([1, np.float32(2.5)], "[1.0, 2.5]"),
            (bytearray(b"ab"), "'ab'"),
            (b"\xff", "b'\\xff'"),
            ([b"\xff", "a"], "[b'\\xff', 'a']"),
            ([constant], "[<passdock.Constant f32(1,)>]"),
            ([ty, ty], "[<passdock.Type f32[2,3]>, <passdock.Type f32[2,3]>]"),
        ):
            read = attr_of(op, func, value)
            assert repr(read) == kept
            assert repr(attr_of(op, func, read)) == kept
        # All attributes together.
        func.create_op("acme.A", [], attrs=op.attrs, custom=True)

    edited(edit)


@pytest.mark.parametrize("value", [[1, "a"], [[1]], {}, object(), np.zeros((1, 1))])
def test_invalid_attribute_values_are_rejected(value: Any) -> None:
    def edit(func: Function, ctx: PassContext) -> None:
        with pytest.raises(TypeError, match="an attribute must be an int, .*, or a list of one of these, not"):
            attr_of(func.ops[0], func, value)
        with pytest.raises(ValueError, match="surrogates not allowed"):
            attr_of(func.ops[0], func, "\ud800")
        for wrong in (
            lambda: func.set_attr(func.ops[0], "", 1, custom=True),
            lambda: func.set_function_attr("", 1),
            lambda: func.create_op("acme.A", [], attrs={"": 1}, custom=True),
        ):
            with pytest.raises(ValueError, match="empty attribute name"):
                wrong()

    edited(edit)
