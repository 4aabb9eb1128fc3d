"""Runs of pipelines: copies, ends, and rejected arguments."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

import passdock
from passdock import (
    Module,
    PassContext,
    PassInfo,
    PassInstrument,
    PassWarning,
    Pipeline,
    Sequential,
    module_pass,
    pass_instrument,
    register_pass,
    relax,
)
from passdock.rewrite import Rules
from support import module, one_function, raiser


def test_reports_and_errors_can_be_copied_and_pickled(tmp_path: Path) -> None:
    report = passdock.run(one_function(), "default")
    for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert dict(other) == dict(report)
    with pytest.raises(passdock.ModelError) as failed:
        passdock.run(tmp_path / "none.onnx")
    assert pickle.loads(pickle.dumps(failed.value)).report.ok is False


def test_progress_callback_may_stop_the_run(tmp_path: Path) -> None:
    names: list[str] = []

    def follow(name: str) -> None:
        names.append(name)
        raise KeyError("enough")

    one_function().write(tmp_path / "in.ir")
    # No pass follows the last one, before which the run would end.
    for pipeline in ("default", {"passes": ["InferType"]}):
        names.clear()
        with pytest.raises(KeyError, match="enough") as raised:
            passdock.run(tmp_path / "in.ir", pipeline, tmp_path / "out.ir", progress=follow)
        assert len(names) == 1
        # Neither an output nor a reproducer is written.
        assert not hasattr(raised.value, "__notes__")
        assert [path.name for path in tmp_path.iterdir()] == ["in.ir"]


@pytest.mark.parametrize("ends", [KeyboardInterrupt(), ValueError("no")])
def test_keyboard_interrupt_writes_no_reproducer(ends: BaseException, tmp_path: Path) -> None:
    register_pass(raiser(ends, "test.Ends"), override=True)
    with pytest.raises(type(ends)):
        passdock.run(one_function(), passes=["test.Ends"], output=tmp_path / "out.ir")
    reproducer = [] if isinstance(ends, KeyboardInterrupt) else ["out.ir.reproducer"]
    assert [path.name for path in tmp_path.iterdir()] == reproducer


def test_nested_runs_are_limited() -> None:
    @register_pass
    @module_pass(opt_level=0, name="test.RunsItself")
    def again(mod: Module, ctx: PassContext) -> Module:
        passdock.run(mod, passes=["test.RunsItself"])
        return mod

    with pytest.raises(RecursionError, match="more than 16 nested runs"):
        again(one_function())


def test_unknown_option_error_has_a_suggestion() -> None:
    with pytest.raises(TypeError, match="unknown option `opt_lvl`; did you mean `opt_level`"):
        passdock.run(one_function(), opt_lvl=3)


FOLD = "relax.transform.FoldConstant"
RUNS: list[Callable[[Module], Any]] = [
    lambda mod: passdock.run(mod),
    lambda mod: passdock.optimize(mod),
    lambda mod: passdock.Pipeline("default")(mod),
    lambda mod: passdock.get_pipeline("default")(mod),
    lambda mod: passdock.run(mod, passdock.get_pipeline("default")),
    lambda mod: passdock.optimize(mod.to_onnx()),
]


@pass_instrument
class Names:
    """Records the plugins' passes that ran, and the calls for the context."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.context: list[str] = []

    def enter_pass_ctx(self) -> None:
        self.context.append("enter")

    def exit_pass_ctx(self) -> None:
        self.context.append("exit")

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        if info.name.startswith("relax."):
            self.names.append(info.name)


def ran(run: Callable[[Module], Any], **settings: Any) -> list[str]:
    watch = Names()
    with PassContext(instruments=[watch], **settings):
        run(one_function())
        assert watch.context == ["enter"]
    assert watch.context == ["enter", "exit"]
    return watch.names


@pytest.mark.parametrize("run", RUNS)
def test_all_runs_use_the_current_context(run: Callable[[Module], Any]) -> None:
    everything = ran(run)
    assert FOLD in everything and len(everything) > 10
    assert set(everything) - set(ran(run, disabled_pass=["SimplifyExpr"])) == {"relax.transform.SimplifyExpr"}
    at_zero = ran(run, opt_level=0)
    assert FOLD not in at_zero and "relax.transform.SimplifyInference" in at_zero
    assert FOLD in ran(run, opt_level=0, required_pass=["FoldConstant"])


def test_options_override_context_and_context_overrides_pipeline() -> None:
    source = {"passes": ["FoldConstant"], "context": {"opt_level": 0, "config": {"relax.FoldConstant": {"max_growth": 1}}}}

    def outcome(**options: Any) -> tuple[bool, Any]:
        entry = passdock.explain(source, **options)["passes"][0]
        growth = [option["value"] for option in entry["options"] if option["name"] == "max_growth"]
        return passdock.run(one_function(), source, **options).passes[0]["status"] != "skipped", growth[0]

    config = {"relax.FoldConstant": {"max_growth": 2}}
    assert outcome() == (False, 1)
    # A context without a level doesn't override the pipeline's.
    with PassContext(config=config):
        assert outcome() == (False, 2)
    with PassContext(opt_level=2, config=config):
        assert outcome() == (True, 2)
        assert outcome(opt_level=1, config={"relax.FoldConstant": {"max_growth": 3}}) == (False, 3)


def test_context_instruments_precede_run_instruments() -> None:
    events: list[str] = []

    class Recorder(PassInstrument):
        def __init__(self, own: str) -> None:
            self.own = own

        def enter_pass_ctx(self) -> None:
            events.append(f"{self.own} enters")

        def exit_pass_ctx(self) -> None:
            events.append(f"{self.own} exits")

        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            events.append(f"{self.own} {info.name}")

    one = Sequential([passdock.relax.FoldConstant()], name="one")
    outer, inner = Recorder("outer"), Recorder("inner")
    with PassContext(instruments=[outer]):
        passdock.run(one_function(), one, instruments=[inner])
    passes = [f"{own} {name}" for name in ("pipeline", "one", FOLD) for own in ("outer", "inner")]
    assert events == ["outer enters", "inner enters", *passes, "inner exits", "outer exits"]
    with pytest.raises(TypeError, match="is not an instrument"):
        passdock.run(one_function(), instruments=[3])


def test_context_instruments_may_veto_and_fail() -> None:
    @pass_instrument
    class Veto:
        def should_run(self, mod: Module, info: PassInfo) -> bool:
            return info.name != FOLD

    @pass_instrument
    class Fails:
        def run_after_pass(self, mod: Module, info: PassInfo) -> None:
            raise LookupError("mine")

    with PassContext(instruments=[Veto()]):
        report = passdock.run(one_function())
    assert {entry["status"] for entry in report.passes if entry["name"] == FOLD} == {"skipped"}
    with PassContext(instruments=[Fails()]), pytest.raises(LookupError, match="mine"):
        passdock.optimize(one_function())


def test_timing_is_available_until_context_exit() -> None:
    timing = passdock.instrument.PassTimingInstrument()
    with PassContext(instruments=[timing]):
        passdock.optimize(one_function())
        assert FOLD in timing.render()


def test_unregistered_pass_names_are_valid_in_context() -> None:
    @module_pass(opt_level=0, name="test.Unregistered")
    def mine(mod: Module, ctx: PassContext) -> Module:
        raise AssertionError

    with PassContext(disabled_pass=["test.Unregistered"]):
        passdock.run(one_function())
        passdock.run(one_function(), Sequential([mine]))
    with pytest.raises(passdock.UnknownNameError, match=r"test\.Nowhere"), PassContext(disabled_pass=["test.Nowhere"]):
        passdock.run(one_function())


def test_pipeline_can_be_used_as_pass(tmp_path: Path) -> None:
    default = passdock.get_pipeline()
    assert isinstance(default, Sequential) and default.info.name == "default"
    assert str(default(one_function())) == str(passdock.optimize(one_function()))
    again = pickle.loads(pickle.dumps(default))
    assert again.info == default.info and len(again.passes) == len(default.passes)
    assert ran(Sequential([default, passdock.relax.InferType()]))[-1] == "relax.transform.InferType"
    path = tmp_path / "mine.toml"
    path.write_text("passes = ['FoldConstant']\n")
    assert [each.info.name for each in passdock.get_pipeline(path).passes] == [FOLD]
    path.write_text("passes = []\n[context]\nopt_level = 3\n")
    with pytest.raises(passdock.PipelineError, match=r"as a pass: it has `\[context\]`"):
        passdock.get_pipeline(path)
    with pytest.raises(passdock.PassError, match="nothing"):
        passdock.get_pipeline("nothing")


def test_warning_as_error_has_the_report(tmp_path: Path) -> None:
    """Its notes are the other warnings; the run is complete."""
    out = tmp_path / "out.ir"
    with warnings.catch_warnings(), pytest.raises(PassWarning, match="`aa`") as raised:
        warnings.simplefilter("error", PassWarning)
        passdock.run(one_function(), disabled_rule=["aa", "bb"], output=out)
    assert out.exists()
    assert raised.value.report.ok
    # Plugins of tests in that directory may be reported, too.
    codes = [diagnostic["code"] for diagnostic in raised.value.report.diagnostics]
    assert codes.count("unknown-rule") == 2
    assert any("bb" in note for note in raised.value.__notes__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PassWarning)
        assert passdock.run(one_function(), disabled_rule=["aa"]).ok


def test_exception_of_python_pass_has_the_report() -> None:
    class Mine(Exception):
        def report(self) -> str:
            return "mine"

    error = ValueError("no")
    for _ in range(2):
        with pytest.raises(ValueError) as raised:
            passdock.run(one_function(), Sequential([relax.InferType(), raiser(error)], name="test.Fails"))
        assert [entry["status"] for entry in raised.value.report.passes][-1] == "failed"  # type: ignore[attr-defined]
    with pytest.raises(Mine) as own:
        passdock.run(one_function(), raiser(Mine()))
    assert own.value.report() == "mine"


def test_reports_are_read_only() -> None:
    report = passdock.run(one_function())
    with pytest.raises(AttributeError, match=r"cannot set 'ok' of a report; .*`dict\(report\)`"):
        report.ok = False
    assert report.ok and {"ok", "passes", "model", "seconds", "module", "to_json"} <= set(dir(report))


def test_warnings_point_to_the_calling_line() -> None:
    """However many frames of the package are between, and also at a program's top level."""
    program = textwrap.dedent("""
        import passdock
        mod = passdock.Module.from_text("module {}")
        options = {"disabled_rule": ["aa"]}
        passdock.run(mod, **options)
        passdock.optimize(mod, **options)
        passdock.Pipeline("default")(mod, **options)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    locations = [line.split(": ")[0] for line in done.stderr.splitlines() if "PassWarning" in line]
    assert locations == ["<string>:5", "<string>:6", "<string>:7"]


def test_pipeline_must_be_called_with_a_module() -> None:
    with pytest.raises(TypeError, match="not str; use `run` for files"):
        Pipeline("default")("x.onnx")  # type: ignore[arg-type]


def test_single_line_toml_is_accepted() -> None:
    assert passdock.run(one_function(), 'passes = ["FoldConstant"]').ok


def test_rules_are_checked_against_definitions() -> None:
    with pytest.raises(passdock.PipelineError, match="Relo"):
        Rules("rule a { onnx.Relu(%x) => onnx.Relo(%x) }")


def test_overwritten_small_file_does_not_change_module(tmp_path: Path) -> None:
    """Its module keeps the contents that were read; so do its pickle, text and bytes."""

    def written(first: float) -> str:
        numbers = ", ".join(f"{first + at:.1f}" for at in range(200))
        module(f"""
            module {{
              fn @main(%x: f32[200]) -> (%y: f32[200]) opset("" = 17) {{
                %w = const f32[200] [{numbers}]
                %y = onnx.Add(%x, %w) : f32[200]
                return %y
              }}
            }}
        """).write(tmp_path / "m.onnx")
        return str(tmp_path / "m.onnx")

    held = Module.read(written(0.0))
    pickled, text = pickle.dumps(held), str(held)
    held.write(tmp_path / "m.ir")
    assert str(Module.from_onnx(held.to_onnx())) == text
    # With the same length: a reference to the file would now read other numbers.
    written(1.0)
    for result in (held, pickle.loads(pickled), Module.from_text(text), Module.read(tmp_path / "m.ir")):
        weights = result["main"].value("w").constant
        assert weights is not None and weights.numpy().tolist() == list(range(200))


def test_pickle_keeps_onnx_metadata() -> None:
    proto = onnx.load_from_string(one_function().to_onnx())
    proto.doc_string = proto.graph.node[0].doc_string = "told"
    given = Module.from_onnx(proto.SerializeToString())
    assert onnx.load_from_string(pickle.loads(pickle.dumps(given)).to_onnx()) == proto
