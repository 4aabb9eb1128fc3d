"""``PassInfo``: the metadata of a pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from ._checks import _check_int, _listed


class _Fields(NamedTuple):
    opt_level: int
    name: str
    required: tuple[str, ...]


class PassInfo(_Fields):
    """The metadata of a pass. Two objects are equal if their fields are.

    Args:
        opt_level: The minimum ``PassContext.opt_level`` at which a Sequential runs the pass, 0 or more.
        name: The name of the pass.
        required: The names of the passes that must run before it.
    """

    __slots__ = ()

    def __new__(cls, opt_level: int, name: str, required: Sequence[str] | None = None) -> Self:
        _check_int("opt_level", opt_level)
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        if name.strip() != name or not name:
            raise ValueError(f"invalid pass name {name!r}: empty, or with spaces at its ends")
        if not isinstance(required, (list, tuple, str, type(None))):
            raise TypeError("Required is expected to be the type of list/tuple.")
        return super().__new__(cls, int(opt_level), name, tuple(_listed("required", required)))

    def __str__(self) -> str:
        required = ", ".join(self.required)
        return (
            f"The meta data of the pass - pass name: {self.name}, opt_level: {self.opt_level}, "
            f"required passes: [{required}]"
        )

    def __repr__(self) -> str:
        """Returns the text that TVM prints."""
        required = ", ".join(f'"{name}"' for name in self.required) + "," * (len(self.required) == 1)
        return f'transform.PassInfo(opt_level={self.opt_level}, name="{self.name}", required=({required}))'
