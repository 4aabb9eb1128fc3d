"""Memory: the host keeps no handle, exception or instrument alive, and loops don't grow."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdock import Function, Module, PassContext, Sequential, function_pass, get_pass, module_pass
from passdock.rewrite import Match, Rewriter, Rules, rule, rules_pass
from passdock.transform import ModulePass
from support import Watch, one_function, recorder


class Weak:
    """An object that supports weak references."""


def resident() -> int:
    """Returns the resident memory of the process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def check_no_growth(step: Callable[[], object], times: int, bytes_: int = 4 << 20) -> None:
    """Checks that a loop doesn't grow the number of Python objects, of blocks, or the process."""
    for _ in range(times // 10):
        step()
    gc.collect()
    blocks, before = sys.getallocatedblocks(), resident()
    for _ in range(times):
        step()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < max(500, times // 10)
    assert resident() - before < bytes_


def edit(func: Function, mod: Module, ctx: PassContext) -> Function:
    op = func.ops[0]
    func.set_attr(op, "n", 1, custom=True)
    assert op.name and op.operands and op.attrs and func.body.ops
    return func


def test_repeated_pass_runs_do_not_leak() -> None:
    pass_ = function_pass(edit, opt_level=0)
    mod = one_function()
    check_no_growth(lambda: pass_(mod), 10_000)


def test_repeated_failures_do_not_leak() -> None:
    """Neither exceptions nor their tracebacks are kept."""

    @module_pass(opt_level=0)
    def fails(mod: Module, ctx: PassContext) -> Module:
        raise ValueError("no")

    mod = one_function()
    sequential = Sequential([fails])

    def step() -> None:
        with pytest.raises(ValueError, match="no"):
            sequential(mod)

    check_no_growth(step, 3_000)


def test_repeated_contexts_and_instruments_do_not_leak() -> None:
    mod = one_function()
    pass_ = recorder([], "A")

    def step() -> None:
        events: list[str] = []
        with PassContext(instruments=[Watch(events)]) as ctx:
            pass_(mod)
            ctx.override_instruments([Watch(events)])

    # The recorder's list of events grows by a pointer each time.
    check_no_growth(step, 10_000)


def test_repeated_modules_do_not_leak() -> None:
    text = str(one_function())

    def step() -> None:
        mod = Module.from_text(text)
        assert len(mod["main"].ops) == 1
        Module.from_onnx(mod.to_onnx())

    check_no_growth(step, 3_000)


def test_repeated_pass_creation_does_not_leak() -> None:
    mod = one_function()

    def step() -> None:
        Sequential([recorder([], "A"), get_pass("FoldConstant")])(mod)

    check_no_growth(step, 2_000)


def holding_pass(weak: Weak) -> ModulePass:
    """Returns a pass that holds an object."""

    @module_pass(opt_level=0)
    def holds(mod: Module, ctx: PassContext) -> Module:
        assert weak is not None
        return mod

    result: ModulePass = holds
    return result


def test_pass_is_freed_with_its_references() -> None:
    weak = Weak()
    reference = weakref.ref(weak)
    pass_ = holding_pass(weak)
    del weak
    sequential = Sequential([pass_, Sequential([pass_])])
    sequential(one_function())
    del pass_
    assert reference() is not None
    del sequential
    gc.collect()
    assert reference() is None


def test_self_referencing_pass_is_freed() -> None:
    """Python's garbage collector sees a cycle through the host."""
    weak = Weak()
    reference = weakref.ref(weak)

    def cycle(weak: Weak) -> None:
        holder: list[Any] = [weak]

        def body(mod: Module, ctx: PassContext) -> Module:
            assert holder
            return mod

        pass_ = module_pass(body, opt_level=0)
        holder.append(pass_)
        pass_(one_function())

    cycle(weak)
    del weak
    gc.collect()
    assert reference() is None


def cycle_of_a_sequential(weak: Weak) -> None:
    """Creates a pass that holds the Sequentials that contain it, one of which is nested in the other."""

    @module_pass(opt_level=0)
    class Holds(ModulePass):
        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            return mod

    pass_ = Holds()
    inner = Sequential([pass_, pass_])
    held: Any = pass_
    held.all = (inner, Sequential([inner, pass_]), weak)
    held.all[1](one_function())


def cycle_of_a_rule(weak: Weak) -> None:
    """Creates a rule whose code references the rule and sums of it."""

    @rule("onnx.Relu(%x)")
    def own(rewriter: Rewriter, match: Match) -> Any:
        assert weak and own and total

    total = own + own + Rules("rule a { onnx.Neg(onnx.Neg(%x)) => %x }")
    rules_pass("acme.Own", total)(one_function())


def cycle_of_a_renderer(weak: Weak) -> None:
    """Creates a renderer that references its context."""
    held: list[Any] = [weak]
    held.append(PassContext(renderer=lambda diagnostics: held.clear()))
    with held[1]:
        recorder([], "A")(one_function())


@pytest.mark.parametrize("cycle", [cycle_of_a_sequential, cycle_of_a_rule, cycle_of_a_renderer])
def test_reference_cycles_are_freed(cycle: Callable[[Weak], None]) -> None:
    weak = Weak()
    reference = weakref.ref(weak)
    cycle(weak)
    del weak
    gc.collect()
    assert reference() is None


def test_pass_of_registered_sequential_is_kept() -> None:
    """The registry holds the pass, though no Python object does; so does a pass that applies it."""
    ran: list[str] = []

    @module_pass(opt_level=0)
    class Holds(ModulePass):
        held: Any = None

        def transform_module(self, mod: Module, ctx: PassContext) -> Module:
            ran.append("ran")
            return mod

    def register() -> None:
        pass_ = Holds()
        inner = Sequential([pass_])
        pass_.held = (pass_, Sequential([inner], name="tests.memory.Stays").register())

    register()
    gc.collect()
    get_pass("tests.memory.Stays")(one_function())
    assert ran == ["ran"]


def test_instrument_referencing_its_context_is_freed() -> None:
    weak = Weak()
    reference = weakref.ref(weak)

    def cycle(weak: Weak) -> None:
        class Holds(Watch):
            pass

        holds = Holds([])
        ctx = PassContext(instruments=[holds])
        holds.held = (ctx, weak)  # type: ignore[attr-defined]
        with ctx:
            recorder([], "A")(one_function())

    cycle(weak)
    del weak
    gc.collect()
    assert reference() is None


def test_instrument_is_freed_with_its_context() -> None:
    watch = Watch([])
    reference = weakref.ref(watch)
    ctx = PassContext(instruments=[watch])
    with ctx:
        recorder([], "A")(one_function())
    del watch
    assert reference() is not None
    ctx.override_instruments(None)
    gc.collect()
    assert reference() is None


def test_last_exception_is_not_kept() -> None:
    class Error(Exception):
        pass

    weak = Weak()
    reference = weakref.ref(weak)

    def fails(weak: Weak) -> None:
        @module_pass(opt_level=0)
        def fail(mod: Module, ctx: PassContext) -> Module:
            held = weak
            raise Error(str(held))

        with pytest.raises(Error):
            Sequential([fail])(one_function())

    fails(weak)
    del weak
    gc.collect()
    assert reference() is None


def test_handles_do_not_keep_the_module_alive() -> None:
    """A handle that outlives its pass doesn't keep the host's module alive."""
    kept: list[Any] = []

    @module_pass(opt_level=0)
    def keeps(mod: Module, ctx: PassContext) -> Module:
        kept.extend([mod, mod["main"], mod["main"].ops[0], ctx])
        return mod

    def step() -> None:
        keeps(one_function())
        kept.clear()

    check_no_growth(step, 2_000)


def test_handles_in_a_loop_are_freed() -> None:
    mod = one_function()
    func = mod["main"]
    tracemalloc.start()
    try:
        for _ in range(100):
            _ = [(op.name, op.operands, op.attrs) for op in func.ops]
        first, _peak = tracemalloc.get_traced_memory()
        for _ in range(5_000):
            _ = [(op.name, op.operands, op.attrs) for op in func.ops]
        last, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert last - first < 10_000
