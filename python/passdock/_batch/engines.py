"""Batches on this machine, run by the host's engine with command or Python workers.

A worker is a process of the command ``passdock``, which supervises each model and reports the call in which a plugin
crashes. It can't run Python: a pipeline with passes that a program registered runs in Python processes (``worker``).

The engine, the file of results and the fingerprints are those of ``passdock batch``, so a batch and a command can
continue each other's file. The code of passes is part of a fingerprint.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _checks, _environment, _passdock
from .. import pipeline as _pipeline
from ..errors import PassError, UnknownNameError
from ..transform import Pass
from . import items as _items
from . import worker as _worker
from .results import ModelResult

__all__ = ["Plan", "check", "fingerprint", "python_worker", "results"]


class Plan:
    """The arguments of a batch."""

    def __init__(
        self,
        *,
        items: Sequence[tuple[str, str]],
        pipeline: Any,
        results: str,
        jobs: int | None,
        resume: bool,
        timeout: float | None,
        sandbox: str,
        imports: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        if options.get("html_report") is not None:
            raise _items.usage("cannot write one HTML report for several models", "run each with `passdock.run(model, html_report=…)`")
        self.items = items
        self.results = results
        self.jobs = jobs
        self.resume = resume
        self.timeout = None if timeout is None else _checks._check_seconds("timeout", timeout)
        self.sandbox = _checks._check_choice("sandbox", sandbox, ("auto", "require", "off"))
        self.imports = tuple(_checks._listed("imports", imports))
        self.options = options = _in_context(_checks._with_lists(options))
        if isinstance(pipeline, Pass):
            raise TypeError(
                "a batch runs in other processes and cannot run a pass object; register the pass, and use "
                f"`passes=[{pipeline._pass_handle.info.name!r}]` and `imports=` with the module that registers it"
            )
        self.record = _pipeline._pipeline_text(pipeline)
        modules = _worker.import_all(self.imports)
        #: The resolved pipeline; raises the error of an invalid one.
        self.explained = _pipeline.explain(self.pipeline(), **options)
        #: The modules of passes that the pipeline names; they are imported already.
        self.named = [] if self.record is None else _python_modules(str(self.record["text"]))
        files = (getattr(sys.modules.get(name), "__file__", None) for name in self.named)
        #: The files of the modules with Python passes.
        self.modules = [*modules, *(file for file in files if file)]

    def pipeline(self) -> _pipeline.Pipeline | None:
        """Returns the pipeline, which was read once."""
        if self.record is None:
            return None
        pipeline = _pipeline.Pipeline.__new__(_pipeline.Pipeline)
        pipeline._record = self.record
        return pipeline

    def has_python(self) -> bool:
        """Returns whether the pipeline has a pass of this program, as opposed to a plugin."""
        return bool(self.imports) or any(
            entry["plugin"] is None and not entry["sequential"] for entry in self.explained["passes"]
        )

    def plugin_files(self) -> list[str]:
        """Returns the files of the plugins whose passes are used."""
        return sorted({entry["file"] for entry in self.explained["passes"] if entry["file"]})

    def loaded_plugins(self) -> list[str]:
        """Returns the plugins that this program loaded itself; other processes load them, too."""
        default = {os.path.realpath(path) for path in _environment.default_dirs()}
        named = {os.path.realpath(path) for path in self.options.get("plugins", ())}
        dirs = default.union(os.path.realpath(path) for path in self.options.get("plugin_dirs", ()))
        files = self.plugin_files()
        others = (file for file in files if os.path.realpath(os.path.dirname(file)) not in dirs)
        return [file for file in others if os.path.realpath(file) not in named]

    def request(self, where: Callable[[str], str] = str) -> dict[str, Any]:
        """Returns the request for each model, without the model; ``where`` maps paths to those of the worker
        processes.
        """
        options = dict(self.options)
        options["plugins"] = [where(os.fspath(path)) for path in [*options.get("plugins", ()), *self.loaded_plugins()]]
        options["plugin_dirs"] = [where(os.fspath(path)) for path in options.get("plugin_dirs", ())]
        request = _pipeline._request(self.pipeline(), **options)
        if request.get("verify_outputs"):
            # The worker processes find ONNX Runtime themselves.
            request["verify_outputs"] = True
        record = request.get("pipeline")
        if record is not None and not record.get("built_in"):
            # Paths in the pipeline are relative to its file.
            path = str(self.record["path"]) if self.record else ""
            request["pipeline"] = {**record, "path": _checks._raw(where(path))}
        return request

    def job(self, where: Callable[[str], str] = str) -> str:
        """Returns the job of a Python worker, without the model."""
        imports = [where(name) if name.endswith(".py") else name for name in self.imports] + self.named
        return json.dumps({"imports": imports, "request": self.request(where)}, default=_checks._scalar)


def _in_context(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options, with defaults from the current context like ``run``."""
    current = _passdock.PassContext.current()
    if current.instruments:
        _pipeline._warn(
            "the instruments of the current context do not observe a batch, which runs in other processes"
        )
    merged = dict(options)
    if merged.get("opt_level") is None and current.given_opt_level is not None:
        merged["opt_level"] = current.given_opt_level
    for name in ("required_pass", "disabled_pass"):
        if names := [*getattr(current, name), *merged.get(name, ())]:
            merged[name] = names
    config = merged.get("config") or {}
    if current.config and isinstance(config, Mapping):
        merged["config"] = {**current.config, **config}
    return merged


def _python_modules(text: str) -> list[str]:
    """Returns the modules of the passes in a pipeline's text: `python = "package.module:name"`."""
    if "python" not in text:
        return []
    import tomllib

    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            named = value.get("python")
            if isinstance(named, str):
                found.add(named.partition(":")[0])
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    try:
        look(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        # A file of rules.
        return []
    return sorted(found)


def results(plan: Plan) -> Iterator[ModelResult]:
    """Runs a batch and yields its results as models finish.

    Raises:
        PassError: The request is invalid.
    """
    command = _command()
    if command is None or plan.has_python():
        worker = python_worker(plan.request(), plan.job(), plan.timeout)
        # A pass that only this program registered is unknown to workers; report that once, not for each model.
        try:
            check(json.loads(worker.explain()[0]))
        except BaseException:
            worker.close()
            raise
    else:
        environment = _environment.variables()
        worker = _passdock.Worker(plan.request(), [command, "__batch-worker"], environment, None, plan.timeout, plan.sandbox)
    return _run(plan, worker)


def _run(plan: Plan, worker: _passdock.Worker) -> Iterator[ModelResult]:
    try:
        worker.start()
        results = Path(plan.results)
        for directory in {results.parent, *(Path(output).parent for _, output in plan.items)}:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"could not create the directory `{directory}`: {error.strerror or error}"
                raise PassError(message, code="write") from error
        own = fingerprint(plan)
        batch = _passdock.Batch(worker, own, plan.items, plan.results, plan.jobs, plan.resume)
        try:
            while (result := batch.next()) is not None:
                yield ModelResult(json.loads(result))
        finally:
            batch.close()
    finally:
        worker.close()


def python_worker(request: Mapping[str, Any], job: str, timeout: float | None) -> _passdock.Worker:
    """Creates a worker with this Python. A script that it imports can't start another batch."""
    path = [os.path.abspath(entry) if entry else entry for entry in sys.path]
    command = [sys.executable, "-c", _worker.START, json.dumps(path)]
    environment = [(_worker.IN_WORKER, "1"), *_environment.variables()]
    return _passdock.Worker(request, command, environment, job, timeout)


def _command() -> str | None:
    """Returns the command of the package, or the one in the environment variable ``PASSDOCK``."""
    named = os.environ.get("PASSDOCK")
    if named:
        return named
    return str(_environment.COMMAND) if _environment.COMMAND.exists() else None


def check(report: Mapping[str, Any]) -> None:
    """Raises the error that a worker reports for a pipeline.

    Raises:
        UnknownNameError: The worker has no pass of that name.
        PassError: Any other error.
    """
    if report["ok"]:
        return
    error = report["diagnostics"][0]
    if error["code"] in ("unknown-pass", "unknown-instrument"):
        advice = 'name the module that registers it: `imports=["package.module"]`'
        message = f"error in a worker process: {error['message']}"
        raise UnknownNameError(f"{message}; {advice}", code=error["code"], exit_status=2, help=advice)
    raise PassError(error["message"], code=error["code"], exit_status=report["exit_status"])


def fingerprint(plan: Plan) -> _passdock.Fingerprint:
    """Returns the fingerprint of all inputs of the results other than the models."""
    return _passdock.Fingerprint(plan.request(), [*plan.modules, *plan.imports])
