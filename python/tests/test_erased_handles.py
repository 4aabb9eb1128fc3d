"""Erased entities raise errors: regions of erased ops, and entities of removed functions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from passdock import Function, Module, PassContext, StaleError, get_pass, module_pass
from support import module, on_functions, two_functions

BRANCHES = """
    module {
      fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
        %y = onnx.If(%c) : f32[n]
          region then_branch {
            %a = onnx.Neg(%x) : f32[n]
            yield %a
          }
          region else_branch {
            %b = onnx.Abs(%x) : f32[n]
            yield %b
          }
        return %y
      }
    }
"""


def test_regions_are_erased_with_their_op() -> None:
    def edit(func: Function, ctx: PassContext) -> Function:
        (if_,) = (op for op in func.ops if op.kind == "if")
        region = if_.region("else_branch")
        assert region.is_live and func.body.is_live
        func.replace_op_with(if_, [func.params[1]])
        asked: list[Callable[[], object]] = [
            lambda: region.name,
            lambda: region.args,
            lambda: region.ops,
            lambda: region.all_ops,
            lambda: region.terminator,
            lambda: region.parent_op,
            lambda: func.create_op("onnx.Abs", [func.params[1]], end_of=region),
            lambda: func.set_results([func.params[1]], region),
        ]
        for ask in asked:
            with pytest.raises(StaleError, match=r"^the region was erased$"):
                ask()
        assert not region.is_live
        assert repr(region) == "<passdock.Region (no longer valid)>"
        return func

    on_functions("Edits", edit)(module(BRANCHES))


def check_removed(old: Function) -> Callable[[], None]:
    """Returns a check that a function and its entities are removed."""
    op, value, region = old.ops[0], old.params[0], old.body

    def check() -> None:
        asked: list[Callable[[], object]] = [
            lambda: old.name,
            lambda: str(old),
            lambda: op.name,
            lambda: value.type,
            lambda: region.ops,
            lambda: old.set_attr(op, "k", 1),
            lambda: old.add_param("p", "f32[2]"),
        ]
        for ask in asked:
            with pytest.raises(StaleError, match=r"^the function was removed$"):
                ask()
        assert not (op.is_live or value.is_live or region.is_live or old.is_editable)
        assert repr(old) == "<passdock.Function (no longer valid)>"

    return check


def test_handles_of_removed_function_stay_invalid() -> None:
    @module_pass(opt_level=0)
    def remove(mod: Module, ctx: PassContext) -> Module:
        old = mod["other"]
        check = check_removed(old)
        mod.remove("other")
        check()
        new = mod.create("other")
        x = new.add_param("z", "f32[3]")
        new.set_results([new.create_op("onnx.Neg", [x]).result], names=["o"])
        check()
        assert mod["other"] is new and new is not old
        assert [op.name for op in new.ops] == ["onnx.Neg"] and new.ops[0].is_live
        return mod

    assert str(remove(two_functions())["other"]).startswith("fn @other(%z: f32[3]) -> (%o")


@pytest.mark.parametrize("is_asked_between", [True, False])
def test_nested_pass_may_remove_a_function(is_asked_between: bool) -> None:
    @module_pass(opt_level=0, name="acme.RemovesOther")
    def removes(mod: Module, ctx: PassContext) -> Module:
        mod.remove("other")
        return mod

    removes.register(override=True)

    @module_pass(opt_level=0)
    def remove(mod: Module, ctx: PassContext) -> Module:
        check = check_removed(mod["other"])
        ctx.run_pass(mod, "acme.RemovesOther")
        if is_asked_between:
            check()
        new = mod.create("other")
        new.set_results([new.create_op("onnx.Neg", [new.add_param("z", "f32[3]")]).result], names=["o"])
        check()
        assert mod["other"] is new
        return mod

    remove(two_functions())
    assert get_pass("acme.RemovesOther")(two_functions()).get("other") is None
