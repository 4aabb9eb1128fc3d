"""Visitors, mutators and functors: classes that visit the ops of a function, replace them, or compute a result for
each.

They correspond to TVM's ``ExprVisitor``, ``ExprMutator`` and ``ExprFunctor``, for an IR whose values are defined by ops
in order. They don't recurse: regions may nest to any depth, and chains of ops may have any length.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Self, TypeVar, overload

from ._passdock import Function, Op, Region, Value

__all__ = ["ExprFunctor", "ExprMutator", "ExprVisitor", "Functor", "Mutator", "Visit", "Visitor"]

T = TypeVar("T")


class Visit(enum.Enum):
    """The next step of a visit; None is the same as ``INTO``."""

    #: With the op's regions, then the next op.
    INTO = 0
    #: With the next op, skipping the regions.
    OVER = 1
    #: The visit ends.
    STOP = 2


class Visitor:
    """Visits a function's ops in program order: an op, then its regions, then the next op.

    ``visit_op`` is called for every op, including terminators, and calls the method for its kind. Each method returns a
    ``Visit``, or None to continue::

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
        """Visits the whole function; returns False if a method stopped the visit."""
        return self.visit_region(function.body)

    def visit_region(self, region: Region) -> bool:
        """Visits a region and its nested regions; returns False if a method stopped the visit."""
        visit_op, stop, over = self.visit_op, Visit.STOP, Visit.OVER
        pending: list[Iterator[Op]] = [iter(region.all_ops)]
        around: list[Op] = []
        while pending:
            for op in pending[-1]:
                result = visit_op(op)
                if result is stop:
                    return False
                if result is not over and op.region_count:
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
        """Visits any op; called for each op first."""
        return self.route(op)

    def route(self, op: Op) -> Visit | None:
        """Calls the method for the op's kind; for use in overridden ``visit_op`` methods."""
        method = getattr(self, "visit_" + op.kind)
        result: Visit | None = method(op)
        return result

    def visit_call(self, op: Op) -> Visit | None:
        """Visits a call of a function of the module, whose name is ``op.callee``."""

    def visit_if(self, op: Op) -> Visit | None:
        """Visits an ``if`` or an ``onnx.If``."""

    def visit_for(self, op: Op) -> Visit | None:
        """Visits a ``for``."""

    def visit_while(self, op: Op) -> Visit | None:
        """Visits a ``while``."""

    def visit_loop(self, op: Op) -> Visit | None:
        """Visits an ``onnx.Loop``."""

    def visit_scan(self, op: Op) -> Visit | None:
        """Visits an ``onnx.Scan``."""

    def visit_tuple(self, op: Op) -> Visit | None:
        """Visits a ``tuple``."""

    def visit_tuple_get(self, op: Op) -> Visit | None:
        """Visits a ``tuple_get``."""

    def visit_terminator(self, op: Op) -> Visit | None:
        """Visits a ``return`` or ``yield``."""

    def visit_other(self, op: Op) -> Visit | None:
        """Visits any op that isn't built into the IR: ``onnx.Relu``."""

    def leave_op(self, op: Op) -> None:
        """Called after the regions of an op were visited."""


def _check(cls: type, base: type, prefix: str) -> None:
    """Rejects methods that look like misspelled methods of the base, which would never be called."""
    # Not at the top: these imports take longer than this module.
    from ._methods import reject_misspelled

    prefixes = (f"{prefix}_", "leave_")
    hooks = {
        name: method.__code__.co_argcount for name, method in vars(base).items() if name.startswith(prefixes)
    }
    reject_misspelled(cls, hooks, prefixes)
    # The expected counterpart of `leave_op`.
    if "leave_op" in hooks and callable(getattr(cls, "enter_op", None)):
        raise TypeError(f"{cls.__name__}.enter_op is never called; did you mean visit_op?")


# The stack entry below the regions of an op: the op is left when they are done.
_LEAVE: Iterator[Op] = iter(())


class Mutator:
    """Replaces the ops of a function: a method returns values that replace the op's results, or None to keep the op.

    An op's operands are replaced before the op is visited. Usable only in a pass, on the pass's function::

        class DropDropout(Mutator):
            def mutate_other(self, op):
                if op.name == "onnx.Dropout":
                    return [op.operand(0)]
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _check(cls, Mutator, "mutate")

    def mutate(self, function: Function) -> bool:
        """Mutates the whole function; returns whether anything changed."""
        changed = False
        for op in function.walk():
            if not op.is_live:
                continue
            result = self.mutate_op(op)
            if result is None or not op.is_live:
                continue
            values = [result] if isinstance(result, Value) else result
            if not isinstance(values, (list, tuple)):
                raise TypeError(
                    f"{type(self).__name__} must return values for the results of {op.name}, or None, not "
                    f"{type(result).__name__}"
                )
            function.replace_op_with(op, values)
            changed = True
        return changed

    def mutate_op(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates any op; called for each op first."""
        return self.route(op)

    def route(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Calls the method for the op's kind; for use in overridden ``mutate_op`` methods."""
        result: Sequence[Value | None] | Value | None = getattr(self, "mutate_" + op.kind)(op)
        return result

    def inline(self, op: Op, region: str, args: Sequence[Value | None] = ()) -> Sequence[Value | None]:
        """Moves the ops of a region before the op; returns the yielded values, which replace the op's results."""
        return op.function.inline_region(op, region, list(args))

    def mutate_call(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates a call of a function of the module, whose name is ``op.callee``."""

    def mutate_if(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates an ``if`` or an ``onnx.If``."""

    def mutate_for(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates a ``for``."""

    def mutate_while(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates a ``while``."""

    def mutate_loop(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates an ``onnx.Loop``."""

    def mutate_scan(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates an ``onnx.Scan``."""

    def mutate_tuple(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates a ``tuple``."""

    def mutate_tuple_get(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates a ``tuple_get``."""

    def mutate_terminator(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates a ``return`` or ``yield``, which can be edited but not replaced."""

    def mutate_other(self, op: Op) -> Sequence[Value | None] | Value | None:
        """Mutates any op that isn't built into the IR: ``onnx.Relu``."""


class Functor(Generic[T]):
    """Computes a result for each requested op and value, once, from the results of its operands.

    ``visit`` returns the result of a value. It computes the results of all values that it depends on first, operands
    before users. So a method gets the results of its op's operands from ``visit`` without recursion, however long the
    chain. Ops and values without a method are passed to ``visit_default``, which raises NotImplementedError by
    default::

        class ConstantChecker(Functor[bool]):
            def visit_constant(self, value):
                return True

            def visit_tuple(self, op):
                return all(self.visit(field) for field in op.operands)

            def visit_default(self, what):
                return False

    Results aren't updated when the function is edited: call ``forget`` then.
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
        """Returns the result of a value or an op, or the result of ``visit_region`` or ``visit_function``."""
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
        """Drops all results."""
        self._memo.clear()

    def needs(self, op: Op) -> Iterable[Value | None]:
        """Returns the values whose results are computed before the op is visited: its operands, and the values that its
        regions yield.

        Override it to return fewer; a method may still visit others.
        """
        needed = op.operands
        if op.region_count:
            ends = (region.terminator for region in op.regions)
            needed += [value for end in ends if end is not None for value in end.operands]
        return needed

    def visit_op(self, op: Op) -> T:
        """Computes the result of any op; called for each op first."""
        return self.route(op)

    def route(self, op: Op) -> T:
        """Calls the method for the op's kind; for use in overridden ``visit_op`` methods."""
        result: T = getattr(self, "visit_" + op.kind)(op)
        return result

    def visit_default(self, what: Op | Value) -> T:
        """Computes the result of an op or value that has no other method."""
        if isinstance(what, Op):
            kind, name = what.kind, what.name
        else:
            kind, name = "param" if what.constant is None else "constant", f"%{what.name}"
        raise NotImplementedError(
            f"{type(self).__name__} has neither visit_{kind}, for {name}, nor visit_default"
        )

    def visit_param(self, value: Value) -> T:
        """Computes the result of a parameter of a function, or an argument of a region."""
        return self.visit_default(value)

    def visit_constant(self, value: Value) -> T:
        """Computes the result of a constant."""
        return self.visit_default(value)

    def visit_result(self, value: Value, result: T) -> T:
        """Computes the result of one of an op's results from that of the op: by default the same."""
        return result

    def visit_region(self, region: Region) -> Any:
        """Returns the results of the values that a region yields, in order."""
        end = region.terminator
        return [] if end is None else [None if value is None else self.visit(value) for value in end.operands]

    def visit_function(self, function: Function) -> Any:
        """Returns the results of the values that a function returns, in order."""
        return self.visit(function.body)

    def visit_call(self, op: Op) -> T:
        """Computes the result of a call of a function of the module, whose name is ``op.callee``."""
        return self.visit_default(op)

    def visit_if(self, op: Op) -> T:
        """Computes the result of an ``if`` or an ``onnx.If``."""
        return self.visit_default(op)

    def visit_for(self, op: Op) -> T:
        """Computes the result of a ``for``."""
        return self.visit_default(op)

    def visit_while(self, op: Op) -> T:
        """Computes the result of a ``while``."""
        return self.visit_default(op)

    def visit_loop(self, op: Op) -> T:
        """Computes the result of an ``onnx.Loop``."""
        return self.visit_default(op)

    def visit_scan(self, op: Op) -> T:
        """Computes the result of an ``onnx.Scan``."""
        return self.visit_default(op)

    def visit_tuple(self, op: Op) -> T:
        """Computes the result of a ``tuple``."""
        return self.visit_default(op)

    def visit_tuple_get(self, op: Op) -> T:
        """Computes the result of a ``tuple_get``."""
        return self.visit_default(op)

    def visit_terminator(self, op: Op) -> T:
        """Called for a ``return`` or ``yield``, which defines no value."""
        return self.visit_default(op)

    def visit_other(self, op: Op) -> T:
        """Computes the result of any op that isn't built into the IR: ``onnx.Relu``."""
        return self.visit_default(op)


def _maker(what: Value | Op) -> Op | Value:
    """Returns the op that defines a value; the value itself if no op does."""
    if isinstance(what, Op):
        return what
    return what.defining_op or what


#: TVM's names.
ExprFunctor = Functor
ExprVisitor = Visitor
ExprMutator = Mutator
