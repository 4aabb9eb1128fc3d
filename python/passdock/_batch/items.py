"""The models of a batch, and where their results go: as the command finds them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import UsageError

__all__ = ["Item", "expand", "found", "items"]


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


def items(models: Sequence[str], to: str) -> list[Item]:
    """The models of files and directories, and where below ``to`` their results go.

    A file's has its name; what is found in a directory, a ``.onnx`` at any depth, has the path that it has there.
    Hidden files, directories behind links, and ``to`` itself aren't looked into. The same file is one item, however often
    it is named; a model's that isn't there is one, too, whose run fails.

    Raises:
        UsageError: a directory can't be read, nothing is found, two results would be one file, or a result would replace
            a model.
    """
    made = [Item(model, os.path.join(to, below), size, state) for model, below, size, state in found(models, to)]
    if not made:
        raise none_found(models)
    made = once(made, os.path.realpath)
    read = {os.path.realpath(item.model) for item in made}
    for item in made:
        if os.path.realpath(item.output) in read:
            replaced = f"A result would take the place of the model `{item.output}`."
            raise usage(replaced, "Let results go to another directory.")
    return made


def found(models: Sequence[str], to: str) -> list[tuple[str, str, int, str]]:
    """The models of files and directories: of each its path, where its result is below ``to``, its size and its state.

    Raises:
        UsageError: a directory can't be read.
    """
    out = os.path.realpath(to)
    there: list[tuple[str, str]] = []
    made = []
    for path in models:
        try:
            if os.path.isdir(path):
                _add_all(path, "", out, there)
            else:
                if not is_model(path):
                    # It may be a directory's name.
                    os.stat(path)
                there.append((path, os.path.basename(path)))
        except OSError as error:
            raise usage(f"`{error.filename or path}` can't be read: {error.strerror}.") from error
        for model, below in there:
            try:
                about = os.stat(model)
                made.append((model, below, about.st_size, f"{about.st_size} {about.st_mtime_ns}"))
            except OSError:
                # It may have gone since it was listed.
                made.append((model, below, 0, ""))
        there.clear()
    return made


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


def _add_all(directory: str, below: str, out: str, there: list[tuple[str, str]]) -> None:
    with os.scandir(directory) as entries:
        by_name = sorted(entries, key=lambda entry: entry.name)
    for entry in by_name:
        if entry.name.startswith("."):
            continue
        path, name = entry.path, os.path.join(below, entry.name)
        if entry.is_dir(follow_symlinks=False):
            if os.path.realpath(path) != out:
                _add_all(path, name, out, there)
        elif os.path.splitext(entry.name)[1] == ".onnx":
            there.append((path, name))
