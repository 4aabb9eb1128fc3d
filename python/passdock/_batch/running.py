"""A running batch: an iterator over results, and their summary."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from .._progress import progress as progress_bar
from ..errors import UsageError
from .results import ModelResult, Summary

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["RESULTS", "Batch", "reject_in_worker"]

#: The name of the results file in the output directory.
RESULTS = "results.jsonl"


class Batch(Iterator[ModelResult]):
    """A batch that runs while its results are iterated over, or to its end in ``wait()``.

    As with a generator, nothing runs before the iteration starts. Leaving the loop skips the remaining models; a later
    call of ``passdock.batch`` runs them. ``len(batch)`` is the number of models.

    Attributes:
        summary: The results so far.
    """

    def __init__(
        self,
        results: Iterator[ModelResult],
        count: int,
        summary: Summary,
        progress: bool | Callable[[ModelResult], Any] = False,
    ) -> None:
        self._results = results
        self._count = count
        self._progress = progress
        self._update: Callable[[ModelResult], Any] | None = None
        self._end: Callable[[], Any] = lambda: None
        self._began: float | None = None
        self._is_over = False
        self._failed = 0
        self.summary = summary

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ModelResult:
        if self._is_over:
            raise StopIteration
        if self._began is None:
            self._began = time.monotonic()
            self._update, self._end = progress_bar(self._progress, "models", self._failures, self._count)
        try:
            result = next(self._results)
        except BaseException:
            # After the last result, an error or Ctrl-C, no process may be left running.
            self.close()
            raise
        self.summary.seconds = time.monotonic() - self._began
        self.summary.add(result)
        if self._update is not None:
            self._update(result)
        return result

    def _failures(self, result: ModelResult) -> str:
        self._failed += not result["ok"]
        return f"{self._failed} failed" if self._failed else ""

    def wait(self) -> Summary:
        """Runs the remaining models and returns the summary.

        Raises:
            UsageError: Another batch is writing the file of results, or the file has other contents.
            PassError: Results can't be stored, or no process can be started. A failed model raises nothing.
        """
        for _ in self:
            pass
        return self.summary

    def close(self) -> None:
        """Stops the batch and terminates its processes. Interrupted models run again in the next batch."""
        if self._is_over:
            return
        self._is_over = True
        if self._began is not None:
            self.summary.seconds = time.monotonic() - self._began
        close = getattr(self._results, "close", None)
        if close is not None:
            close()
        self._end()

    def __len__(self) -> int:
        return self._count

    @property
    def ok(self) -> int:
        """The number of models that have succeeded so far."""
        return self.summary.ok

    @property
    def failed(self) -> int:
        """The number of models that have failed so far."""
        return self.summary.failed

    @property
    def seconds(self) -> float:
        """The duration of the batch so far."""
        return self.summary.seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_is_over", True):
            return
        if self._began is None:
            import warnings

            self._is_over = True
            message = "the batch never ran; iterate over it, or call its wait()"
            warnings.warn(message, RuntimeWarning, source=self, stacklevel=2)
            return
        self.close()

    def __repr__(self) -> str:
        return f"<passdock.Batch of {self._count} models, {len(self.summary)} done, {self.failed} of them failed>"

    def _repr_html_(self) -> str:
        # A notebook shows the last expression of a cell, which isn't iterated over.
        return self.wait()._repr_html_()


def reject_in_worker() -> None:
    """Rejects a batch in a worker process: an imported script would start the batch again."""
    from .worker import IN_WORKER

    if os.environ.get(IN_WORKER):
        advice = 'start it below `if __name__ == "__main__":`'
        message = "cannot start a batch in a worker process of another batch"
        raise UsageError(f"{message}; {advice}", code="usage", exit_status=2, help=advice)
