"""Runs the Python of a guide, block after block in one program, and tells what each prints.

``python read_guide.py CODE.json PRINTED.json``: a list of texts in, a list of ``{"printed", "failed"}`` out. What the host
itself writes to standard error is among what is printed.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType


def run(code: str, number: int, scope: dict[str, object]) -> dict[str, object]:
    """Runs a block."""
    name = f"<block {number}>"
    # A traceback shows the lines, as of a file.
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    failed = False
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            exec(compile(code, name, "exec"), scope)
        except BaseException as error:
            failed = True
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
        return {"printed": file.read().decode(), "failed": failed}


def main() -> None:
    """Runs the blocks of a file."""
    given, told = map(Path, sys.argv[1:])
    # What a guide defines is where a program's own things are.
    program = ModuleType("__main__")
    sys.modules["__main__"] = program
    sys.path[0] = os.getcwd()
    printed = [run(code, number, program.__dict__) for number, code in enumerate(json.loads(given.read_text()), 1)]
    told.write_text(json.dumps(printed))


if __name__ == "__main__":
    main()
