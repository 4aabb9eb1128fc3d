"""What runs the models of a batch: the command where it can, and otherwise workers of Python.

The command ``passdock batch`` supervises each model already, says of which call a plugin dies, and knows its own
fingerprints: driven by it, a batch and a command line continue each other's file. It has no Python. A pipeline with
passes that a program registered, and options that only ``run`` has, go to workers of Python (``worker``), which keep
the same lines in the same file, with the same fingerprints, of which the code of passes is a part.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _checks, _passdock
from .. import pipeline as _pipeline
from ..errors import PassError, UnknownNameError, UsageError
from ..transform import Pass
from . import items as _items
from . import loop as _loop
from . import outcomes as _outcomes
from . import worker as _worker
from .outcomes import Outcome, OutcomeFile

__all__ = ["Plan", "outcomes"]

# What the command has and `run` doesn't say.
_OF_COMMAND = ("verify_outputs",)
# The longest list of models in one command line.
_LONGEST = 1_000_000
# The most models at once that the command can be told.
_MOST = 0xFFFF
# What stands between this program and the command: it ends with this program, however that ends, and takes the command
# along, which would go on and write into a file that the next batch has opened. Models that failed aren't its failure.
_GUARD = """
import os, signal, subprocess, sys, threading
def listen():
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)
try:
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
except OSError as error:
    sys.exit(f"{error.filename}: {error.strerror}")
threading.Thread(target=listen, daemon=True).start()
status = command.wait()
os._exit({0: 0, 1: 0}.get(status, 1))
"""


class Plan:
    """A batch as it was asked for."""

    def __init__(
        self,
        *,
        models: Sequence[str],
        items: Sequence[_items.Item],
        pipeline: Any,
        output: str,
        results: str,
        jobs: int | None,
        resume: bool,
        timeout: float | None,
        imports: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        if options.get("page") is not None:
            raise _items.usage("Each model would write the same page.", "`passdock.run(model, page=…)` writes one's.")
        self.models = models
        self.items = items
        self.output = output
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
        has = {name: value for name, value in options.items() if name not in _OF_COMMAND}
        #: What would run, which is said of one that can't.
        self.explained = _pipeline.explain(self.pipeline(), **has)
        #: The modules of passes that the pipeline names, which are imported by now.
        self.named = [] if self.record is None else _python_modules(str(self.record["text"]))
        files = (getattr(sys.modules.get(name), "__file__", None) for name in self.named)
        #: The files of the modules that passes of Python come from.
        self.modules = [*modules, *(file for file in files if file)]

    def pipeline(self) -> _pipeline.Pipeline | None:
        """The pipeline, which was read once."""
        if self.record is None:
            return None
        made = _pipeline.Pipeline.__new__(_pipeline.Pipeline)
        made._record = self.record
        return made

    def has_python(self) -> bool:
        """Whether a pass is of this program, and not of a plugin."""
        return bool(self.imports) or any(
            entry["plugin"] is None and not entry["is_sequential"] for entry in self.explained["passes"]
        )

    def plugin_files(self) -> list[str]:
        """The files of the plugins that passes come from."""
        return sorted({entry["file"] for entry in self.explained["passes"] if entry["file"]})

    def loaded_plugins(self) -> list[str]:
        """Those that this program has loaded itself, which other processes are told of."""
        standard = os.path.realpath(_standard_dir())
        named = {os.path.realpath(path) for path in self.options.get("plugins", ())}
        dirs = {standard, *(os.path.realpath(path) for path in self.options.get("plugin_dirs", ()))}
        files = ((file, os.path.realpath(file)) for file in self.plugin_files())
        return [file for file, path in files if path not in named and os.path.dirname(path) not in dirs]

    def setup(self, where: Callable[[str], str] = str) -> dict[str, Any]:
        """What the workers of the batch are told at first; ``where`` is what makes a path one of theirs."""
        options = {name: _plain(value) for name, value in self.options.items() if value is not None}
        options["plugins"] = [where(path) for path in [*options.get("plugins", ()), *self.loaded_plugins()]]
        options["plugin_dirs"] = [where(path) for path in options.get("plugin_dirs", ())]
        imports = [where(name) if name.endswith(".py") else name for name in self.imports] + self.named
        record = self.record
        if record is not None and not record.get("built_in"):
            # Paths in it start from where it is.
            record = {**record, "path": where(str(record["path"]))}
        return {"imports": imports, "pipeline": record, "options": options}


def _in_context(options: dict[str, Any]) -> dict[str, Any]:
    """The options with what the current context says beside them, as ``run`` has it."""
    current = _passdock.PassContext.current()
    if current.instruments:
        _pipeline._warn(
            "The instruments of the current context don't watch a batch, whose models run in other processes."
        )
    said = dict(options)
    if said.get("opt_level") is None and current.given_opt_level is not None:
        said["opt_level"] = current.given_opt_level
    for name in ("required_pass", "disabled_pass"):
        if names := [*getattr(current, name), *said.get(name, ())]:
            said[name] = names
    config = said.get("config") or {}
    if current.config and isinstance(config, Mapping):
        said["config"] = {**current.config, **config}
    return said


def _python_modules(text: str) -> list[str]:
    """The modules that a pipeline's text names passes of: `python = "package.module:name"`."""
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
    if command is not None and not plan.has_python():
        arguments = _arguments(plan)
        if arguments is not None:
            return _by_command(plan, command, arguments)
    why = "which isn't there" if command is None else "and other options or passes take workers of Python"
    refuse_of_command(plan.options, why)
    return _by_workers(plan)


def refuse_of_command(options: Mapping[str, Any], why: str) -> None:
    """Refuses options that only the command has."""
    for name in _OF_COMMAND:
        if name in options:
            raise _items.usage(f"`{name}` is an option of the command `passdock batch`, {why}.")


def _command() -> str | None:
    """The command that comes with the package, or the one that the environment names."""
    named = os.environ.get("PASSDOCK")
    if named:
        return named
    path = Path(__file__).parents[1] / "_dist" / "bin" / ("passdock.exe" if os.name == "nt" else "passdock")
    return str(path) if path.exists() else None


def _arguments(plan: Plan) -> list[str] | None:
    """The command's arguments; None if it can't be told one of the options."""
    said: list[str] = []
    options = dict(plan.options)
    passes = options.pop("passes", ())
    if any("," in name for name in passes):
        return None
    if passes:
        said += ["--passes", ",".join(passes)]
    if options.pop("verify", "changed") != "changed":
        return None
    # Each of them once for each value, in order.
    lists = {
        "required_pass": "--require",
        "disabled_pass": "--disable",
        "disabled_rule": "--disable-rule",
        "plugins": "--plugin",
        "plugin_dirs": "--plugin-dir",
    }
    for name, flag in lists.items():
        for value in options.pop(name, ()):
            said += [flag, os.fspath(value)]
    for file in plan.loaded_plugins():
        said += ["--plugin", file]
    for key, value in (options.pop("config", None) or {}).items():
        said += ["--config", f"{key}={_pipeline._toml_value(value)}"]
    for key, value in (options.pop("bind", None) or {}).items():
        said += ["--bind", f"{key}={_pipeline._toml_value(value)}"]
    valued = {"opt_level": "-O", "raise_opset": "--raise-opset", "external_data": "--external-data"}
    for name, flag in valued.items():
        value = options.pop(name, None)
        if value is not None:
            said += [flag, str(value)]
    switches = {
        "allow_growth": "--allow-growth",
        "value_info": "--value-info",
        "verify_outputs": "--verify-outputs",
        "drop_spans": "--drop-spans",
        "allow_outside_data": "--allow-outside-data",
        "trust": "--trust",
    }
    for name, flag in switches.items():
        if options.pop(name, False):
            said.append(flag)
    if any(value is not None for value in options.values()):
        return None
    named = _named_pipeline(plan)
    return None if named is None else [*named, *said]


def _standard_dir() -> str:
    from .. import _DIST

    return os.environ.get("PASSDOCK_STANDARD_PLUGINS") or os.path.join(_DIST, "lib", "passdock", "plugins")


def _named_pipeline(plan: Plan) -> list[str] | None:
    """The pipeline as the command reads it: by its name or from its file, which is written if there is none."""
    record = plan.record
    if record is None:
        return []
    path, text = str(record["path"]), str(record["text"])
    if record.get("built_in"):
        return ["-p", path]
    try:
        if Path(path).read_text(encoding="utf-8") == text:
            return ["-p", path if os.path.dirname(path) else os.path.join(".", path)]
    except OSError:
        pass
    if "plugins" in text:
        # Its paths start from where the file is.
        return None
    # The path is a part of the fingerprint, and so has to be the same the next time.
    made = os.path.join(plan.output, f"pipeline-{_outcomes.fingerprint([text], [])[:8]}.toml")
    try:
        os.makedirs(plan.output, exist_ok=True)
        Path(made).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PassError(f"`{made}` can't be written: {error.strerror}.", code="write") from error
    return ["-p", made]


def _by_command(plan: Plan, command: str, arguments: Sequence[str]) -> Iterator[Outcome]:
    common = ["--json", "-o", plan.output, "--results", plan.results, *arguments]
    if plan.jobs is not None:
        common += ["-j", str(min(plan.jobs, _MOST))]
    if plan.timeout is not None:
        common += ["--timeout", str(plan.timeout)]
    if not plan.resume:
        common.append("--again")
    # What is named twice may come into two of them.
    for models in _portions(list(dict.fromkeys(plan.models))):
        yield from _driven([command, "batch", *common, "--", *models])


def _portions(models: Sequence[str]) -> Iterator[list[str]]:
    """Lists of models that fit into a command line each."""
    portion: list[str] = []
    length = 0
    for model in models:
        if portion and length + len(model) > _LONGEST:
            yield portion
            portion, length = [], 0
        portion.append(model)
        # Eight bytes of it are a pointer's, and a text ends.
        length += len(os.fsencode(model)) + 9
    if portion:
        yield portion


def _path() -> str:
    """The paths of programs: the command asks the first ``python3`` for ONNX Runtime, which should be this one."""
    return os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])


def _driven(command: Sequence[str]) -> Iterator[Outcome]:
    import signal
    import subprocess
    import tempfile

    with tempfile.TemporaryFile() as printed:
        try:
            # The terminal's Ctrl-C is this program's, which ends the command.
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _GUARD, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                env={**os.environ, "NO_COLOR": "1", "PATH": _path()},
                start_new_session=True,
            )
        except OSError as error:
            raise PassError(f"No process can be started: {error.strerror}.", code="crashed") from error
        assert process.stdin is not None and process.stdout is not None
        try:
            for line in process.stdout:
                said = json.loads(line)
                for each in said["diagnostics"]:
                    each["message"], each["help"] = _in_python(each["message"]), _in_python(each.get("help"))
                if "model" not in said:
                    raise _refused(said)
                yield Outcome(said)
            status = process.wait()
        finally:
            process.stdin.close()
            process.stdout.close()
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if status != 0:
            printed.seek(0)
            text = printed.read().decode("utf-8", "replace").strip()
            raise PassError(f"The command `{command[0]}` didn't do the batch. {text}".rstrip(), code="crashed")


def _in_python(said: str | None) -> str | None:
    """What the command says, in this language's words."""
    return None if said is None else _passdock.in_python(said)


def _refused(said: Mapping[str, Any]) -> PassError:
    """The error that the command answers in place of outcomes."""
    error = next(each for each in said["diagnostics"] if each["severity"] in ("error", "bug"))
    message, advice = error["message"], error["help"]
    text = f"{message} {advice}" if advice else message
    kind = UsageError if error["code"] == "usage" else PassError
    return kind(text, code=error["code"], exit_status=said["exit_status"], help=advice, pass_name=error.get("pass"))


def _by_workers(plan: Plan) -> Iterator[Outcome]:
    setup = plan.setup()
    first = _worker.Worker(setup)
    # A pass that this program registered itself isn't known there; that is told here, and not of each model.
    try:
        check(first.ask({"explain": True}))
    except BaseException:
        first.end()
        raise
    crew = _Workers(plan, setup, first)
    return _loop.run(
        plan.items, crew, lambda: OutcomeFile(plan.results), lambda: fingerprints(plan), os.path.isfile, plan.resume
    )


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return _checks._scalar(value)


def check(report: Mapping[str, Any]) -> None:
    """Raises what a worker says of a pipeline.

    Raises:
        UnknownNameError: it doesn't know a pass.
        PassError: something else is wrong.
    """
    if report["ok"]:
        return
    said = report["diagnostics"][0]
    if said["code"] in ("unknown-pass", "unknown-instrument"):
        advice = 'Name the module that registers it: `imports=["package.module"]`.'
        message = f"A process that runs models doesn't know a pass of this program: {said['message']}"
        raise UnknownNameError(f"{message} {advice}", code=said["code"], exit_status=2, help=advice)
    raise PassError(said["message"], code=said["code"], exit_status=report["exit_status"])


def fingerprints(plan: Plan) -> Callable[[_items.Item], str]:
    """The fingerprint of each result: of the model, and of what all results are made of."""
    has = {name: value for name, value in plan.options.items() if name not in _OF_COMMAND}
    has["plugins"] = [*has.get("plugins", ()), *plan.loaded_plugins()]
    own = _passdock.Fingerprint(_pipeline._request(plan.pipeline(), **has), [*plan.modules, *plan.imports])

    def of(item: _items.Item) -> str:
        return own.of_address(item.model, item.state) if "://" in item.model else own.of_file(item.model)

    return of


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0)) or 1
    except AttributeError:
        return os.cpu_count() or 1


class _Workers:
    """How models are given to workers of Python on this machine: a crew, as ``loop`` has it."""

    def __init__(self, plan: Plan, setup: Mapping[str, Any], first: _worker.Worker) -> None:
        import selectors

        self._wanted = plan.jobs
        self._timeout = plan.timeout
        self._setup = setup
        self._at_once = 1
        self._jobs: int | None = None
        self._idle = [first]
        self._selector = selectors.DefaultSelector()
        self._selector.register(first, selectors.EVENT_READ)

    def prepare(self, left: Sequence[_items.Item]) -> None:
        self._at_once = min(self._wanted or cores(), max(1, len(left)))
        # A model that is alone has all cores.
        self._jobs = None if self._at_once == 1 else 1
        for directory in {os.path.dirname(item.output) for item in left}:
            os.makedirs(directory or ".", exist_ok=True)

    def room(self) -> int:
        return self._at_once

    def begin(self, item: _items.Item) -> _worker.Worker:
        import selectors

        self._idle = [worker for worker in self._idle if not worker.is_over]
        if not self._idle:
            self._idle.append(_worker.Worker(self._setup))
            self._selector.register(self._idle[-1], selectors.EVENT_READ)
        worker = self._idle.pop()
        worker.begin({"model": item.model, "output": item.output, "jobs": self._jobs})
        return worker

    def answered(self, running: Collection[_worker.Worker]) -> list[tuple[_worker.Worker, Mapping[str, Any]]]:
        heard = _heard(self._selector, running, self._timeout)
        self._idle.extend(worker for worker, _ in heard if not worker.is_over)
        return heard

    def begins_again(self, report: Mapping[str, Any], attempt: int) -> bool:
        # A model whose process died would take the next one along.
        return False

    def end(self, running: Collection[_worker.Worker]) -> None:
        for worker in [*self._idle, *running]:
            worker.end()
        self._selector.close()


def _heard(
    selector: Any, busy: Collection[_worker.Worker], timeout: float | None
) -> list[tuple[_worker.Worker, Mapping[str, Any]]]:
    """What workers answer next; of one whose run takes too long, that it was ended."""
    wait = None
    if timeout is not None:
        now = time.monotonic()
        wait = min(_worker.LONGEST_WAIT, max(0.0, min(worker.began + timeout - now for worker in busy)))
    heard, said = [], set()
    for key, _ in selector.select(wait):
        worker = key.fileobj
        said.add(worker)
        report = worker.hear()
        if worker.is_over:
            selector.unregister(key.fd)
        if report is not None and worker in busy:
            heard.append((worker, report))
    if timeout is not None:
        now = time.monotonic()
        for worker in busy:
            # Who asks for outcomes may have been away, and the worker be done in time.
            if worker not in said and now - worker.began >= timeout:
                selector.unregister(worker.fileno())
                heard.append((worker, worker.overdue(timeout)))
    return heard
