"""The build backend of `pip install .` (PEP 517): maturin's, extended by the files that maturin doesn't build.

maturin builds one crate. The package also contains the command and the standard plugins, in `passdock/_dist`: cargo
builds them here, and `wheels.py` adds them to the wheel.

`pip install . --config-settings profile=dev` builds without optimization, in a fifth of the time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import maturin
import wheels
from maturin import prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel

__all__ = [
    "UnsupportedOperation",
    "build_editable",
    "build_sdist",
    "build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).resolve().parents[2]
# The default members of the workspace: the command and the standard plugins.
_PACKAGES = ["passdock-cli", "passdock-onnx-ops", "passdock-relax", "passdock-tir"]

Settings = dict[str, Any] | None


class UnsupportedOperation(Exception):
    """The exception by which PEP 517 recognizes an unsupported kind of distribution."""


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Builds an optimized wheel."""
    profile = (config_settings or {}).get("profile", "dist")
    files = wheels.in_package(*_build(profile))
    words = ["--profile", profile]
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        # There is no stable ABI: the module only works with this version of Python.
        words.append("--no-default-features")
    name = maturin.build_wheel(wheel_directory, {"build-args": words}, metadata_directory)
    with tempfile.TemporaryDirectory() as place:
        wheels.add(Path(wheel_directory, name), files, licenses=_licenses(Path(place)))
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Installs the checkout as a package: links a development build into it."""
    wheels.link(_ROOT / "python", wheels.in_package(*_build("dev")))
    return maturin.build_editable(wheel_directory, None, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Rejects source distributions: a crate's archive contains only its dependencies, and plugins aren't among them."""
    raise UnsupportedOperation(
        "passdock has no source distribution; build a wheel in a checkout with `pip wheel .` or `cargo xtask wheel`"
    )


def _build(profile: str) -> tuple[Path, list[Path]]:
    """Builds the command and the standard plugins, and returns their paths."""
    if shutil.which("cargo") is None:
        raise SystemExit("error: could not find `cargo` in PATH; install Rust to build passdock")
    command = ["cargo", "build", "--locked", "--profile", profile, "--message-format", "json-render-diagnostics"]
    for package in _PACKAGES:
        command += ["--package", package]
    print(f"Running `{' '.join(command)}`", flush=True)
    cargo = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, check=False)
    if cargo.returncode != 0:
        raise SystemExit("error: cargo could not build passdock's command and plugins; see its output above")
    messages = [json.loads(line) for line in cargo.stdout.splitlines() if line.startswith(b"{")]
    built = [message for message in messages if message["reason"] == "compiler-artifact"]
    programs = [Path(message["executable"]) for message in built if message["executable"]]
    plugins = [Path(message["filenames"][0]) for message in built if "cdylib" in message["target"]["kind"]]
    (program,) = programs
    return program, plugins


def _licenses(place: Path) -> Path:
    """Writes the licenses of all linked crates, as `cargo xtask wheel` does."""
    file = place / "LICENSES-THIRD-PARTY.txt"
    command = ["cargo", "run", "--quiet", "--locked", "--package", "xtask", "--", "licenses", str(file)]
    command += [*_PACKAGES, "passdock-python"]
    if subprocess.run(command, cwd=_ROOT, check=False).returncode != 0:
        raise SystemExit("error: could not list the licenses of the dependencies; see the output of xtask above")
    return file
