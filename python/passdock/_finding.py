"""Finding passes by module path, and by TVM's names."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from . import _passdock
from ._checks import _near
from .errors import UsageError
from .transform import Pass, get_pass, list_passes

__all__ = ["imported", "registered_in"]


def registered_in(
    module: dict[str, Any], prefix: str
) -> tuple[Callable[[str], Callable[..., Pass]], Callable[[], list[str]]]:
    """Returns ``__getattr__`` and ``__dir__`` for a module of the registered passes whose names begin with the
    prefix.
    """

    def names() -> list[str]:
        return [name.removeprefix(prefix) for name in list_passes() if name.startswith(prefix)]

    def find(name: str) -> Callable[..., Pass]:
        own = _passdock.own_name(prefix + name)
        if own in list_passes():
            return functools.partial(get_pass, own)
        raise AttributeError(f"module {module['__name__']!r} has no pass {name!r}{_near(name, names())}")

    return find, lambda: sorted({*module, *names()})


def imported(place: str, trusted: bool) -> _passdock.PassHandle:
    """Returns the pass of a ``python`` entry of a pipeline: ``package.module:name``.

    An untrusted entry runs no code that the program hasn't requested: it has to name a pass, or a class of passes, of
    an imported module.
    """
    import importlib

    module, _, path = place.partition(":")
    if not path:
        raise ValueError(f"invalid entry `{place}`; expected `package.module:name`")
    if not trusted and module not in sys.modules:
        raise _untrusted(
            f"the pipeline uses `{place}`, but the program has not imported `{module}`", "import it, or use"
        )
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if not isinstance(found, Pass) and callable(found):
        if not trusted and not (isinstance(found, type) and issubclass(found, Pass)):
            raise _untrusted(f"the pipeline calls `{place}`, which is not a pass", "name a pass, or use")
        found = found()
    if not isinstance(found, Pass):
        raise TypeError(f"`{place}` must be a pass or return one, not {type(found).__name__}")
    return found._pass_handle


def _untrusted(message: str, advice: str) -> Exception:
    advice += " `trust=True` to let a pipeline import modules and call functions"
    return UsageError(f"{message}; {advice}", code="usage", exit_status=2, help=advice)
