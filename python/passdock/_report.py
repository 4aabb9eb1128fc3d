"""The report of a run, as programs and notebooks have it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ._passdock import Module

__all__ = ["Report"]


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

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "module" and not name.startswith("_"):
            raise AttributeError(
                f"a report says what was, and {name!r} can't be set; `dict(report)` is a copy of its fields"
            )
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

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
