"""Passes are pickled as a name and options, or as a reference to their function."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdock import Function, Module, Pass, PassContext, Sequential, function_pass, get_pass, module_pass, relax
from passdock.transform import ApplyPassToFunction, ModulePass, PrintIR
from support import one_function


@function_pass(opt_level=1)
def at_the_top(func: Function, mod: Module, ctx: PassContext) -> Function:
    for op in func.ops_named("onnx.Relu"):
        func.replace_op(op, "onnx.Abs", [op.operand(0)])
    return func


@module_pass(opt_level=1, name="tests.pickles.Counted")
class Counted(ModulePass):
    def __init__(self, times: int) -> None:
        self.times = times

    def transform_module(self, mod: Module, ctx: PassContext) -> Module:
        for _ in range(self.times):
            mod = at_the_top(mod) if False else mod
        return mod


@function_pass(opt_level=0)
class Slotted:
    __slots__ = ("limit",)

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
        self.limit += 1
        return func


@function_pass(opt_level=0)
class Reduced:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def transform_function(self, func: Function, mod: Module, ctx: PassContext) -> Function:
        return func

    def __reduce__(self) -> tuple[Any, ...]:
        return Reduced, (self.limit + 1,)


class MySequential(Sequential):
    def __init__(self, count: int) -> None:
        super().__init__([relax.InferType()] * count, name=f"mine{count}", disabled=["LambdaLift"])
        self.count = count


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_registry_passes_are_pickled() -> None:
    bounded = get_pass("FoldConstant", max_growth=10)
    result = again(bounded)
    assert (type(result), result.info, result._pass_handle.origin) == (type(bounded), bounded.info, bounded._pass_handle.origin)
    assert result._pass_handle.origin == ("relax.transform.FoldConstant", {"max_growth": 10})
    assert again(relax.InferType()).info == relax.InferType().info
    assert str(result(one_function())) == str(one_function())


def test_function_passes_are_pickled() -> None:
    assert again(at_the_top) is at_the_top
    assert copy.deepcopy(at_the_top) is at_the_top
    assert [op.name for op in again(at_the_top)(one_function())["main"].ops] == ["onnx.Abs"]


def test_class_passes_are_pickled() -> None:
    result = again(Counted(3))
    assert (result.times, result.info) == (3, Counted(3).info)
    assert str(result(one_function())) == str(one_function())


def test_sequentials_are_pickled() -> None:
    inner = Sequential([at_the_top], opt_level=1, name="inner")
    outer = Sequential([relax.InferType(), inner], name="outer", required=["FoldConstant"], disabled=["LambdaLift"])
    result = again(outer)
    assert str(result) == str(outer)
    assert (result.info, result.passes[1].passes) == (outer.info, [at_the_top])
    assert result._disabled == ["LambdaLift"]


@pytest.mark.parametrize("way", [again, copy.copy, copy.deepcopy])
def test_user_classes_are_copied_and_pickled(way: Any) -> None:
    slotted: Any = Slotted(3)
    slotted(one_function())
    result = way(slotted)
    assert (type(result), result.limit) == (Slotted, 4)
    # Each object runs its own method.
    result(one_function())
    assert (result.limit, slotted.limit) == (5, 4)
    assert way(Reduced(3)).limit == 4

    result = way(MySequential(2))
    assert (type(result), result.count, result.info.name, len(result.passes)) == (MySequential, 2, "mine2", 2)
    assert result._disabled == ["LambdaLift"]
    tagged: Any = Sequential([slotted])
    tagged.tag = [5]
    result = way(tagged)
    assert result.tag == [5]
    assert result.passes[0].limit == 4
    assert (result.passes[0] is slotted) == (way is copy.copy)


def test_copy_of_immutable_pass_is_identical() -> None:
    local: Pass = module_pass(lambda mod, ctx: mod, opt_level=0, name="tests.pickles.Local")
    for result in (local, at_the_top, relax.InferType()):
        assert copy.copy(result) is result
        assert copy.deepcopy(result) is result
    assert copy.deepcopy(Sequential([local])).passes[0] is local
    counted: Any = Counted(3)
    assert copy.deepcopy(ApplyPassToFunction(counted, "main")) is not None


def test_composed_passes_are_pickled() -> None:
    for result in (PrintIR("here"), ApplyPassToFunction(relax.InferType(), "ma.*", True)):
        assert again(result).info == result.info


def test_local_passes_cannot_be_pickled() -> None:
    @module_pass(opt_level=0, name="tests.pickles.Inner")
    def inner(mod: Module, ctx: PassContext) -> Module:
        return mod

    nameless: Pass = module_pass(lambda mod, ctx: mod, opt_level=0, name="tests.pickles.Lambda")
    for pass_ in (inner, nameless, Sequential([inner])):
        with pytest.raises(
            pickle.PicklingError, match="cannot pickle pass .* at the top level of a module"
        ):
            pickle.dumps(pass_)


def test_pickled_passes_load_in_another_process() -> None:
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    data = pickle.dumps(Sequential([at_the_top, relax.FoldConstant(max_growth=5)], name="sent"))
    # The child process imports this module from here.
    here = Path(__file__).parent
    ran = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=False, cwd=here)
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"sent" in ran.stdout
    assert b"[at_the_top relax.transform.FoldConstant ]" in ran.stdout
