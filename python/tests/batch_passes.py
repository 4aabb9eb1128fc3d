"""Passes for tests of batches, imported by worker processes. Their behavior depends on the model's ops."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import passdock
from passdock import Function, Module, PassContext, function_pass

MARK = "PASSDOCK_TEST_MARK"


def names(func: Function) -> list[str]:
    return [op.name for op in func.ops]


@passdock.register_pass
@function_pass(opt_level=0, name="tests.Behave")
def behave(func: Function, mod: Module, ctx: PassContext) -> Function:
    """Fails for Neg, exits the process for Exp, is killed for Log, and hangs for Sin."""
    print("printed by a pass, not a result", flush=True)
    for name in names(func):
        if name == "onnx.Neg":
            raise KeyError("no Neg here")
        if name == "onnx.Exp":
            print("this is the end")
            os.sys.stdout.flush()  # type: ignore[attr-defined]
            os._exit(3)
        if name == "onnx.Log":
            os.kill(os.getpid(), signal.SIGSEGV)
        if name == "onnx.Sin":
            time.sleep(3600)
    return func


def is_first(what: str) -> bool:
    """Returns whether this is the first call in this test, in any process."""
    mark = Path(os.environ[MARK], what)
    if mark.exists():
        return False
    mark.touch()
    return True


@passdock.register_pass
@function_pass(opt_level=0, name="tests.DiesOnce")
def dies_once(func: Function, mod: Module, ctx: PassContext) -> Function:
    """Exits the process that runs the model, the first time."""
    if is_first("process"):
        os._exit(3)
    return func


@passdock.register_pass
@function_pass(opt_level=0, name="tests.NodeDiesOnce")
def node_dies_once(func: Function, mod: Module, ctx: PassContext) -> Function:
    """Kills the parent of the process that runs the model, the first time."""
    if is_first("node"):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)
    return func
