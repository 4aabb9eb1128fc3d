"""Many models through one pipeline: results, and resuming."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import passdock
from passdock import PassContext, PassError, PassWarning, UnknownNameError, UsageError
from passdock._batch import engines, worker
from passdock._batch.results import ResultFile
from passdock.batch import Batch
from passdock.instrument import PassTimingInstrument
from support import built_plugin, module, with_data

FIELDS = [
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
]


def command() -> str | None:
    """Returns the command: the package's, that of the environment, or the one built in the checkout."""
    target = Path(__file__).parents[2] / "target"
    built = [str(path) for path in (target / "debug" / "passdock", target / "release" / "passdock") if path.exists()]
    return engines._command() or next(iter(built), None)


def model(path: Path, op: str = "Relu", ops: int = 2) -> Path:
    """Writes a model with a chain of ops."""
    names = ["x", *(f"v{at}" for at in range(ops))]
    lines = [f"%{names[at + 1]} = onnx.{op}(%{names[at]}) : f32[2]" for at in range(ops)]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f'module {{ fn @main(%x: f32[2]) -> (%{names[-1]}: f32[2]) opset("" = 17) {{\n'
    module(text + "\n".join(lines) + f"\nreturn %{names[-1]}\n}} }}").write(str(path))
    return path


@pytest.fixture(params=["command", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the kind of worker; parametrised over all kinds."""
    kind: str = request.param
    found = command()
    if kind == "command" and found is None:
        pytest.skip("the command isn't in the package, and isn't built")
    monkeypatch.setattr(engines, "_command", lambda: found if kind == "command" else None)
    return kind


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Returns a directory of models, one of which is invalid."""
    home = tmp_path / "models"
    model(home / "a.onnx")
    model(home / "deep" / "b.onnx", ops=4)
    (home / "bad.onnx").write_bytes(b"no model")
    (home / "notes.txt").write_text("no model, either")
    model(home / ".hidden" / "c.onnx")
    return home


def by_name(results: Any) -> dict[str, Any]:
    return {Path(result.model).stem: result for result in results}


def test_each_model_has_a_result(engine: str, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    batch = passdock.batch(models, None, out)
    assert isinstance(batch, Batch)
    assert len(batch) == 3
    done = by_name(batch)
    assert sorted(done) == ["a", "b", "bad"]
    assert list(done["b"]) == FIELDS
    assert done["a"].ok and done["b"].ok and not done["bad"].ok
    assert done["b"].output == str(out / "deep" / "b.onnx")
    assert done["b"].ops_before == 4
    assert (done["b"].bytes_before, done["b"].bytes_after) == tuple(
        path.stat().st_size for path in (models / "deep" / "b.onnx", out / "deep" / "b.onnx")
    )
    assert done["bad"].exit_status == 1
    assert done["bad"].diagnostics[0]["code"] == "read"
    assert not (out / "bad.onnx").exists()
    assert (batch.ok, batch.failed, batch.seconds > 0) == (2, 1, True)
    lines = (out / "results.jsonl").read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [FIELDS] * 3


def test_finished_models_are_skipped_on_resume(engine: str, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def before(**options: Any) -> dict[str, bool]:
        return {
            name: result.up_to_date for name, result in by_name(passdock.batch(models, None, out, **options)).items()
        }

    assert before() == {"a": False, "b": False, "bad": False}
    assert before() == {"a": True, "b": True, "bad": False}
    (out / "a.onnx").unlink()
    model(models / "deep" / "b.onnx", ops=6)
    assert before() == {"a": False, "b": False, "bad": False}
    assert before(opt_level=0) == {"a": False, "b": False, "bad": False}
    assert before() == {"a": False, "b": False, "bad": False}
    assert before(resume=False) == {"a": False, "b": False, "bad": False}
    # A truncated line, and a fresh file of results.
    with (out / "results.jsonl").open("a") as file:
        file.write('{"model":"')
    assert before() == {"a": True, "b": True, "bad": False}
    assert before(results=tmp_path / "other.jsonl") == {"a": False, "b": False, "bad": False}


def test_command_and_batch_resume_each_other(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = command()
    if program is None:
        pytest.skip("the command isn't in the package, and isn't built")
    monkeypatch.setattr(engines, "_command", lambda: program)
    (models / "bad.onnx").unlink()
    out = tmp_path / "out"

    def typed(*arguments: str) -> list[bool]:
        words = [program, "batch", str(models), "-o", str(out), "--json", *arguments]
        ran = subprocess.run(words, capture_output=True, text=True, check=True)
        return [json.loads(line)["up_to_date"] for line in ran.stdout.splitlines()]

    options: dict[str, Any] = {
        "passes": ["FoldConstant", "DeadCodeElimination"],
        "opt_level": 3,
        "allow_growth": True,
        "config": {"tir.UnrollLoop": {"auto_max_step": 16}},
        "disabled_pass": ["LambdaLift"],
    }
    flags = [
        "--passes",
        "FoldConstant,DeadCodeElimination",
        "-O",
        "3",
        "--allow-growth",
        "--disabled-pass",
        "LambdaLift",
    ]
    flags += ["--config", 'tir.UnrollLoop={ "auto_max_step" = 16 }']
    assert [result.up_to_date for result in passdock.batch(models, None, out, **options)] == [False, False]
    assert typed(*flags) == [True, True]
    assert typed("-p", "simplify") == [False, False]
    assert [result.up_to_date for result in passdock.batch(models, "simplify", out)] == [True, True]
    # Python workers continue the file, and then the command continues theirs.
    monkeypatch.setattr(engines, "_command", lambda: None)
    assert passdock.batch(models, "simplify", out).wait().up_to_date == 2
    assert passdock.batch(models, None, out, **options).wait().up_to_date == 0
    assert typed(*flags) == [True, True]
    assert passdock.batch(models, "simplify", out).wait().up_to_date == 0
    assert typed("-p", "simplify") == [True, True]


def test_largest_models_run_first(engine: str, tmp_path: Path) -> None:
    for name, ops in {"small": 1, "large": 60, "middle": 20}.items():
        model(tmp_path / "models" / f"{name}.onnx", ops=ops)
    batch = passdock.batch(tmp_path / "models", None, tmp_path / "out", jobs=1)
    assert [Path(result.model).stem for result in batch] == ["large", "middle", "small"]


def test_outputs_inside_model_directory_are_not_models(engine: str, models: Path) -> None:
    (models / "bad.onnx").unlink()
    assert passdock.batch(models, None, models / "out").wait().ok == 2
    assert passdock.batch(models, None, models / "out").wait().up_to_date == 2


def test_pipeline_is_a_dict_or_toml(engine: str, models: Path, tmp_path: Path) -> None:
    (models / "bad.onnx").unlink()
    wanted = {"passes": ["relax.transform.DeadCodeElimination"], "context": {"opt_level": 3}}
    for pipeline in (wanted, str(passdock.Pipeline(wanted)), passdock.Pipeline(wanted)):
        summary = passdock.batch(models, pipeline, tmp_path / "out").wait()
        assert summary.ok == 2, summary
    # The same pipeline in another form is the same pipeline.
    assert summary.up_to_date == 2


def test_failures_crashes_and_timeouts_are_reported(tmp_path: Path) -> None:
    home = tmp_path / "models"
    for name, op in {"fails": "Neg", "exits": "Exp", "killed": "Log", "hangs": "Sin", "fine": "Relu"}.items():
        model(home / f"{name}.onnx", op)
    began = time.monotonic()
    batch = passdock.batch(
        home, None, tmp_path / "out", passes=["tests.Behave"], imports=["batch_passes"], jobs=2, timeout=3
    )
    done = by_name(batch)
    assert time.monotonic() - began < 60
    assert {name: result.ok for name, result in done.items()} == {
        "fine": True,
        "fails": False,
        "exits": False,
        "killed": False,
        "hangs": False,
    }
    assert done["fails"].error is not None
    assert done["fails"].error.startswith("tests.Behave: KeyError: 'no Neg here'")
    assert done["fails"].diagnostics[0]["code"] == "pass-failed"
    exits, killed, hangs = (done[name].diagnostics[0] for name in ("exits", "killed", "hangs"))
    assert {diagnostic["code"] for diagnostic in (exits, killed, hangs)} == {"crashed"}
    assert exits["message"].startswith("pass `tests.Behave` ended the process with status 3")
    assert exits["message"].endswith("this is the end")
    assert killed["message"].startswith("pass `tests.Behave` crashed: SIGSEGV")
    assert hangs["message"] == "pass `tests.Behave` was still running after 3 s and was terminated"
    assert hangs["pass"] == "tests.Behave"
    # Failed models run again, others don't; the command reads the file.
    again = passdock.batch(home / "f*.onnx", None, tmp_path / "out", passes=["tests.Behave"], imports=["batch_passes"])
    assert {name: result.up_to_date for name, result in by_name(again).items()} == {"fine": True, "fails": False}
    found = command()
    if found is not None:
        typed = [found, "batch", str(home / "fine.onnx"), "-o", str(tmp_path / "out"), "--json"]
        assert subprocess.run(typed, capture_output=True, check=False).returncode == 0


def test_unknown_passes_are_rejected_before_the_batch(tmp_path: Path) -> None:
    @passdock.register_pass
    @passdock.function_pass(opt_level=0, name="tests.OfThisProcess")
    def own(func: Any, mod: Any, ctx: Any) -> Any:
        return func

    model(tmp_path / "a.onnx")
    with pytest.raises(UnknownNameError, match=r"tests\.OfThisProcess.*imports=\["):
        passdock.batch(tmp_path / "a.onnx", None, tmp_path / "out", passes=["tests.OfThisProcess"])
    with pytest.raises(TypeError, match=r"passes=\['tests\.OfThisProcess'\]"):
        passdock.batch(tmp_path / "a.onnx", own, tmp_path / "out")  # type: ignore[arg-type]
    with pytest.raises(passdock.PluginError, match="`no_such_module`"):
        passdock.batch(tmp_path / "a.onnx", None, tmp_path / "out", imports=["no_such_module"])


def test_pass_file_is_imported_in_workers(tmp_path: Path) -> None:
    model(tmp_path / "a.onnx")
    (tmp_path / "my_passes.py").write_text(
        textwrap.dedent("""
        import passdock

        @passdock.register_pass
        @passdock.function_pass(opt_level=0, name="tests.OfAFile")
        def of_a_file(func, mod, ctx):
            return func
        """)
    )
    batch = passdock.batch(
        tmp_path / "a.onnx", None, tmp_path / "out", passes=["tests.OfAFile"], imports=[str(tmp_path / "my_passes.py")]
    )
    assert batch.wait().ok == 1
    # The code of a pass is part of the fingerprint.
    os.utime(tmp_path / "my_passes.py", (1, 1))
    batch = passdock.batch(
        tmp_path / "a.onnx", None, tmp_path / "out", passes=["tests.OfAFile"], imports=[str(tmp_path / "my_passes.py")]
    )
    assert batch.wait().up_to_date == 0


def test_pipeline_may_name_python_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "named_passes.py").write_text(
        textwrap.dedent("""
        from passdock import function_pass

        @function_pass(opt_level=0, name="tests.Named")
        def named(func, mod, ctx):
            return func
        """)
    )
    model(tmp_path / "a.onnx")
    pipeline = {"passes": [{"python": "named_passes:named"}]}
    assert passdock.batch(tmp_path / "a.onnx", pipeline, tmp_path / "out").wait().ok == 1
    assert passdock.batch(tmp_path / "a.onnx", pipeline, tmp_path / "out").wait().up_to_date == 1
    os.utime(tmp_path / "named_passes.py", (1, 1))
    assert passdock.batch(tmp_path / "a.onnx", pipeline, tmp_path / "out").wait().up_to_date == 0


def test_batch_uses_the_current_context(engine: str, models: Path, tmp_path: Path) -> None:
    def ran(**options: Any) -> tuple[int, bool]:
        (result,) = passdock.batch(models / "a.onnx", None, tmp_path / "out", passes=["SimplifyExpr"], **options)
        return result.ops_after, result.up_to_date

    assert ran() == (1, False)
    with PassContext(disabled_pass=["SimplifyExpr"]):
        assert ran() == (2, False)
    # The context has the same effect as options.
    assert ran(disabled_pass=["SimplifyExpr"]) == (2, True)
    options: Any = {"opt_level": 1, "config": {"relax.SimplifyExpr": {"keep_negative_zero": True}}}
    with PassContext(**options):
        assert ran() == (1, False)
    assert ran(**options) == (1, True)
    with PassContext(opt_level=3, config={"relax.SimplifyExpr": {"keep_negative_zero": False}}):
        assert ran(**options) == (1, True)
    with PassContext(instruments=[PassTimingInstrument()]), pytest.warns(PassWarning, match="do not observe a batch"):
        ran()


def test_invalid_arguments_are_rejected(engine: str, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def error(call: Callable[[], Any], kind: type[Exception] = UsageError) -> str:
        with pytest.raises(kind) as caught:
            call()
        return str(caught.value).replace(f"{tmp_path}/", "")

    assert error(lambda: passdock.batch(models)) == ('missing output directory; pass it, for example `output="out"`')
    assert error(lambda: passdock.batch([], None, out)) == "no models"
    assert error(lambda: passdock.batch(tmp_path / "x*.onnx", None, out)) == "no file matches `x*.onnx`"
    assert error(lambda: passdock.batch(tmp_path / "modles", None, out)) == (
        "could not read `modles`: No such file or directory (os error 2)"
    )
    a, other = models / "a.onnx", model(tmp_path / "other" / "a.onnx")
    assert error(lambda: passdock.batch([a, other], None, out)).startswith(
        "the results of `models/a.onnx` and `other/a.onnx` would both be `out/a.onnx`"
    )
    assert error(lambda: passdock.batch(a, None, models)).startswith(
        "a result would overwrite the model `models/a.onnx`"
    )
    assert "FoldConstant" in error(lambda: passdock.batch(a, None, out, passes=["FoldConstatn"]), UnknownNameError)
    with pytest.raises(TypeError, match="no_such_option"):
        passdock.batch(a, None, out, no_such_option=1)
    with pytest.raises(ValueError, match="jobs"):
        passdock.batch(a, None, out, jobs=0)
    with pytest.raises(TypeError, match="jobs must be an int, not str"):
        passdock.batch(a, None, out, jobs="2")  # type: ignore[arg-type]
    for timeout in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=f"^timeout must be greater than 0, or None for no limit, not {timeout}$"):
            passdock.batch(a, None, out, timeout=timeout)
    with pytest.raises(TypeError, match="^timeout must be a number of seconds, not str$"):
        passdock.batch(a, None, out, timeout="5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^external_data must be 'keep', 'all' or 'none', not True$"):
        passdock.batch(a, None, out, external_data=True)
    with pytest.raises(
        TypeError, match=r"imports: expected a list of modules, got a string; did you mean \['passes'\]"
    ):
        passdock.batch(a, None, out, imports="passes")
    assert error(lambda: passdock.batch(a, None, out, html_report="run.html")) == (
        "cannot write one HTML report for several models; run each with `passdock.run(model, html_report=…)`"
    )
    out.mkdir()
    (out / "results.jsonl").write_text("not results\n")
    with pytest.raises(PassError, match="is not the result of a model.*pass another file: `results="):
        passdock.batch(a, None, out).wait()
    assert (out / "results.jsonl").read_text() == "not results\n"


def test_results_file_is_locked(engine: str, models: Path, tmp_path: Path) -> None:
    file = tmp_path / "out" / "results.jsonl"
    other = ResultFile(str(file))
    with pytest.raises(UsageError, match=r"another batch is writing `.*results\.jsonl`.*another file: `results=FILE`"):
        passdock.batch(models, None, tmp_path / "out").wait()
    assert file.read_text() == ""
    other.close()
    assert passdock.batch(models, None, tmp_path / "out").wait().ok == 2


def test_foreign_results_file_is_not_overwritten(engine: str, models: Path, tmp_path: Path) -> None:
    file = tmp_path / "foreign.jsonl"
    file.write_text('{"foo":1}\n')
    with pytest.raises(UsageError, match="line 1 of .* is not the result of a model: missing field `model`"):
        passdock.batch(models, None, tmp_path / "out", results=file).wait()
    assert file.read_text() == '{"foo":1}\n'


def test_missing_and_duplicate_models(engine: str, models: Path, tmp_path: Path) -> None:
    missing, link = tmp_path / "gone.onnx", models / "link.onnx"
    link.symlink_to(missing)
    batch = passdock.batch(
        [models / "a.onnx", missing, models, models / "deep" / ".." / "a.onnx"], None, tmp_path / "out"
    )
    assert len(batch) == 5
    done = by_name(batch)
    assert {name: result.ok for name, result in done.items()} == {
        "a": True,
        "b": True,
        "bad": False,
        "gone": False,
        "link": False,
    }
    for name in ("gone", "link"):
        assert done[name].diagnostics[0]["code"] == "read"
        assert f"{name}.onnx`: No such file" in str(done[name].error)


def test_options_accept_iterators(engine: str, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    passes = ["DeadCodeElimination", "SimplifyExpr"]

    def done(listed: Callable[[list[str]], Any], **more: Any) -> list[bool]:
        lists = {"passes": listed(passes), "disabled_pass": listed(["SimplifyExpr"]), "plugins": listed([])}
        batch = passdock.batch(models / "a.onnx", None, out, **lists, **more)
        result = next(batch)
        assert (result.ok, result.ops_after) == (True, 2)
        return [result.up_to_date for result in batch.wait()]

    assert done(iter) == [False]
    assert done(list) == [True]
    assert done(iter, timeout=1e9) == [True]


def test_external_data_behind_symlinks(engine: str, tmp_path: Path) -> None:
    """Data files in another directory, as in the cache of Hugging Face, where files are symbolic links."""
    hub = tmp_path / "hub"
    for place in ("blobs", "snapshot"):
        (hub / place).mkdir(parents=True)
    with_data(hub / "blobs" / "m.onnx")
    for name in ("m.onnx", "m.data"):
        (hub / "snapshot" / name).symlink_to(Path("..", "blobs", name))
    (result,) = passdock.batch(hub / "snapshot", None, tmp_path / "out")
    assert "pass `allow_outside_data=True` to allow it" in str(result.error)
    options: dict[str, Any] = {"allow_outside_data": True, "external_data": "none", "drop_spans": True}
    (result,) = passdock.batch(hub / "snapshot", None, tmp_path / "out", **options)
    assert result.ok, result
    assert sorted(os.listdir(tmp_path / "out")) == ["m.onnx", "results.jsonl"]
    assert passdock.batch(hub / "snapshot", None, tmp_path / "out", **options).wait().up_to_date == 1


def alive(pids: list[int]) -> list[int]:
    """Returns the running processes, without zombies."""

    def runs(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    return [pid for pid in pids if runs(pid)]


def below(pid: int) -> list[int]:
    """Returns the descendants of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *below(child)]
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc, which isn't here")
def test_closed_batch_terminates_its_processes(engine: str, models: Path, tmp_path: Path) -> None:
    before = set(below(os.getpid()))
    batch = passdock.batch(models, None, tmp_path / "out", jobs=1)
    first = next(batch)
    started = [pid for pid in below(os.getpid()) if pid not in before]
    assert first.model
    batch.close()
    deadline = time.monotonic() + 10
    while alive(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(started) == []
    assert list(batch) == []
    left = passdock.batch(models, None, tmp_path / "out").wait()
    assert (len(left), left.ok) == (3, 2)
    # Leaving a context manager stops the batch, too.
    with passdock.batch(models, None, tmp_path / "out") as batch:
        next(batch)
    assert list(batch) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc, which isn't here")
def test_killed_program_leaves_no_processes(engine: str, tmp_path: Path) -> None:
    for at in range(40):
        model(tmp_path / "models" / f"{at}.onnx", ops=20)
    options = "" if engine == "command" else ', verify="all"'
    code = f'import passdock\nfor result in passdock.batch("models", None, "out"{options}): print(result, flush=True)'
    path = os.pathsep.join([str(Path(passdock.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PASSDOCK": engines._command() or ""}
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline()
        started = below(program.pid)
        assert started
        program.kill()
    deadline = time.monotonic() + 10
    while alive(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(started) == []


def test_missing_command_is_an_error(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSDOCK", str(tmp_path / "none"))
    with pytest.raises(PassError, match="could not start process `.*none`: No such file or directory"):
        passdock.batch(models, None, tmp_path / "out").wait()


def test_batch_that_never_ran_warns(models: Path, tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="never ran"):
        passdock.batch(models, None, tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        passdock.batch(models, None, tmp_path / "out").close()


def test_batch_in_an_imported_script_is_rejected(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(worker.IN_WORKER, "1")
    with pytest.raises(UsageError, match="__main__"):
        passdock.batch(models, None, tmp_path / "out")


def test_script_without_main_guard_works(models: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import passdock
        print(passdock.batch({str(models / "*.onnx")!r}, None, {str(tmp_path / "out")!r}, verify="all").wait().ok)
        """)
    )
    path = os.pathsep.join([str(Path(passdock.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("1\n", "")


def test_progress_callback_and_html_output(engine: str, models: Path, tmp_path: Path) -> None:
    finished: list[str] = []
    batch = passdock.batch(models, None, tmp_path / "out", progress=lambda result: finished.append(result.model))
    shown = batch._repr_html_()
    assert len(finished) == 3
    assert "2 models done, 1 failed, 6 → " in shown
    # Failures come first.
    assert shown.index("bad.onnx") < shown.index("a.onnx")
    text = str(batch.summary)
    assert text.startswith("FAILED  ")
    assert text.endswith(f"results in {tmp_path / 'out' / 'results.jsonl'}")
    assert repr(batch) == "<passdock.Batch of 3 models, 3 done, 1 of them failed>"
    with pytest.raises(AttributeError, match="a result has no attribute 'modle'; it has model, output"):
        _ = batch.summary[0].modle


# Plugins, rebuilt between runs. Each program uses its own process, because a loaded plugin can't be unloaded.
USES = """
import os, sys
from pathlib import Path
import passdock

models, out, plugin, *words = sys.argv[1:]
instruments = {"instruments": [{"name": word[1:]} for word in words if word[0] == "+"]}
pipeline = {"passes": [{"name": word} for word in words if word[0] != "+"], **instruments}
print(*(result.up_to_date for result in passdock.batch(models, pipeline, out, plugins=[plugin])))
"""


def test_only_changes_of_used_plugins_invalidate_results(engine: str, models: Path, tmp_path: Path) -> None:
    """Those of its passes and instruments, and those with op definitions."""
    (models / "bad.onnx").unlink()
    command = engines._command() if engine == "command" else None
    environment = {**os.environ, "PASSDOCK": command or "", "PYTHONPATH": os.pathsep.join(sys.path)}
    directory = tmp_path / "plugins"
    directory.mkdir()
    times: dict[Path, int] = {}

    def built(name: str) -> Path:
        file = directory / built_plugin(name).name
        shutil.copy2(built_plugin(name), file)
        times[file] = times.get(file, 10**9) + 10
        os.utime(file, (times[file], times[file]))
        return file

    def before(plugin: Path, *words: str) -> str:
        arguments = [sys.executable, "-c", USES, str(models), str(tmp_path / "out"), str(plugin), *words]
        return subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    tap = built("passdock_tap")
    assert before(tap, "InferType") == "False False"
    built("passdock_tap")
    assert before(tap, "InferType") == "True True"
    assert before(tap, "InferType", "+tap.tap") == "False False"
    assert before(tap, "InferType", "+tap.tap") == "True True"
    built("passdock_tap")
    assert before(tap, "InferType", "+tap.tap") == "False False"
    assert before(tap, "tap.Rest") == "False False"
    built("passdock_tap")
    assert before(tap, "tap.Rest") == "False False"
    bad = built("passdock_misbehaving")
    assert before(bad, "InferType") == "False False"
    assert before(bad, "InferType") == "True True"
    built("passdock_misbehaving")
    assert before(bad, "InferType") == "False False"
