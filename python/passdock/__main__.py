"""The ``passdock`` command of the package, run by ``passdock …`` and ``python -m passdock …``."""

from __future__ import annotations

import os
import subprocess
import sys

from ._environment import COMMAND, variables

__all__ = ["main"]


def main() -> int:
    """Runs the command with this program's arguments, in this process if the system supports it.

    Returns:
        The exit status, if the command is missing or ran in a separate process.
    """
    if not COMMAND.exists():
        print(
            f"error: missing command {COMMAND}; install the package from a wheel, or with `pip install .` in a "
            "checkout; in a checkout that isn't installed, run `cargo xtask python`",
            file=sys.stderr,
        )
        return 1
    arguments = [str(COMMAND), *sys.argv[1:]]
    environment = {**os.environ, **dict(variables())}
    # A daemon may have no streams.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        if os.name == "nt":
            # On Windows, `exec` returns to the shell without waiting for the command.
            return subprocess.run(arguments, env=environment, check=False).returncode
        os.execve(COMMAND, arguments, environment)
    except OSError as error:
        print(f"error: could not run {COMMAND}: {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
