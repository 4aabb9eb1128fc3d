"""The models of a batch, and the files of their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _passdock
from ..errors import UsageError

__all__ = ["Item", "expand", "items"]


class Item:
    """A model of a batch, and the file that its result is written to: paths, or addresses of fsspec."""

    __slots__ = ("model", "output", "size", "state")

    def __init__(self, model: str, output: str, size: int, state: str) -> None:
        self.model = model
        self.output = output
        #: The bytes of the model's file.
        self.size = size
        #: What changes when the file does.
        self.state = state


def usage(message: str, advice: str | None = None) -> UsageError:
    """The error of what was asked for."""
    text = f"{message} {advice}" if advice else message
    return UsageError(text, code="usage", exit_status=2, help=advice)


def expand(models: Any) -> list[str]:
    """The paths that a caller named, one or many, with those that its patterns stand for.

    Raises:
        UsageError: a pattern stands for nothing.
        TypeError: they are no paths.
    """
    named = [models] if isinstance(models, (str, os.PathLike)) else list(models)
    paths: list[str] = []
    for each in named:
        path = os.fspath(each)
        if isinstance(path, bytes):
            raise TypeError("models are named by texts, not by bytes")
        # A file may have such a name.
        if "://" in path or not any(mark in path for mark in "*?[") or os.path.lexists(path):
            paths.append(path)
            continue
        import glob

        matching = sorted(glob.glob(path, recursive=True))
        if not matching:
            raise usage(f"No file matches `{path}`.")
        paths += matching
    return paths


def items(models: Sequence[str], to: str) -> list[tuple[str, str]]:
    """The models of files and directories, and the files below ``to`` of their results, as the command finds them.

    Raises:
        UsageError: a directory can't be read, nothing is found, two results would be one file, or a result would replace
            a model.
    """
    if not models:
        raise none_found(models)
    return [(os.fspath(model), os.fspath(output)) for model, output in _passdock.batch_items(models, to)]


def is_model(path: str) -> bool:
    """Whether it is the name of a model's file."""
    return path.lower().endswith((".onnx", ".ir"))


def none_found(models: Iterable[str]) -> UsageError:
    """The error of paths below which there is no model."""
    named = ", ".join(f"`{path}`" for path in models)
    return usage(f"There is no .onnx file in {named}." if named else "No model was named.")


def once(made: Iterable[Item], true: Callable[[str], str]) -> list[Item]:
    """The items without those that are there already; ``true`` is the path of a file that has several.

    Raises:
        UsageError: a result would take the place of another one.
    """
    known: dict[str, Item] = {}
    models: set[str] = set()
    for item in made:
        # A model has one outcome: of a file in a directory that is named as well the first result counts.
        if item.model in models:
            continue
        models.add(item.model)
        other = known.setdefault(item.output, item)
        if other is not item and true(other.model) != true(item.model):
            both = f"The results of `{other.model}` and of `{item.model}` would both be `{item.output}`."
            raise usage(both, "Name the directory that both are in, or do them in two batches.")
    return list(known.values())
