"""The stubs match the native module, and type checkers report no errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import passdock

PACKAGE = Path(passdock.__file__).parent
PYTHON = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
# mypy finds installed packages itself, and rejects them in MYPYPATH.
if PACKAGE.parent.name != "site-packages":
    PYTHON["MYPYPATH"] = str(PACKAGE.parent)


def test_package_has_py_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_stubs_match_the_module(tmp_path: Path) -> None:
    """All public names and signatures."""
    pytest.importorskip("mypy.stubtest")
    allowed = tmp_path / "allowed.txt"
    # Python has the method since 3.12; before, the buffer protocol was only available in C.
    allowed.write_text("" if sys.version_info >= (3, 12) else r"passdock\._passdock\.Buffer\.__buffer__")
    command = [sys.executable, "-m", "mypy.stubtest", "passdock._passdock", "--allowlist", str(allowed)]
    done = subprocess.run(command, cwd=tmp_path, env=PYTHON, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_has_a_docstring() -> None:
    from passdock import _passdock

    bare = [
        f"{name}.{member}"
        for name, kind in vars(_passdock).items()
        if isinstance(kind, type)
        for member, value in vars(kind).items()
        if not member.startswith("_") and not value.__doc__
    ]
    assert bare == []


@pytest.mark.parametrize("module", [passdock, passdock.transform, passdock.instrument, passdock.diagnostics])
def test_all_exports_exist(module: object) -> None:
    names: list[str] = getattr(module, "__all__", [])
    assert names == sorted(names)
    assert all(hasattr(module, name) for name in names)
    assert set(names) <= set(dir(module))


def test_example_program_type_checks(tmp_path: Path) -> None:
    """The first examples of the documentation."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("""
import passdock
from passdock import Function, Module, PassContext, PassInfo, Sequential, function_pass, module_pass, pass_instrument
from passdock.instrument import PassInstrument, PassTimingInstrument
from passdock.transform import ModulePass, Pass


@function_pass(opt_level=1)
def drop_double_relu(func: Function, mod: Module, ctx: PassContext) -> Function:
    for op in func.ops_named("onnx.Relu"):
        operand = op.operand(0)
        inner = operand.defining_op if operand else None
        if inner is not None and inner.name == "onnx.Relu":
            func.replace_op_with(op, [inner.result])
    return func


@module_pass(opt_level=1)
class Adds(ModulePass):
    def __init__(self, name: str) -> None:
        self.name = name

    def transform_module(self, mod: Module, ctx: PassContext) -> Module:
        mod.create(self.name)
        return mod


@pass_instrument
class Names(PassInstrument):
    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        self.names.append(info.name)


names, timing = Names(), PassTimingInstrument()
passes: list[Pass] = [drop_double_relu, Adds("new")]
with PassContext(opt_level=3, instruments=[names, timing], required_pass=["Adds"]) as ctx:
    after = Sequential(passes)(Module.from_text("module {}"))
    level: int = ctx.opt_level
on_a_cluster = passdock.ray.batch
reveal_type(drop_double_relu)
reveal_type(after["main"].params[0].shape)
""")
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    done = subprocess.run(command, cwd=tmp_path, env=PYTHON, capture_output=True, text=True, timeout=300, check=False)
    revealed = [line.split('"')[1] for line in done.stdout.splitlines() if "Revealed type" in line]
    assert done.returncode == 0, done.stdout + done.stderr
    assert revealed == [
        "passdock.transform.FunctionPass",
        "tuple[int | str | None, ...] | None",
    ]
