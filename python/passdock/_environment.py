"""The Python environment, as the command has to see it: its plugins and its interpreter."""

from __future__ import annotations

import os
import shutil
import site
import sys
import sysconfig
from pathlib import Path

from . import _passdock

_DIST = Path(__file__).parent / "_dist"

#: The package's command. It is missing in a checkout that isn't built.
COMMAND = _DIST / "bin" / ("passdock.exe" if os.name == "nt" else "passdock")


def default_dirs() -> list[str]:
    """Returns the plugin directories that are searched by default, in search order.

    pip installs a plugin's wheel to one of the prefixes.
    """
    user = [site.getuserbase()] if site.ENABLE_USER_SITE else []
    return _passdock.default_dirs([_DIST, sysconfig.get_path("data"), *user])


def variables() -> list[tuple[str, str]]:
    """Returns variables for the command, so that it uses this environment even if another one is activated.

    It asks the first ``python3`` in PATH for ONNX Runtime.
    """
    programs = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", os.defpath)
    first = shutil.which("python3", path=path)
    if first is None or os.path.dirname(first) != programs:
        path = os.pathsep.join([programs, path])
    return [("PATH", path), ("PASSDOCK_PLUGIN_PATH", os.pathsep.join(default_dirs()))]
