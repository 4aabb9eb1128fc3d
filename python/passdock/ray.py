"""``passdock.ray.batch``: runs many models on a Ray cluster.

Requests are sent to the nodes, and reports are sent back. Models aren't: they are on a shared disk, or on storage that
fsspec supports, from which a node reads them and to which it writes results. The nodes need the same version of
passdock as this program; ``runtime_env={"pip": ["/shared/passdock-….whl"]}`` installs it, if all nodes can read the
wheel.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _passdock
from ._batch import results as _results
from ._batch.results import ModelResult, ResultFile, Summary
from ._batch.running import RESULTS, Batch, reject_in_worker
from .errors import PassError

if TYPE_CHECKING:
    from ._batch import engines as _engines
    from ._batch import items as _items
    from .pipeline import PathLike, Pipeline

__all__ = ["batch"]

# The interval in seconds for copying results to storage that doesn't support appending.
_EVERY = 10.0
# The interval in seconds for checking the size of the cluster, which may grow with its load.
_LOOK = 5.0


def _ray() -> Any:
    try:
        import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        message = "passdock.ray requires the package ray: pip install 'passdock[ray]'"
        raise ImportError(message) from None
    return ray


def batch(
    models: PathLike | Sequence[PathLike],
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = None,
    output: PathLike | None = None,
    *,
    address: str | None = None,
    retries: int = 2,
    max_in_flight: int | None = None,
    runtime_env: Mapping[str, Any] | None = None,
    num_cpus: int = 1,
    storage_options: Mapping[str, Any] | None = None,
    resume: bool = True,
    timeout: float | None = None,
    sandbox: str = "auto",
    progress: bool | Callable[[ModelResult], Any] = False,
    results: PathLike | None = None,
    imports: Sequence[str] = (),
    **options: Any,
) -> Batch:
    """Runs a pipeline on many models on a Ray cluster; otherwise like ``passdock.batch``.

    ::

        summary = passdock.ray.batch("s3://zoo/models", "default", "s3://zoo/out", address="auto").wait()

    Args:
        models: Paths that are valid on all nodes, or addresses of fsspec (``s3://…``, ``gs://…``, ``file://…``): files,
            directories and patterns.
        pipeline: As for ``passdock.batch``. The text is sent to the nodes; paths of plugins in it refer to the nodes.
        output: The directory for results: a path that is valid on all nodes, or an address. A result is written
            atomically, after its data.
        address: The cluster. None for the one that this program is connected to, that of ``RAY_ADDRESS``, or a new
            local one.
        retries: The maximum number of retries of a model after its process or node terminated, or its storage failed.
            Failed passes and timeouts aren't retried.
        max_in_flight: The maximum number of models submitted to the cluster; None for twice the number for which it
            currently has cores.
        runtime_env: The environment of the tasks, as for ``ray.init``: packages, files, variables.
        num_cpus: The number of cores and threads for each model.
        storage_options: Options of fsspec for the storage, such as credentials.
        resume, timeout, sandbox, progress, results, imports, options: As for ``passdock.batch``. The file of results
            may be at an address; it is copied there every ten seconds and at the end. Modules in ``imports`` have to
            exist on the nodes: ``runtime_env={"py_modules": […]}`` copies them.

    Returns:
        An iterator over results as models finish. Its ``wait()`` runs all models and returns the ``Summary``.

    Raises:
        ImportError: ray, or the package that fsspec needs for the storage, isn't installed.
        UsageError, PipelineError, UnknownNameError, ConfigError, PluginError: As for ``passdock.batch``.
    """
    from ._batch import engines as _engines
    from ._batch import items as _items
    from ._batch import storage as _storage

    ray = _ray()
    if output is None:
        raise _items.usage("missing output directory", 'pass it, for example `output="s3://bucket/out"`')
    if retries < 0 or num_cpus < 1 or (max_in_flight is not None and max_in_flight < 1):
        raise ValueError("retries must be at least 0, num_cpus and max_in_flight at least 1")
    reject_in_worker()
    to = os.fspath(output)
    found = _storage.items(_items.expand(models), to, storage_options)
    kept = f"{to.rstrip('/')}/{RESULTS}" if results is None else os.fspath(results)
    plan = _engines.Plan(
        items=[(item.model, item.output) for item in found],
        pipeline=pipeline,
        results=kept,
        jobs=num_cpus,
        resume=resume,
        timeout=timeout,
        sandbox=sandbox,
        imports=imports,
        options=options,
    )
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    summary = Summary(kept)
    storage = None if storage_options is None else dict(storage_options)
    cluster = _Cluster(ray, plan, storage, retries, max_in_flight, runtime_env, num_cpus, summary)
    return Batch(_results_of(cluster, plan, found, storage), len(found), summary, progress)


def _results_of(
    cluster: _Cluster, plan: _engines.Plan, items: Sequence[_items.Item], storage: Mapping[str, Any] | None
) -> Iterator[ModelResult]:
    """Yields the results of models as they finish: first those that are already done, then the largest models
    first.
    """
    from ._batch import engines as _engines
    from ._batch import storage as _storage

    own = _engines.fingerprint(plan)

    def fingerprint(item: _items.Item) -> str:
        is_address = _storage.is_address(item.model)
        return own.for_address(item.model, item.state) if is_address else own.for_file(item.model)

    kept = _Kept(plan.results, storage)
    running: dict[Any, tuple[_items.Item, int]] = {}
    try:
        left: list[tuple[_items.Item, int]] = []
        for item in items:
            known = kept.done(item.model, item.output, fingerprint(item)) if plan.resume else None
            if known is not None and _storage.is_file(item.output, storage):
                yield known
            else:
                left.append((item, 0))
        left.sort(key=lambda each: each[0].size)
        while left or running:
            while left and len(running) < cluster.room():
                item, attempt = left.pop()
                running[cluster.begin(item)] = item, attempt
            for task, report in cluster.answered(running.keys()):
                item, attempt = running.pop(task)
                if report.get("crashed") and attempt < cluster.retries:
                    # At the end of the queue: the cause may be gone by then.
                    cluster.summary.retried += 1
                    left.insert(0, (item, attempt + 1))
                    continue
                result = ModelResult.of_report(item.model, item.output, report, fingerprint(item))
                kept.add(result)
                yield result
    finally:
        for task in running:
            cluster.ray.cancel(task, force=True)
        kept.close()


class _Cluster:
    """A Ray cluster that runs models."""

    def __init__(
        self,
        ray: Any,
        plan: _engines.Plan,
        storage: Mapping[str, Any] | None,
        retries: int,
        max_in_flight: int | None,
        runtime_env: Mapping[str, Any] | None,
        num_cpus: int,
        summary: Summary,
    ) -> None:
        self.ray = ray
        self.retries = retries
        self.summary = summary
        self._job = {
            # Processes on a node may have another working directory.
            "request": plan.request(os.path.abspath),
            "job": plan.job(os.path.abspath),
            "version": _passdock.version(),
            "timeout": plan.timeout,
            "jobs": plan.jobs,
            "storage": storage,
        }
        self._num_cpus = num_cpus
        self._given = max_in_flight
        self._in_flight = 0
        self._looked: float | None = None
        # Retries are decided here, even for terminated processes.
        settings: dict[str, Any] = {"num_cpus": num_cpus, "max_retries": 0}
        if runtime_env is not None:
            settings["runtime_env"] = dict(runtime_env)
        self._task = ray.remote(_run).options(**settings)

    def room(self) -> int:
        if self._given is not None:
            return self._given
        now = time.monotonic()
        if self._looked is None or now - self._looked > _LOOK:
            self._looked = now
            cpus = self.ray.cluster_resources().get("CPU", 1)
            self._in_flight = max(2, 2 * int(cpus // self._num_cpus))
        return self._in_flight

    def begin(self, item: _items.Item) -> Any:
        paths = {"model": _of_node(item.model), "output": _of_node(item.output)}
        return self._task.remote({**self._job, **paths})

    def answered(self, running: Collection[Any]) -> list[tuple[Any, Mapping[str, Any]]]:
        from ._batch import engines as _engines

        errors = self.ray.exceptions
        ready, _ = self.ray.wait(list(running), num_returns=1, timeout=_LOOK)
        heard = []
        for reference in ready:
            try:
                report = self.ray.get(reference)
            except errors.RuntimeEnvSetupError as error:
                raise PassError(f"could not set up the runtime_env on the cluster: {error}", code="usage") from error
            except errors.RayError as error:
                said = str(error).strip().splitlines() or [""]
                is_task = isinstance(error, errors.RayTaskError)
                what = "the node could not run the model" if is_task else "the node's process ended"
                message = f"{what}: {type(error).__name__}: {said[-1]}"
                report = {**_results.failure(message, code="crashed"), "crashed": True}
            if report.get("rejected"):
                _engines.check(report)
            heard.append((reference, report))
        return heard


def _of_node(path: str) -> str:
    from ._batch import storage as _storage

    return path if _storage.is_address(path) else os.path.abspath(path)


class _Kept:
    """The file of results, or a local copy of it if it is at an address: objects don't support appending."""

    def __init__(self, path: str, storage: Mapping[str, Any] | None) -> None:
        import tempfile

        from ._batch import storage as _storage

        self._directory: Any = None
        self._copied = time.monotonic()
        self._there: Any = None
        if not _storage.is_address(path):
            self._file = ResultFile(path)
            return
        self._there, self._path = _storage.file_system(path, storage)
        self._directory = tempfile.TemporaryDirectory(prefix="passdock-")
        self._local = os.path.join(self._directory.name, RESULTS)
        try:
            if self._there.exists(self._path):
                self._there.get_file(self._path, self._local)
        except Exception as error:
            raise self._failed(error) from error
        self._file = ResultFile(self._local)

    def _failed(self, error: Exception) -> PassError:
        message = f"could not write results file `{self._path}`: {type(error).__name__}: {error}"
        return PassError(message, code="write")

    def done(self, model: str, output: str, fingerprint: str) -> ModelResult | None:
        return self._file.done(model, output, fingerprint)

    def add(self, result: ModelResult) -> None:
        self._file.add(result)
        if self._there is not None and time.monotonic() - self._copied > _EVERY:
            self._copy()

    def _copy(self) -> None:
        self._copied = time.monotonic()
        try:
            self._there.makedirs(self._path.rpartition("/")[0], exist_ok=True)
            self._there.put_file(self._local, self._path)
        except Exception as error:
            raise self._failed(error) from error

    def close(self) -> None:
        self._file.close()
        if self._there is not None:
            try:
                self._copy()
            finally:
                self._directory.cleanup()


# The code below runs on the nodes.

# The process that runs the models of this process's tasks, one after another, and the job settings it was started
# with.
_running: tuple[str, _passdock.Worker] | None = None


def _run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a model, and returns the parts of the report that a result needs."""
    import tempfile

    from ._batch import storage as _storage

    if job["version"] != _passdock.version():
        message = f"the node has passdock {_passdock.version()}, but the program has {job['version']}"
        return {**_results.failure(message, code="usage", exit_status=2), "rejected": True}
    began = time.monotonic()
    storage = job["storage"]
    try:
        with tempfile.TemporaryDirectory(prefix="passdock-") as directory:
            model, output = job["model"], job["output"]
            if _storage.is_address(model):
                os.mkdir(os.path.join(directory, "in"))
                model = _storage.copied_here(model, os.path.join(directory, "in"), storage)
            is_far = _storage.is_address(output)
            if is_far:
                name = output.rsplit("/", 1)[-1]
                output = os.path.join(directory, "out", name)
            os.makedirs(os.path.dirname(output) or ".", exist_ok=True)
            report = _run_here(job, model, output)
            if is_far:
                # The reproducer is removed with the directory.
                report["reproducer"] = None
                if report["ok"]:
                    _storage.copied_back(os.path.dirname(output), job["output"], storage)
    except PassError as error:
        seconds = time.monotonic() - began
        return {**_results.failure(str(error), code=error.code, seconds=seconds), "crashed": True}
    return {**report, "seconds": time.monotonic() - began, "passes": []}


def _run_here(job: Mapping[str, Any], model: str, output: str) -> dict[str, Any]:
    global _running
    from ._batch import engines as _engines

    if _running is None or _running[0] != job["job"]:
        if _running is not None:
            _running[1].close()
        worker = _engines.python_worker(job["request"], job["job"], job["timeout"])
        _running = job["job"], worker
        explained, crashed = worker.explain()
        report: dict[str, Any] = json.loads(explained)
        if not report["ok"]:
            _running = None
            return {**report, "crashed": crashed, "rejected": not crashed}
    ran, crashed = _running[1].run(model, output, job["jobs"])
    return {**json.loads(ran), "crashed": crashed}
