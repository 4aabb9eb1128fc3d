"""Builds the plugin, and puts its file into the wheel."""

import json
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CRATE = "../hello-pass"


class BuildPlugin(BuildHookInterface[Any]):
    """Has cargo build the crate before the wheel is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the plugin's file, and names the system that it is for."""
        file = built(Path(self.root, CRATE))
        build_data["force_include"][str(file)] = f"hello_passdock/plugins/{file.name}"
        # The file is of one system, and of no Python: any version of it may load it.
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{system}"


def built(crate: Path) -> Path:
    """The file of a crate's cdylib, where cargo says that it is."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=crate, check=True, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        said = json.loads(line)
        if said["reason"] != "compiler-artifact" or "cdylib" not in said["target"]["kind"]:
            continue
        for name in said["filenames"]:
            if name.endswith((".so", ".dylib", ".dll")):
                return Path(name)
    raise RuntimeError(f"{crate} has no cdylib")
