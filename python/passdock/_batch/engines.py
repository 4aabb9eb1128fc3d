"""Batches on this machine: the host's engine, with workers of the command or of Python.

A worker is a process of the command ``passdock``, which supervises each model and names the call in which a plugin
crashes. It has no Python: a pipeline with passes that a program registered goes to processes of Python (``worker``).
The engine, the file of outcomes and its fingerprints are those of ``passdock batch``, so that a batch and a command
line continue each other's file. The code of passes is a part of a fingerprint.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _checks, _passdock
from .. import pipeline as _pipeline
from ..errors import PassError, UnknownNameError
from ..transform import Pass
from . import items as _items
from . import worker as _worker
from .outcomes import Outcome

__all__ = ["Plan", "check", "fingerprint", "outcomes", "python_worker"]


class Plan:
    """A batch as it was asked for."""

    def __init__(
        self,
        *,
        items: Sequence[tuple[str, str]],
        pipeline: Any,
        results: str,
        jobs: int | None,
        resume: bool,
        timeout: float | None,
        imports: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        if options.get("page") is not None:
            raise _items.usage("Each model would write the same page.", "`passdock.run(model, page=…)` writes one's.")
        self.items = items
        self.results = results
        self.jobs = jobs
        self.resume = resume
        self.timeout = None if timeout is None else _checks._check_seconds("timeout", timeout)
        self.imports = tuple(_checks._listed("imports", imports))
        self.options = options = _in_context(_checks._with_lists(options))
        if isinstance(pipeline, Pass):
            raise TypeError(
                "a batch names what it runs, as it runs in other processes: register the pass, and say "
                f"`passes=[{pipeline._pass_handle.info.name!r}]` and `imports=` with the module that registers it"
            )
        self.record = _pipeline._pipeline_text(pipeline)
        modules = _worker.import_all(self.imports)
        #: What would run; raises the error of a pipeline that can't.
        self.explained = _pipeline.explain(self.pipeline(), **options)
        #: The modules of passes that the pipeline names, which are imported by now.
        self.named = [] if self.record is None else _python_modules(str(self.record["text"]))
        files = (getattr(sys.modules.get(name), "__file__", None) for name in self.named)
        #: The files of the modules that passes of Python come from.
        self.modules = [*modules, *(file for file in files if file)]

    def pipeline(self) -> _pipeline.Pipeline | None:
        """The pipeline, which was read once."""
        if self.record is None:
            return None
        pipeline = _pipeline.Pipeline.__new__(_pipeline.Pipeline)
        pipeline._record = self.record
        return pipeline

    def has_python(self) -> bool:
        """Whether a pass is of this program, and not of a plugin."""
        return bool(self.imports) or any(
            entry["plugin"] is None and not entry["is_sequential"] for entry in self.explained["passes"]
        )

    def plugin_files(self) -> list[str]:
        """The files of the plugins that passes come from."""
        return sorted({entry["file"] for entry in self.explained["passes"] if entry["file"]})

    def loaded_plugins(self) -> list[str]:
        """Those that this program has loaded itself, which other processes load, too."""
        standard = os.path.realpath(_standard_dir())
        named = {os.path.realpath(path) for path in self.options.get("plugins", ())}
        dirs = {standard, *(os.path.realpath(path) for path in self.options.get("plugin_dirs", ()))}
        files = self.plugin_files()
        others = (file for file in files if os.path.realpath(os.path.dirname(file)) not in dirs)
        return [file for file in others if os.path.realpath(file) not in named]

    def request(self, where: Callable[[str], str] = str) -> dict[str, Any]:
        """The request of each model, without the model; ``where`` makes the paths of the processes that run it."""
        options = dict(self.options)
        options["plugins"] = [where(os.fspath(path)) for path in [*options.get("plugins", ()), *self.loaded_plugins()]]
        options["plugin_dirs"] = [where(os.fspath(path)) for path in options.get("plugin_dirs", ())]
        request = _pipeline._request(self.pipeline(), **options)
        if request.get("verify_outputs"):
            # The processes find ONNX Runtime themselves.
            request["verify_outputs"] = True
        record = request.get("pipeline")
        if record is not None and not record.get("built_in"):
            # Paths in it start from where it is.
            path = str(self.record["path"]) if self.record else ""
            request["pipeline"] = {**record, "path": _checks._raw(where(path))}
        return request

    def job(self, where: Callable[[str], str] = str) -> str:
        """What a worker of Python gets with each model."""
        imports = [where(name) if name.endswith(".py") else name for name in self.imports] + self.named
        return json.dumps({"imports": imports, "request": self.request(where)}, default=_checks._scalar)


def _in_context(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options with those of the current context, as ``run`` has them."""
    current = _passdock.PassContext.current()
    if current.instruments:
        _pipeline._warn(
            "The instruments of the current context don't watch a batch, whose models run in other processes."
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
    """Returns the modules of the passes that a pipeline's text names: `python = "package.module:name"`."""
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


def outcomes(plan: Plan) -> Iterator[Outcome]:
    """The outcomes of a batch, as they come.

    Raises:
        PassError: what is wrong with the request.
    """
    command = _command()
    if command is None or plan.has_python():
        worker = python_worker(plan.request(), plan.job(), plan.timeout)
        # A pass that this program registered itself isn't known there; that is raised here, and not for each model.
        try:
            check(json.loads(worker.explain()[0]))
        except BaseException:
            worker.close()
            raise
    else:
        worker = _passdock.Worker(plan.request(), [command, "__batch-worker"], [_path()], None, plan.timeout)
    return _run(plan, worker)


def _run(plan: Plan, worker: _passdock.Worker) -> Iterator[Outcome]:
    try:
        worker.start()
        results = Path(plan.results)
        for directory in {results.parent, *(Path(output).parent for _, output in plan.items)}:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"The directory `{directory}` can't be made: {error.strerror or error}."
                raise PassError(message, code="write") from error
        own = fingerprint(plan)
        batch = _passdock.Batch(worker, own, plan.items, plan.results, plan.jobs, plan.resume)
        try:
            while (outcome := batch.next()) is not None:
                yield Outcome(json.loads(outcome))
        finally:
            batch.close()
    finally:
        worker.close()


def python_worker(request: Mapping[str, Any], job: str, timeout: float | None) -> _passdock.Worker:
    """A worker of this Python; a script that it imports begins no batch again."""
    path = [os.path.abspath(entry) if entry else entry for entry in sys.path]
    command = [sys.executable, "-c", _worker.START, json.dumps(path)]
    return _passdock.Worker(request, command, [(_worker.IN_WORKER, "1"), _path()], job, timeout)


def _path() -> tuple[str, str]:
    """The paths of programs: the first ``python3``, which is asked for ONNX Runtime, is this one."""
    return "PATH", os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])


def _command() -> str | None:
    """The command that comes with the package, or the one that the environment names."""
    named = os.environ.get("PASSDOCK")
    if named:
        return named
    path = Path(__file__).parents[1] / "_dist" / "bin" / ("passdock.exe" if os.name == "nt" else "passdock")
    return str(path) if path.exists() else None


def _standard_dir() -> str:
    from .. import _DIST

    return os.environ.get("PASSDOCK_STANDARD_PLUGINS") or os.path.join(_DIST, "lib", "passdock", "plugins")


def check(report: Mapping[str, Any]) -> None:
    """Raises the error that a worker reports of a pipeline.

    Raises:
        UnknownNameError: it doesn't know a pass.
        PassError: something else is wrong.
    """
    if report["ok"]:
        return
    error = report["diagnostics"][0]
    if error["code"] in ("unknown-pass", "unknown-instrument"):
        advice = 'Name the module that registers it: `imports=["package.module"]`.'
        message = f"A process that runs models doesn't know a pass of this program: {error['message']}"
        raise UnknownNameError(f"{message} {advice}", code=error["code"], exit_status=2, help=advice)
    raise PassError(error["message"], code=error["code"], exit_status=report["exit_status"])


def fingerprint(plan: Plan) -> _passdock.Fingerprint:
    """Returns the fingerprint of all that results are made of, besides the models."""
    return _passdock.Fingerprint(plan.request(), [*plan.modules, *plan.imports])
