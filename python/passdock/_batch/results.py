"""The results of a batch, their summary, and the file that stores them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _passdock
from ..errors import PassError

__all__ = ["ModelResult", "ResultFile", "Summary"]

# The fields of a result, in the order of the command; a file of results begins with the first one.
_FIELDS = (
    "model",
    "output",
    "ok",
    "exit_status",
    "up_to_date",
    "seconds",
    "ops_before",
    "ops_after",
    "bytes_before",
    "bytes_after",
    "diagnostics",
    "reproducer",
    "fingerprint",
)
_DIAGNOSTIC = ("severity", "code", "message", "pass", "plugin", "file", "function", "op", "location", "help")


class ModelResult(Mapping[str, Any]):
    """The result of one model: the fields of a line of ``results.jsonl``, as a mapping and as attributes.

    Attributes:
        model, output: The file of the model and the file of its result.
        ok: Whether the run succeeded.
        exit_status: The status as of ``passdock run``: 0; 1 for errors of a pass, the model or the output; 2 for the
            request; 3 for a plugin.
        up_to_date: Whether an earlier run of the batch produced the result.
        seconds: The duration, including reading and writing.
        ops_before, ops_after: The numbers of ops of the model and its result, without constants and terminators.
        bytes_before, bytes_after: The sizes of their files, or None.
        diagnostics: Errors and warnings, as in a report.
        reproducer: The directory of the reproducer of a failure, or None.
        fingerprint: The fingerprint of the result's inputs: model, pipeline, options, plugins.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields: dict[str, Any] = {name: fields.get(name) for name in _FIELDS}
        self._fields["up_to_date"] = bool(self._fields["up_to_date"])

    @classmethod
    def of_report(cls, model: str, output: str, report: Mapping[str, Any], fingerprint: str) -> ModelResult:
        """Creates the result of a run from the relevant parts of its report."""
        about = report["model"]
        diagnostics = [entry for entry in report["diagnostics"] if entry["severity"] not in ("note", "help")]
        return cls(
            {
                "model": model,
                "output": output,
                "ok": report["ok"],
                "exit_status": report["exit_status"],
                "seconds": report["seconds"],
                "ops_before": about.get("ops_before", 0),
                "ops_after": about.get("ops_after", 0),
                "bytes_before": about.get("bytes_before"),
                "bytes_after": about.get("bytes_after"),
                "diagnostics": diagnostics,
                "reproducer": report.get("reproducer"),
                "fingerprint": fingerprint,
            }
        )

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        if name == "_fields":
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"a result has no attribute {name!r}; it has {', '.join(self._fields)}") from None

    @property
    def error(self) -> str | None:
        """The error message, or None if the run succeeded."""
        errors = [said for said in self._fields["diagnostics"] if said["severity"] in ("bug", "error")]
        if not errors:
            return None if self._fields["ok"] else f"failed with exit status {self._fields['exit_status']}"
        said = errors[0]
        return f"{said['pass']}: {said['message']}" if said.get("pass") else str(said["message"])

    def to_json(self) -> str:
        """Returns the result as a line of JSON."""
        import json

        return _passdock.escaped_json(shown(json.dumps(self._fields, separators=(",", ":"), ensure_ascii=False)))

    def __str__(self) -> str:
        model, seconds = one_line(self._fields["model"]), self._fields["seconds"]
        if not self._fields["ok"]:
            return f"FAILED  {model}, {seconds:.2f} s: {one_line(self.error or '')}"
        before = " (before)" if self._fields["up_to_date"] else ""
        return (
            f"ok      {model}: {self._fields['ops_before']} → {self._fields['ops_after']} ops, {seconds:.2f} s{before}"
        )

    def __repr__(self) -> str:
        return f"<passdock.ModelResult {self}>"


def shown(text: str) -> str:
    """Replaces bytes of paths that aren't UTF-8 with U+FFFD, as the command does."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def one_line(text: str) -> str:
    """Returns a text as one line for terminals."""
    return _passdock.one_line(shown(text))


def failure(
    message: str, *, code: str, seconds: float = 0.0, exit_status: int = 1, pass_name: str | None = None
) -> dict[str, Any]:
    """Returns a report for a run that failed before it could produce one."""
    diagnostic: dict[str, Any] = {
        **dict.fromkeys(_DIAGNOSTIC),
        "severity": "error",
        "code": code,
        "message": message,
        "pass": pass_name,
    }
    model = {"input": "", "output": None, "ops_before": 0, "ops_after": 0}
    report = {"ok": False, "exit_status": exit_status, "seconds": seconds, "model": model, "passes": []}
    return {**report, "diagnostics": [diagnostic]}


class Summary(Sequence[ModelResult]):
    """The results of a batch so far, in the order in which models finished.

    Attributes:
        results: The file of results.
        seconds: The time since the batch started, or its duration when it has finished.
        retried: The number of retries after a worker process terminated; always 0 on one machine.
    """

    def __init__(self, results: str) -> None:
        self.results = results
        self.seconds = 0.0
        self.retried = 0
        self._finished: list[ModelResult] = []

    def add(self, result: ModelResult) -> None:
        """Adds a result."""
        self._finished.append(result)

    def __getitem__(self, index: Any) -> Any:
        return self._finished[index]

    def __len__(self) -> int:
        return len(self._finished)

    @property
    def ok(self) -> int:
        """The number of models that succeeded."""
        return sum(result["ok"] for result in self._finished)

    @property
    def failed(self) -> int:
        """The number of models that failed."""
        return len(self._finished) - self.ok

    @property
    def up_to_date(self) -> int:
        """The number of models that an earlier run finished."""
        return sum(result["up_to_date"] for result in self._finished)

    @property
    def failures(self) -> list[ModelResult]:
        """The results of the models that failed."""
        return [result for result in self._finished if not result["ok"]]

    def _sums(self) -> tuple[int, int, int, int]:
        done = [result for result in self._finished if result["ok"]]

        def total(name: str) -> int:
            return sum(result[name] or 0 for result in done)

        return total("ops_before"), total("ops_after"), total("bytes_before"), total("bytes_after")

    def _line(self) -> str:
        before = f" ({self.up_to_date} before)" if self.up_to_date else ""
        parts = [f"{self.ok} {'model' if self.ok == 1 else 'models'} done{before}"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.retried:
            parts.append(f"{self.retried} retried")
        ops_before, ops_after, bytes_before, bytes_after = self._sums()
        parts.append(f"{ops_before} → {ops_after} ops")
        parts.append(f"{bytes_before / 1e6:.1f} → {bytes_after / 1e6:.1f} MB")
        parts.append(f"{self.seconds:.1f} s")
        return ", ".join(parts) + f"; results in {one_line(self.results)}"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.failures), self._line()])

    def __repr__(self) -> str:
        return f"<passdock.Summary {self._line()}>"

    def _repr_html_(self) -> str:
        import html

        def row(result: ModelResult) -> str:
            said = "ok" if result["ok"] else html.escape(one_line(result.error or "failed"))
            cells = [f"{result['ops_before']}", f"{result['ops_after']}", f"{result['seconds']:.2f} s"]
            name = html.escape(one_line(result["model"]))
            numbers = "".join(f"<td>{cell}</td>" for cell in cells)
            return f"<tr><td style='text-align:left'>{name}</td>{numbers}<td style='text-align:left'>{said}</td></tr>"

        # Failures first, and not more than 100 rows in a notebook.
        first = self.failures + [result for result in self._finished if result["ok"]]
        rows = "".join(map(row, first[:100]))
        left = f"<p>and {len(first) - 100} more</p>" if len(first) > 100 else ""
        head = "<tr><th style='text-align:left'>model</th><th>ops before</th><th>after</th><th>time</th><th></th></tr>"
        return f"<p>{html.escape(self._line())}</p><table>{head}{rows}</table>{left}"


class ResultFile:
    """The file with a result per line, compatible with the command; a model's last result counts.

    Args:
        path: The file, which is created if missing.

    Raises:
        UsageError: The file has other contents, or another batch is writing it.
        PassError: The file can't be read or written.
    """

    def __init__(self, path: str) -> None:
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        except OSError as error:
            message = f"could not open results file `{path}`: {error.strerror or error}"
            raise PassError(message, code="write") from error
        self._file = _passdock.BatchResults(path)

    def done(self, model: str, output: str, fingerprint: str) -> ModelResult | None:
        """Returns the result of a model if it succeeded with the same fingerprint. The output file may be missing."""
        import json

        known = self._file.known(model, output, fingerprint)
        return None if known is None else ModelResult(json.loads(known))

    def add(self, result: ModelResult) -> None:
        """Appends a result in a single write.

        Raises:
            PassError: The file can't be written.
        """
        self._file.add(result.to_json())

    def close(self) -> None:
        """Closes the file, so that another batch can open it."""
        self._file.close()
