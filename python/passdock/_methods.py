"""Methods of a program's classes: whether they are called as they are declared, and whether they are called at all.

It is imported when the first such class is made.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def takes_self(cls: type, method: str) -> bool:
    """Whether a method is called with the object first: static ones and those of the class aren't."""
    said = inspect.getattr_static(cls, method)
    return hasattr(said, "__get__") and not isinstance(said, (classmethod, staticmethod))


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments. One that doesn't say what it takes can."""
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
    """Refuses a function that can't be called with so many arguments."""
    if not takes(function, count):
        raise TypeError(f"{what} takes {form}, and this one is declared as {inspect.signature(function)}")


def refuse_misspelt(cls: type, hooks: Mapping[str, int], prefixes: Sequence[str] = ("",)) -> None:
    """Refuses methods of a class, and of its bases, that would be taken for hooks, and that nobody would call.

    Args:
        cls: the class.
        hooks: how many arguments each is called with, `self` among them.
        prefixes: how hooks begin; what comes behind it is what may be misspelt.
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
