"""Models on object storage and other file systems of fsspec: discovery, and copies to and from a local directory."""

from __future__ import annotations

import mmap
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import PassError
from . import items as _items
from .items import Item, none_found, usage

__all__ = ["copied_back", "copied_here", "data_files", "file_system", "is_address", "is_file", "items"]


def is_address(path: str) -> bool:
    """Returns whether a path is an address such as ``s3://bucket/model.onnx``."""
    return "://" in path


def file_system(address: str, options: Mapping[str, Any] | None) -> tuple[Any, str]:
    """Returns the file system of an address, and the path in it.

    Raises:
        ImportError: fsspec, or the package for the protocol, isn't installed.
    """
    protocol = address.split("://", 1)[0]
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        message = f"models at `{protocol}://` require the package fsspec: pip install 'passdock[ray]'"
        raise ImportError(message) from None
    try:
        file_system, path = url_to_fs(address, **(options or {}))
    except ImportError as error:
        raise ImportError(f"models at `{protocol}://` require another package: {error}") from None
    except ValueError as error:
        raise usage(f"unsupported file system of `{address}`: {error}") from None
    return file_system, str(path)


def is_file(address: str, options: Mapping[str, Any] | None) -> bool:
    """Returns whether a file exists."""
    if not is_address(address):
        return os.path.isfile(address)
    there, path = file_system(address, options)
    return bool(there.isfile(path))


def items(models: Sequence[str], to: str, options: Mapping[str, Any] | None) -> list[Item]:
    """Returns models and results like ``passdock._batch.items.items``, for a mix of addresses and paths.

    Raises:
        UsageError: See ``passdock._batch.items.items``.
        ImportError: See ``file_system``.
    """
    found: list[tuple[str, str, int, str]] = []
    for named in models:
        if not is_address(named):
            # Results are relative to a directory that can't contain files.
            below = os.path.join(os.devnull, "") if is_address(to) else to
            for model, output in _items.items([named], below):
                try:
                    status = os.stat(model)
                    size, state = status.st_size, f"{status.st_size} {status.st_mtime_ns}"
                except OSError:
                    # The file may have been removed since it was listed.
                    size, state = 0, ""
                found.append((model, os.path.relpath(output, below), size, state))
            continue
        there, path = file_system(named, options)
        at_first = len(found)
        for below, about in _below(there, path, to, options):
            # A version of an object is identified by its time, its tag, and other metadata of the file system.
            found.append(
                (there.unstrip_protocol(about["name"]), below, about.get("size") or 0, there.ukey(about["name"]))
            )
        if len(found) == at_first and not there.isdir(path):
            if _items.is_model(path) and not any(mark in path for mark in "*?["):
                found.append((named, path.rsplit("/", 1)[-1], 0, ""))
                continue
            raise usage(f"could not read `{named}`: no such file")
    if not found:
        raise none_found(models)
    made = [Item(model, _join(to, below), size, state) for model, below, size, state in found]
    made = _items.once(made, _true)
    read = {_true(item.model) for item in made}
    for item in made:
        if _true(item.output) in read:
            replaced = f"a result would overwrite the model `{item.output}`"
            raise usage(replaced, "write the results to another directory")
    return made


def _below(there: Any, path: str, to: str, options: Mapping[str, Any] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the models of a file, a pattern or a directory, with the file system's metadata."""
    if any(mark in path for mark in "*?["):
        for match, about in sorted(there.glob(path, detail=True).items()):
            if about["type"] == "file":
                yield match.rsplit("/", 1)[-1], about
        return
    if not there.isdir(path):
        if there.isfile(path):
            yield path.rsplit("/", 1)[-1], there.info(path)
        return
    out = None
    if is_address(to):
        out = file_system(to, options)[1].rstrip("/") + "/"
    base = path.rstrip("/") + "/"
    for match, about in sorted(there.find(path, detail=True).items()):
        below = match[len(base) :] if match.startswith(base) else match.rsplit("/", 1)[-1]
        is_hidden = any(part.startswith(".") for part in below.split("/"))
        if match.endswith(".onnx") and not is_hidden and not (out and match.startswith(out)):
            yield below, about


def _join(to: str, below: str) -> str:
    return f"{to.rstrip('/')}/{below}" if is_address(to) else os.path.join(to, below)


def _true(path: str) -> str:
    if path.startswith("file://"):
        path = path.removeprefix("file://")
    return path if is_address(path) else os.path.realpath(path)


def copied_here(address: str, directory: str, options: Mapping[str, Any] | None) -> str:
    """Copies a model and its data files to a directory, and returns the local path.

    Raises:
        PassError: The model can't be read.
    """
    there, path = file_system(address, options)
    parent, name = path.rsplit("/", 1) if "/" in path else ("", path)
    local = os.path.join(directory, name)
    try:
        there.get_file(path, local)
        for data in data_files(local):
            target = os.path.normpath(os.path.join(directory, data))
            if os.path.isabs(data) or not target.startswith(directory + os.sep):
                # The host reports data outside of the model's directory.
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            there.get_file(f"{parent}/{data}" if parent else data, target)
    except Exception as error:
        message = f"could not read `{address}`: {type(error).__name__}: {error}"
        raise PassError(message, code="read") from error
    return local


def copied_back(directory: str, output: str, options: Mapping[str, Any] | None) -> None:
    """Copies data files and then the result, each under a temporary name that is renamed at the end.

    Args:
        directory: The directory that contains the result, under its final name, and nothing else.
        output: The address of the result.

    Raises:
        PassError: The output can't be written.
    """
    there, path = file_system(output, options)
    parent, name = path.rsplit("/", 1) if "/" in path else ("", path)
    written = [
        os.path.relpath(os.path.join(at, file), directory) for at, _, files in os.walk(directory) for file in files
    ]
    # Data without a model does less harm than a model without its data.
    written.sort(key=lambda file: file == name)
    try:
        for file in written:
            target = f"{parent}/{file}" if parent else file
            above, _, last = target.rpartition("/")
            there.makedirs(above, exist_ok=True)
            hidden = (
                f"{above}/.passdock-{uuid.uuid4().hex}-{last}.part" if above else f".passdock-{uuid.uuid4().hex}.part"
            )
            try:
                there.put_file(os.path.join(directory, file), hidden)
                there.mv(hidden, target)
            except BaseException:
                if there.exists(hidden):
                    there.rm_file(hidden)
                raise
    except Exception as error:
        message = f"could not write `{output}`: {type(error).__name__}: {error}"
        raise PassError(message, code="write") from error


# The fields of ONNX messages that lead to tensors: for each message, field numbers and their messages.
_LEADS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}


def data_files(path: str) -> list[str]:
    """Returns the external data files of an ONNX model, as the model names them; empty if the file isn't a model."""
    if not path.endswith(".onnx") or os.path.getsize(path) == 0:
        return []
    found: set[str] = set()
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as view,
    ):
        try:
            _walk(view, 0, len(view), "model", found)
        except (IndexError, ValueError, RecursionError):
            # The host reports what is wrong with the file.
            return []
    return sorted(found)


def _walk(view: memoryview, at: int, end: int, kind: str, found: set[str]) -> None:
    leads = _LEADS[kind]
    for field, start, stop in _fields(view, at, end):
        inner = leads.get(field)
        if inner == "entry":
            entry = {number: bytes(view[first:last]) for number, first, last in _fields(view, start, stop)}
            if entry.get(1) == b"location":
                found.add(entry.get(2, b"").decode())
        elif inner is not None:
            _walk(view, start, stop, inner, found)


def _fields(view: memoryview, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yields the length-delimited fields of a message: number, start and end."""
    while at < end:
        tag, at = _varint(view, at)
        wire = tag & 7
        if wire == 2:
            length, at = _varint(view, at)
            if at + length > end:
                raise ValueError("a field exceeds its message")
            yield tag >> 3, at, at + length
            at += length
        elif wire == 0:
            _, at = _varint(view, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise ValueError("unknown wire type")


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = view[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
