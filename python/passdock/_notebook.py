"""Notebook output, imported when it is needed."""

from __future__ import annotations

import html
import urllib.parse

from . import _passdock
from .pipeline import Report


def page_of(report: Report) -> str:
    """Returns a report as HTML: a table of passes, and the HTML report of the run if there is one."""
    rows = "".join(
        f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{seconds * 1e3:.1f} ms</td>"
        f"<td>{before}</td><td>{after}</td></tr>"
        for name, seconds, before, after in report._rows()
    )
    kinds = "".join(
        f"<tr><td style='text-align:left'>{html.escape(_passdock.one_line(kind['op']))}</td><td>{kind['before']}</td>"
        f"<td>{kind['after']}</td></tr>"
        for kind in report._fields["model"]["kinds"]
        if kind["before"] != kind["after"]
    )
    said = "".join(f"<pre>{html.escape(text)}</pre>" for text in report._rendered)
    head = "<tr><th style='text-align:left'>{}</th>{}</tr>"
    passes = head.format("pass", "<th>time</th><th>ops before</th><th>after</th>")
    ops = head.format("op", "<th>before</th><th>after</th>")
    summary = html.escape(str(report).rsplit("\n", 1)[-1])
    page = report._fields.get("page")
    if page:
        frame = "<iframe src='{}' style='width:100%;height:32em;border:0'></iframe>"
        said += frame.format(urllib.parse.quote(page))
    return (
        f"<p>{summary}</p><table>{passes}{rows}</table>"
        f"<details><summary>ops by kind</summary><table>{ops}{kinds}</table></details>{said}"
    )
