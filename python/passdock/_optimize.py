"""``passdock.optimize``: a pipeline on a model of whatever kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, overload

from ._passdock import Module
from .pipeline import Pipeline, Report, run

if TYPE_CHECKING:
    # What isn't installed is `Any`, and takes nothing from the other forms.
    import onnx
    import onnx_ir

    from .pipeline import PathLike

__all__ = ["optimize"]


class _Program(Protocol):
    """A ``torch.onnx.ONNXProgram``, by what is asked of it."""

    @property
    def model_proto(self) -> Any: ...


@overload
def optimize(
    model: Any, output: PathLike, pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ..., **options: Any
) -> Report: ...
@overload
def optimize(
    model: onnx.ModelProto,
    output: None = ...,
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ...,
    **options: Any,
) -> onnx.ModelProto: ...
@overload
def optimize(
    model: Module, output: None = ..., pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ..., **options: Any
) -> Module: ...
@overload
def optimize(
    model: bytes | bytearray | memoryview,
    output: None = ...,
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ...,
    **options: Any,
) -> bytes: ...
@overload
def optimize(
    model: onnx_ir.Model,
    output: None = ...,
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ...,
    **options: Any,
) -> onnx_ir.Model: ...
@overload
def optimize(
    model: _Program, output: None = ..., pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ..., **options: Any
) -> onnx_ir.Model: ...
@overload
def optimize(
    model: os.PathLike[str],
    output: None = ...,
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ...,
    **options: Any,
) -> Module: ...
@overload
def optimize(
    model: str, output: None = ..., pipeline: PathLike | Mapping[str, Any] | Pipeline | None = ..., **options: Any
) -> Any: ...  # IR text for IR text, and a Module for a path
def optimize(
    model: Any,
    output: PathLike | None = None,
    pipeline: PathLike | Mapping[str, Any] | Pipeline | None = None,
    **options: Any,
) -> Any:
    """Optimises a model, of whatever kind.

    Args:
        model: the path of a file; the bytes of an ONNX model; an ``onnx.ModelProto``; an ``onnx_ir.Model``; a
            ``torch.onnx.ONNXProgram``; IR text; or a ``passdock.Module``.
        output: the file to write, for a path: without it nothing is written, and the module comes back.
        pipeline, options: as of ``run``.

    Returns:
        With ``output``: the report of the run. Otherwise what was given, optimised: bytes for bytes, a ModelProto for a ModelProto,
        an ``onnx_ir.Model`` for such a model or a program, text for text, and a module for a module or a path.

    Raises:
        TypeError: it is none of these.
        PassError: as of ``run``.
    """
    if isinstance(model, (str, os.PathLike)) and not _is_text(model):
        if output is not None:
            return run(model, pipeline, output, **options)
        return run(Module.read(os.fspath(model)), pipeline, **options).module
    module, back = _taken(model)
    report = run(module, pipeline, output, **options)
    if output is not None:
        return report
    assert report.module is not None
    return back(report.module)


def _is_text(model: Any) -> bool:
    return isinstance(model, str) and ("\n" in model or model.lstrip().startswith("module"))


def _taken(model: Any) -> tuple[Module, Callable[[Module], Any]]:
    """A module of a model, and what gives its kind back. What other packages make is known by its methods."""
    if isinstance(model, Module):
        return model, lambda made: made
    if isinstance(model, str):
        return Module.from_text(model), str
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Module.from_onnx(bytes(model)), Module.to_onnx
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        kind = type(model)
        return Module.from_onnx(model.SerializeToString()), lambda made: kind.FromString(made.to_onnx())
    if hasattr(model, "model_proto"):
        # torch.onnx.ONNXProgram
        proto = model.model_proto
        return Module.from_onnx(proto.SerializeToString()), lambda made: _ir_model(
            type(proto).FromString(made.to_onnx())
        )
    if type(model).__module__.split(".")[0] in ("onnx_ir", "onnxscript") and hasattr(model, "graph"):
        import onnx_ir  # type: ignore[import-not-found, unused-ignore]

        proto = onnx_ir.to_proto(model)
        return Module.from_onnx(proto.SerializeToString()), lambda made: _ir_model(
            type(proto).FromString(made.to_onnx())
        )
    raise TypeError(
        f"{type(model).__name__} is no model; it may be a path, the bytes of an ONNX model, an onnx.ModelProto, an "
        "onnx_ir.Model, a torch.onnx.ONNXProgram, IR text, or a passdock.Module"
    )


def _ir_model(proto: Any) -> Any:
    import onnx_ir

    return onnx_ir.from_proto(proto)
