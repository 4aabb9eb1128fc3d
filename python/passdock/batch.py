"""Many models through one pipeline on all cores: ``passdock.batch``.

A model that fails, takes its process along or hangs is an outcome like others, and stops none of them. Outcomes are
kept in a file, a line of JSON a model, so that the same call again does what is left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._batch.outcomes import Outcome, Summary
    from ._batch.running import Batch
    from .pipeline import PathLike, Pipeline

__all__ = ["Batch", "Outcome", "Summary", "batch"]


def __getattr__(name: str) -> Any:
    # Whoever imports passdock imports this module, and few of them run batches.
    if name in ("Outcome", "Summary"):
        from ._batch import outcomes

        return getattr(outcomes, name)
    if name == "Batch":
        from ._batch.running import Batch

        return Batch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def batch(
    models: PathLike | Sequence[PathLike],
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = None,
    output: PathLike | None = None,
    *,
    jobs: int | None = None,
    resume: bool = True,
    timeout: float | None = None,
    progress: bool | Callable[[Outcome], Any] = False,
    results: PathLike | None = None,
    imports: Sequence[str] = (),
    **options: Any,
) -> Batch:
    """Runs a pipeline on many models, several at once, each in a process that isn't this one. The current ``PassContext`` governs
    the batch as it does ``run``, but for its instruments, which can't watch other processes: a warning says so.

    ::

        for outcome in passdock.batch("models", "default", "out"):
            print(outcome)

        summary = passdock.batch(["a.onnx", "zoo/**/*.onnx"], output="out", timeout=600).wait()

    Args:
        models: paths of models, directories, of which each ``.onnx`` at any depth is one, and patterns (``*``, ``?``,
            ``[…]``, ``**``); one or many.
        pipeline: as of ``Pipeline``; ``"default"`` if neither that nor ``passes`` is given.
        output: the directory for results, which is made. A model of a directory has the path there that it has in its
            own.
        jobs: models at once; None: as many as there are cores. Each runs on one thread then.
        resume: whether models are left out that were done before, of the same file, pipeline, options and plugins: those
            of its passes and instruments, and those that define operators.
        timeout: seconds after which a run has failed and is ended; None: it isn't.
        progress: whether a bar shows the models, if tqdm is there; or a function that hears each outcome.
        results: the file of outcomes; ``outcomes.jsonl`` in ``output`` if none is given. The command ``passdock batch``
            keeps the same file: either continues what the other began, unless passes of Python are among them.
        imports: modules that register passes of Python, by name or as ``.py`` files: the processes import them. Without
            them only what is installed, or in TOML, is known there.
        options: as of ``run``.

    Returns:
        An iterator over outcomes as they come; its ``wait()`` runs all and returns the ``Summary``. Outcomes of models
        that were done before come first, largest models next.

    Raises:
        UsageError: there are no models, a directory can't be read, two results would be one file, or a result would
            replace a model. A model's file that is named and isn't there is an outcome.
        PipelineError, UnknownNameError, ConfigError: the pipeline isn't right, which isn't said of each model.
        PluginError: a module of ``imports`` can't be imported.
    """
    from ._batch import engines
    from ._batch.items import expand, items, usage
    from ._batch.outcomes import Summary
    from ._batch.running import OUTCOMES, Batch, refuse_in_worker
    from ._checks import _check_int

    if output is None:
        raise usage("A batch takes a directory for its results.", 'Name it: `output="out"`.')
    if jobs is not None:
        _check_int("jobs", jobs, 1)
    refuse_in_worker()
    to = os.fspath(output)
    found = items(expand(models), to)
    kept = os.path.join(to, OUTCOMES) if results is None else os.fspath(results)
    plan = engines.Plan(
        items=found,
        pipeline=pipeline,
        results=kept,
        jobs=jobs,
        resume=resume,
        timeout=timeout,
        imports=imports,
        options=options,
    )
    return Batch(engines.outcomes(plan), len(found), Summary(kept), progress)
