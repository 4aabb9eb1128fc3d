"""What options are checked for, before the host is told of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .transform import Pass


def _scalar(value: Any) -> Any:
    """A scalar of NumPy's as Python's own; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


_VERIFY = ("changed", "all", "off")
_LARGEST = 2**31 - 1


def _near(name: str, known: Iterable[str]) -> str:
    """What is said behind a name that isn't known: the one that may be meant, or those that there are."""
    import difflib

    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(known)}"


def _check_seconds(what: str, seconds: Any) -> float:
    """The seconds of a limit. Refuses what is no number, and what can't be waited for."""
    seconds = _scalar(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{what} is a number of seconds, not {type(seconds).__name__}")
    if not 1e-9 <= seconds <= 1e18:
        raise ValueError(f"{what} is a number of seconds above 0, not {seconds}; None is no limit")
    return float(seconds)


def _check_int(what: str, number: Any, least: int = 0) -> None:
    """Refuses what is no int, or a smaller one."""
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"{what} is an int, not {type(number).__name__}")
    if number < least:
        raise ValueError(f"{what} is an int from {least} on, not {number}")
    if number > _LARGEST:
        raise ValueError(f"{what} is an int up to {_LARGEST}, not {number}")


def _check_bool(what: str, said: Any) -> bool:
    """A switch, which may be a bool of NumPy's."""
    said = _scalar(said)
    if not isinstance(said, bool):
        raise TypeError(f"{what} is True or False, not {said!r}")
    return said


def _path(what: str, said: Any) -> str:
    """What is a path, and no bytes, which may be a model's."""
    if not isinstance(said, (str, os.PathLike)):
        raise TypeError(f"{what} is a path, not {type(said).__name__}")
    return os.fsdecode(said)


def _raw(path: Any) -> str | list[int]:
    """A path as the host is told of it: the bytes of one that is no UTF-8."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is a str, or a path of pathlib, and not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return list(os.fsencode(text))
    return text


# Options that are lists, and of what.
_LISTS = {
    "passes": "names",
    "required_pass": "names",
    "disabled_pass": "names",
    "disabled_rule": "names",
    "plugins": "paths",
    "plugin_dirs": "paths",
    "imports": "modules",
}


def _listed(what: str, said: Any) -> list[Any]:
    """The items of a list. One name is refused, as a text is a list of letters, and what is no name."""
    of = _LISTS[what]
    if isinstance(said, (str, bytes, os.PathLike)):
        kind = "a string" if isinstance(said, str) else type(said).__name__
        raise TypeError(f"{what}: expected a list of {of}, got {kind}; did you mean [{said!r}]?")
    try:
        items = list(() if said is None else said)
    except TypeError:
        raise TypeError(f"{what}: expected a list of {of}, not {type(said).__name__}") from None
    for item in items:
        if isinstance(item, Pass):
            raise TypeError(
                f"{what}: a pass goes by its name, {item._pass_handle.info.name!r}; `Sequential` takes passes themselves"
            )
        if not isinstance(item, (str, os.PathLike) if of == "paths" else str):
            raise TypeError(f"{what}: expected a list of {of}, and {item!r} is none")
    return items


def _with_lists(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for who reads them more than once, which no iterator can be."""
    return {name: _listed(name, said) if name in _LISTS else said for name, said in options.items()}


_EXTERNAL_DATA = ("keep", "all", "none")


def _one_of(what: str, choices: Sequence[str], said: Any) -> None:
    """Refuses what is none of the words of an option."""
    if said not in choices:
        raise ValueError(f"{what} is {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, not {said!r}")
