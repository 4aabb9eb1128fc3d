"""Pipelines: on files, bytes and models of other packages."""

from __future__ import annotations

import enum
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import onnxruntime  # type: ignore[import-untyped, unused-ignore]
import pytest

import passdock
from passdock import (
    ConfigError,
    ModelError,
    Module,
    PassContext,
    PassError,
    Pipeline,
    PipelineError,
    PluginError,
    Report,
    Sequential,
    UsageError,
    explain,
    optimize,
    run,
)
from support import Watch, module, one_function, raiser, recorder, with_data

CHAIN = """
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = onnx.Identity(%x) : f32[2]
    %y = onnx.Relu(%a) : f32[2]
    return %y
  }
}
"""


def proto() -> onnx.ModelProto:
    tensor = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy"]
    nodes = [onnx.helper.make_node("Identity", ["x"], ["a"]), onnx.helper.make_node("Relu", ["a"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "g", tensor[:1], tensor[1:])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def kinds(mod: Module) -> list[str]:
    return [op.name for op in mod["main"].ops]


def test_module_is_optimized() -> None:
    mod = Module.from_text(CHAIN)
    after = optimize(mod)
    assert kinds(after) == ["onnx.Relu"]
    assert kinds(mod) == ["onnx.Identity", "onnx.Relu"]


def test_result_has_the_type_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(proto(), path)
    assert kinds(optimize(path)) == kinds(optimize(str(path))) == ["onnx.Relu"]
    result = optimize(proto().SerializeToString())
    assert isinstance(result, bytes) and kinds(Module.from_onnx(result)) == ["onnx.Relu"]
    result = optimize(proto())
    assert isinstance(result, onnx.ModelProto) and [node.op_type for node in result.graph.node] == ["Relu"]
    result = optimize(onnx_ir.from_proto(proto()))
    assert isinstance(result, onnx_ir.Model) and [node.op_type for node in result.graph] == ["Relu"]

    class Mine(onnx_ir.Model):
        pass

    model = onnx_ir.from_proto(proto())
    result = optimize(Mine(model.graph, ir_version=model.ir_version))
    assert isinstance(result, onnx_ir.Model) and [node.op_type for node in result.graph] == ["Relu"]
    result = optimize(CHAIN)
    assert isinstance(result, str) and "Identity" not in result
    with pytest.raises(TypeError, match="a model must be a path, .*, not int"):
        optimize(5)  # type: ignore[call-overload]  # pyright: ignore


def test_outside_data_needs_permission(tmp_path: Path) -> None:
    path, out = with_data(tmp_path / "in" / "m.onnx"), tmp_path / "out" / "m.onnx"
    out.parent.mkdir()
    (path.parent / "m.data").rename(tmp_path / "blob")
    (path.parent / "m.data").symlink_to(Path("..", "blob"))
    for output in (out, None):
        with pytest.raises(ModelError, match=r"in/m\.data.*pass `allow_outside_data=True` to allow it"):
            optimize(path, output)
    assert kinds(optimize(path, allow_outside_data=True)) == ["onnx.Add"]
    assert optimize(path, out, allow_outside_data=True, external_data="all").ok
    assert sorted(file.name for file in out.parent.iterdir()) == ["m.onnx", "m.onnx.data"]
    assert run(path, {}, out, allow_outside_data=True, external_data="none", drop_spans=True).ok
    assert [file.name for file in out.parent.iterdir()] == ["m.onnx"]


def test_outside_data_in_ir_text_needs_permission(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(bytes(8))
    data = f'external("{(tmp_path / "blob").as_posix()}", 0, 8)'
    text = f"module {{ fn @main() -> (%y: f32[2]) {{ %w = const f32[2] {data} return %w }} }}"
    with pytest.raises(ModelError, match="pass `allow_outside_data=True` to allow it"):
        Module.from_text(text)
    mod = Module.from_text(text, allow_outside_data=True)
    # A pickle refers to the data, too.
    assert str(pickle.loads(pickle.dumps(mod))) == str(mod)


def test_outside_files_of_a_pipeline_need_trust(tmp_path: Path) -> None:
    (tmp_path / "fuse.rules").write_text("rule a.neg { onnx.Neg(onnx.Neg(%x)) => %x }")
    path = tmp_path / "in" / "p.toml"
    path.parent.mkdir()
    path.write_text("[[passes]]\nrules = '../fuse.rules'\n")
    with pytest.raises(PassError, match="outside the pipeline's directory") as raised:
        optimize(Module.from_text(CHAIN), None, path)
    assert "pass `trust=True` to allow files outside the directory" in str(raised.value)
    assert kinds(optimize(Module.from_text(CHAIN), None, path, trust=True))


def test_plugins_of_a_locked_pipeline_must_not_change(tmp_path: Path) -> None:
    path, lock = tmp_path / "p.toml", tmp_path / "passdock.lock"
    path.write_text("passes = ['FoldConstant']")
    with pytest.raises(PluginError, match="passdock.lock` does not exist") as raised:
        run(Module.from_text(CHAIN), path, locked=True)
    assert f"`passdock lock {path}`" in str(raised.value)
    subprocess.run([sys.executable, "-m", "passdock", "lock", path], check=True)
    assert run(Module.from_text(CHAIN), path, locked=True).ok
    assert explain(path, locked=True)
    lock.write_text(re.sub('= "[0-9a-f]{64}"', f'= "{"0" * 64}"', lock.read_text()))
    with pytest.raises(PluginError, match="the plugins differ from"):
        run(Module.from_text(CHAIN), path, locked=True)


def test_standard_plugins_need_no_signature() -> None:
    assert run(Module.from_text(CHAIN), passes=["FoldConstant"], require_signed=True).ok


def test_untrusted_pipeline_file_cannot_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "strangers_passes.py").write_text(
        "import pathlib, passdock\n"
        "pathlib.Path(__file__).with_name('ran').touch()\n"
        "made = passdock.module_pass(lambda mod, ctx: mod, opt_level=0, name='tests.Stranger')\n"
        "def make(): return made\n"
    )
    mod, path, model = Module.from_text(CHAIN), tmp_path / "p.toml", tmp_path / "m.onnx"
    mod.write(model)

    def entry(name: str) -> str:
        text = f"[[passes]]\npython = 'strangers_passes:{name}'\n"
        path.write_text(text)
        return text

    text = entry("made")
    for call in (
        lambda: optimize(mod, None, path),
        lambda: run(mod, text),
        lambda: passdock.explain(passdock.Pipeline(path)),
        lambda: passdock.get_pipeline(path),
        lambda: passdock.batch(model, path, tmp_path / "out"),
    ):
        with pytest.raises(
            UsageError, match=r"uses `strangers_passes:made`.* has not imported `strangers_passes`"
        ) as raised:
            call()
        assert "import it, or use `trust=True`" in str(raised.value)
    assert "strangers_passes" not in sys.modules and not (tmp_path / "ran").exists()
    # A pipeline in the program isn't a file. Modules that it imported are trusted, but not each function in them.
    assert run(mod, {"passes": [{"python": "strangers_passes:made"}]}).ok
    assert (tmp_path / "ran").exists()
    assert run(mod, path).ok and passdock.get_pipeline(path)(mod) is mod
    entry("make")
    with pytest.raises(
        UsageError, match=r"calls `strangers_passes:make`, which is not a pass; name a pass, or use `trust=True`"
    ):
        run(mod, path)
    assert run(mod, path, trust=True).ok
    result = passdock.get_pipeline(path, trust=True)
    assert pickle.loads(pickle.dumps(result))(mod) is mod


def test_trusted_pipeline_file_can_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "friends_passes.py").write_text(
        "import passdock\nmade = passdock.module_pass(lambda mod, ctx: mod, opt_level=0, name='tests.Friend')\n"
    )
    path = tmp_path / "p.toml"
    path.write_text("[[passes]]\npython = 'friends_passes:made'\n")
    assert run(Module.from_text(CHAIN), path, trust=True).ok


def test_missing_external_data_is_a_model_error(tmp_path: Path) -> None:
    path, out = with_data(tmp_path / "in" / "m.onnx"), tmp_path / "in" / "out.onnx"
    model = onnx_ir.load(path)
    (path.parent / "m.data").unlink()
    # A run that doesn't need the data warns.
    with pytest.warns(UserWarning, match=r'm\.onnx`: tensor "w": could not read external data file `.*/in/m\.data`'):
        assert run(path, {}).ok
    with pytest.raises(ModelError, match=r'^model `.*m\.onnx`: tensor "w": .*/in/m\.data`') as unwritten:
        run(path, {}, out)
    assert unwritten.value.notes == ["needed by the output"]
    assert unwritten.value.report is not None and len(unwritten.value.report.diagnostics) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelError, match=r'^model `.*m\.onnx`: tensor "w": .*/in/m\.data`') as raised:
            run(path, output=out)
    assert (raised.value.code, raised.value.pass_name) == ("read", None)
    (note,) = raised.value.notes
    assert re.fullmatch(r"needed by pass `relax\.transform\.\w+`", note)
    report = raised.value.report
    assert report is not None and "data" not in {diagnostic["code"] for diagnostic in report.diagnostics}
    with pytest.raises(ModelError, match='tensor "w"') as raised:
        optimize(onnx.load(path, load_external_data=False))
    assert raised.value.__notes__ == ["a model in memory must include its data; load the data, or pass the path of the model"]
    with pytest.raises(ModelError, match="could not read the data of tensor 'w': "):
        optimize(model)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all names of files are UTF-8")
def test_non_utf8_paths_are_supported(tmp_path: Path) -> None:
    path, out = (tmp_path / os.fsdecode(name) for name in (b"in\xff.onnx", b"out\xff.onnx"))
    onnx.save(proto(), tmp_path / "in.onnx")
    (tmp_path / "in.onnx").rename(path)
    pipeline = tmp_path / os.fsdecode(b"p\xff.toml")
    pipeline.write_text("passes = ['DeadCodeElimination']\n")
    assert optimize(path, out, pipeline, reproducer_dir=tmp_path / os.fsdecode(b"\xff")).ok
    assert out.exists()
    by_each: list[dict[str, Any]] = [{}, {"verify": "all"}]
    for options in by_each:
        summary = passdock.batch(path, pipeline, tmp_path / os.fsdecode(b"d\xff"), **options).wait()
        assert summary.ok == 1, summary


def test_paths_that_start_with_module_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("modules").mkdir()
    for name in ("module.onnx", "module v1.onnx", "modules/model.onnx"):
        onnx.save(proto(), name)
        assert optimize(name, "out.onnx").ok and kinds(optimize(name)) == ["onnx.Relu"]
    assert optimize("module {}") == optimize(" module{\n}") == "module {\n}\n"


def test_file_to_file(tmp_path: Path) -> None:
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(proto(), path)
    report = optimize(path, out)
    assert isinstance(report, Report)
    assert kinds(Module.read(out)) == ["onnx.Relu"]
    assert report["ok"] is True and report.ok is True
    assert (report.model["ops_before"], report.model["ops_after"]) == (2, 1)
    assert json.loads(report.to_json())["model"] == report.model
    assert str(report).splitlines()[-1].startswith("2 → 1 ops in ")
    assert repr(report) == "<passdock.Report ok, 2 → 1 ops>"
    assert "<table>" in report._repr_html_()
    assert set(report) >= {"model", "ok", "passes", "seconds"} and len(report) > 5
    assert report.json_version == explain("default")["json_version"] == 1
    with pytest.raises(AttributeError, match="a report has no attribute 'nothing'; it has "):
        _ = report.nothing


@pytest.mark.parametrize(
    "source",
    [
        {"passes": ["DeadCodeElimination", "CanonicalizeBindings"]},
        'passes = ["CanonicalizeBindings"]\n\n',
        "simplify",
        {"passes": [{"name": "CanonicalizeBindings"}], "context": {"opt_level": 3}},
    ],
)
def test_pipeline_sources(source: Any) -> None:
    after = Pipeline(source)(Module.from_text(CHAIN))
    assert "onnx.Identity" not in kinds(after)


def test_pipeline_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('passes = ["CanonicalizeBindings"]\n')
    assert kinds(Pipeline(path)(Module.from_text(CHAIN))) == ["onnx.Relu"]
    assert repr(Pipeline(str(path))) == f"<passdock.Pipeline {path}>"
    with pytest.raises(PipelineError, match=r"could not read the pipeline `.*nothing\.toml`"):
        Pipeline(tmp_path / "nothing.toml")
    with pytest.raises(PassError, match="nothing"):
        Pipeline("nothing")
    with pytest.raises(PipelineError, match="passs"):
        run(one_function(), {"passs": []})


def test_model_file_is_rejected_as_pipeline(tmp_path: Path) -> None:
    """The third argument of `run` is the output; of `optimize`, it is the second one."""
    path, other = tmp_path / "model.onnx", tmp_path / "other.toml"
    onnx.save(proto(), path)
    for output in (path, tmp_path / "out.onnx", tmp_path / "out.ir"):
        with pytest.raises(PipelineError, match=rf"found the model file `{output}`; use `output=`"):
            run(path, output)
    other.write_bytes(b"\xff\xfe")
    with pytest.raises(PipelineError, match=r"other\.toml`: invalid UTF-8"):
        run(path, other)
    assert run(path, output=tmp_path / "out.onnx").ok and (tmp_path / "out.onnx").exists()


def test_pass_is_accepted_as_pipeline(tmp_path: Path) -> None:
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(proto(), path)
    mine = Sequential([passdock.relax.CanonicalizeBindings(), passdock.relax.CombineParallelConv2D()], name="mine")
    report = run(path, mine, out)
    assert kinds(Module.read(out)) == ["onnx.Relu"]
    assert [entry["name"] for entry in report.passes if not entry["depth"]] == ["mine"]
    assert report.pipeline["name"] == "mine"
    assert kinds(optimize(path, pipeline=mine)) == ["onnx.Relu"]
    result = optimize(proto(), pipeline=passdock.relax.CanonicalizeBindings())
    assert [node.op_type for node in result.graph.node] == ["Relu"]
    assert explain(mine)["passes"][0]["name"] == "mine"

    events: list[str] = []
    # A pass that is called directly runs at any level.
    run(path, recorder(events, "tests.pipeline.Given", opt_level=4))
    assert events == ["tests.pipeline.Given"]
    assert "tests.pipeline.Given" not in passdock.list_passes()


def test_pass_as_pipeline_uses_the_current_context() -> None:
    combine = "relax.transform.CombineParallelConv2D"
    mine = Sequential([passdock.relax.FoldConstant(), passdock.relax.CombineParallelConv2D()])

    def statuses(**options: Any) -> list[str]:
        return [entry["status"] for entry in run(one_function(), mine, **options).passes if entry["name"] == combine]

    assert statuses() == ["skipped"] and statuses(opt_level=4) == ["unchanged"]
    with PassContext(opt_level=4, config={"relax.FoldConstant": {"max_growth": 5}}):
        assert statuses() == ["unchanged"] and statuses(opt_level=1) == ["skipped"]
    with PassContext(opt_level=4, disabled_pass=[combine]):
        assert statuses() == ["skipped"]
    events: list[str] = []
    with PassContext(instruments=[Watch(events)]):
        run(one_function(), mine)
    assert events


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (["FoldConstant"], r"expected a pipeline, got a list of names; use `passes=\['FoldConstant'\]`"),
        ([passdock.relax.FoldConstant()], r"got a list of passes; use `Sequential\(\[…\]\)`"),
        (b"default", "a name, a path, TOML, a dict, a Pipeline or a pass, not bytes"),
    ],
)
def test_invalid_pipelines_are_rejected(pipeline: Any, message: str) -> None:
    for call in (lambda: run(one_function(), pipeline), lambda: optimize(CHAIN, pipeline=pipeline), lambda: Pipeline(pipeline)):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(TypeError, match="not NoneType"):
        Pipeline(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a pipeline, got a pass"):
        Pipeline(passdock.relax.FoldConstant())  # type: ignore[arg-type]


def test_registered_python_passes_can_be_named() -> None:
    events: list[str] = []
    recorder(events, "tests.pipeline.Mine").register()
    report = run(one_function(), {"passes": ["FoldConstant", "tests.pipeline.Mine"]})
    assert events == ["tests.pipeline.Mine"]
    assert [entry["name"] for entry in report.passes][-1] == "tests.pipeline.Mine"
    assert report.module is not None
    explained = explain(passes=["tests.pipeline.Mine"])
    assert "tests.pipeline.Mine" in json.dumps(explained)


def test_models_from_ir_text_are_valid_onnx(tmp_path: Path) -> None:
    """Graphs get names, and regions become attributes."""
    path = tmp_path / "if.onnx"
    text = """
        module {
          fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.If(%c) : f32[2]
              region then_branch {
                %a = onnx.Relu(%x) : f32[2]
                yield %a
              }
              region else_branch {
                %b = onnx.Neg(%x) : f32[2]
                yield %b
              }
            return %y
          }
        }
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(module(text), passes=["InferType"]).module
    assert result is not None
    result.write(path)
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    assert proto.graph.name == "main"
    assert [attr.g.name for attr in proto.graph.node[0].attribute] == ["then_branch", "else_branch"]
    session: Any = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = {"c": np.array(False), "x": np.array([1, -2], np.float32)}
    assert np.asarray(session.run(None, inputs)[0]).tolist() == [-1.0, 2.0]


def test_failing_python_pass_raises_its_exception(tmp_path: Path) -> None:
    """The same exception object is raised, and nothing is written."""
    error = LookupError("mine")
    raiser(error, "tests.pipeline.Fails").register()
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(proto(), path)
    with pytest.raises(LookupError) as raised:
        run(path, None, out, passes=["tests.pipeline.Fails"])
    assert raised.value is error
    assert not out.exists()
    assert any("tests.pipeline.Fails" in note for note in error.__notes__)


def test_failed_run_has_a_report() -> None:
    with pytest.raises(PassError) as raised:
        run(one_function(), passes=["Nothing"])
    assert isinstance(raised.value.report, Report)
    assert raised.value.report["ok"] is False
    assert str(raised.value.report).endswith("failed")


@pytest.mark.parametrize("option", ["passes", "required_pass", "disabled_pass", "disabled_rule"])
def test_string_is_rejected_as_list_of_names(option: str) -> None:
    message = re.escape(f"{option}: expected a list of names, got a string; did you mean ['A']?")
    options: dict[str, Any] = {option: "A"}
    with pytest.raises(TypeError, match=message):
        run(one_function(), **options)
    with pytest.raises(TypeError, match=message):
        explain(**options)


def test_pass_object_is_rejected_as_name() -> None:
    with pytest.raises(TypeError, match="passes: expected the name 'relax.transform.FoldConstant', got the pass"):
        run(one_function(), passes=[passdock.relax.FoldConstant()])


@pytest.mark.parametrize("option", ["passes", "required_pass", "disabled_pass", "plugins", "plugin_dirs"])
def test_none_is_an_empty_list(option: str) -> None:
    assert explain("default", **{option: None}) == explain("default")
    with pytest.raises(TypeError, match=f"{option}: expected a list of .*, got int"):
        explain("default", **{option: 3})


@pytest.mark.parametrize("option", ["plugins", "plugin_dirs"])
@pytest.mark.parametrize("path", ["x", Path("x")])
def test_path_is_rejected_as_list_of_paths(option: str, path: Any) -> None:
    with pytest.raises(TypeError, match=f"{option}: expected a list of paths, got .*; did you mean "):
        run(one_function(), **{option: path})


def test_options_are_checked() -> None:
    with pytest.raises(TypeError, match="colour"):
        run(one_function(), colour="red")
    with pytest.raises(passdock.ConfigError, match=r"testing\.immutable_modul"):
        run(one_function(), config={"testing.immutable_modul": True})


@pytest.mark.parametrize(
    ("option", "value", "error", "message"),
    [
        ("opt_level", 2**70, ValueError, "opt_level must be at most 2147483647, not 1180591620717411303424"),
        ("raise_opset", 2**40, ValueError, "raise_opset must be at most"),
        ("allow_growth", 1, TypeError, "allow_growth must be True or False, not 1"),
        ("value_info", "no", TypeError, "value_info must be True or False, not 'no'"),
        ("verify_outputs", "x", TypeError, "verify_outputs must be True or False, not 'x'"),
        (
            "progress",
            "yes",
            TypeError,
            "progress must be True, False or a function of passes, not 'yes'",
        ),
        ("output", b"o.onnx", TypeError, "output must be a path, not bytes"),
        ("html_report", True, TypeError, "html_report must be a path, not bool"),
        ("reproducer_dir", 3, TypeError, "reproducer_dir must be a path, not int"),
        ("config", {"a": None}, TypeError, r"config\['a'\]: a value must consist of strings, .*, not NoneType"),
        ("bind", {"x": object()}, TypeError, r"bind\['x'\]: a value must consist of strings, .*, not object"),
        (
            "bind",
            {"x": np.zeros((101, 100))},
            ValueError,
            r"bind\['x'\]: an array can have at most 10,000 elements, not 10,100",
        ),
    ],
)
def test_invalid_option_value_error_names_the_option(
    option: str, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(one_function(), **{option: value})


def test_switches_accept_numpy_bools() -> None:
    assert run(one_function(), allow_growth=np.bool_(True), value_info=np.bool_(False)).ok


def test_parameters_are_bound_to_arrays() -> None:
    text = """
        module {
          fn @main(%x: f32[2], %w: f32[2,2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.MatMul(%w, %x) : f32[2]
            return %y
          }
        }
    """
    array = np.array([[0.1, -2.5], [np.inf, 1e-30]], np.float32)
    for bound in (array, array.tolist(), [array[0], array[1]]):
        result = run(module(text), bind={"w": bound}).module
        assert result is not None
        (constant,) = (value.constant for value in result["main"].constants)
        assert constant is not None and np.array_equal(constant.numpy(), array)
        assert [param.name for param in result["main"].params] == ["x"]


def test_invalid_unicode_in_pipelines_is_rejected() -> None:
    with pytest.raises(PassError, match=r"no pass is named `a\\u\{7f\}b\\u\{1\}`"):
        run(one_function(), {"passes": ["a\x7fb\x01"]})
    with pytest.raises(ValueError, match=r"invalid Unicode in 'a\\udcff'"):
        run(one_function(), {"passes": ["a\udcff"]})


def test_html_report_path_is_escaped(tmp_path: Path) -> None:
    report = run(one_function(), html_report=tmp_path / "run #1 é.html")
    assert "/run%20%231%20%C3%A9.html' style=" in report._repr_html_()


def test_options_accept_numpy_and_enum_numbers() -> None:
    """NumPy's numbers, and those of enums."""

    class Limit(enum.IntEnum):
        LOW = 5

    mod = Module.from_text(CHAIN)
    level: Any = np.int64(1)
    for given, kept in ((np.int64(5), 5), (Limit.LOW, 5)):
        entry = {"name": "FoldConstant", "options": {"max_growth": given, "allow_growth": np.bool_(True)}}
        options = explain({"passes": [entry]})["passes"][0]["options"]
        assert {"name": "max_growth", "source": "options", "value": kept} in options
        assert run(mod, config={"relax.FoldConstant": {"max_growth": given}}, opt_level=np.int64(2)).ok
        with PassContext(opt_level=level, config={"relax.FoldConstant": {"max_growth": given}}) as ctx:
            assert ctx.opt_level == 1 and ctx.get_config("relax.FoldConstant")["max_growth"] == kept
    with pytest.raises(ConfigError, match=r"2\.5"):
        run(mod, config={"relax.FoldConstant": {"max_growth": np.float64(2.5)}})


def test_progress_receives_pass_names() -> None:
    names: list[str] = []
    run(one_function(), passes=["FoldConstant", "InferType"], progress=names.append)
    assert names[-2:] == ["relax.transform.FoldConstant", "relax.transform.InferType"]
