"""Functors: like TVM's ``ExprFunctor``, a result for each expression."""

from __future__ import annotations

import pytest

from passdock import Module, Op, Value
from passdock.walk import ExprFunctor, Functor
from support import module

TUPLES = """
    module {
      fn @main(%x: f32[2]) -> (%y, %z) opset("" = 17) {
        %a = const f32[2] [1.0, 2.0]
        %b = const f32[2] [3.0, 4.0]
        %all = tuple(%a, %b)
        %some = tuple(%a, %x)
        %nested = tuple(%all, %b)
        %y = onnx.Add(%x, %a) : f32[2]
        %z = tuple(%nested, %all)
        return %y, %z
      }
    }
"""


class ConstantChecker(ExprFunctor[bool]):
    """TVM's example: a value is constant if it is a constant, or a tuple of constants."""

    def __init__(self) -> None:
        self.visited: list[str] = []

    def visit_op(self, op: Op) -> bool:
        self.visited.append(op.name)
        return self.route(op)

    def check(self, value: Value) -> bool:
        return self.visit(value)

    def visit_constant(self, value: Value) -> bool:
        return True

    def visit_tuple(self, op: Op) -> bool:
        return all(field is not None and self.check(field) for field in op.operands)

    def visit_default(self, what: Op | Value) -> bool:
        return False


def values(mod: Module) -> dict[str | None, Value]:
    main = mod["main"]
    return {value.name: value for op in main.ops for value in op.results}


def test_constant_checker_matches_tvm_example() -> None:
    mod = module(TUPLES)
    checker = ConstantChecker()
    found = {name: checker.check(value) for name, value in values(mod).items()}
    assert found == {"all": True, "some": False, "nested": True, "y": False, "z": True}
    # Each is computed once, however often it is visited.
    assert checker.visited == ["tuple", "tuple", "tuple", "onnx.Add", "tuple"]
    assert checker.visit(mod["main"]) == [False, True]
    assert len(checker.visited) == 5
    checker.forget()
    checker.check(values(mod)["nested"])
    assert checker.visited[5:] == ["tuple", "tuple"]


def chain(length: int) -> Module:
    lines = "\n".join(f"%v{at} = onnx.Relu(%v{at - 1}) : f32[2]" for at in range(1, length + 1))
    text = f'module {{ fn @main(%v0: f32[2]) -> (%y: f32[2]) opset("" = 17) {{\n{lines}\nreturn %v{length} }} }}'
    return Module.from_text(text)


class Depth(Functor[int]):
    """The number of ops between a value and the parameters that it depends on."""

    def visit_param(self, value: Value) -> int:
        return 0

    def visit_other(self, op: Op) -> int:
        return 1 + max(self.visit(value) for value in op.operands if value is not None)

    def visit_if(self, op: Op) -> int:
        inside: list[int] = [self.visit(region)[0] for region in op.regions]
        return self.visit_other(op) + max(inside)


def test_long_chain_does_not_overflow_the_stack() -> None:
    assert Depth().visit(chain(50_000)["main"]) == [50_000]


def nested(depth: int) -> Module:
    """Returns a chain of nested ``if``s, each of which yields the result of the inner one."""
    begin = "".join(f"%i{at} = if(%c) : f32[2] region then_branch {{\n" for at in range(depth))
    ends = (
        f"yield %{'r' if at == depth - 1 else f'i{at + 1}'}\n}} region else_branch {{\nyield %x\n}}\n"
        for at in range(depth)
    )
    inner = "%r = onnx.Relu(%x) : f32[2]\n" + "".join(reversed(list(ends)))
    return Module.from_text(
        f'module {{ fn @main(%x: f32[2], %c: bool[]) -> (%y) opset("" = 17) {{\n{begin}{inner}return %i0 }} }}'
    )


def test_regions_are_visited_before_their_op() -> None:
    assert Depth().visit(nested(3)["main"]) == [4]
    # Deeper than Python's stack.
    assert Depth().visit(nested(2_000)["main"]) == [2_001]


def test_needs_limits_visited_operands() -> None:
    class First(Depth):
        """Visits only first operands."""

        def needs(self, op: Op) -> list[Value | None]:
            return op.operands[:1]

        def visit_other(self, op: Op) -> int:
            first = op.operand(0)
            assert first is not None
            return 1 + self.visit(first)

    mod = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %a = onnx.Custom(%x) : f32[2]
            %0 = onnx.Relu(%x) : f32[2]
            %1 = onnx.Relu(%0) : f32[2]
            %y = onnx.Add(%a, %1) : f32[2]
            return %y
          }
        }
    """)
    assert First().visit(mod["main"]) == [2]
    assert Depth().visit(mod["main"]) == [3]


def test_visit_result_distinguishes_results() -> None:
    class Paths(Functor[str]):
        def visit_param(self, value: Value) -> str:
            return f"%{value.name}"

        def visit_other(self, op: Op) -> str:
            (operand,) = op.operands
            assert operand is not None
            return f"{op.name}({self.visit(operand)})"

        def visit_result(self, value: Value, result: str) -> str:
            return f"{result}[{value.index}]"

    mod = module("""
        module {
          fn @main(%x: f32[4]) -> (%y: f32[2]) opset("" = 17) {
            %a, %b = onnx.Split(%x) {axis = 0} : f32[2], f32[2]
            %y = onnx.Relu(%b) : f32[2]
            return %y
          }
        }
    """)
    assert Paths().visit(mod["main"]) == ["onnx.Relu(onnx.Split(%x)[1])[0]"]


def test_missing_visit_method_is_an_error() -> None:
    class OnlyTuples(Functor[int]):
        def visit_tuple(self, op: Op) -> int:
            return 1

    found = values(module(TUPLES))
    with pytest.raises(
        NotImplementedError, match="OnlyTuples has neither visit_constant, for %a, nor visit_default"
    ):
        OnlyTuples().visit(found["all"])
    with pytest.raises(NotImplementedError, match=r"OnlyTuples has neither visit_param, for %x"):
        OnlyTuples().visit(found["y"])
    with pytest.raises(TypeError, match=r"Wrong\.visit_tupel is never called; did you mean visit_tuple\?"):

        class Wrong(Functor[int]):
            def visit_tupel(self, op: Op) -> int:
                return 1


def test_failed_visit_is_not_cached() -> None:
    class Once(Depth):
        failed = False

        def visit_other(self, op: Op) -> int:
            if not self.failed:
                self.failed = True
                raise ValueError("at first")
            return super().visit_other(op)

    once, main = Once(), chain(3)["main"]
    with pytest.raises(ValueError, match="at first"):
        once.visit(main)
    assert once.visit(main) == [3]
