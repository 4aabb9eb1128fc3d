"""Constants as NumPy arrays, and back. NumPy is imported when the first array is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ._passdock import Constant

# What NumPy has a dtype for.
_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bool": "bool",
    "c64": "complex64",
    "c128": "complex128",
    "index": "int64",
}
# What ml_dtypes has a dtype for, of 8 bits or more.
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
}
# Elements of less than a byte, the first one in the lowest bits.
_PACKED = {"i4": (4, "int4"), "u4": (4, "uint4"), "i2": (2, "int2"), "u2": (2, "uint2"), "f4e2m1": (4, "float4_e2m1fn")}


def _dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    wanted = _ML_DTYPES.get(name) or _PACKED.get(name, (0, ""))[1]
    try:
        import ml_dtypes
    except ImportError:
        message = f"arrays of {name} take the package ml_dtypes: pip install 'passdock[ml_dtypes]'"
        raise ImportError(message) from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, wanted))
    return found


def view(constant: Constant) -> np.ndarray[Any, Any]:
    """The elements of a constant: a view that can't be written, or a copy of what NumPy lays out otherwise."""
    import numpy as np

    name, shape = constant.dtype, constant.shape
    if name is None:
        raise TypeError("the constant has no dtype")
    if name == "str":
        texts = np.empty(len(constant.strings), dtype=object)
        texts[:] = constant.strings
        if constant.is_splat:
            return np.broadcast_to(texts, shape)
        return texts.reshape(shape)
    data = memoryview(constant.data)
    if name in _PACKED:
        return _unpack(np.frombuffer(data, np.uint8), name, shape, splat=constant.is_splat)
    dtype = _dtype(name)
    if constant.is_splat:
        return np.broadcast_to(np.frombuffer(data, dtype, count=1).reshape(()), shape)
    viewed: np.ndarray[Any, Any] = np.frombuffer(data, dtype).reshape(shape)
    return viewed


def _unpack(data: np.ndarray[Any, Any], name: str, shape: tuple[int, ...], *, splat: bool) -> np.ndarray[Any, Any]:
    import numpy as np

    bits, _ = _PACKED[name]
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    each: np.ndarray[Any, Any] = (data[:, None] >> shifts) & ((1 << bits) - 1)
    each = each.astype(np.uint8).reshape(-1)
    if name.startswith("i"):
        sign = 1 << (bits - 1)
        each = ((each ^ sign).astype(np.int8) - sign).astype(np.int8)
    if name == "f4e2m1":
        each = each.view(_dtype(name))
    else:
        each = each.astype(_dtype(name))
    if splat:
        return np.broadcast_to(each[:1].reshape(()), shape)
    return each[: int(np.prod(shape, dtype=np.int64))].reshape(shape)


def array(constant: Constant, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """The protocol of ``numpy.asarray(constant)``."""
    import numpy as np

    viewed = view(constant)
    if dtype is not None and np.dtype(dtype) != viewed.dtype:
        if copy is False:
            raise ValueError("another dtype takes a copy")
        return viewed.astype(dtype)
    return viewed.copy() if copy else viewed


def _read(data: Any) -> np.ndarray[Any, Any]:
    """What a constant is made of, as an array."""
    import numpy as np

    array = np.asarray(data)
    if array.dtype.kind in "US" and not isinstance(data, (np.ndarray, np.generic)):
        # NumPy's own texts are all of one kind, and lose the zeros at their ends.
        return np.asarray(data, dtype=object)
    return array


def to_bytes(data: Any, dtype: Any) -> tuple[str, list[int], bytes]:
    """An array as the host's dtype, its shape, and the bytes of its elements."""
    import numpy as np

    wanted = None if dtype is None else _wanted(dtype)
    array = _read(data)
    if wanted is None:
        # Python's own numbers are what most models compute with.
        if array.dtype == np.float64 and not isinstance(data, (np.ndarray, np.generic)):
            array = array.astype(np.float32)
        if _is_texts(array):
            return "str", list(array.shape), _texts(array)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        names = {np.dtype(numpy): own for own, numpy in _NUMPY.items() if own != "index"}
        others = _ML_DTYPES | {own: name for own, (_, name) in _PACKED.items()}
        own = names.get(array.dtype) or {name: own for own, name in others.items()}.get(array.dtype.name)
        if own is None:
            raise TypeError(f"no constant has elements of {array.dtype}; say which dtype it is to have")
        wanted = own
    if wanted == "str":
        if not _is_texts(array):
            raise TypeError(f"a constant of texts is made of str or bytes, not of {array.dtype}")
        return wanted, list(array.shape), _texts(array)
    _exact(array, wanted)
    if wanted in _PACKED:
        return wanted, list(array.shape), _pack(array, wanted)
    made = np.ascontiguousarray(array, dtype=_dtype(wanted))
    return wanted, list(array.shape), made.astype(made.dtype.newbyteorder("<"), copy=False).tobytes()


def _exact(array: np.ndarray[Any, Any], name: str) -> None:
    """Refuses elements that an integer or a bool can't be: NumPy would wrap or cut them."""
    if name[0] not in "iub":
        return
    dtype = _dtype(name)
    if name == "bf16" or array.dtype == dtype:
        return
    import numpy as np

    with np.errstate(invalid="ignore"):
        made = array.astype(dtype).astype(array.dtype)
    wrong = array[np.asarray(made != array)]
    if wrong.size:
        raise ValueError(f"{wrong.flat[0]} is no element of {name}")


def _is_texts(array: np.ndarray[Any, Any]) -> bool:
    if array.dtype == object:
        return all(isinstance(text, (str, bytes)) for text in array.flat)
    return array.dtype.kind in "UST"


def _texts(array: np.ndarray[Any, Any]) -> bytes:
    """Texts as the host lays them out: the offsets of each and of the end, in 8 bytes, then all of them."""
    import numpy as np

    texts = [text.encode() if isinstance(text, str) else bytes(text) for text in array.flat]
    offsets = np.cumsum([0, *map(len, texts)], dtype="<u8")
    return offsets.tobytes() + b"".join(texts)


def _wanted(dtype: Any) -> str:
    import numpy as np

    if dtype in ("str", "string", str):
        return "str"
    text = str(dtype) if not isinstance(dtype, type) else np.dtype(dtype).name
    for names in (_NUMPY, _ML_DTYPES, {own: name for own, (_, name) in _PACKED.items()}):
        for own, name in names.items():
            if text in (own, name):
                return own
    raise TypeError(f"`{text}` is no dtype")


def _pack(array: np.ndarray[Any, Any], name: str) -> bytes:
    import numpy as np

    bits, _ = _PACKED[name]
    each: np.ndarray[Any, Any]
    if name == "f4e2m1":
        each = np.ascontiguousarray(array, dtype=_dtype(name)).view(np.uint8)
    else:
        each = np.ascontiguousarray(array).astype(np.int8).view(np.uint8)
    each = (each & ((1 << bits) - 1)).reshape(-1)
    per_byte = 8 // bits
    each = np.concatenate([each, np.zeros(-len(each) % per_byte, np.uint8)]).reshape(-1, per_byte)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    packed: np.ndarray[Any, Any] = np.bitwise_or.reduce(each << shifts, axis=1)
    return packed.astype(np.uint8).tobytes()
