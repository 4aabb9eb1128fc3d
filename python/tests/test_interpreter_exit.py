"""Programs that exit while daemon threads use the package keep their exit status."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

_START = """
import random, sys, threading, time
import passdock
from passdock import Module, PassContext, PassInstrument, Sequential, function_pass, get_pass, module_pass

ops = "\\n".join(f"%v{at} = onnx.Relu(%v{at - 1}) : f32[4]" for at in range(1, 400))
mod = Module.from_text(
    f'module {{ fn @main(%v0: f32[4]) -> (%y: f32[4]) opset("" = 17) {{\\n{ops}\\nreturn %v399 }} }}'
)
"""

_END = """
def again():
    while True:
        work()

threads = [threading.Thread(target=again, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
time.sleep(0.02 + random.random() / 50)
"""

_WORK = {
    "passes of plugins": """
def work():
    Sequential([get_pass("SimplifyExpr"), get_pass("InferType")])(mod)
""",
    "a pass that waits in Python": """
@module_pass(opt_level=0)
def waits(mod, ctx):
    time.sleep(0.001)
    return mod

def work():
    waits(mod)
""",
    "a pass that computes in Python": """
@function_pass(opt_level=0)
def counts(func, mod, ctx):
    for op in func.ops:
        op.name
    return func

def work():
    counts(mod)
""",
    "instruments, and a pass that runs others": """
class Slow(PassInstrument):
    def run_before_pass(self, mod, info):
        time.sleep(0.001)

@module_pass(opt_level=0)
def outer(mod, ctx):
    return get_pass("InferType")(mod)

def work():
    with PassContext(instruments=[Slow()]):
        outer(mod)
""",
    "texts": """
def work():
    Module.from_text(str(mod))
""",
    "runs": """
def work():
    passdock.optimize(mod, passes=["InferType"])
""",
}


def run_script(script: str) -> tuple[int, str]:
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("what", _WORK)
def test_daemon_threads_do_not_change_exit_status(what: str) -> None:
    script = _START + _WORK[what] + _END
    with ThreadPoolExecutor(4) as pool:
        for status, stderr in pool.map(run_script, [script + "sys.exit(7)"] * 20):
            assert (status, stderr) == (7, ""), signal.Signals(-status).name if status < 0 else stderr


def test_passes_run_in_atexit_handlers() -> None:
    work = _WORK["a pass that waits in Python"]
    # `atexit` calls functions in reverse order, so this one runs after the package's own.
    script = f"import atexit\natexit.register(lambda: last())\n{_START}{work}{_END}"
    script += "\ndef last():\n    counted = module_pass(lambda mod, ctx: mod, opt_level=0, name='Last')(mod)\n    print(counted.op_count, file=sys.stderr)\n"
    assert run_script(script) == (0, "399\n")


def test_passes_in_late_destructors_do_not_crash() -> None:
    program = """
import passdock

mod = passdock.Module.from_text('module { fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {\\n%y = onnx.Relu(%x)\\nreturn %y } }')

class Late:
    def __init__(self):
        self.run = passdock.run
        self.mod = mod

    def __del__(self):
        self.run(self.mod, passes=["InferType"])

passdock._late = Late()
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "panicked" not in ran.stderr
    assert ran.returncode == 0
