"""Processes that run models for a batch, each one after another: both ends of the line between them.

A process is told what to run in lines of JSON on its standard input, and answers on what was its standard output: first
the passes that begin, then the report. What passes print goes to a file, of which a crash's last lines are shown.
A worker isn't one of ``multiprocessing``: those run the program's main module again, which a script without
``if __name__ == "__main__"`` doesn't survive and a notebook doesn't have.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import PassError, PluginError
from .outcomes import failure

__all__ = ["IN_WORKER", "Worker", "import_all", "main"]

# Set in workers, where no batch may begin.
IN_WORKER = "PASSDOCK_IN_WORKER"

# The longest that a system waits in one go, in seconds.
LONGEST_WAIT = 1e6

# The path comes first, so that a worker finds what this program finds.
_START = "import sys, json; sys.path[:] = json.loads(sys.argv.pop(1)); from passdock._batch.worker import main; main()"


class Worker:
    """A process that runs models.

    Args:
        setup: what every model of the batch has in common: ``imports``, ``pipeline`` and ``options``.

    Raises:
        PassError: no process can be started.
    """

    def __init__(self, setup: Mapping[str, Any]) -> None:
        self.setup = setup
        self.is_over = False
        self.running: str | None = None
        self.began = 0.0
        self._unread = b""
        self._printed = tempfile.TemporaryFile()
        path = [os.path.abspath(entry) if entry else entry for entry in sys.path]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                env={**os.environ, IN_WORKER: "1"},
                # A worker is ended by who started it, and not by the terminal's Ctrl-C in the midst of a run.
                start_new_session=True,
            )
        except OSError as error:
            self._printed.close()
            raise PassError(f"No process can be started: {error}.", code="crashed") from error
        self._tell(setup)

    def fileno(self) -> int:
        """The descriptor that a selector waits on."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _tell(self, said: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(said).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            # It died; that shows when it is heard.
            pass

    def begin(self, job: Mapping[str, Any]) -> None:
        """Has it run a model, or with ``explain`` look at the pipeline."""
        self.running, self.began = None, time.monotonic()
        # The process writes where this program's descriptor is.
        os.lseek(self._printed.fileno(), 0, os.SEEK_SET)
        os.ftruncate(self._printed.fileno(), 0)
        self._tell(job)

    def hear(self) -> dict[str, Any] | None:
        """What is to be heard right now: a report, also of a worker that died, or None if it is still at it."""
        data = os.read(self.fileno(), 1 << 16)
        if not data:
            return self._died()
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            said: dict[str, Any] = json.loads(line)
            if "pass" in said:
                self.running = said["pass"]
                continue
            # It says nothing more until it is told something.
            return said
        return None

    def ask(self, job: Mapping[str, Any], timeout: float | None = None) -> dict[str, Any]:
        """Has it run a model, and waits for the report."""
        import select

        self.begin(job)
        while True:
            left = None if timeout is None else max(0.0, self.began + timeout - time.monotonic())
            poll = select.poll()
            poll.register(self.fileno(), select.POLLIN)
            if not poll.poll(None if left is None else min(left, LONGEST_WAIT) * 1000 + 1):
                assert timeout is not None and left is not None
                if left > LONGEST_WAIT:
                    continue
                return self.overdue(timeout)
            answer = self.hear()
            if answer is not None:
                return answer

    def overdue(self, timeout: float) -> dict[str, Any]:
        """Ends a worker whose run takes too long, and answers the report."""
        seconds = time.monotonic() - self.began
        self.end()
        what = f"The pass `{self.running}`" if self.running else "What comes before the first pass"
        message = f"{what} was still running after {timeout:g} s, and was ended."
        return {**failure(message, code="crashed", seconds=seconds, pass_name=self.running), "overdue": True}

    def _died(self) -> dict[str, Any]:
        seconds = time.monotonic() - self.began
        # What it had started may hold its standard output no more, and go on itself.
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            status = 0
        last = self._last_printed()
        self.end()
        ended = f"ended the process with status {status}"
        if status < 0:
            ended = f"was killed by {_signal(-status)}"
        what = f"The pass `{self.running}`" if self.running else "Something outside of the passes"
        message = f"{what} {ended}."
        if last:
            message += f" The process printed last: {last}"
        return {**failure(message, code="crashed", seconds=seconds, pass_name=self.running), "died": True}

    def _last_printed(self) -> str:
        printed = self._printed.fileno()
        data = os.pread(printed, 2000, max(0, os.fstat(printed).st_size - 2000))
        return "\n".join(data.decode("utf-8", "replace").strip().splitlines()[-10:])

    def end(self) -> None:
        """Ends the process and what it started, at once."""
        import signal

        if self.is_over:
            return
        self.is_over = True
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._printed):
            try:
                assert stream is not None
                stream.close()
            except OSError:
                # What was never told to a worker that died.
                pass

    def __del__(self) -> None:
        # Of a batch that was never run.
        if not getattr(self, "is_over", True) and hasattr(self, "_process"):
            self.end()


def _signal(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"the signal {number}"


def import_all(names: Sequence[str]) -> list[str]:
    """Imports the modules that register a program's passes, and answers their files.

    Args:
        names: names of modules, or paths of ``.py`` files, each of which is a module of the file's name.

    Raises:
        PluginError: one of them can't be imported; its cause is what it raised.
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
            message = f"`{name}`, which is to register passes, can't be imported: {type(error).__name__}: {error}"
            raise PluginError(message, code="plugin", exit_status=3) from error
        file = getattr(module, "__file__", None)
        if file:
            files.append(file)
    return files


def main() -> None:
    """Runs models until nobody tells of any."""
    import queue
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What passes print isn't an answer.
    os.dup2(2, 1)
    # The line is not theirs to read, either.
    line = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    told: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        for said in line:
            told.put(said)
        # Who started this process is gone, and nobody waits for what runs; threads don't keep it, either.
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()

    def answer(said: Mapping[str, Any]) -> None:
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()

    setup = json.loads(told.get())
    wrong: dict[str, Any] | None = None
    try:
        import_all(setup["imports"])
    except PassError as error:
        wrong = failure(str(error), code=error.code, exit_status=error.exit_status)
    while True:
        job = json.loads(told.get())
        answer(wrong or _do(setup, job, answer))


def _do(
    setup: Mapping[str, Any], job: Mapping[str, Any], answer: Callable[[Mapping[str, Any]], None]
) -> dict[str, Any]:
    from .. import _passdock
    from .._checks import _raw
    from ..pipeline import Pipeline, _request

    began = time.monotonic()
    try:
        pipeline = None
        if setup["pipeline"] is not None:
            pipeline = Pipeline.__new__(Pipeline)
            pipeline._record = setup["pipeline"]
        request = _request(pipeline, **{**setup["options"], "jobs": job.get("jobs")})
        if job.get("explain"):
            _passdock.explain(request)
            return {**failure("", code=""), "ok": True, "diagnostics": []}
        request["model"], request["output"] = _raw(job["model"]), _raw(job["output"])
        request["replaces_links"] = True
        report, _, _ = _passdock.run(request, lambda name: answer({"pass": name}))
    except Exception as error:
        code = error.code if isinstance(error, PassError) else "usage"
        status = error.exit_status if isinstance(error, PassError) else 2
        return failure(str(error), code=code, exit_status=status, seconds=time.monotonic() - began)
    told: dict[str, Any] = json.loads(report)
    return told


if __name__ == "__main__":
    main()
