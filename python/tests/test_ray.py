"""Many models on a local Ray cluster: results after processes and nodes terminate."""

from __future__ import annotations

import builtins
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import passdock
import passdock.ray
from batch_passes import MARK
from passdock import UsageError, _passdock
from passdock._batch import engines, storage
from test_batch import FIELDS, model, by_name

TESTS = str(Path(__file__).parent)
BOTH = [TESTS, str(Path(passdock.__file__).parents[1])]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Starts a cluster of two cores; yields the directory where passes leave marks."""
    ray = pytest.importorskip("ray", reason="ray isn't installed: pip install 'passdock[ray]'")
    pytest.importorskip("fsspec", reason="fsspec isn't installed: pip install 'passdock[ray]'")
    marks = tmp_path_factory.mktemp("marks")
    # Names of sockets have a short limit, and pytest's directories are long.
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as home:
        patched.setenv(MARK, str(marks))
        # The cluster's processes find this package and these tests.
        patched.setenv("PYTHONPATH", os.pathsep.join([*BOTH, os.environ.get("PYTHONPATH", "")]))
        # Otherwise Ray would store a token in the home directory.
        patched.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patched.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=home)
        yield marks
        ray.shutdown()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Returns a directory of models, one of which is invalid."""
    home = tmp_path / "models"
    model(home / "a.onnx")
    model(home / "deep" / "b.onnx", ops=4)
    (home / "bad.onnx").write_bytes(b"no model")
    return home


def test_models_on_a_shared_disk(cluster: Path, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    batch = passdock.ray.batch(models, None, out)
    assert len(batch) == 3
    done = by_name(batch)
    assert {name: result.ok for name, result in done.items()} == {"a": True, "b": True, "bad": False}
    assert list(done["b"]) == FIELDS
    assert (done["b"].output, done["b"].ops_before) == (str(out / "deep" / "b.onnx"), 4)
    assert done["bad"].diagnostics[0]["code"] == "read"
    assert len(passdock.Module.read(str(out / "deep" / "b.onnx"))["main"].ops) > 0
    assert batch.summary.retried == 0
    # Finished models are skipped; failed ones run again.
    summary = passdock.ray.batch(models, None, out).wait()
    assert (summary.ok, summary.failed, summary.up_to_date) == (2, 1, 2)
    monkeypatch.chdir(tmp_path)
    assert passdock.ray.batch("models", None, "models/out").wait().ok == 2
    assert passdock.ray.batch("models", None, "models/out").wait().up_to_date == 2
    # Local Python workers continue it.
    monkeypatch.setattr(engines, "_command", lambda: None)
    assert passdock.batch("models", None, "models/out").wait().up_to_date == 2
    assert passdock.ray.batch(models, None, out, opt_level=0).wait().up_to_date == 0
    assert passdock.ray.batch(models, None, out, opt_level=0, resume=False).wait().up_to_date == 0


def test_models_in_storage_are_copied(cluster: Path, models: Path, tmp_path: Path) -> None:
    there = f"file://{tmp_path}"
    batch = passdock.ray.batch(f"{there}/models", None, f"{there}/out")
    done = by_name(batch)
    assert {name: result.ok for name, result in done.items()} == {"a": True, "b": True, "bad": False}
    assert done["b"].model == f"{there}/models/deep/b.onnx"
    assert done["b"].output == f"{there}/out/deep/b.onnx"
    written = sorted(
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert written == ["a.onnx", "deep/b.onnx", "results.jsonl"]
    assert passdock.ray.batch(f"{there}/models", None, f"{there}/out").wait().up_to_date == 2
    # Patterns, with a local output.
    summary = passdock.ray.batch(f"{there}/models/[ab].onnx", None, tmp_path / "near").wait()
    assert [Path(result.output).name for result in summary] == ["a.onnx"]
    assert (tmp_path / "near" / "a.onnx").exists()
    # The model has changed, so its result is outdated.
    os.utime(models / "a.onnx", (1, 1))
    assert passdock.ray.batch(f"{there}/models", None, f"{there}/out").wait().up_to_date == 1


def test_external_data_is_copied_with_the_model(cluster: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx isn't installed, which writes external data")
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    home = tmp_path / "models"
    home.mkdir()
    weight = numpy_helper.from_array(np.arange(4096, dtype=np.float32), "w")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4096]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weight])
    created = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = {"save_as_external_data": True, "all_tensors_to_one_file": True, "size_threshold": 0}
    onnx.save_model(created, str(home / "m.onnx"), location="weights.bin", **options)
    assert storage.data_files(str(home / "m.onnx")) == ["weights.bin"]
    summary = passdock.ray.batch(f"file://{home}/m.onnx", None, f"file://{tmp_path}/out").wait()
    assert summary.ok == 1, summary
    (tmp_path / "models" / "weights.bin").unlink()
    read = onnx.load(str(tmp_path / "out" / "m.onnx"))
    assert np.array_equal(numpy_helper.to_array(read.graph.initializer[0]), np.arange(4096, dtype=np.float32))
    # A model without its data can't be read, which doesn't stop other models.
    again = passdock.ray.batch(f"file://{home}/m.onnx", None, f"file://{tmp_path}/out", retries=0, resume=False)
    failed = again.wait()
    assert failed[0].diagnostics[0]["code"] == "read"
    assert "weights.bin" in str(failed[0].error)


@pytest.mark.parametrize("which", ["tests.DiesOnce", "tests.NodeDiesOnce"])
def test_model_is_retried_after_a_crash(cluster: Path, models: Path, tmp_path: Path, which: str) -> None:
    for mark in cluster.iterdir():
        mark.unlink()
    batch = passdock.ray.batch(
        models / "a.onnx", None, tmp_path / "out", passes=[which], imports=["batch_passes"], max_in_flight=1
    )
    summary = batch.wait()
    assert (summary.ok, summary.failed, summary.retried) == (1, 0, 1), summary
    assert "1 retried" in str(summary)


def test_repeated_crash_fails_only_its_model(cluster: Path, tmp_path: Path) -> None:
    home = tmp_path / "models"
    for name, op in {"fails": "Neg", "exits": "Exp", "hangs": "Sin", "fine": "Relu", "fine2": "Abs"}.items():
        model(home / f"{name}.onnx", op)
    batch = passdock.ray.batch(
        home, None, tmp_path / "out", passes=["tests.Behave"], imports=["batch_passes"], timeout=3, max_in_flight=2
    )
    done = by_name(batch)
    assert sorted(name for name, result in done.items() if result.ok) == ["fine", "fine2"]
    # Failed passes and timeouts aren't retried.
    assert batch.summary.retried == 2
    assert done["fails"].diagnostics[0]["code"] == "pass-failed"
    assert "ended the process with status 3" in str(done["exits"].error)
    assert "was still running after 3 s" in str(done["hangs"].error)


def test_max_in_flight_limits_submitted_tasks(cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [model(tmp_path / "models" / f"{at}.onnx") for at in range(12)]
    counts: list[int] = []
    original = passdock.ray._Cluster.answered

    def counting(self: Any, running: Any) -> Any:
        counts.append(len(running))
        return original(self, running)

    monkeypatch.setattr(passdock.ray._Cluster, "answered", counting)
    assert passdock.ray.batch(paths, None, tmp_path / "out", max_in_flight=3).wait().ok == 12
    assert max(counts) == 3
    counts.clear()
    # Twice the number of cores.
    assert passdock.ray.batch(paths, None, tmp_path / "out2").wait().ok == 12
    assert max(counts) == 4


def test_invalid_requests_and_version_mismatch_are_rejected(cluster: Path, models: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shutil.copy(models / "a.onnx", tmp_path / "other" / "a.onnx")
    with pytest.raises(UsageError, match="would both be"):
        passdock.ray.batch([models / "a.onnx", f"file://{tmp_path}/other/a.onnx"], None, f"file://{tmp_path}/out")
    with pytest.raises(UsageError, match="would overwrite the model"):
        passdock.ray.batch(f"file://{models}/a.onnx", None, models)
    with pytest.raises(UsageError, match="no such file"):
        passdock.ray.batch(f"file://{models}/zzz", None, tmp_path / "out")
    with pytest.raises(UsageError, match="unsupported file system"):
        passdock.ray.batch("nothing://bucket/a.onnx", None, tmp_path / "out")
    with pytest.raises(ValueError, match="retries"):
        passdock.ray.batch(models, None, tmp_path / "out", retries=-1)
    wrong = _result_of_another_version(models / "a.onnx", tmp_path / "out")
    assert wrong["rejected"]
    assert f"but the program has {_passdock.version()}.1" in wrong["diagnostics"][0]["message"]


def _result_of_another_version(path: Path, out: Path) -> dict[str, Any]:
    job = {"version": f"{_passdock.version()}.1", "model": str(path), "output": str(out / path.name)}
    return passdock.ray._run(job)


def test_items_in_memory_storage() -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec isn't installed: pip install 'passdock[ray]'")
    there = fsspec.filesystem("memory")
    there.store.clear()
    for name in ("zoo/a.onnx", "zoo/deep/b.onnx", "zoo/.hidden/c.onnx", "zoo/readme.md", "zoo/out/d.onnx"):
        there.pipe_file(f"/{name}", b"1")
    found = storage.items(["memory://zoo"], "memory://zoo/out", None)
    assert [(item.model, item.output) for item in found] == [
        ("memory:///zoo/a.onnx", "memory://zoo/out/a.onnx"),
        ("memory:///zoo/deep/b.onnx", "memory://zoo/out/deep/b.onnx"),
    ]
    state = found[0].state
    there.pipe_file("/zoo/a.onnx", b"22")
    again = storage.items(["memory://zoo/a.onnx", "memory://zoo/deep/*.onnx"], "memory://out", None)
    assert [item.output for item in again] == ["memory://out/a.onnx", "memory://out/b.onnx"]
    assert again[0].state != state


def test_results_are_moved_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec isn't installed: pip install 'passdock[ray]'")
    there = fsspec.filesystem("memory")
    there.store.clear()
    (tmp_path / "m.onnx").write_bytes(b"model")
    (tmp_path / "m.onnx.data").write_bytes(b"data")
    moved: list[str] = []
    move = type(there).mv

    def moving(self: Any, source: str, target: str, **options: Any) -> Any:
        moved.append(target)
        return move(self, source, target, **options)

    monkeypatch.setattr(type(there), "mv", moving)
    storage.copied_back(str(tmp_path), "memory://out/m.onnx", None)
    assert moved == ["/out/m.onnx.data", "/out/m.onnx"]
    assert there.find("/out") == ["/out/m.onnx", "/out/m.onnx.data"]

    def failing(self: Any, source: str, target: str, **options: Any) -> Any:
        raise OSError("full")

    there.store.clear()
    monkeypatch.setattr(type(there), "mv", failing)
    with pytest.raises(passdock.PassError, match="could not write `memory://out/m.onnx`: OSError: full"):
        storage.copied_back(str(tmp_path), "memory://out/m.onnx", None)
    assert there.find("/out") == []


def test_missing_dependency_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.split(".")[0] in ("ray", "fsspec") and not (rest and rest[-1]):
            raise ImportError(name)
        return there(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'passdock\[ray\]'"):
        passdock.ray.batch(tmp_path, None, tmp_path / "out")
    with pytest.raises(ImportError, match=r"`s3://` require the package fsspec: pip install"):
        storage.file_system("s3://bucket/a.onnx", None)
