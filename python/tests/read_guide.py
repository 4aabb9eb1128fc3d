"""Does what a guide says, step after step: runs its Python in one program, types its commands, and tells what each prints.

``python read_guide.py STEPS.json PRINTED.json``: a list of ``{"code"}`` and ``{"command"}`` in, a list of ``{"printed", "status"}``
out; of code that raises the status is 1. What the host itself writes to standard error is among what is printed.
"""

from __future__ import annotations

import json
import linecache
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType


def type_in(command: str) -> dict[str, object]:
    """Types a command into a shell."""
    done = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return {"printed": done.stdout, "status": done.returncode}


def run(code: str, number: int, scope: dict[str, object]) -> dict[str, object]:
    """Runs a block of Python."""
    name = f"<block {number}>"
    # A traceback shows the lines, as of a file.
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    status = 0
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            exec(compile(code, name, "exec"), scope)
        except BaseException as error:
            status = 1
            # Without the line of this program.
            shown = traceback.TracebackException.from_exception(error)
            del shown.stack[0]
            sys.stdout.flush()
            sys.stderr.write("".join(shown.format()))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for stream, fd in zip(kept, (1, 2), strict=True):
                os.dup2(stream, fd)
                os.close(stream)
        file.seek(0)
        return {"printed": file.read().decode(), "status": status}


def main() -> None:
    """Does the steps of a file."""
    given, told = map(Path, sys.argv[1:])
    # What a guide defines is where a program's own things are.
    program = ModuleType("__main__")
    sys.modules["__main__"] = program
    sys.path[0] = os.getcwd()
    printed = []
    blocks = 0
    for step in json.loads(given.read_text()):
        if "command" in step:
            printed.append(type_in(step["command"]))
        else:
            blocks += 1
            printed.append(run(step["code"], blocks, program.__dict__))
    told.write_text(json.dumps(printed))


if __name__ == "__main__":
    main()
