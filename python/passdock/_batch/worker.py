"""A Python process that runs models for a batch, one after another.

The host's engine writes each job as a line of JSON to its standard input. The process prints the names of passes as
they start, and then the report. It exits when its standard input is closed. Output of passes goes to standard error.
The process isn't started by ``multiprocessing``, which imports the program's main module: that fails in a script
without ``if __name__ == "__main__"``, and a notebook has no such module.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import PassError, PluginError
from .results import failure

__all__ = ["IN_WORKER", "START", "import_all", "main"]

# Set in workers, where no batch may start.
IN_WORKER = "PASSDOCK_IN_WORKER"

# The program of a worker. Its argument is sys.path, so that the worker finds the same modules as this program.
START = "import sys, json; sys.path[:] = json.loads(sys.argv.pop(1)); from passdock._batch.worker import main; main()"


def import_all(names: Sequence[str]) -> list[str]:
    """Imports the modules that register a program's passes, and returns their files.

    Args:
        names: Names of modules, or paths of ``.py`` files, each of which becomes a module of the file's name.

    Raises:
        PluginError: A module can't be imported. The cause is the module's exception.
    """
    import importlib
    import importlib.util

    files = []
    for name in names:
        try:
            if not name.endswith(".py"):
                module = importlib.import_module(name)
            else:
                path = os.path.abspath(name)
                there = [each for each in list(sys.modules.values()) if getattr(each, "__file__", None) == path]
                if there:
                    module = there[0]
                else:
                    stem = os.path.splitext(os.path.basename(path))[0]
                    spec = importlib.util.spec_from_file_location(stem, path)
                    assert spec is not None and spec.loader is not None
                    module = importlib.util.module_from_spec(spec)
                    sys.modules[stem] = module
                    spec.loader.exec_module(module)
        except Exception as error:
            message = f"could not import `{name}`: {type(error).__name__}: {error}"
            raise PluginError(message, code="plugin", exit_status=3) from error
        file = getattr(module, "__file__", None)
        if file:
            files.append(file)
    return files


def main() -> None:
    """Runs models until standard input ends."""
    import queue
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.fdopen(os.dup(1), "wb")
    # Passes get neither standard output nor standard input.
    os.dup2(2, 1)
    input = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        for line in input:
            jobs.put(line)
        # The program that started this process is gone. Exit even if passes have running threads.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()

    def send(message: Mapping[str, Any]) -> None:
        output.write(json.dumps(message).encode() + b"\n")
        output.flush()

    while True:
        send(_run(json.loads(jobs.get()), send))


def _run(job: Mapping[str, Any], send: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    from .. import _passdock

    began = time.monotonic()
    try:
        import_all(job["imports"])
        if job.get("explain"):
            _passdock.explain(job["request"])
            return {**failure("", code=""), "ok": True, "diagnostics": []}
        request = {name: value for name, value in job["request"].items() if value is not None}
        report, *_ = _passdock.run(request, None, lambda name: send({"pass": name}))
    except Exception as error:
        code = error.code if isinstance(error, PassError) else "usage"
        status = error.exit_status if isinstance(error, PassError) else 2
        return failure(str(error), code=code, exit_status=status, seconds=time.monotonic() - began)
    result: dict[str, Any] = json.loads(report)
    return result


if __name__ == "__main__":
    main()
