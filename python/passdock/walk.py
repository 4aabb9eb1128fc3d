"""Visitors, mutators and functors: classes that look at the ops of a function, say what each becomes, or what it comes to.

They are the documents' ``ExprVisitor``, ``ExprMutator`` and ``ExprFunctor``, for an IR whose values are made by ops in order.
Nesting of any depth is fine, and so is a chain of any length.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Self, TypeVar, overload

from ._passdock import Function, Op, Region, Value

__all__ = ["ExprFunctor", "ExprMutator", "ExprVisitor", "Functor", "Mutator", "Visit", "Visitor"]

T = TypeVar("T")


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
    """Refuses methods that are nearly named as those of the base are, and that it would never call."""
    # Not at the top: what it imports takes longer than this module.
    from ._methods import refuse_misspelt

    prefixes = (f"{prefix}_", "leave_")
    hooks = {
        name: method.__code__.co_argcount for name, method in vars(base).items() if name.startswith(prefixes)
    }
    refuse_misspelt(cls, hooks, prefixes)
    # The counterpart of `leave_op`.
    if "leave_op" in hooks and callable(getattr(cls, "enter_op", None)):
        raise TypeError(f"{cls.__name__}.enter_op is never called; did you mean visit_op?")


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
            values = [answer] if isinstance(answer, Value) else answer
            if not isinstance(values, (list, tuple)):
                raise TypeError(
                    f"{type(self).__name__} answers values for the results of {op.name}, or None for itself, not "
                    f"{type(answer).__name__}"
                )
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


class Functor(Generic[T]):
    """A result for each op and value that is asked for: what it comes to, worked out once, of the results of its operands.

    ``visit`` answers that of a value, and of all that it is made of, operands first: a method finds the results of its op's
    operands by ``visit`` without any recursion, however long the chain is. What no method is for is ``visit_default``'s, which
    refuses it::

        class ConstantChecker(Functor[bool]):
            def visit_constant(self, value):
                return True

            def visit_tuple(self, op):
                return all(self.visit(field) for field in op.operands)

            def visit_default(self, what):
                return False

    Results are of the function as it was: ``forget`` them when it is edited.
    """

    _memo: dict[Op | Value, T]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls)
        made._memo = {}
        return made

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _check(cls, Functor, "visit")

    @overload
    def visit(self, what: Value | Op) -> T: ...
    @overload
    def visit(self, what: Region | Function) -> Any: ...
    def visit(self, what: Value | Op | Region | Function) -> Any:
        """The result of a value or an op; what ``visit_region`` or ``visit_function`` answers of the others."""
        if isinstance(what, Function):
            return self.visit_function(what)
        if isinstance(what, Region):
            return self.visit_region(what)
        begin = _maker(what)
        if begin not in self._memo:
            self._work_out(begin)
        result = self._memo[begin]
        return self.visit_result(what, result) if isinstance(what, Value) and begin is not what else result

    def _work_out(self, begin: Op | Value) -> None:
        memo = self._memo
        pending, opened = [begin], set()
        while pending:
            at = pending[-1]
            if at in memo:
                pending.pop()
                continue
            if isinstance(at, Op) and at not in opened:
                opened.add(at)
                needed = (_maker(value) for value in self.needs(at) if value is not None)
                missing = [maker for maker in needed if maker not in memo]
                if missing:
                    pending.extend(reversed(missing))
                    continue
            if isinstance(at, Op):
                memo[at] = self.visit_op(at)
            else:
                memo[at] = self.visit_param(at) if at.constant is None else self.visit_constant(at)
            pending.pop()

    def forget(self) -> None:
        """Throws away all results."""
        self._memo.clear()

    def needs(self, op: Op) -> Iterable[Value | None]:
        """The values whose results are there when the op is visited: its operands, and what its regions yield. To visit fewer,
        answer fewer; a method may still ask for others.
        """
        needed = op.operands
        if op.region_count:
            ends = (region.terminator for region in op.regions)
            needed += [value for end in ends if end is not None for value in end.operands]
        return needed

    def visit_op(self, op: Op) -> T:
        """Every op comes here first."""
        return self.route(op)

    def route(self, op: Op) -> T:
        """Calls the method of the op's kind; for ``visit_op``s that do something before."""
        result: T = getattr(self, "visit_" + op.kind)(op)
        return result

    def visit_default(self, what: Op | Value) -> T:
        """What no other method is for."""
        if isinstance(what, Op):
            kind, name = what.kind, what.name
        else:
            kind, name = "param" if what.constant is None else "constant", f"%{what.name}"
        raise NotImplementedError(
            f"{type(self).__name__} has no visit_{kind}, which {name} takes, and no visit_default"
        )

    def visit_param(self, value: Value) -> T:
        """A parameter of a function, or an argument of a region."""
        return self.visit_default(value)

    def visit_constant(self, value: Value) -> T:
        """A constant."""
        return self.visit_default(value)

    def visit_result(self, value: Value, result: T) -> T:
        """The result of one of an op's results, of the result of the op: the same, if nobody says otherwise."""
        return result

    def visit_region(self, region: Region) -> Any:
        """The results of what a region yields, in order."""
        end = region.terminator
        return [] if end is None else [None if value is None else self.visit(value) for value in end.operands]

    def visit_function(self, function: Function) -> Any:
        """The results of what a function returns, in order."""
        return self.visit(function.body)

    def visit_call(self, op: Op) -> T:
        """A call of a function of the module; ``op.callee`` says which."""
        return self.visit_default(op)

    def visit_if(self, op: Op) -> T:
        """An ``if`` or an ``onnx.If``."""
        return self.visit_default(op)

    def visit_for(self, op: Op) -> T:
        """A ``for``."""
        return self.visit_default(op)

    def visit_while(self, op: Op) -> T:
        """A ``while``."""
        return self.visit_default(op)

    def visit_loop(self, op: Op) -> T:
        """An ``onnx.Loop``."""
        return self.visit_default(op)

    def visit_scan(self, op: Op) -> T:
        """An ``onnx.Scan``."""
        return self.visit_default(op)

    def visit_tuple(self, op: Op) -> T:
        """A ``tuple``."""
        return self.visit_default(op)

    def visit_tuple_get(self, op: Op) -> T:
        """A ``tuple_get``."""
        return self.visit_default(op)

    def visit_terminator(self, op: Op) -> T:
        """``return`` or ``yield``, which no value comes from."""
        return self.visit_default(op)

    def visit_other(self, op: Op) -> T:
        """Any op that the IR itself doesn't know: ``onnx.Relu``."""
        return self.visit_default(op)


def _maker(what: Value | Op) -> Op | Value:
    """The op that a value is of; what no op makes, itself."""
    if isinstance(what, Op):
        return what
    return what.defining_op or what


#: The documents' names.
ExprFunctor = Functor
ExprVisitor = Visitor
ExprMutator = Mutator
