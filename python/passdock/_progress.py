"""Progress bars of runs and batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _passdock

__all__ = ["log", "progress"]


def log(item: object) -> None:
    """Logs an item as information."""
    import logging

    logging.getLogger("passdock").info("%s", item)


def progress(
    option: bool | Callable[[Any], Any], unit: str, describe: Callable[[Any], str], count: int | None = None
) -> tuple[Callable[[Any], Any] | None, Callable[[], Any]]:
    """Returns a function that receives each item, and one to call at the end.

    Raises:
        TypeError: The option is neither a boolean nor a function.
    """
    if callable(option):
        return option, lambda: None
    if option not in (True, False, None):
        raise TypeError(f"progress must be True, False or a function of {unit}, not {option!r}")
    if not option:
        return None, lambda: None
    try:
        from tqdm.auto import tqdm  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return log, lambda: None
    bar = tqdm(total=count, unit=f" {unit}", desc="passdock")

    def update(item: Any) -> None:
        bar.set_postfix_str(_passdock.one_line(describe(item)))
        bar.update()

    return update, bar.close
