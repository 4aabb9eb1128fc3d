"""Generates random tensors with edge cases: rounding ties, infinities, integer limits, no elements."""

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

T = onnx.TensorProto
FLOATS = (T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16)
INTEGERS = (T.INT8, T.INT16, T.INT32, T.INT64, T.UINT8, T.UINT16, T.UINT32, T.UINT64)
FLOAT8 = (T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2, T.FLOAT8E5M2FNUZ)
INT4 = (T.INT4, T.UINT4)
WORDS = ["", "a", "b", "ab", "Zürich", "日本", "0", "a b"]


def numpy_type(dtype):
    return np.dtype(helper.tensor_dtype_to_np_dtype(dtype))


class Dice:
    """A source of random values with a seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def below(self, end):
        return int(self.rng.integers(end))

    def between(self, low, high):
        """Returns an integer; `high` is included."""
        return int(self.rng.integers(low, high + 1))

    def pick(self, items):
        return items[self.below(len(items))]

    def chance(self, part):
        return bool(self.rng.random() < part)

    def sample(self, items, count):
        return [items[i] for i in self.rng.permutation(len(items))[:count]]

    def shape(self, low=0, high=5):
        """Returns a mostly small shape, sometimes without elements."""
        sizes = [1, 1, 2, 2, 3, 4, 0] if self.chance(0.15) else [1, 2, 2, 3, 4]
        rank = self.between(low, high)
        return tuple(self.pick(sizes) for _ in range(rank))

    def broadcast(self, shape):
        """Returns a shape that broadcasts to the given one."""
        kept = shape[self.below(len(shape) + 1) if self.chance(0.5) else 0 :]
        return tuple(1 if self.chance(0.3) else dim for dim in kept)

    def tensor(self, dtype, shape, kind=None):
        """Returns an array; `kind` is "small", "plain" or "wild"."""
        kind = kind or self.pick(["small", "plain", "wild"])
        count = int(np.prod(shape))
        if dtype == T.STRING:
            return np.array([self.pick(WORDS) for _ in range(count)], dtype=object).reshape(shape)
        if dtype == T.BOOL:
            return self.rng.integers(0, 2, count).astype(bool).reshape(shape)
        to = numpy_type(dtype)
        if dtype in INTEGERS or dtype in (T.INT4, T.UINT4, T.INT2, T.UINT2):
            return self.integers(dtype, count, kind).astype(to).reshape(shape)
        with np.errstate(all="ignore"):
            return self.floats(to, count, kind).astype(to).reshape(shape)

    def integers(self, dtype, count, kind):
        info = ml_dtypes.iinfo(numpy_type(dtype))
        low, high = int(info.min), int(info.max)
        if kind == "small":
            values = self.rng.integers(max(low, -4), min(high, 5) + 1, count)
        elif kind == "plain":
            values = self.rng.integers(max(low, -1000), min(high, 1000) + 1, count)
        else:
            ends = [low, low + 1, high, high - 1, 0, 1, 2**53 + 1, 2**31, 2**24 + 1, -1, -(2**53) - 1]
            ends = [end for end in ends if low <= end <= high]
            values = [self.pick(ends) if self.chance(0.7) else self.any(low, high) for _ in range(count)]
        return np.array([int(v) for v in values], dtype=np.uint64 if low == 0 else np.int64)

    def any(self, low, high):
        return int(self.rng.integers(low, high, endpoint=True, dtype=np.uint64 if low == 0 else np.int64))

    def floats(self, to, count, kind):
        if kind == "small":
            return self.rng.integers(-6, 7, count) / 2
        if kind == "plain":
            return self.rng.normal(size=count) * 10.0 ** self.between(-2, 2)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e-45, -1e-40, 3e38, -3e38]
        special += [65504.0, 65520.0, 1e-7, 6e-8, 2.0**24 + 1, 2.0**53 + 2, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8]
        values = np.array([self.pick(special) for _ in range(count)], dtype=np.float64)
        bits = self.rng.integers(0, 256, (count, to.itemsize), dtype=np.uint8).view(to).reshape(count)
        return np.where(self.rng.random(count) < 0.6, values, bits.astype(np.float64))


def proto(array, dtype, name):
    """Converts an array to a TensorProto."""
    if dtype == T.STRING:
        return helper.make_tensor(name, dtype, array.shape, [text.encode() for text in array.ravel()])
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
