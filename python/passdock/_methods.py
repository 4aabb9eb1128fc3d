"""Checks of the methods of a program's classes: signatures, and misspelled names.

Imported when the first such class is created.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def takes_self(cls: type, method: str) -> bool:
    """Returns whether a method receives the object as its first argument: static and class methods don't."""
    said = inspect.getattr_static(cls, method)
    return hasattr(said, "__get__") and not isinstance(said, (classmethod, staticmethod))


def takes(function: Callable[..., Any], count: int) -> bool:
    """Returns whether a function can be called with ``count`` arguments; ``True`` if it has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def check_arity(function: Callable[..., Any], count: int, what: str, form: str) -> None:
    """Rejects a function that can't be called with ``count`` arguments."""
    if not takes(function, count):
        raise TypeError(f"{what} must accept {form}, but is declared as {inspect.signature(function)}")


def reject_misspelled(cls: type, hooks: Mapping[str, int], prefixes: Sequence[str] = ("",)) -> None:
    """Rejects methods of a class and its bases that look like misspelled hooks, which would never be called.

    Args:
        cls: The class.
        hooks: The number of arguments of each hook, including `self`.
        prefixes: The prefixes of hooks; the rest of the name is checked for misspellings.
    """
    for each in cls.__mro__:
        if each.__module__.partition(".")[0] in ("passdock", "builtins"):
            continue
        for name, said in vars(each).items():
            prefix = next((prefix for prefix in prefixes if name.startswith(prefix)), None)
            is_method = callable(said) or isinstance(said, classmethod)
            if prefix is None or name.startswith("_") or name in hooks or not is_method:
                continue
            hooks_by_rest = {hook[len(prefix) :]: hook for hook in hooks if hook.startswith(prefix)}
            for near in difflib.get_close_matches(name[len(prefix) :], hooks_by_rest, n=1, cutoff=0.75):
                meant = hooks_by_rest[near]
                if takes(getattr(each, name), hooks[meant] - (not takes_self(each, name))):
                    raise TypeError(f"{each.__name__}.{name} is never called; did you mean {meant}?")
