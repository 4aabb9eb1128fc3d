"""Plugins that pip or `passdock plugin install` installed are found by the package and by the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from passdock._environment import COMMAND

PACKAGES = COMMAND.parents[3]
# Optimizing the SDK takes most of the time of a build.
UNOPTIMIZED = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}
PASS = "acme.transform.FuseDoubleRelu"
USES = """
import passdock

mod = passdock.Module.read("model.ir")
print(passdock.get_pass("acme.transform.FuseDoubleRelu")(mod).op_count)

# Processes that run models find it, too.
mod.write("m.onnx")
for verify in ("changed", "all"):
    (result,) = passdock.batch("m.onnx", None, "out", passes=["acme.transform.FuseDoubleRelu"], verify=verify)
    assert result.ok and result.ops_after == 1 and not result.up_to_date, result
"""


class Environment:
    """A virtual environment with the tested package, and its user's directory of plugins."""

    def __init__(self, root: Path) -> None:
        self.prefix = root / "venv"
        venv.create(self.prefix, with_pip=False)
        self.python = str(self.prefix / "bin" / "python")
        (packages,) = (self.prefix / "lib").glob("python3*/site-packages")
        (packages / "passdock.pth").write_text(f"{PACKAGES}\n")
        self.data = root / "data"
        left_out = ("PYTHONPATH", "PASSDOCK_PLUGIN_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")
        others = {name: value for name, value in os.environ.items() if name not in left_out}
        self.variables = {**others, **UNOPTIMIZED, "XDG_DATA_HOME": str(self.data)}

    def run(self, *words: str | Path, cwd: Path | None = None, **variables: str) -> str:
        """Runs a program and returns its standard output."""
        environment = {**self.variables, **variables}
        done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def plugins(self, *command: str | Path, **variables: str) -> dict[str, Path]:
        """Returns the files of the plugins that a command finds."""
        listed = json.loads(self.run(*command, "list", "plugins", "--json", **variables))
        return {plugin["name"]: Path(plugin["file"]) for plugin in listed["plugins"]}


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


def new_plugin(environment: Environment, directory: Path, language: str) -> Path:
    """Returns the directory of a new plugin `acme` in a language."""
    program = {"rust": "cargo", "c": "make"}[language]
    if shutil.which(program) is None:
        pytest.skip(f"the plugin is built by {program}, which isn't here")
    flags = [] if language == "rust" else [f"--{language}"]
    environment.run(COMMAND, "plugin", "new", *flags, directory / "acme")
    return directory / "acme"


@pytest.mark.parametrize("language", ["rust", "c"])
def test_wheel_of_new_plugin_is_found(environment: Environment, tmp_path: Path, language: str) -> None:
    project = new_plugin(environment, tmp_path, language)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # The build requirements come from the index, unless they are installed.
    here = ["--no-build-isolation"] if find_spec("hatchling") else []
    environment.run(*pip, "wheel", "--no-deps", *here, "-w", tmp_path / "dist", project)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.startswith("acme-0.1.0-py3-none-")
    assert not wheel.name.endswith("-any.whl")

    python = environment.python
    assert "acme" not in environment.plugins(python, "-m", "passdock")
    environment.run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel)
    assert environment.run(python, "-c", USES, cwd=project) == "1\n"
    file = environment.prefix / "lib" / "passdock" / "plugins" / "libacme.so"
    assert environment.plugins(python, "-m", "passdock")["acme"] == file
    # The command finds it in an active environment.
    assert environment.plugins(COMMAND, VIRTUAL_ENV=str(environment.prefix))["acme"] == file
    assert "acme" not in environment.plugins(COMMAND)


def test_users_plugin_is_found(environment: Environment, tmp_path: Path) -> None:
    project = new_plugin(environment, tmp_path, "c")
    environment.run("make", cwd=project)
    library = project / "build" / "libacme.so"
    environment.run(COMMAND, "plugin", "install", library)
    assert environment.run(environment.python, "-c", USES, cwd=project) == "1\n"
    # A plugin that the program loads replaces the installed one.
    program = f"import passdock; passdock.load_plugin('{library}'); print(passdock.list_passes().count('{PASS}'))"
    assert environment.run(environment.python, "-c", program) == "1\n"


def test_conflict_of_installed_plugins_is_a_warning(environment: Environment, tmp_path: Path) -> None:
    project = new_plugin(environment, tmp_path, "c")
    environment.run("make", cwd=project)
    library = (project / "build" / "libacme.so").read_bytes()
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "a.so").write_bytes(library)
    (plugins / "b.so").write_bytes(library.replace(b'name = "acme"', b'name = "acne"'))
    program = f"""
import warnings
with warnings.catch_warnings(record=True) as caught:
    import passdock
(one,) = caught
assert one.category is passdock.PassWarning
print(one.message)
print(passdock.get_pass("{PASS}").info.name)
"""
    printed = environment.run(environment.python, "-c", program, PASSDOCK_PLUGIN_PATH=str(plugins))
    message, name = printed.splitlines()
    assert f"pass `{PASS}` is already registered by plugin `{plugins / 'a.so'}`" in message
    assert name == PASS
