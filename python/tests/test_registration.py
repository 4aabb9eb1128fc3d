"""Python passes in the registry: conflicts of names, and repeated registration."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import passdock
from passdock import (
    Function,
    Module,
    PassContext,
    Sequential,
    UsageError,
    function_pass,
    get_pass,
    list_passes,
    module_pass,
    register_pass,
    relax,
)
from passdock.transform import FunctionPass, ModulePass, Pass
from support import one_function, recorder


def test_short_name_of_standard_pass_cannot_be_registered() -> None:
    for name, own in {
        "FoldConstant": "relax.transform.FoldConstant",
        "UnrollLoop": "tir.transform.UnrollLoop",
        "relay.transform.InferType": "relax.transform.InferType",
    }.items():
        message = rf"`{name}` is an alias of pass `{own}`, which a pass of that name would hide"
        with pytest.raises(UsageError, match=message):
            recorder([], name).register()
        assert get_pass(name).info.name == own
        assert name not in list_passes()


def test_override_may_hide_an_alias() -> None:
    events: list[str] = []
    recorder(events, "transform.Hidden").register()
    with pytest.raises(UsageError, match="is an alias of pass `transform.Hidden`"):
        recorder(events, "Hidden").register()
    recorder(events, "Hidden").register(override=True)
    get_pass("Hidden")(one_function())
    get_pass("transform.Hidden")(one_function())
    assert events == ["Hidden", "transform.Hidden"]


def test_pass_can_be_registered_again_with_override() -> None:
    events: list[str] = []
    recorder(events, "tests.registering.Cell").register()
    with pytest.raises(UsageError, match=r"already registered by this program; .*`register\(override=True\)`"):
        recorder(events, "tests.registering.Cell").register()
    for count in range(3):
        recorder(events, "tests.registering.Cell", opt_level=count).register(override=True)
        assert get_pass("tests.registering.Cell").info.opt_level == count

    @register_pass(override=True)
    @module_pass(opt_level=1, name="tests.registering.Cell")
    def cell(mod: Module, ctx: PassContext) -> Module:
        events.append("cell")
        return mod

    get_pass("tests.registering.Cell")(one_function())
    assert events == ["cell"]


def test_plugin_pass_can_be_overridden() -> None:
    # In a separate process: other tests use the pass.
    code = """
import passdock
from support import one_function, recorder

name, events = "relax.transform.LambdaLift", []
try:
    recorder(events, name).register()
except passdock.UsageError as error:
    assert "already registered by plugin" in str(error), error
else:
    raise AssertionError("it was registered")
recorder(events, name).register(override=True)
recorder(events, name).register(override=True)
passdock.get_pass("LambdaLift")(one_function())
assert events == [name]
"""
    here = os.path.dirname(__file__)
    ran = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "name",
    [
        "_transform.InferType",
        "relay._transform.InferType",
        "tvm.relay.transform.InferType",
        "tvm.relay._transform.InferType",
        "tvm.relax.transform.InferType",
    ],
)
def test_import_paths_are_aliases(name: str) -> None:
    assert get_pass(name).info.name == "relax.transform.InferType"
    assert get_pass("tvm.tir.transform.UnrollLoop").info.name == "tir.transform.UnrollLoop"


def test_registered_sequential_keeps_pass_classes() -> None:
    """Their classes are those of their creation, and plugins' passes are identified by name and options."""

    @function_pass(opt_level=0, name="tests.registering.Function")
    def function(func: Function, mod: Module, ctx: PassContext) -> Function:
        return func

    other = recorder([], "tests.registering.Module")
    passes: list[Pass] = [function, other, Sequential([function]), relax.FuseOps(fuse_opt_level=1)]
    Sequential(passes, name="tests.registering.All").register(override=True)
    found = get_pass("tests.registering.All")
    assert isinstance(found, Sequential)
    assert [str(pass_).split(":")[0] for pass_ in found.passes[:2]] == ["Run Function pass", "Run Module pass"]
    assert [type(pass_) for pass_ in found.passes] == [FunctionPass, ModulePass, Sequential, type(passes[3])]
    fuse = found.passes[3]
    assert pickle.loads(pickle.dumps(fuse))._pass_handle.origin == fuse._pass_handle.origin
    assert fuse._pass_handle.origin == ("relax.transform.FuseOps", {"fuse_opt_level": 1})


def test_passes_of_plugin_sequential_are_pickled() -> None:
    passes = relax.FoldScaleAxis().passes
    again = pickle.loads(pickle.dumps(Sequential(passes))).passes
    assert [repr(pass_) for pass_ in again] == [repr(pass_) for pass_ in passes]
    assert [type(pass_) for pass_ in passes] == [FunctionPass] * 3


def test_rebuilt_plugin_is_rejected(tmp_path: Path) -> None:
    """Its old code stays loaded in the process. A file that wasn't loaded yet may change, and an unchanged one is
    loaded again.
    """
    plugins = Path(passdock.__file__).parent / "_dist" / "lib" / "passdock" / "plugins"
    (tir,) = (file for file in plugins.iterdir() if "passdock_tir" in file.name)
    program = f"""
import os
import shutil
import passdock
os.mkdir("dir")
os.symlink("dir", "link")
mod = passdock.Module.from_text("module {{}}")
def build():
    shutil.copy({str(tir)!r}, "new.so")
    shutil.move("new.so", "dir/own.so")
build()
passdock.load_plugin("dir/own.so")
build()
passdock.load_plugin("dir/own.so")
passdock.get_pass("UnrollLoop")(mod)
for again in range(2):
    build()
    for load in (
        lambda: passdock.load_plugin("dir/own.so"),
        lambda: passdock.load_plugin(os.path.abspath("dir/own.so")),
        lambda: passdock.load_dir("dir"),
        lambda: passdock.load_dir("link"),
        lambda: passdock.run(mod, passes=["UnrollLoop"], plugins=["dir/own.so"]),
        lambda: passdock.run(mod, passes=["UnrollLoop"], plugin_dirs=["dir"]),
    ):
        try:
            load()
        except passdock.PluginError as error:
            print(error)
        else:
            print("loaded")
passdock.get_pass("UnrollLoop")(mod)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert sum("own.so` changed after it was loaded" in line for line in lines) == 12, done.stdout
    assert "restart the program" in done.stdout and "loaded" not in lines


def test_tvm_config_key_cannot_be_registered() -> None:
    with pytest.raises(passdock.ConfigError, match=r"`tirx\.UnrollLoop` is an alias of `tir\.UnrollLoop`"):
        passdock.register_config_option("tirx.UnrollLoop", 1)
