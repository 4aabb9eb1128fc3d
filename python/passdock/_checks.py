"""Checks of options before they are passed to the host."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def _scalar(value: Any) -> Any:
    """Converts a NumPy scalar to a Python number; other values are returned unchanged."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


_VERIFY = ("changed", "all", "off")
_LARGEST = 2**31 - 1


def _near(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: a suggestion, or all known names."""
    import difflib

    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{near[0]}`?" if near else f"; expected one of {', '.join(known)}"


def _check_seconds(what: str, seconds: Any) -> float:
    """Returns a time limit in seconds. Rejects values that aren't numbers, or are out of range."""
    seconds = _scalar(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{what} must be a number of seconds, not {type(seconds).__name__}")
    if not 1e-9 <= seconds <= 1e18:
        raise ValueError(f"{what} must be greater than 0, or None for no limit, not {seconds}")
    return float(seconds)


def _check_int(what: str, number: Any, least: int = 0) -> None:
    """Rejects values that aren't ints of at least ``least``."""
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{what} must be an int, not {type(number).__name__}")
    if number < least:
        raise ValueError(f"{what} must be at least {least}, not {number}")
    if number > _LARGEST:
        raise ValueError(f"{what} must be at most {_LARGEST}, not {number}")


def _check_choice(what: str, value: Any, choices: tuple[str, ...]) -> str:
    """Returns a string, which must be one of the choices."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{what} must be one of {listed}, not {value!r}")
    return str(value)


def _check_bool(what: str, value: Any) -> bool:
    """Returns a bool option, which may be a NumPy bool."""
    value = _scalar(value)
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, not {value!r}")
    return value


def _path(what: str, value: Any) -> str:
    """Returns a path. Rejects bytes, which may be those of a model."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what} must be a path, not {type(value).__name__}")
    return os.fsdecode(value)


def _raw(path: Any) -> str | list[int]:
    """Returns a path in the host's representation: a list of bytes if it isn't UTF-8."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path must be a str or a pathlib.Path, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return list(os.fsencode(text))
    return text


# The kinds of the items of list options.
_LISTS = {
    "passes": "names",
    "required": "names",
    "disabled": "names",
    "required_pass": "names",
    "disabled_pass": "names",
    "disabled_rule": "names",
    "plugins": "paths",
    "plugin_dirs": "paths",
    "imports": "modules",
}


def _listed(what: str, value: Any) -> list[Any]:
    """Returns the items of a list option. Rejects a single string, and items of other types."""
    expected = _LISTS[what]
    if isinstance(value, (str, bytes, os.PathLike)):
        kind = "a string" if isinstance(value, str) else type(value).__name__
        raise TypeError(f"{what}: expected a list of {expected}, got {kind}; did you mean [{value!r}]?")
    try:
        items = list(() if value is None else value)
    except TypeError:
        raise TypeError(f"{what}: expected a list of {expected}, got {type(value).__name__}") from None
    for item in items:
        if hasattr(item, "_pass_handle"):
            raise TypeError(
                f"{what}: expected the name {item._pass_handle.info.name!r}, got the pass; `Sequential` accepts passes"
            )
        if not isinstance(item, (str, os.PathLike) if expected == "paths" else str):
            raise TypeError(f"{what}: expected a list of {expected}, got {type(item).__name__}")
    return items


def _with_lists(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options with iterators converted to lists, which can be read more than once."""
    return {name: _listed(name, value) if name in _LISTS else value for name, value in options.items()}


_EXTERNAL_DATA = ("keep", "all", "none")


def _one_of(what: str, choices: Sequence[str], value: Any) -> None:
    """Rejects values that aren't among the choices of an option."""
    if value not in choices:
        raise ValueError(f"{what} must be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, not {value!r}")
