"""Many models on a Ray cluster: ``passdock.ray.batch``.

What to run travels to the cluster's nodes, and reports travel back. Models don't: they are on a disk that all nodes
share, or on storage that fsspec knows, and go from there to a node and back. passdock has to be installed on the nodes,
in this program's version; ``runtime_env={"pip": ["/shared/passdock-….whl"]}`` does that, with the wheel where all nodes
find it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _passdock
from ._batch import outcomes as _outcomes
from ._batch.outcomes import Outcome, OutcomeFile, Summary
from ._batch.running import OUTCOMES, Batch, refuse_in_worker
from .errors import PassError

if TYPE_CHECKING:
    from ._batch import engines as _engines
    from ._batch import items as _items
    from .pipeline import PathLike, Pipeline

__all__ = ["batch"]

# How often outcomes are copied to storage on which no line can be added to a file, in seconds.
_EVERY = 10.0
# After how long the size of the cluster is looked at again, in seconds: it may grow with its load.
_LOOK = 5.0


def _ray() -> Any:
    try:
        import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        message = "passdock.ray takes the package ray, which isn't installed: pip install 'passdock[ray]'"
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
    progress: bool | Callable[[Outcome], Any] = False,
    results: PathLike | None = None,
    imports: Sequence[str] = (),
    **options: Any,
) -> Batch:
    """Runs a pipeline on many models on a Ray cluster; otherwise as ``passdock.batch``.

    ::

        summary = passdock.ray.batch("s3://zoo/models", "default", "s3://zoo/out", address="auto").wait()

    Args:
        models: paths that all nodes know, or addresses of fsspec (``s3://…``, ``gs://…``, ``file://…``): files,
            directories and patterns.
        pipeline: as of ``passdock.batch``. Its text travels; a path of plugins in it is one of the nodes.
        output: the directory for results: a path that all nodes know, or an address. A result appears whole, its data
            before itself.
        address: the cluster; None: the one that this program is connected to, that of ``RAY_ADDRESS``, or a new one
            here.
        retries: how often a model is run again whose process or node died, or whose storage failed. A pass that fails
            and a run that takes too long aren't tried again.
        max_in_flight: models that are with the cluster at once; None: twice as many as it has cores for, as it grows.
        runtime_env: the environment of the tasks, as of ``ray.init``: packages, files, variables.
        num_cpus: the cores of a model's run, which has as many threads.
        storage_options: what fsspec is told of the storage, such as credentials.
        resume, timeout, progress, results, imports, options: as of ``passdock.batch``. The file of outcomes may be at
            an address; then it is copied there every ten seconds, and at the end. Modules of ``imports`` are on the
            nodes, too: ``runtime_env={"py_modules": […]}`` takes them there.

    Returns:
        An iterator over outcomes as they come, whose ``wait()`` runs all and returns the ``Summary``.

    Raises:
        ImportError: ray isn't installed, or what fsspec takes for the storage.
        UsageError, PipelineError, UnknownNameError, ConfigError, PluginError: as of ``passdock.batch``.
    """
    from ._batch import engines as _engines
    from ._batch import items as _items
    from ._batch import storage as _storage

    ray = _ray()
    if output is None:
        raise _items.usage("A batch takes a directory for its results.", 'Name it: `output="s3://bucket/out"`.')
    if retries < 0 or num_cpus < 1 or (max_in_flight is not None and max_in_flight < 1):
        raise ValueError("retries is 0 or more, num_cpus and max_in_flight are 1 or more")
    refuse_in_worker()
    to = os.fspath(output)
    found = _storage.items(_items.expand(models), to, storage_options)
    kept = f"{to.rstrip('/')}/{OUTCOMES}" if results is None else os.fspath(results)
    plan = _engines.Plan(
        items=[(item.model, item.output) for item in found],
        pipeline=pipeline,
        results=kept,
        jobs=num_cpus,
        resume=resume,
        timeout=timeout,
        imports=imports,
        options=options,
    )
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    summary = Summary(kept)
    storage = None if storage_options is None else dict(storage_options)
    cluster = _Cluster(ray, plan, storage, retries, max_in_flight, runtime_env, num_cpus, summary)
    return Batch(_outcomes_of(cluster, plan, found, storage), len(found), summary, progress)


def _outcomes_of(
    cluster: _Cluster, plan: _engines.Plan, items: Sequence[_items.Item], storage: Mapping[str, Any] | None
) -> Iterator[Outcome]:
    """The outcomes of models as they come: first of those that are done, then the largest first."""
    from ._batch import engines as _engines
    from ._batch import storage as _storage

    own = _engines.fingerprint(plan)

    def fingerprint(item: _items.Item) -> str:
        is_address = _storage.is_address(item.model)
        return own.of_address(item.model, item.state) if is_address else own.of_file(item.model)

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
                if report.get("died") and attempt < cluster.retries:
                    # After the others: the reason may be gone by then.
                    cluster.summary.retried += 1
                    left.insert(0, (item, attempt + 1))
                    continue
                outcome = Outcome.of_report(item.model, item.output, report, fingerprint(item))
                kept.add(outcome)
                yield outcome
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
            # A node's processes may be in another directory.
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
        # What is tried again is decided here, for processes of ours that died, too.
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
                raise PassError(f"The runtime_env can't be set up on the cluster: {error}", code="usage") from error
            except errors.RayError as error:
                said = str(error).strip().splitlines() or [""]
                what = "The node can't run it" if isinstance(error, errors.RayTaskError) else "The node's process ended"
                message = f"{what}: {type(error).__name__}: {said[-1]}"
                report = {**_outcomes.failure(message, code="crashed"), "died": True}
            if report.get("refused"):
                _engines.check(report)
            heard.append((reference, report))
        return heard


def _of_node(path: str) -> str:
    from ._batch import storage as _storage

    return path if _storage.is_address(path) else os.path.abspath(path)


class _Kept:
    """The file of outcomes, a copy of it if it is at an address: no line can be added to an object."""

    def __init__(self, path: str, storage: Mapping[str, Any] | None) -> None:
        import tempfile

        from ._batch import storage as _storage

        self._directory: Any = None
        self._copied = time.monotonic()
        self._there: Any = None
        if not _storage.is_address(path):
            self._file = OutcomeFile(path)
            return
        self._there, self._path = _storage.file_system(path, storage)
        self._directory = tempfile.TemporaryDirectory(prefix="passdock-")
        self._local = os.path.join(self._directory.name, OUTCOMES)
        try:
            if self._there.exists(self._path):
                self._there.get_file(self._path, self._local)
        except Exception as error:
            raise self._failed(error) from error
        self._file = OutcomeFile(self._local)

    def _failed(self, error: Exception) -> PassError:
        message = f"The outcomes can't be kept in `{self._path}`: {type(error).__name__}: {error}"
        return PassError(message, code="write")

    def done(self, model: str, output: str, fingerprint: str) -> Outcome | None:
        return self._file.done(model, output, fingerprint)

    def add(self, outcome: Outcome) -> None:
        self._file.add(outcome)
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


# What is below runs on the nodes.

# The process that runs the models of this process's tasks, one after another, and what it was started for.
_running: tuple[str, _passdock.Worker] | None = None


def _run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a model, and returns the parts of the report that an outcome has."""
    import tempfile

    from ._batch import storage as _storage

    if job["version"] != _passdock.version():
        message = f"The node has passdock {_passdock.version()}, and the program {job['version']}."
        return {**_outcomes.failure(message, code="usage", exit_status=2), "refused": True}
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
                # It would be gone with the directory.
                report["reproducer"] = None
                if report["ok"]:
                    _storage.copied_back(os.path.dirname(output), job["output"], storage)
    except PassError as error:
        seconds = time.monotonic() - began
        return {**_outcomes.failure(str(error), code=error.code, seconds=seconds), "died": True}
    return {**report, "seconds": time.monotonic() - began, "passes": []}


def _run_here(job: Mapping[str, Any], model: str, output: str) -> dict[str, Any]:
    global _running
    from ._batch import engines as _engines

    if _running is None or _running[0] != job["job"]:
        if _running is not None:
            _running[1].close()
        worker = _engines.python_worker(job["request"], job["job"], job["timeout"])
        _running = job["job"], worker
        explained, died = worker.explain()
        report: dict[str, Any] = json.loads(explained)
        if not report["ok"]:
            _running = None
            return {**report, "died": died, "refused": not died}
    ran, died = _running[1].run(model, output, job["jobs"])
    return {**json.loads(ran), "died": died}
