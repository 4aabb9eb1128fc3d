"""``passdock.batch``: runs many models through one pipeline on all cores.

A model that fails, crashes its process or hangs is a result like any other, and doesn't stop other models. Results
are stored in a file, one line of JSON per model, so repeating the call runs only the remaining models.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._batch.results import ModelResult, Summary
    from ._batch.running import Batch
    from .pipeline import PathLike, Pipeline

__all__ = ["Batch", "ModelResult", "Summary", "batch"]


def __getattr__(name: str) -> Any:
    # Most programs that import passdock don't run batches.
    if name in ("ModelResult", "Summary"):
        from ._batch import results

        return getattr(results, name)
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
    sandbox: str = "auto",
    progress: bool | Callable[[ModelResult], Any] = False,
    results: PathLike | None = None,
    imports: Sequence[str] = (),
    **options: Any,
) -> Batch:
    """Runs a pipeline on many models in parallel, each in a separate process.

    The current ``PassContext`` applies as for ``run``, except for its instruments, which can't observe other processes:
    a warning reports that.

    ::

        for result in passdock.batch("models", "default", "out"):
            print(result)

        summary = passdock.batch(["a.onnx", "zoo/**/*.onnx"], output="out", timeout=600).wait()

    Args:
        models: One or several paths of models, directories (all ``.onnx`` files in them, recursively) and patterns
            (``*``, ``?``, ``[…]``, ``**``).
        pipeline: As for ``Pipeline``; ``"default"`` if neither this nor ``passes`` is given.
        output: The directory for results, which is created if it doesn't exist. Models of a directory keep their
            relative paths.
        jobs: The number of parallel models, each on one thread; by default the number of cores.
        resume: Whether to skip models that are already done, with the same file, pipeline, options and plugins. The
            plugins are those of the pipeline's passes and instruments, and those with op definitions.
        timeout: The time limit of a run in seconds, after which it fails; None for no limit.
        sandbox: Whether plugins run in a sandbox, which denies them other files, the network and other processes:
            ``"auto"`` for the parts that the system has, ``"require"`` to fail if one is missing, or ``"off"``. Python
            passes always run without a sandbox.
        progress: Whether to show a progress bar, if tqdm is installed; or a function that receives each result.
        results: The file of results, by default ``results.jsonl`` in ``output``. ``passdock batch`` uses the same
            format: either continues the other's file, unless there are Python passes.
        imports: Modules that register Python passes, by name or as ``.py`` files. Worker processes import them. Other
            passes must come from installed plugins or be listed in TOML.
        options: As for ``run``.

    Returns:
        An iterator over results as models finish. Its ``wait()`` runs all models and returns the ``Summary``. Results
        of earlier runs come first, then the largest models are started first.

    Raises:
        UsageError: There are no models, a directory can't be read, two results would be the same file, or a result
            would replace a model. A listed model file that doesn't exist is a result instead.
        PipelineError, UnknownNameError, ConfigError: The pipeline is invalid, which is reported once and not per model.
        PluginError: A module in ``imports`` can't be imported.
    """
    from ._batch import engines
    from ._batch.items import expand, items, usage
    from ._batch.results import Summary
    from ._batch.running import RESULTS, Batch, reject_in_worker
    from ._checks import _check_int

    if output is None:
        raise usage("missing output directory", 'pass it, for example `output="out"`')
    if jobs is not None:
        _check_int("jobs", jobs, 1)
    reject_in_worker()
    to = os.fspath(output)
    found = items(expand(models), to)
    kept = os.path.join(to, RESULTS) if results is None else os.fspath(results)
    plan = engines.Plan(
        items=found,
        pipeline=pipeline,
        results=kept,
        jobs=jobs,
        resume=resume,
        timeout=timeout,
        sandbox=sandbox,
        imports=imports,
        options=options,
    )
    return Batch(engines.results(plan), len(found), Summary(kept), progress)
