"""Threads: each has its own contexts; Python passes and plugins' passes run in all of them in parallel."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from passdock import Function, Module, PassContext, Sequential, function_pass, get_pass, module_pass
from support import Watch, module, one_function, raiser, recorder, two_functions

T = TypeVar("T")


def in_thread(body: Callable[[], T]) -> T:
    """Returns the result of a function that runs in a new thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(body).result(timeout=60)


def test_r019_new_thread_inherits_nothing() -> None:
    with PassContext(opt_level=3, disabled_pass=["FoldConstant"]) as outer:
        inner = in_thread(PassContext.current)
        assert inner != outer
        assert (inner.opt_level, inner.disabled_pass) == (2, ())

        def takes_along() -> int:
            with outer:
                return PassContext.current().opt_level

        assert in_thread(takes_along) == 3
        assert PassContext.current() is outer


def test_r022_context_must_be_left_on_its_thread() -> None:
    with PassContext() as ctx:
        with pytest.raises(Exception, match="is not entered on this thread"):
            in_thread(lambda: ctx.__exit__(None, None, None))
        assert PassContext.current() is ctx


def test_r120_other_threads_are_not_instrumented() -> None:
    events: list[str] = []
    with PassContext(instruments=[Watch(events)]):
        in_thread(lambda: recorder(events, "There")(one_function()))
    assert events == ["enter", "There", "exit"]


def test_handles_are_bound_to_the_thread_of_the_pass() -> None:
    @module_pass(opt_level=0)
    def lends(mod: Module, ctx: PassContext) -> Module:
        func = mod["main"]
        for ask in (lambda: str(mod), lambda: func.ops, lambda: ctx.may_rewrite("x")):
            with pytest.raises(RuntimeError, match="can only be used on the thread of its pass"):
                in_thread(ask)
        return mod

    lends(one_function())


def test_modules_are_readable_from_many_threads() -> None:
    mod = two_functions()
    func = mod["main"]

    def reads() -> list[str]:
        return [op.name for _ in range(300) for op in func.ops]

    with ThreadPoolExecutor(8) as pool:
        results = [task.result(timeout=60) for task in [pool.submit(reads) for _ in range(8)]]
    assert results == [["onnx.Relu"] * 300] * 8


def test_passes_run_in_parallel_threads() -> None:
    """With one pass object and many modules; an exception stays in its thread."""

    @function_pass(opt_level=0)
    def negates(func: Function, mod: Module, ctx: PassContext) -> Function:
        for op in func.ops_named("onnx.Relu"):
            func.replace_op(op, "onnx.Neg", op.operands)
        return func

    passes = Sequential([get_pass("FoldConstant"), negates, get_pass("DeadCodeElimination")])

    def works(at: int) -> str:
        if at % 5 == 0:
            with pytest.raises(ValueError, match=rf"^{at}\b"):
                Sequential([negates, raiser(ValueError(str(at)))])(one_function())
        with PassContext(opt_level=at % 4):
            return str(passes(one_function()))

    with ThreadPoolExecutor(8) as pool:
        results = {task.result(timeout=60) for task in [pool.submit(works, at) for at in range(200)]}
    assert results == {str(negates(one_function()))}


def test_pass_may_wait_for_another_thread() -> None:
    """The host holds no lock while Python code runs."""

    @module_pass(opt_level=0)
    def waits(mod: Module, ctx: PassContext) -> Module:
        assert in_thread(lambda: recorder([], "There")(one_function())).op_count == 1
        return mod

    waits(one_function())


def test_pass_may_run_itself() -> None:
    depth = 0

    def body(mod: Module, ctx: PassContext) -> Module:
        nonlocal depth
        depth += 1
        return recurses(mod) if depth < 5 else mod

    recurses = module_pass(body, opt_level=0, name="Recurses")
    mod = one_function()
    assert recurses(mod) is mod
    assert depth == 5


def test_plugin_passes_release_the_gil() -> None:
    """Plugins' passes don't hold the GIL."""
    ops = "\n".join(f"%v{at} = onnx.Relu(%v{at - 1}) : f32[4]" for at in range(1, 20_000))
    mod = Module.from_text(
        f'module {{ fn @main(%v0: f32[4]) -> (%y: f32[4]) opset("" = 17) {{\n{ops}\nreturn %v19999 }} }}'
    )
    ticks = 0
    done = threading.Event()

    def ticking() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=ticking)
    thread.start()
    try:
        started = time.perf_counter()
        for _ in range(3):
            Sequential([get_pass("SimplifyExpr"), get_pass("EliminateCommonSubexpr"), get_pass("InferType")])(mod)
        took = time.perf_counter() - started
    finally:
        done.set()
        thread.join(timeout=60)
    assert ticks > took / 0.05


def test_results_outlive_their_thread() -> None:
    """Thread-local data is freed with the thread."""
    kept: list[Any] = []

    def works() -> None:
        ctx = PassContext(instruments=[Watch([])])
        with ctx:
            kept.append(recorder([], "A")(one_function()))
        kept.append(ctx)
        with pytest.raises(ValueError, match="kept"):
            raiser(ValueError("kept"))(one_function())
        PassContext.current().override_instruments([Watch([])])

    threads = [threading.Thread(target=works) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(kept) == 40
    assert all(str(mod) == str(one_function()) for mod in kept[::2] if isinstance(mod, Module))


def test_python_function_passes_run_on_the_calling_thread() -> None:
    """Python function passes run on functions one after another, in order, on the calling thread."""
    seen: list[tuple[str, bool]] = []
    here = threading.get_ident()

    @function_pass(opt_level=0)
    def see(func: Function, mod: Module, ctx: PassContext) -> Function:
        seen.append((func.name, threading.get_ident() == here))
        return func

    functions = "\n".join(
        f"fn @f{at}(%x: f32[2]) -> (%y: f32[2]) {{ %y = onnx.Relu(%x) : f32[2] return %y }}" for at in range(50)
    )
    see(module(f"module {{ {functions} }}"))
    assert seen == [(f"f{at}", True) for at in range(50)]


_FORK = """
import os, signal, sys, threading, time
import passdock
from passdock import Module, Sequential, get_pass

body = "\\n".join(f"%v{at + 1} = onnx.Relu(%v{at})" for at in range(600))
fn = 'fn @f{}(%v0: f32[2]) -> (%v600: f32[2]) opset("" = 17) {{\\n{}\\nreturn %v600 }}\\n'
mod = Module.from_text("module {\\n" + "".join(fn.format(at, body) for at in range(8)) + "}")
passes = Sequential([get_pass("FoldConstant"), get_pass("SimplifyExpr")])

def work():
    passes(mod)

def in_a_child():
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        work()
        os._exit(0)
    return os.waitpid(pid, 0)[1]
"""

_FORKS = {
    "next to a directory of many plugins": """
import pathlib, tempfile

def many(to):
    for at in range(40):
        (to / f"lib{at}.so").write_bytes(b"no plugin")
    return [str(to)]

def work():
    with tempfile.TemporaryDirectory() as to:
        try:
            passdock.run(mod, passes=["InferType"], plugin_dirs=many(pathlib.Path(to)))
        except passdock.PassError:
            pass

work()
print(in_a_child())
""",
    "after passes ran on all cores": """
work()
print(in_a_child())
""",
    "next to a thread that runs passes": """
one = Module.from_text("module {\\n" + fn.format("", body) + "}")
over = threading.Event()

def again():
    while not over.is_set():
        get_pass("InferType")(one)

mod = one
thread = threading.Thread(target=again)
thread.start()
time.sleep(0.2)
print(max(in_a_child() for _ in range(5)))
over.set()
thread.join()
""",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", _FORKS)
def test_forked_process_runs_passes(how: str) -> None:
    program = [sys.executable, "-W", "ignore", "-c", _FORK + _FORKS[how]]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=240)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("0\n", "", 0)
