"""The standard passes on loop-level functions: the contents of ``tir.transform``, as in TVM."""

from __future__ import annotations

from . import transform
from .transform import *

__all__ = ["transform"]
__all__ += transform.__all__
