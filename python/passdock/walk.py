"""Visitors and mutators: classes that look at the ops of a function, or say what each becomes.

They are the documents' ``ExprVisitor`` and ``ExprMutator``, for an IR whose values are made by ops in order. Nesting of any
depth is fine.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any

from ._passdock import Function, Op, Region, Value

__all__ = ["ExprMutator", "ExprVisitor", "Mutator", "Visit", "Visitor"]


class Visit(enum.Enum):
    """What a visit goes on with; None stands for ``INTO``."""

    #: The op's regions, then the op after it.
    INTO = 0
    #: The op after it.
    OVER = 1
    #: Nothing: what was looked for is found.
    STOP = 2


class Visitor:
    """Looks at a function's ops in program order: an op, then what is in its regions, then the op after it.

    ``visit_op`` is called for every op, the ends of regions included, and routes it to the method of its kind. Each answers
    a ``Visit``, or None to go on::

        class CallChecker(Visitor):
            found = False

            def visit_call(self, op):
                self.found = True
                return Visit.STOP
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _check(cls, Visitor, "visit")

    def visit(self, function: Function) -> bool:
        """Visits the whole function; False if a method stopped it."""
        return self.visit_region(function.body)

    def visit_region(self, region: Region) -> bool:
        """Visits a region and what is in it; False if a method stopped it."""
        visit_op, stop, over = self.visit_op, Visit.STOP, Visit.OVER
        pending: list[Iterator[Op]] = [iter(region.all_ops)]
        around: list[Op] = []
        while pending:
            for op in pending[-1]:
                answer = visit_op(op)
                if answer is stop:
                    return False
                if answer is not over and op.region_count:
                    around.append(op)
                    pending.append(_LEAVE)
                    pending.extend(iter(inner.all_ops) for inner in reversed(op.regions))
                    break
            else:
                pending.pop()
                if pending and pending[-1] is _LEAVE:
                    pending.pop()
                    self.leave_op(around.pop())
        return True

    def visit_op(self, op: Op) -> Visit | None:
        """Every op comes here first."""
        return self.route(op)

    def route(self, op: Op) -> Visit | None:
        """Calls the method of the op's kind; for ``visit_op``s that do something before."""
        method = getattr(self, "visit_" + op.kind)
        answer: Visit | None = method(op)
        return answer

    def visit_call(self, op: Op) -> Visit | None:
        """A call of a function of the module; ``op.callee`` says which."""

    def visit_if(self, op: Op) -> Visit | None:
        """An ``if`` or an ``onnx.If``."""

    def visit_for(self, op: Op) -> Visit | None:
        """A ``for``."""

    def visit_while(self, op: Op) -> Visit | None:
        """A ``while``."""

    def visit_loop(self, op: Op) -> Visit | None:
        """An ``onnx.Loop``."""

    def visit_scan(self, op: Op) -> Visit | None:
        """An ``onnx.Scan``."""

    def visit_tuple(self, op: Op) -> Visit | None:
        """A ``tuple``."""

    def visit_tuple_get(self, op: Op) -> Visit | None:
        """A ``tuple_get``."""

    def visit_terminator(self, op: Op) -> Visit | None:
        """``return`` or ``yield``."""

    def visit_other(self, op: Op) -> Visit | None:
        """Any op that the IR itself doesn't know: ``onnx.Relu``."""

    def leave_op(self, op: Op) -> None:
        """An op whose regions were visited is left."""


def _check(cls: type, base: type, prefix: str) -> None:
    """Refuses methods that are named as those of the base are, and that it would never call."""
    hooks = [name for name in vars(base) if name.startswith((prefix, "leave_")) and callable(getattr(base, name))]
    for name, value in vars(cls).items():
        if not name.startswith((f"{prefix}_", "leave_", "enter_")) or name in hooks or not callable(value):
            continue
        # Not at the top: it takes longer to import than this module.
        import difflib

        near = difflib.get_close_matches(name, hooks, n=1, cutoff=0.8)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(hooks)}"
        raise TypeError(f"{cls.__name__}.{name} is never called; {meant}")


# What stands below the regions of an op that is left when they are done.
_LEAVE: Iterator[Op] = iter(())


class Mutator:
    """Goes over a function, and says of each op what it becomes: values for its results, or None for itself.

    An op's operands are already what earlier answers made of them. Only in a pass, on the function that it is given::

        class DropDropout(Mutator):
            def mutate_other(self, op):
                if op.name == "onnx.Dropout":
                    return [op.operand(0)]
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _check(cls, Mutator, "mutate")

    def mutate(self, function: Function) -> bool:
        """Mutates the whole function; whether anything changed."""
        changed = False
        for op in function.walk():
            if not op.is_live:
                continue
            answer = self.mutate_op(op)
            if answer is None or not op.is_live:
                continue
            values = [answer] if isinstance(answer, Value) else list(answer)
            function.replace_op_with(op, values)
            changed = True
        return changed

    def mutate_op(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Every op comes here first."""
        return self.route(op)

    def route(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Calls the method of the op's kind; for ``mutate_op``s that do something before."""
        answer: Sequence[Value | None] | Value | None = getattr(self, "mutate_" + op.kind)(op)
        return answer

    def inline(self, op: Op, region: str, args: Sequence[Value | None] = ()) -> Sequence[Value | None]:
        """Moves what is in a region of an op before the op; answers what the region yields, which stands for the results."""
        return op.function.inline_region(op, region, list(args))

    def mutate_call(self, op: Op) -> Sequence[Value | None] | Value | None:
        """A call of a function of the module; ``op.callee`` says which."""

    def mutate_if(self, op: Op) -> Sequence[Value | None] | Value | None:
        """An ``if`` or an ``onnx.If``."""

    def mutate_for(self, op: Op) -> Sequence[Value | None] | Value | None:
        """A ``for``."""

    def mutate_while(self, op: Op) -> Sequence[Value | None] | Value | None:
        """A ``while``."""

    def mutate_loop(self, op: Op) -> Sequence[Value | None] | Value | None:
        """An ``onnx.Loop``."""

    def mutate_scan(self, op: Op) -> Sequence[Value | None] | Value | None:
        """An ``onnx.Scan``."""

    def mutate_tuple(self, op: Op) -> Sequence[Value | None] | Value | None:
        """A ``tuple``."""

    def mutate_tuple_get(self, op: Op) -> Sequence[Value | None] | Value | None:
        """A ``tuple_get``."""

    def mutate_terminator(self, op: Op) -> Sequence[Value | None] | Value | None:
        """``return`` or ``yield``, which can be edited, not replaced."""

    def mutate_other(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Any op that the IR itself doesn't know: ``onnx.Relu``."""


#: The documents' names.
ExprVisitor = Visitor
ExprMutator = Mutator
