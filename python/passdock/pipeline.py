"""Pipelines: runs them like ``passdock run``, on files and modules."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _environment, _passdock, _progress
from ._checks import (
    _EXTERNAL_DATA,
    _VERIFY,
    _check_bool,
    _check_int,
    _listed,
    _near,
    _one_of,
    _path,
    _raw,
    _scalar,
)
from ._passdock import Module, PassContext
from .errors import PassWarning, PipelineError
from .transform import Pass, Sequential

__all__ = ["Pipeline", "Report", "explain", "get_pipeline", "run"]


def _warn(text: str) -> None:
    """Warns at the line of the program that called the package."""
    import sys
    import warnings

    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, PassWarning, stacklevel=level)


PathLike = str | os.PathLike[str]


class Report(Mapping[str, Any]):
    """The report of a run: the fields of ``passdock run --json``, as a mapping and as attributes.

    ``print(report)`` shows the passes that changed something; a notebook shows a table.
    """

    def __init__(self, text: str, module: Module | None = None) -> None:
        self._text = text
        #: The resulting module of a run on a module.
        self.module = module

    @functools.cached_property
    def _fields(self) -> dict[str, Any]:
        # Many reports are never read.
        import json

        fields: dict[str, Any] = json.loads(self._text)
        return fields

    @functools.cached_property
    def _rendered(self) -> list[str]:
        return _passdock.rendered(self._text)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Any:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        # `copy` looks up special names before there are fields.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"a report has no attribute {name!r}; it has {', '.join(self._fields)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "module" and not name.startswith("_"):
            raise AttributeError(
                f"cannot set {name!r} of a report; use a copy of its fields: `dict(report)`"
            )
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def to_json(self) -> str:
        """Returns the report as a line of JSON."""
        return self._text

    def _rows(self) -> list[tuple[str, float, int, int]]:
        def is_shown(entry: dict[str, Any]) -> bool:
            return entry["status"] in ("changed", "failed") and not entry.get("depth")

        return [
            (entry["name"], entry["seconds"], entry["ops_before"], entry["ops_after"])
            for entry in self._fields["passes"]
            if is_shown(entry)
        ]

    def __str__(self) -> str:
        rows = self._rows()
        width = max((len(name) for name, *_ in rows), default=0)
        lines = [
            f"{name:{width}}  {seconds * 1e3:8.1f} ms  {before} → {after}" for name, seconds, before, after in rows
        ]
        model = self._fields["model"]
        lines += self._rendered
        verdict = f"{model['ops_before']} → {model['ops_after']} ops in {self._fields['seconds'] * 1e3:.1f} ms"
        return "\n".join([*lines, verdict if self._fields["ok"] else "failed"])

    def __repr__(self) -> str:
        model = self._fields["model"]
        state = "ok" if self._fields["ok"] else "failed"
        return f"<passdock.Report {state}, {model['ops_before']} → {model['ops_after']} ops>"

    def _repr_html_(self) -> str:
        from ._notebook import page_of

        return page_of(self)


def _pipeline_text(pipeline: Any) -> dict[str, Any] | None:
    """Returns the host's record of a pipeline: the name of a built-in one, a file, TOML text, or a dict."""
    if pipeline is None:
        return None
    if isinstance(pipeline, Pipeline):
        return pipeline._record
    if isinstance(pipeline, Mapping):
        return {"path": "pipeline.toml", "text": _toml(pipeline), "of_program": True}
    if not isinstance(pipeline, (str, os.PathLike)):
        raise TypeError(_no_pipeline(pipeline))
    text = os.fspath(pipeline)
    if "\n" not in text and text.endswith((".onnx", ".ir")):
        raise _pipeline_error(f"expected a pipeline, found the model file `{text}`; use `output=` to write it")
    if "\n" in text or isinstance(pipeline, str) and "=" in text and not os.path.exists(text):
        return {"path": "pipeline.toml", "text": text}
    if isinstance(pipeline, str) and os.path.basename(text) == text and not os.path.splitext(text)[1]:
        return {"path": text, "text": _passdock.built_in(text), "built_in": True}
    try:
        with open(text, encoding="utf-8") as file:
            return {"path": text, "text": file.read()}
    except UnicodeDecodeError as error:
        raise _pipeline_error(f"could not read the pipeline `{text}`: invalid UTF-8") from error
    except OSError as error:
        raise _pipeline_error(f"could not read the pipeline `{text}`: {error}") from error


def _pipeline_error(message: str) -> PipelineError:
    return PipelineError(message, code="pipeline", exit_status=2)


def _no_pipeline(said: Any) -> str:
    """Returns a message why an argument isn't a pipeline, with a suggestion."""
    if isinstance(said, Pass):
        return "expected a pipeline, got a pass; call it on a module, or pass it to `run` or `optimize`"
    if isinstance(said, (list, tuple)):
        if said and all(isinstance(item, Pass) for item in said):
            return "expected a pipeline, got a list of passes; use `Sequential([…])`"
        return f"expected a pipeline, got a list of names; use `passes={list(said)!r}`"
    return f"a pipeline must be a name, a path, TOML, a dict, a Pipeline or a pass, not {type(said).__name__}"


class _Given:
    """Holds passes that are used as pipelines, where the host finds them: ``passdock.pipeline:_given.p1``."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            "the pass no longer exists; register it to use it by name"
        )


_given = _Given()


def _pipeline_of(given: Pass) -> dict[str, Any]:
    """Returns the record of a pipeline with a single pass."""
    import weakref

    name = f"p{id(given)}"
    vars(_given)[name] = weakref.proxy(given, lambda _: vars(_given).pop(name, None))
    text = _toml({"passes": [{"python": f"{__name__}:_given.{name}"}]})
    return {"path": given.info.name, "text": text}


# The maximum number of elements of an array that is converted to a TOML list.
_MOST_ELEMENTS = 10_000


def _items(array: Any) -> Any:
    """Returns the elements of an array as nested lists."""
    count = 1
    for size in array.shape:
        count *= int(size)
    if count > _MOST_ELEMENTS:
        raise ValueError(
            f"an array can have at most {_MOST_ELEMENTS:,} elements, not {count:,}; add a larger one in a pass with "
            "`func.add_constant`"
        )
    return array.tolist()


def _toml(value: Any, what: str = "a pipeline") -> str:
    """Converts a dict to TOML: pipelines are tables, lists of tables, and plain values."""

    def quoted(text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"invalid Unicode in {text!r}") from None
        return _passdock.toml_text(text)

    def plain(value: Any) -> str:
        value = _scalar(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            # Subclasses such as enums have another repr.
            return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)
        if isinstance(value, (str, os.PathLike)):
            return quoted(os.fsdecode(value))
        if isinstance(value, Mapping):
            return "{ " + ", ".join(f"{quoted(str(key))} = {plain(item)}" for key, item in value.items()) + " }"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(plain(item) for item in value) + "]"
        if hasattr(value, "shape") and hasattr(value, "tolist"):
            return plain(_items(value))
        kind = type(value).__name__
        raise TypeError(f"{what} must consist of strings, numbers, bools, lists, arrays and dicts, not {kind}")

    return "".join(f"{quoted(str(key))} = {plain(item)}\n" for key, item in value.items())


class Pipeline:
    """A pipeline: passes in order, with a context and instruments.

    Args:
        source: The name of a built-in pipeline (``"default"``, ``"simplify"``), the path of a TOML file, TOML text of
            several lines, or a dict with the same keys.

    Raises:
        PipelineError: The pipeline can't be read.
    """

    def __init__(self, source: PathLike | Mapping[str, Any]) -> None:
        record = _pipeline_text(source)
        if record is None:
            raise TypeError(_no_pipeline(source))
        self._record = record

    def __call__(self, model: Module, **options: Any) -> Module:
        """Runs the pipeline on a module. The options are those of ``run``."""
        if not isinstance(model, Module):
            raise TypeError(
                f"a pipeline must be called with a passdock.Module, not {type(model).__name__}; use `run` for files"
            )
        module = run(model, self, **options).module
        assert module is not None
        return module

    def explain(self, **options: Any) -> dict[str, Any]:
        """Returns the passes that would run, in order, with reasons."""
        return explain(self, **options)

    def __str__(self) -> str:
        return str(self._record["text"])

    def __repr__(self) -> str:
        return f"<passdock.Pipeline {_passdock.one_line(str(self._record['path']))}>"


class _PipelinePass(Sequential):
    """A pipeline as a pass."""

    _said: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return get_pipeline, self._said


def get_pipeline(source: PathLike = "default", trust: bool = False) -> Sequential:
    """Returns a pipeline as a pass, which runs under the context of its call: ``get_pipeline("default")(mod)``.

    Args:
        source: The name of a built-in pipeline, or the path of a TOML file.
        trust: As for ``run``.

    Raises:
        PipelineError: The pipeline can't be read, or has a ``[context]`` or ``[[instruments]]``, which a pass can't
            have.
    """
    record = _pipeline_text(source)
    if record is None:
        raise TypeError(_no_pipeline(source))
    made = _PipelinePass._of(
        _passdock.PassHandle.from_pipeline(record["path"], record["text"], _check_bool("trust", trust))
    )
    made._said = source, trust
    return made


#: All types that are accepted as a pipeline.
AnyPipeline = PathLike | Mapping[str, Any] | Pipeline | Pass


def _onnx_runtime() -> str | None:
    """Returns the library of the installed package onnxruntime without importing it; None to let the host search for
    one.
    """
    if os.environ.get("ORT_DYLIB_PATH"):
        return None
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("onnxruntime")
    for home in (spec.submodule_search_locations if spec else None) or ():
        for pattern in ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll"):
            for found in Path(home, "capi").glob(pattern):
                return str(found)
    return None


def _settings(what: str, said: Any) -> list[str]:
    """Converts a dict to the command's form: ``NAME=VALUE``."""
    if said is not None and not isinstance(said, Mapping):
        raise TypeError(f"{what} must be a dict, not {type(said).__name__}")
    texts = []
    for name, value in (said or {}).items():
        try:
            texts.append(f"{name}={_toml_value(value)}")
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{what}[{name!r}]: {error}") from None
    return texts


def _request(
    pipeline: Any,
    current: PassContext | None = None,
    *,
    passes: Sequence[str] | None = (),
    opt_level: int | None = None,
    required_pass: Sequence[str] | None = (),
    disabled_pass: Sequence[str] | None = (),
    disabled_rule: Sequence[str] | None = (),
    config: Mapping[str, Any] | None = None,
    bind: Mapping[str, Any] | None = None,
    plugins: Sequence[PathLike] | None = (),
    plugin_dirs: Sequence[PathLike] | None = (),
    raise_opset: int | None = None,
    allow_growth: bool = False,
    value_info: bool = False,
    jobs: int | None = None,
    verify: str = "changed",
    reproducer_dir: PathLike | None = None,
    html_report: PathLike | None = None,
    verify_outputs: bool = False,
    external_data: str = "keep",
    drop_spans: bool = False,
    allow_outside_data: bool = False,
    trust: bool = False,
    locked: bool = False,
    require_signed: bool = False,
) -> dict[str, Any]:
    """Returns the host's record of a run: its options, completed by the current context if that applies to the run."""
    current = PassContext() if current is None else current
    if pipeline is None and not passes:
        pipeline = "default"
    for what, number in (("opt_level", opt_level), ("raise_opset", raise_opset), ("jobs", jobs)):
        if number is not None:
            _check_int(what, number)
    _one_of("verify", _VERIFY, verify)
    _one_of("external_data", _EXTERNAL_DATA, external_data)
    record = _pipeline_of(pipeline) if isinstance(pipeline, Pass) else _pipeline_text(pipeline)
    said: dict[str, Any] = {
        "pipeline": record and {**record, "path": _raw(record["path"])},
        "passes": _listed("passes", passes),
        "opt_level": _level(current, pipeline) if opt_level is None else opt_level,
        "outer_required_pass": list(current.required_pass),
        "outer_disabled_pass": list(current.disabled_pass),
        "required_pass": _listed("required_pass", required_pass),
        "disabled_pass": _listed("disabled_pass", disabled_pass),
        "disabled_rule": _listed("disabled_rule", disabled_rule),
        "config": _settings("config", current.config) + _settings("config", config),
        "bind": _settings("bind", bind),
        "plugin_files": [_raw(path) for path in _listed("plugins", plugins)],
        "plugin_dirs": [_raw(path) for path in _listed("plugin_dirs", plugin_dirs)],
        "raise_opset": raise_opset,
        "allow_growth": _check_bool("allow_growth", allow_growth),
        "value_info": _check_bool("value_info", value_info),
        "jobs": jobs,
        "verify": verify,
        "reproducer_dir": None if reproducer_dir is None else _raw(_path("reproducer_dir", reproducer_dir)),
        "html_report": None if html_report is None else _path("html_report", html_report),
        "verify_outputs": _check_bool("verify_outputs", verify_outputs) and (_onnx_runtime() or True),
        "external_data": external_data,
        "drop_spans": _check_bool("drop_spans", drop_spans),
        "outside_data": _check_bool("allow_outside_data", allow_outside_data),
        # A pass of the program isn't a file, so it needs no trust.
        "trust": _check_bool("trust", trust) or isinstance(pipeline, Pass),
        "locked": _check_bool("locked", locked),
        "require_signed": _check_bool("require_signed", require_signed),
        "program_dir": _raw(_environment.COMMAND.parent),
    }
    return {name: value for name, value in said.items() if value is not None}


def _check_options(options: Mapping[str, Any]) -> None:
    """Rejects an unknown option, with a suggestion."""
    known = _request.__kwdefaults__ or {}
    for name in options:
        if name not in known:
            raise TypeError(f"unknown option `{name}`{_near(name, known)}")


def _level(current: PassContext, pipeline: Any) -> int | None:
    """Returns the level of a run without an ``opt_level``: that of the current context, if it was given one.

    A pass that is called directly runs at any level; the context selects the passes of a Sequential.
    """
    if isinstance(pipeline, Pass) and not isinstance(pipeline, Sequential):
        return max(current.opt_level, pipeline.info.opt_level)
    return current.given_opt_level


def _toml_value(value: Any) -> str:
    return _toml({"v": value}, "a value").removeprefix('"v" = ').rstrip("\n")


def _report_remarks(report: Report, remarks: list[tuple[bool, str]]) -> None:
    """Reports the remarks of a run: issues warnings as Python's, and logs the others.

    If warnings are errors, the first one gets the report, and the others become its notes.
    """
    first: Warning | None = None
    for is_warning, text in remarks:
        if not is_warning:
            _progress.log(text)
            continue
        try:
            _warn(text)
        except Warning as raised:
            if first is None:
                first = raised
            else:
                first.add_note(text)
    if first is not None:
        _leave(first, report)
        raise first


def _leave(error: BaseException, report: Report) -> None:
    """Attaches the report to an exception, unless its attribute of that name has another meaning."""
    if isinstance(getattr(error, "report", None), Report | None):
        vars(error)["report"] = report


def run(
    model: Module | PathLike,
    pipeline: AnyPipeline | None = None,
    output: PathLike | None = None,
    *,
    progress: bool | Callable[[str], Any] = False,
    instruments: Sequence[object] | None = None,
    **options: Any,
) -> Report:
    """Runs a pipeline on a model file or a module, in this process.

    The current ``PassContext`` applies to the run. An option overrides the context, the context overrides the
    ``[context]`` of the pipeline, and that overrides the defaults; lists of passes are concatenated. The order of
    instruments is: the context's, those of ``instruments``, the pipeline's. Diagnostics are in the report.

    Args:
        model: The path of an ``.onnx`` or ``.ir`` file, or a module, which isn't changed.
        pipeline: As for ``Pipeline``, or a pass such as ``Sequential([…])``; ``"default"`` if neither this nor
            ``passes`` is given.
        output: The file to write, preferably as a keyword argument. It is written atomically.
        progress: Whether to show a progress bar, if tqdm is installed; or a function that receives the names of passes.
        instruments: Instruments that observe this run, as for ``PassContext``.
        passes: Names of passes to run after the pipeline's.
        opt_level, required_pass, disabled_pass, disabled_rule, config: As for ``PassContext``.
        bind: Sizes for dim symbols and values for parameters, by name: numbers, lists of them, or arrays of at most
            10,000 elements.
        plugins, plugin_dirs: Plugin files, and directories of them.
        raise_opset: The version to which ONNX's operators are raised first.
        allow_growth: Whether the model may become larger.
        value_info: Whether the written file declares the types of all values.
        jobs: The number of threads for function passes; None for one per core.
        verify: ``"changed"``, ``"all"`` or ``"off"``.
        reproducer_dir: The directory in which reproducers of failures are written.
        html_report: The file of the HTML report: each pass, and the graph before and after. Notebooks show it, too.
        verify_outputs: Whether to compare the outputs of the model before and after with ONNX Runtime.
        external_data: Where the data of initializers is written: ``"keep"`` for where it is, ``"all"`` for one file
            next to the model, ``"none"`` for the model file.
        drop_spans: Whether everything is re-encoded, including unchanged parts.
        allow_outside_data: Whether data files may be outside the model's directory, as in the cache of Hugging Face,
            which uses symbolic links.
        trust: Whether the pipeline file may refer to plugins, rules and other files outside its directory, and to
            Python passes that have to be imported or created first.
        locked: Whether plugins are rejected that differ from ``passdock.lock`` next to the pipeline. ``python -m
            passdock lock`` writes the file.
        require_signed: Whether plugins are rejected that have no valid signature of a key in ``trusted_keys`` of the
            pipeline. The standard plugins of the package need none.

    Returns:
        The report. Its ``module`` is the resulting module, for a run on a module without ``output``.

    Raises:
        PassError: The run failed, and nothing was written. Its ``report`` is the report. An exception of a Python pass
            is propagated unchanged, with the report.
        PassWarning: The first warning, if warnings are errors. Its ``report`` is the report. The run is complete, and
            the output is written.
    """
    _check_options(options)
    request = _request(pipeline, PassContext.current(), **options)
    if output is not None:
        request["output"] = _raw(_path("output", output))
    update, end = _progress.progress(progress, "passes", str)
    module = model if isinstance(model, Module) else None
    try:
        if not isinstance(model, Module):
            _check_path(model)
            request["model"] = _raw(model)
        else:
            request["model"] = "<module>"
        text, remarks, result, error = _passdock.run(request, module, update, instruments)
    finally:
        end()
    report = Report(text, result)
    if error is not None:
        _leave(error, report)
        reproducer = report.get("reproducer")
        if reproducer is not None:
            error.add_note(f"the reproducer is in {reproducer}")
        raise error
    _report_remarks(report, remarks)
    return report


def _check_path(model: Any) -> None:
    """Rejects a model that isn't a path."""
    is_path = isinstance(model, os.PathLike) or isinstance(model, str) and "\n" not in model
    if not is_path:
        kind = "IR text" if isinstance(model, str) else type(model).__name__
        raise TypeError(
            f"run expects the path of a model or a passdock.Module, not {kind}; use `passdock.optimize` for bytes, "
            "protos and text"
        )


def explain(pipeline: AnyPipeline | None = None, **options: Any) -> dict[str, Any]:
    """Returns the passes that a pipeline would run under the current context, with reasons: the data of ``passdock
    explain --json``.
    """
    _check_options(options)
    return _passdock.explain(_request(pipeline, PassContext.current(), **options))
