"""Executes the steps of a guide in one program: writes files, runs Python code, types commands, and records the output.

``python read_guide.py STEPS.json PRINTED.json``: the input is a list of ``{"file", "text"}``, ``{"code"}`` and
``{"command"}``, the output a list of ``{"printed", "status"}``. The status of code that raises is 1. The output includes what the host writes to
standard error.
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

from guide import write_file


def type_in(command: str) -> dict[str, object]:
    """Runs a shell command."""
    done = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return {"printed": done.stdout, "status": done.returncode}


def run(code: str, number: int, scope: dict[str, object]) -> dict[str, object]:
    """Runs a block of Python code."""
    name = f"<block {number}>"
    # Tracebacks show source lines as for a file.
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
            # Without the frame of this program.
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
    """Runs the steps of a file."""
    given, output = map(Path, sys.argv[1:])
    # Definitions of a guide go to the main module, as in a program.
    program = ModuleType("__main__")
    sys.modules["__main__"] = program
    sys.path[0] = os.getcwd()
    printed = []
    blocks = 0
    for step in json.loads(given.read_text()):
        if "file" in step:
            write_file(step, Path.cwd())
            printed.append({"printed": "", "status": 0})
        elif "command" in step:
            printed.append(type_in(step["command"]))
        else:
            blocks += 1
            printed.append(run(step["code"], blocks, program.__dict__))
    output.write_text(json.dumps(printed))


if __name__ == "__main__":
    main()
