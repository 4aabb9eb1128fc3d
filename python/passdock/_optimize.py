"""``passdock.optimize``: runs a pipeline on a model in any supported form."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, overload

from ._passdock import Module
from .errors import ModelError
from .pipeline import Report, run

if TYPE_CHECKING:
    # A package that isn't installed is typed as `Any`, which doesn't affect the other overloads.
    import onnx
    import onnx_ir

    from .pipeline import AnyPipeline, PathLike

__all__ = ["optimize"]


class _Program(Protocol):
    """The part of ``torch.onnx.ONNXProgram`` that is used."""

    @property
    def model_proto(self) -> Any: ...


@overload
def optimize(model: Any, output: PathLike, pipeline: AnyPipeline | None = ..., **options: Any) -> Report: ...
@overload
def optimize(
    model: onnx.ModelProto,
    output: None = ...,
    pipeline: AnyPipeline | None = ...,
    **options: Any,
) -> onnx.ModelProto: ...
@overload
def optimize(model: Module, output: None = ..., pipeline: AnyPipeline | None = ..., **options: Any) -> Module: ...
@overload
def optimize(
    model: bytes | bytearray | memoryview,
    output: None = ...,
    pipeline: AnyPipeline | None = ...,
    **options: Any,
) -> bytes: ...
@overload
def optimize(
    model: onnx_ir.Model,
    output: None = ...,
    pipeline: AnyPipeline | None = ...,
    **options: Any,
) -> onnx_ir.Model: ...
@overload
def optimize(
    model: _Program, output: None = ..., pipeline: AnyPipeline | None = ..., **options: Any
) -> onnx_ir.Model: ...
@overload
def optimize(
    model: os.PathLike[str],
    output: None = ...,
    pipeline: AnyPipeline | None = ...,
    **options: Any,
) -> Module: ...
@overload
def optimize(
    model: str, output: None = ..., pipeline: AnyPipeline | None = ..., **options: Any
) -> Any: ...  # IR text for IR text, and a Module for a path
def optimize(
    model: Any,
    output: PathLike | None = None,
    pipeline: AnyPipeline | None = None,
    **options: Any,
) -> Any:
    """Optimizes a model.

    Args:
        model: The path of a file, the bytes of an ONNX model, an ``onnx.ModelProto``, an ``onnx_ir.Model``, a
            ``torch.onnx.ONNXProgram``, IR text, or a ``passdock.Module``.
        output: The file to write, if the model is a path. Without it, nothing is written, and the module is returned.
        pipeline, options: As for ``run``.

    Returns:
        The report of the run if ``output`` is given. Otherwise the optimized model in the form of the input: bytes for
        bytes, a ModelProto for a ModelProto, an ``onnx_ir.Model`` for such a model or a program, text for text, and a
        module for a module or a path.

    Raises:
        TypeError: The model has another type.
        PassError: As for ``run``.
        ModelError: The model can't be read, or data that a pass needs is missing.
    """
    if isinstance(model, (str, os.PathLike)) and not _is_text(model):
        if output is not None:
            return run(model, pipeline, output, **options)
        read = Module.read(os.fspath(model), allow_outside_data=bool(options.get("allow_outside_data")))
        return run(read, pipeline, **options).module
    with contextlib.ExitStack() as ends:
        module, back = _taken(model, ends, outside_data=bool(options.get("allow_outside_data")))
        try:
            report = run(module, pipeline, output, **options)
        except ModelError as error:
            if not isinstance(model, Module):
                error.add_note("a model in memory must include its data; load the data, or pass the path of the model")
            raise
        if output is not None:
            return report
        assert report.module is not None
        return back(report.module)


def _is_text(model: Any) -> bool:
    """Returns whether a string is IR text and not a path; it may be a single line, ``module {}``."""
    if not isinstance(model, str) or "\n" in model:
        return isinstance(model, str)
    return re.match(r"\s*module[\s{]", model) is not None and not model.endswith((".onnx", ".ir"))


def _taken(model: Any, ends: contextlib.ExitStack, *, outside_data: bool) -> tuple[Module, Callable[[Module], Any]]:
    """Converts a model to a module, and returns it with a function for the reverse conversion. Objects of other
    packages are recognized by their methods.

    ends: Cleans up after the reverse conversion.
    """
    if isinstance(model, Module):
        return model, lambda made: made
    if isinstance(model, str):
        return Module.from_text(model, allow_outside_data=outside_data), str
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Module.from_onnx(bytes(model)), Module.to_onnx
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return _of_proto(model)
    if _is_onnx_ir(model):
        return _of_onnx_ir(model, ends)
    # torch.onnx.ONNXProgram: its model is an onnx_ir.Model, except in early releases, which only have the proto.
    if _is_onnx_ir(getattr(model, "model", None)):
        return _of_onnx_ir(model.model, ends)
    if hasattr(model, "model_proto"):
        module, back = _of_proto(model.model_proto)
        return module, lambda made: _onnx_ir().from_proto(back(made))
    raise TypeError(
        "a model must be a path, the bytes of an ONNX model, an onnx.ModelProto, an onnx_ir.Model, a "
        f"torch.onnx.ONNXProgram, IR text, or a passdock.Module, not {type(model).__name__}"
    )


def _of_proto(proto: Any) -> tuple[Module, Callable[[Module], Any]]:
    kind = type(proto)
    return Module.from_onnx(proto.SerializeToString()), lambda made: kind.FromString(made.to_onnx())


# The size of weights in bytes from which a model of onnx_ir is converted through files: a proto is limited to 2 GiB.
_LARGE = 1 << 30


def _of_onnx_ir(model: Any, ends: contextlib.ExitStack) -> tuple[Module, Callable[[Module], Any]]:
    ir = _onnx_ir()
    model = _with_data(model)
    if sum(tensor.nbytes for tensor in _tensors(model)) < _LARGE:
        module, back = _of_proto(ir.to_proto(model))
        return module, lambda made: ir.from_proto(back(made))
    import tempfile

    directory = ends.enter_context(tempfile.TemporaryDirectory(prefix="passdock-"))
    given, after = (os.path.join(directory, name) for name in ("model.onnx", "after.onnx"))
    ir.save(model, given, external_data="model.data")

    def back_from_file(made: Module) -> Any:
        made.write(after)
        # The files are removed after this call.
        return ir.external_data.load_to_model(ir.load(after))

    return Module.read(given), back_from_file


def _with_data(model: Any) -> Any:
    """Returns the model, or a copy whose tensors view external data: a proto has file names, but not the directory."""
    ir = _onnx_ir()
    if not any(isinstance(tensor, ir.ExternalTensor) for tensor in _tensors(model)):
        return model

    def viewed(tensor: Any) -> Any:
        if not isinstance(tensor, ir.ExternalTensor):
            return tensor
        try:
            data = tensor.numpy()
        except OSError as error:
            message = f"could not read the data of tensor {tensor.name!r}: {error}"
            raise ModelError(message, code="read") from error
        return ir.Tensor(data, dtype=tensor.dtype, name=tensor.name, doc_string=tensor.doc_string)

    model = model.clone()
    for graph in _graphs(model):
        for value in getattr(graph, "initializers", {}).values():
            value.const_value = viewed(value.const_value)
        for node in graph:
            for attr in list(node.attributes.values()):
                if _of_tensors(attr):
                    made = [viewed(tensor) for tensor in _of_tensors(attr)]
                    said = made[0] if attr.type.name == "TENSOR" else made
                    node.attributes[attr.name] = ir.Attr(attr.name, attr.type, said, doc_string=attr.doc_string)
    return model


def _graphs(model: Any) -> Iterator[Any]:
    """Yields the graphs of a model of onnx_ir and of its functions, including nested ones."""
    for body in (model.graph, *model.functions.values()):
        yield body
        yield from body.subgraphs()


def _tensors(model: Any) -> Iterator[Any]:
    """Yields the tensors of a model of onnx_ir: initializers, and those in attributes."""
    for graph in _graphs(model):
        # Functions have no initializers.
        values = getattr(graph, "initializers", {}).values()
        yield from (value.const_value for value in values if value.const_value is not None)
        for node in graph:
            for attr in node.attributes.values():
                yield from _of_tensors(attr)


def _of_tensors(attr: Any) -> list[Any]:
    if attr.is_ref() or attr.type.name not in ("TENSOR", "TENSORS"):
        return []
    return [attr.value] if attr.type.name == "TENSOR" else list(attr.value)


def _is_onnx_ir(model: Any) -> bool:
    packages = {kind.__module__.split(".")[0] for kind in type(model).__mro__}
    return not packages.isdisjoint(("onnx_ir", "onnxscript")) and hasattr(model, "graph")


def _onnx_ir() -> Any:
    import onnx_ir  # type: ignore[import-not-found, unused-ignore]

    return onnx_ir
