"""The command ``passdock``, which comes with the package: ``passdock …`` and ``python -m passdock …`` run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["main"]

_COMMAND = Path(__file__).parent / "_dist" / "bin" / ("passdock.exe" if os.name == "nt" else "passdock")


def main() -> int:
    """Runs the command with this program's arguments, in this process where the system can do that.

    Returns:
        The status to exit with, if there was nothing to run, or the command ran in a process of its own.
    """
    if not _COMMAND.exists():
        print(
            f"error: this package came without its command, which should be {_COMMAND}: install it from a wheel or by "
            "`pip install .` in a checkout; in a checkout that isn't installed, run `cargo xtask python`",
            file=sys.stderr,
        )
        return 1
    arguments = [str(_COMMAND), *sys.argv[1:]]
    environment = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        # The command asks the first `python3` in PATH where ONNX Runtime is: that of this environment knows it,
        # also when nobody activated it.
        environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    # A daemon may have none.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        if os.name == "nt":
            # There, `exec` leaves the shell without waiting for the command.
            return subprocess.run(arguments, env=environment, check=False).returncode
        os.execve(_COMMAND, arguments, environment)
    except OSError as error:
        print(f"error: this package's command, {_COMMAND}, can't be run: {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
