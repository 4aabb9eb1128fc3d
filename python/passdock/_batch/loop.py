"""The loop of a batch: models are given to those who run them, and what comes of each is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from .items import Item
from .outcomes import Outcome

__all__ = ["Crew", "Kept", "run"]


class Crew(Protocol):
    """Those who run models: processes of this machine, or a cluster."""

    def prepare(self, left: Sequence[Item]) -> None:
        """Hears what there is to do, before the first model begins."""

    def room(self) -> int:
        """The number of models that may run at once."""
        ...

    def begin(self, item: Item) -> Any:
        """Begins with a model; the answer is what stands for its run."""

    def answered(self, running: Collection[Any]) -> Sequence[tuple[Any, Mapping[str, Any]]]:
        """The runs that ended next, with their reports; none, if it is time to look for room again.

        Raises:
            PassError: nobody can run any model.
        """
        ...

    def begins_again(self, report: Mapping[str, Any], attempt: int) -> bool:
        """Whether the model of a run is to be run again, which was run so many times before."""
        ...

    def end(self, running: Collection[Any]) -> None:
        """Ends the runs that nobody waits for any more."""


class Kept(Protocol):
    """Where outcomes are kept."""

    def done(self, model: str, output: str, fingerprint: str) -> Outcome | None:
        """The outcome of a model that needs no run."""
        ...

    def add(self, outcome: Outcome) -> None:
        """Keeps one."""

    def close(self) -> None:
        """Ends it."""


def run(
    items: Sequence[Item],
    crew: Crew,
    keep: Callable[[], Kept],
    fingerprints: Callable[[], Callable[[Item], str]],
    is_there: Callable[[str], bool],
    resume: bool,
) -> Iterator[Outcome]:
    """The outcomes of models as they come: first of those that are done, then the largest first.

    Args:
        items: the models.
        crew: who runs them; it is ended with the loop, however that ends.
        keep: opens where outcomes are kept.
        fingerprints: what makes a model's fingerprint.
        is_there: whether a result is there.
        resume: whether models are left out that are done.

    Raises:
        PassError: outcomes can't be kept, or nobody can run any model.
    """
    kept: Kept | None = None
    running: dict[Any, tuple[Item, int]] = {}
    try:
        of = fingerprints()
        kept = keep()
        left: list[tuple[Item, int]] = []
        for item in items:
            known = kept.done(item.model, item.output, of(item)) if resume else None
            if known is not None and is_there(item.output):
                yield known
            else:
                left.append((item, 0))
        left.sort(key=lambda each: each[0].size)
        crew.prepare([item for item, _ in left])
        while left or running:
            while left and len(running) < crew.room():
                item, attempt = left.pop()
                running[crew.begin(item)] = item, attempt
            for begun, report in crew.answered(running.keys()):
                item, attempt = running.pop(begun)
                if crew.begins_again(report, attempt):
                    # After the others: what it died of may be over by then.
                    left.insert(0, (item, attempt + 1))
                    continue
                outcome = Outcome.of_report(item.model, item.output, report, of(item))
                kept.add(outcome)
                yield outcome
    finally:
        crew.end(running.keys())
        if kept is not None:
            kept.close()
