"""The models of a batch and the files of their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _passdock
from ..errors import UsageError

__all__ = ["Item", "expand", "items"]


class Item:
    """A model of a batch and the file of its result: paths, or addresses of fsspec."""

    __slots__ = ("model", "output", "size", "state")

    def __init__(self, model: str, output: str, size: int, state: str) -> None:
        self.model = model
        self.output = output
        #: The size of the model file in bytes.
        self.size = size
        #: A string that changes when the file does.
        self.state = state


def usage(message: str, advice: str | None = None) -> UsageError:
    """Returns the error for invalid arguments."""
    text = f"{message}; {advice}" if advice else message
    return UsageError(text, code="usage", exit_status=2, help=advice)


def expand(models: Any) -> list[str]:
    """Returns the paths in an argument of one or several paths, with patterns expanded.

    Raises:
        UsageError: A pattern matches nothing.
        TypeError: An item isn't a path.
    """
    named = [models] if isinstance(models, (str, os.PathLike)) else list(models)
    paths: list[str] = []
    for each in named:
        path = os.fspath(each)
        if isinstance(path, bytes):
            raise TypeError("the path of a model must be a str or a path, not bytes")
        # A file may have such a name.
        if "://" in path or not any(mark in path for mark in "*?[") or os.path.lexists(path):
            paths.append(path)
            continue
        import glob

        matching = sorted(glob.glob(path, recursive=True))
        if not matching:
            raise usage(f"no file matches `{path}`")
        paths += matching
    return paths


def items(models: Sequence[str], to: str) -> list[tuple[str, str]]:
    """Returns the models of files and directories, with the files below ``to`` of their results, as the command finds
    them.

    Raises:
        UsageError: A directory can't be read, no model is found, two results would be the same file, or a result would
            replace a model.
    """
    if not models:
        raise none_found(models)
    return [(os.fspath(model), os.fspath(output)) for model, output in _passdock.batch_items(models, to)]


def is_model(path: str) -> bool:
    """Returns whether a path has the extension of a model file."""
    return path.lower().endswith((".onnx", ".ir"))


def none_found(models: Iterable[str]) -> UsageError:
    """Returns the error for paths without models."""
    named = ", ".join(f"`{path}`" for path in models)
    return usage(f"found no `.onnx` file in {named}" if named else "no models")


def once(made: Iterable[Item], true: Callable[[str], str]) -> list[Item]:
    """Returns the items without duplicates; ``true`` returns the canonical path of a file.

    Raises:
        UsageError: Two results would be the same file.
    """
    known: dict[str, Item] = {}
    models: set[str] = set()
    for item in made:
        # A model has one result. If its directory is listed, too, the first result counts.
        if item.model in models:
            continue
        models.add(item.model)
        other = known.setdefault(item.output, item)
        if other is not item and true(other.model) != true(item.model):
            both = f"the results of `{other.model}` and `{item.model}` would both be `{item.output}`"
            raise usage(both, "pass the directory that contains both, or run two batches")
    return list(known.values())
