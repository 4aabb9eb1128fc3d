"""``torch.onnx.ONNXProgram``, replaced by a class with the same interface: torch is too large for a test.

The names are those of ``torch/onnx/_internal/exporter/_onnx_program.py`` of torch 2.5 to 2.9.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import onnx
import onnx_ir
import onnxruntime  # type: ignore[import-untyped, unused-ignore]
import pytest

import passdock
from passdock import Module, Report, _optimize


class ONNXProgram:
    """The result of torch's exporter: a model of onnx_ir, the exported program, and a session to run it."""

    def __init__(self, model: onnx_ir.Model, exported_program: object) -> None:
        self.model = model
        self.exported_program = exported_program
        self._inference_session: object = None
        self._tempdir: object = None
        self._capture_strategy: str | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("unexpected call")

    @property
    def model_proto(self) -> onnx.ModelProto:
        return onnx_ir.serde.serialize_model(self.model)

    def optimize(self) -> NoReturn:
        raise AssertionError("torch's own passes aren't asked for")

    def compute_values(self, value_names: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        raise AssertionError("unexpected call")

    def save(self, destination: Any, **options: Any) -> NoReturn:
        raise AssertionError("nothing is saved")

    def apply_weights(self, state_dict: Any) -> NoReturn:
        raise AssertionError("the weights are there")

    def initialize_inference_session(self, initializer: Any = None) -> NoReturn:
        raise AssertionError("unexpected call")

    def release(self) -> None: ...


class First:
    """The class of ``dynamo_export`` in torch 2.1 to 2.4, which has the proto."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        self.model_proto = proto


class TorchTensor(onnx_ir.Tensor[Any]):
    """Like torch's tensor: the data belongs to the program, and is converted to an array on demand."""

    def numpy(self) -> np.ndarray[Any, Any]:
        return np.asarray(self.raw)

    def tobytes(self) -> bytes:
        return self.numpy().tobytes()


def program(size: int) -> ONNXProgram:
    """Returns a program that adds weights to the result of an Identity."""
    weights = TorchTensor(np.arange(size, dtype=np.float32), name="w")
    x, w = (onnx_ir.Value(name=name, type=onnx_ir.TensorType(onnx_ir.DataType.FLOAT)) for name in "xw")
    x.shape = w.shape = onnx_ir.Shape([size])
    w.const_value = weights
    same = onnx_ir.node("Identity", [x])
    add = onnx_ir.node("Add", [same.outputs[0], w])
    (y,) = add.outputs
    y.name, y.type, y.shape = "y", x.type, x.shape
    graph = onnx_ir.Graph([x], [y], nodes=[same, add], initializers=[w], opset_imports={"": 18}, name="main_graph")
    return ONNXProgram(onnx_ir.Model(graph, ir_version=10, producer_name="pytorch", producer_version="2.9.0"), object())


def result(model: bytes, size: int) -> np.ndarray[Any, Any]:
    session = onnxruntime.InferenceSession(model)
    (created,) = session.run(None, {"x": np.ones(size, np.float32)})
    return np.asarray(created)


@pytest.mark.parametrize("large", [False, True])
def test_program_is_optimized_to_an_onnx_ir_model(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 300_000
    if large:
        monkeypatch.setattr(_optimize, "_LARGE", 4 * size)
    given = program(size)
    before = onnx_ir.to_proto(given.model).SerializeToString()
    created = passdock.optimize(given)
    assert isinstance(created, onnx_ir.Model)
    assert [node.op_type for node in created.graph] == ["Add"]
    assert (created.producer_name, created.producer_version, created.ir_version) == ("pytorch", "2.9.0", 10)
    assert np.array_equal(result(onnx_ir.to_proto(created).SerializeToString(), size), np.arange(1, size + 1))
    # The program isn't changed.
    assert onnx_ir.to_proto(given.model).SerializeToString() == before
    assert isinstance(given.model.graph.initializers["w"].const_value, TorchTensor)
    # A model of onnx_ir without a program isn't, either.
    assert [node.op_type for node in passdock.optimize(given.model).graph] == ["Add"]


@pytest.mark.parametrize("large", [False, True])
def test_program_is_written_to_a_file(large: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    size = 300_000
    if large:
        monkeypatch.setattr(_optimize, "_LARGE", 1)
    report = passdock.optimize(program(size), tmp_path / "out.onnx")
    assert isinstance(report, Report) and report.ok
    assert [op.name for op in Module.read(tmp_path / "out.onnx")["main"].ops] == ["onnx.Add"]
    session = onnxruntime.InferenceSession(tmp_path / "out.onnx")
    (created,) = session.run(None, {"x": np.ones(size, np.float32)})
    assert np.array_equal(np.asarray(created), np.arange(1, size + 1))


def test_program_of_early_torch_releases() -> None:
    created = passdock.optimize(First(program(4).model_proto))
    assert isinstance(created, onnx_ir.Model)
    assert [node.op_type for node in created.graph] == ["Add"]


def external(name: str, number: float, directory: Path) -> onnx_ir.ExternalTensor:
    """Returns a tensor of two elements in a file of a directory. The current directory has a file of that name, too."""
    for place, numbers in ((directory, [number, number]), (Path(), [7, 7])):
        (place / f"{name}.data").write_bytes(np.array(numbers, np.float32).tobytes())
    return onnx_ir.ExternalTensor(
        f"{name}.data", 0, 8, onnx_ir.DataType.FLOAT, shape=onnx_ir.Shape([2]), name=name, base_dir=directory
    )


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", ["model", "program", "output"])
def test_external_data_is_relative_to_the_model(
    large: bool, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Covers an initializer and a tensor attribute in a function."""
    if large:
        monkeypatch.setattr(_optimize, "_LARGE", 1)
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    model = program(2).model
    model.graph.initializers["w"].const_value = external("w", 1, there)
    ten = onnx_ir.node("Constant", [], attributes={"value": external("ten", 10, there)})
    p = onnx_ir.Value(name="p")
    plus = onnx_ir.node("Add", [p, ten.outputs[0]])
    body = onnx_ir.Graph([p], plus.outputs, nodes=[ten, plus], opset_imports={"": 18})
    model.functions["acme", "PlusTen", ""] = onnx_ir.Function("acme", "PlusTen", "", graph=body, attributes=[])
    model.graph.opset_imports["acme"] = 1
    call = onnx_ir.node("PlusTen", [model.graph.outputs[0]], domain="acme")
    model.graph.append(call)
    (y,) = call.outputs
    y.name, y.type, y.shape = "z", model.graph.outputs[0].type, model.graph.outputs[0].shape
    model.graph.outputs[0] = y
    before = onnx_ir.to_proto(model).SerializeToString()
    if kind == "output":
        passdock.optimize(model, "out.onnx")
        created = Path("out.onnx").read_bytes()
    else:
        optimized = passdock.optimize(model if kind == "model" else ONNXProgram(model, object()))
        created = onnx_ir.to_proto(optimized).SerializeToString()
    assert result(created, 2).tolist() == [12, 12]
    # The model isn't changed, nor is the location of its data.
    assert onnx_ir.to_proto(model).SerializeToString() == before
    assert isinstance(model.graph.initializers["w"].const_value, onnx_ir.ExternalTensor)
