"""The standard passes on graph functions: the contents of ``relax.transform``, as in TVM."""

from __future__ import annotations

from . import transform
from .transform import *

__all__ = ["transform"]
__all__ += transform.__all__
