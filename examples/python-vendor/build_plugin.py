"""Builds the plugin and adds its file to the wheel."""

import json
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CRATE = "../hello-pass"


class BuildPlugin(BuildHookInterface[Any]):
    """A build hook that builds the crate with cargo before the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the plugin's file, and tags the wheel for this system."""
        file = built(Path(self.root, CRATE))
        build_data["force_include"][str(file)] = f"hello_passdock/plugins/{file.name}"
        # The file depends on the system but not on the version of Python.
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{system}"


def built(crate: Path) -> Path:
    """Builds a crate and returns the path of its cdylib, which cargo reports."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=crate, check=True, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or "cdylib" not in message["target"]["kind"]:
            continue
        for name in message["filenames"]:
            if name.endswith((".so", ".dylib", ".dll")):
                return Path(name)
    raise RuntimeError(f"`{crate}` builds no cdylib")
