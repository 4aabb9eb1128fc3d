"""Pipelines: what ``passdock run`` does, on files, bytes and models of other packages."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _passdock
from ._passdock import Module, PassContext
from .errors import PassError, PipelineError
from .transform import Pass

__all__ = ["Pipeline", "Report", "explain", "run"]


def _log(text: str) -> None:
    import logging

    logging.getLogger("passdock").info("%s", text)


def _warn(text: str) -> None:
    """Warns at the line of the program that called the package."""
    import sys
    import warnings

    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


PathLike = str | os.PathLike[str]


class Report(Mapping[str, Any]):
    """What a run did: the fields of ``passdock run --json``, as a mapping and as attributes.

    ``print(report)`` shows the passes that changed something; a notebook shows a table.
    """

    def __init__(self, text: str, rendered: list[str], module: Module | None = None) -> None:
        self._text = text
        self._rendered = rendered
        #: The module that came out, of a run on a module.
        self.module = module

    @functools.cached_property
    def _fields(self) -> dict[str, Any]:
        # Many a report isn't read.
        import json

        fields: dict[str, Any] = json.loads(self._text)
        return fields

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Any:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        # Who copies a report asks for this before there are fields.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"a report has no {name!r}; it has {', '.join(self._fields)}") from None

    def to_json(self) -> str:
        """The report as JSON, in one line."""
        return self._text

    def _rows(self) -> list[tuple[str, float, int, int]]:
        def is_told(entry: dict[str, Any]) -> bool:
            return entry["status"] in ("changed", "failed") and not entry.get("depth")

        return [
            (entry["name"], entry["seconds"], entry["ops_before"], entry["ops_after"])
            for entry in self._fields["passes"]
            if is_told(entry)
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
        import html

        rows = "".join(
            f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{seconds * 1e3:.1f} ms</td>"
            f"<td>{before}</td><td>{after}</td></tr>"
            for name, seconds, before, after in self._rows()
        )
        kinds = "".join(
            f"<tr><td style='text-align:left'>{html.escape(kind['op'])}</td><td>{kind['before']}</td>"
            f"<td>{kind['after']}</td></tr>"
            for kind in self._fields["model"]["kinds"]
            if kind["before"] != kind["after"]
        )
        said = "".join(f"<pre>{html.escape(text)}</pre>" for text in self._rendered)
        head = "<tr><th style='text-align:left'>{}</th>{}</tr>"
        passes = head.format("pass", "<th>time</th><th>ops before</th><th>after</th>")
        ops = head.format("op", "<th>before</th><th>after</th>")
        summary = html.escape(str(self).rsplit("\n", 1)[-1])
        page = self._fields.get("page")
        if page:
            import urllib.parse

            frame = "<iframe src='{}' style='width:100%;height:32em;border:0'></iframe>"
            said += frame.format(urllib.parse.quote(page))
        return (
            f"<p>{summary}</p><table>{passes}{rows}</table>"
            f"<details><summary>ops by kind</summary><table>{ops}{kinds}</table></details>{said}"
        )


def _pipeline_text(pipeline: Any) -> dict[str, Any] | None:
    """The host's record of a pipeline: a name that comes with it, a file, TOML as a text, or a dict."""
    if pipeline is None:
        return None
    if isinstance(pipeline, Pipeline):
        return pipeline._record
    if isinstance(pipeline, Mapping):
        return {"path": "pipeline.toml", "text": _toml(pipeline)}
    text = os.fspath(pipeline)
    if "\n" in text or isinstance(pipeline, str) and "=" in text and not os.path.exists(text):
        return {"path": "pipeline.toml", "text": text}
    if isinstance(pipeline, str) and os.path.basename(text) == text and not os.path.splitext(text)[1]:
        return {"path": text, "text": _passdock.built_in(text), "built_in": True}
    try:
        with open(text, encoding="utf-8") as file:
            return {"path": text, "text": file.read()}
    except OSError as error:
        raise PipelineError(f"The pipeline `{text}` can't be read: {error}.", code="pipeline", exit_status=2) from error


def _scalar(value: Any) -> Any:
    """A scalar of NumPy's as Python's own; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def _toml(value: Any) -> str:
    """A dict as TOML: pipelines are tables, lists of tables, and plain values."""

    import json

    def plain(value: Any) -> str:
        value = _scalar(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            # Subclasses, such as enums, are printed as something else.
            return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)
        if isinstance(value, (str, os.PathLike)):
            return json.dumps(os.fspath(value), ensure_ascii=False)
        if isinstance(value, Mapping):
            return "{ " + ", ".join(f"{json.dumps(str(key))} = {plain(item)}" for key, item in value.items()) + " }"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(plain(item) for item in value) + "]"
        raise TypeError(f"a pipeline is made of texts, numbers, bools, lists and dicts, not of {type(value).__name__}")

    return "".join(f"{json.dumps(str(key))} = {plain(item)}\n" for key, item in value.items())


class Pipeline:
    """A pipeline: passes in order, the context that they run under, and what watches them.

    Args:
        source: the name of one that comes with passdock (``"default"``, ``"simplify"``), the path of a TOML file, TOML as
            a text of several lines, or a dict with the same keys.

    Raises:
        PipelineError: it can't be read.
    """

    def __init__(self, source: PathLike | Mapping[str, Any]) -> None:
        record = _pipeline_text(source)
        assert record is not None
        self._record = record

    def __call__(self, model: Module, **options: Any) -> Module:
        """Runs the pipeline on a module. The options are those of ``run``."""
        if not isinstance(model, Module):
            raise TypeError(
                f"a pipeline is called with a passdock.Module, not {type(model).__name__}; `run` takes files"
            )
        module = run(model, self, **options).module
        assert module is not None
        return module

    def explain(self, **options: Any) -> dict[str, Any]:
        """What would run, in order, and why or why not."""
        return explain(self, **options)

    def __str__(self) -> str:
        return str(self._record["text"])

    def __repr__(self) -> str:
        return f"<passdock.Pipeline {self._record['path']}>"


def _onnx_runtime() -> str | None:
    """The library of this program's package onnxruntime, which isn't imported; None if the host is to look for one."""
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


_VERIFY = ("changed", "all", "off")


def _check_seconds(what: str, seconds: Any) -> float:
    """The seconds of a limit. Refuses what is no number, and what can't be waited for."""
    seconds = _scalar(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{what} is a number of seconds, not {type(seconds).__name__}")
    if not 1e-9 <= seconds <= 1e18:
        raise ValueError(f"{what} is a number of seconds above 0, not {seconds}; None is no limit")
    return float(seconds)


def _check_int(what: str, number: Any, least: int = 0) -> None:
    """Refuses what is no int, or a smaller one."""
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{what} is an int, not {type(number).__name__}")
    if number < least:
        raise ValueError(f"{what} is an int from {least} on, not {number}")


def _raw(path: Any) -> str | list[int]:
    """A path as the host is told of it: the bytes of one that is no UTF-8."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is a str, or a path of pathlib, and not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return list(os.fsencode(text))
    return text


# Options that are lists, and of what.
_LISTS = {
    "passes": "names",
    "required_pass": "names",
    "disabled_pass": "names",
    "disabled_rule": "names",
    "plugins": "paths",
    "plugin_dirs": "paths",
    "imports": "modules",
}


def _listed(what: str, said: Any) -> list[Any]:
    """The items of a list. One name is refused, as a text is a list of letters, and what is no name."""
    of = _LISTS[what]
    if isinstance(said, (str, bytes, os.PathLike)):
        kind = "a string" if isinstance(said, str) else type(said).__name__
        raise TypeError(f"{what}: expected a list of {of}, got {kind}; did you mean [{said!r}]?")
    items = list(said)
    for item in items:
        if isinstance(item, Pass):
            raise TypeError(
                f"{what}: a pass goes by its name, {item.info.name!r}; `Sequential` takes passes themselves"
            )
        if not isinstance(item, (str, os.PathLike) if of == "paths" else str):
            raise TypeError(f"{what}: expected a list of {of}, and {item!r} is none")
    return items


def _with_lists(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for who reads them more than once, which no iterator can be."""
    return {name: _listed(name, said) if name in _LISTS else said for name, said in options.items()}


_EXTERNAL_DATA = ("keep", "all", "none")


def _one_of(what: str, choices: Sequence[str], said: Any) -> None:
    """Refuses what is none of the words of an option."""
    if said not in choices:
        raise ValueError(f"{what} is {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, not {said!r}")


def _request(
    pipeline: Any,
    *,
    passes: Sequence[str] = (),
    opt_level: int | None = None,
    required_pass: Sequence[str] = (),
    disabled_pass: Sequence[str] = (),
    disabled_rule: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
    bind: Mapping[str, Any] | None = None,
    plugins: Sequence[PathLike] = (),
    plugin_dirs: Sequence[PathLike] = (),
    raise_opset: int | None = None,
    allow_growth: bool = False,
    value_info: bool = False,
    jobs: int | None = None,
    verify: str = "changed",
    reproducer_dir: PathLike | None = None,
    page: PathLike | None = None,
    verify_outputs: bool = False,
    external_data: str = "keep",
    drop_spans: bool = False,
    allow_outside_data: bool = False,
) -> dict[str, Any]:
    if pipeline is None and not passes:
        pipeline = "default"
    for what, number in (("opt_level", opt_level), ("raise_opset", raise_opset), ("jobs", jobs)):
        if number is not None:
            _check_int(what, number)
    _one_of("verify", _VERIFY, verify)
    _one_of("external_data", _EXTERNAL_DATA, external_data)
    switches = {
        "allow_growth": allow_growth,
        "value_info": value_info,
        "drop_spans": drop_spans,
        "allow_outside_data": allow_outside_data,
    }
    for what, switch in switches.items():
        # One is equal to True.
        if not isinstance(_scalar(switch), bool):
            raise TypeError(f"{what} is True or False, not {switch!r}")
    for what, values in (("config", config), ("bind", bind)):
        if values is not None and not isinstance(values, Mapping):
            raise TypeError(f"{what} is a dict, not {type(values).__name__}")
    record = _pipeline_text(pipeline)
    said: dict[str, Any] = {
        "pipeline": record and {**record, "path": _raw(record["path"])},
        "passes": _listed("passes", passes),
        "opt_level": opt_level,
        "required_pass": _listed("required_pass", required_pass),
        "disabled_pass": _listed("disabled_pass", disabled_pass),
        "disabled_rule": _listed("disabled_rule", disabled_rule),
        "config": [f"{key}={_toml_value(value)}" for key, value in (config or {}).items()],
        "bind": [f"{name}={_toml_value(value)}" for name, value in (bind or {}).items()],
        "plugin_files": [_raw(path) for path in _listed("plugins", plugins)],
        "plugin_dirs": [_raw(path) for path in _listed("plugin_dirs", plugin_dirs)],
        "raise_opset": raise_opset,
        "allow_growth": allow_growth,
        "value_info": value_info,
        "jobs": jobs,
        "verify": verify,
        "reproducer_dir": None if reproducer_dir is None else _raw(reproducer_dir),
        "page": None if page is None else os.fspath(page),
        "verify_outputs": (_onnx_runtime() or True) if verify_outputs else False,
        "external_data": external_data,
        "drop_spans": drop_spans,
        "outside_data": allow_outside_data,
    }
    return {name: value for name, value in said.items() if value is not None}


def _check_options(options: Mapping[str, Any]) -> None:
    """Refuses an option that there isn't, with the one that may be meant."""
    known = _request.__kwdefaults__ or {}
    for name in options:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(known)}"
            raise TypeError(f"there is no option `{name}`{meant}")


def _check_context() -> None:
    """Warns of a context that isn't used: a pipeline brings its own."""
    current = PassContext.current()
    is_said = current.opt_level != 2 or current.required_pass or current.disabled_pass or current.config
    if (is_said or current.instruments) and current.diag_ctx is None:
        message = (
            "A pipeline runs under a context of its own: the current PassContext isn't used. Give its level, passes and "
            "config as options, or call a Sequential."
        )
        _warn(message)


def _toml_value(value: Any) -> str:
    return _toml({"v": value}).removeprefix('"v" = ').rstrip("\n")


def _tell(report: Report) -> None:
    """Says what a run had to say: warnings as Python's, notes in the log."""
    for said in report["diagnostics"] if report._rendered else ():
        text = said["message"]
        if said.get("pass"):
            text = f"{said['pass']}: {text}"
        if said["severity"] == "warning":
            _warn(text)
        elif said["severity"] in ("note", "help"):
            _log(text)


def _progress(wanted: bool | Callable[[str], Any]) -> tuple[Callable[[str], Any] | None, Callable[[], Any]]:
    """What hears the name of each pass, and what ends it."""
    if not wanted:
        return None, lambda: None
    if callable(wanted):
        return wanted, lambda: None
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return lambda name: _log(name), lambda: None
    bar = tqdm(unit=" passes", desc="passdock")

    def told(name: str) -> None:
        bar.set_postfix_str(name)
        bar.update()

    return told, bar.close


def run(
    model: Module | PathLike,
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = None,
    output: PathLike | None = None,
    *,
    progress: bool | Callable[[str], Any] = False,
    **options: Any,
) -> Report:
    """Runs a pipeline on a model's file or on a module.

    Args:
        model: the path of an ``.onnx`` or ``.ir`` file, or a module, which stays as it is.
        pipeline: as of ``Pipeline``; ``"default"`` if neither that nor ``passes`` is given.
        output: the file to write. It is written whole or not at all.
        progress: whether a bar shows the passes, if tqdm is there; or a function that hears their names.
        passes: names of passes to run after the pipeline's.
        opt_level, required_pass, disabled_pass, disabled_rule, config: added to the pipeline's context, or in place of it.
        bind: sizes for dim symbols and values for parameters, by name.
        plugins, plugin_dirs: files of plugins, and directories of them.
        raise_opset: the version that ONNX's operators are raised to first.
        allow_growth: whether the model may become larger.
        value_info: whether the written file declares the types of all values.
        jobs: threads for function passes; None: one for each core.
        verify: ``"changed"``, ``"all"`` or ``"off"``.
        reproducer_dir: where what it takes to run into a failure again is written.
        page: the file of a page that shows the run: each pass, and the graph before and after. A notebook shows it, too.
        verify_outputs: whether ONNX Runtime compares the results of the model before and after.
        external_data: where the data of the written model's initializers goes: ``"keep"``: where it is; ``"all"``: into
            one file beside the model; ``"none"``: into the model's file.
        drop_spans: whether everything is encoded anew, also what didn't change.
        allow_outside_data: whether a model's data may be outside of its directory: that of a file in the cache of Hugging
            Face is, behind links.

    Returns:
        The report; its ``module`` is the module that came out, of a run on a module without ``output``.

    Raises:
        PassError: what went wrong; its ``report`` is the report. Nothing was written then. What a pass of Python raises
            comes out as itself.
    """
    _check_options(options)
    request = _request(pipeline, **options)
    if output is not None:
        request["output"] = _raw(output)
    _check_context()
    told, end = _progress(progress)
    made: Module | None = None
    try:
        if isinstance(model, Module):
            request["model"] = "<module>"
            text, rendered, made, failed = _passdock.run_module(request, model, told)
        else:
            _check_path(model)
            request["model"] = _raw(model)
            text, rendered, failed = _passdock.run(request, told)
    finally:
        end()
    report = Report(text, rendered, made)
    if failed is not None:
        if isinstance(failed, PassError):
            failed.report = report
        reproducer = report.get("reproducer")
        if reproducer is not None:
            failed.add_note(f"What it takes to run into it again is in {reproducer}")
        raise failed
    _tell(report)
    return report


def _check_path(model: Any) -> None:
    """Refuses what is a model, and no path of one."""
    is_path = isinstance(model, os.PathLike) or isinstance(model, str) and "\n" not in model
    if not is_path:
        kind = "IR text" if isinstance(model, str) else type(model).__name__
        raise TypeError(
            f"run takes the path of a model or a passdock.Module, not {kind}: `passdock.optimize` takes bytes, protos and texts"
        )


def explain(pipeline: PathLike | Mapping[str, Any] | Pipeline | None = None, **options: Any) -> dict[str, Any]:
    """What a pipeline would run, in order, and why or why not: the answer of ``passdock explain --json``."""
    _check_options(options)
    return _passdock.explain(_request(pipeline, **options))
