"""Conversion of constants to and from NumPy arrays. NumPy is imported at the first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ._passdock import Constant

# dtypes that NumPy supports.
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
# dtypes of 8 bits or more that ml_dtypes supports.
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
}
# dtypes of less than a byte: elements are packed, lowest bits first.
_PACKED = {
    "i4": (4, "int4"),
    "u4": (4, "uint4"),
    "i2": (2, "int2"),
    "u2": (2, "uint2"),
    "f4e2m1": (4, "float4_e2m1fn"),
    "f6e2m3": (6, "float6_e2m3fn"),
    "f6e3m2": (6, "float6_e3m2fn"),
}
# dtypes without infinity and NaN: the smallest number that would be rounded to a value out of range.
_TOO_LARGE = {"f4e2m1": 7.0, "f6e2m3": 7.75, "f6e3m2": 30.0}
# The host's names of dtypes, by NumPy's or ml_dtypes' name and by the host's name.
OWN_NAMES = {"str": "str", "string": "str"}
for _own, _name in (_NUMPY | _ML_DTYPES | {_own: _name for _own, (_, _name) in _PACKED.items()}).items():
    OWN_NAMES.setdefault(_name, _own)
    OWN_NAMES[_own] = _own


def _dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    wanted = _ML_DTYPES.get(name) or _PACKED.get(name, (0, ""))[1]
    try:
        import ml_dtypes
    except ImportError:
        message = f"arrays of {name} require the package ml_dtypes: pip install 'passdock[ml_dtypes]'"
        raise ImportError(message) from None
    if not hasattr(ml_dtypes, wanted):
        raise ImportError(f"arrays of {name} require a newer ml_dtypes with {wanted}")
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, wanted))
    return found


def view(constant: Constant) -> np.ndarray[Any, Any]:
    """Returns the elements of a constant: a read-only view, or a copy if NumPy has another layout."""
    import numpy as np

    name, shape = constant.dtype, constant.shape
    if name is None:
        raise TypeError("the constant has no dtype")
    if name == "str":
        texts = np.empty(len(constant.strings), dtype=object)
        texts[:] = constant.strings
        texts.setflags(write=False)
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
    count = 1 if splat else int(np.prod(shape, dtype=np.int64))
    stream = np.unpackbits(data, count=count * bits, bitorder="little").reshape(count, bits)
    each: np.ndarray[Any, Any] = np.packbits(stream, axis=1, bitorder="little").reshape(count)
    if name.startswith("i"):
        sign = 1 << (bits - 1)
        each = ((each ^ sign).astype(np.int8) - sign).astype(np.int8)
    each = each.view(_dtype(name)) if name.startswith("f") else each.astype(_dtype(name))
    each.setflags(write=False)
    return np.broadcast_to(each.reshape(()), shape) if splat else each.reshape(shape)


def array(constant: Constant, dtype: Any, copy: bool | None) -> np.ndarray[Any, Any]:
    """Implements ``numpy.asarray(constant)``."""
    import numpy as np

    viewed = view(constant)
    if dtype is not None and np.dtype(dtype) != viewed.dtype:
        if copy is False:
            raise ValueError("cannot convert to another dtype without a copy")
        return viewed.astype(dtype)
    if copy is False and (constant.dtype == "str" or constant.dtype in _PACKED):
        raise ValueError(f"cannot read elements of {constant.dtype} without a copy")
    return viewed.copy() if copy else viewed


def _read(data: Any) -> np.ndarray[Any, Any]:
    """Converts the data of a constant to an array in native byte order."""
    import numpy as np

    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise ValueError("cannot create a constant from a masked array; fill it first: `array.filled(0)`")
    array = np.asarray(data)
    if hasattr(data, "dtype"):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind in "US":
        # NumPy's strings have a fixed size and lose trailing zeros.
        return np.asarray(data, dtype=object)
    if array.dtype == np.float64 and array.size and np.abs(array).max() >= 2**53:
        # NumPy converts a mix of ints within and above int64 to floats, which rounds them.
        exact = np.asarray(data, dtype=object)
        if all(isinstance(each, (int, np.integer)) for each in exact.flat):
            is_unsigned = min(exact.flat) >= 0 and max(exact.flat) < 2**64
            return exact.astype(np.uint64) if is_unsigned else exact
    return array


def to_bytes(data: Any, dtype: Any) -> tuple[str, list[int], bytes]:
    """Converts an array to the host's dtype, its shape, and the bytes of its elements."""
    import numpy as np

    wanted = None if dtype is None else _wanted(dtype)
    array = _read(data)
    if wanted is None:
        if _is_texts(array):
            wanted = "str"
        elif array.dtype == np.float64 and not hasattr(data, "dtype"):
            # Most models compute in float32.
            wanted = "f32"
        else:
            wanted = OWN_NAMES.get(array.dtype.name)
    if wanted is None:
        raise TypeError(f"unsupported dtype {array.dtype} of a constant; set `dtype`")
    if wanted == "str":
        if not _is_texts(array):
            raise TypeError(f"the elements of a constant of strings must be str or bytes, not {array.dtype}")
        return wanted, list(array.shape), _texts(array)
    made = _elements(array, wanted)
    if wanted in _PACKED:
        return wanted, list(array.shape), _pack(made, wanted)
    return wanted, list(array.shape), made.astype(made.dtype.newbyteorder("<"), copy=False).tobytes()


def _elements(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Converts the elements to a dtype; integers of less than a byte become a byte each.

    Floats are rounded. Elements out of range are rejected: NumPy would wrap or truncate them, or make them infinite.
    """
    import numpy as np

    is_whole = name == "bool" or (name[0] in "iu")
    dtype = np.dtype("uint8" if name[0] == "u" else "int8") if is_whole and name in _PACKED else _dtype(name)
    if array.dtype == dtype and name not in _PACKED:
        return array
    is_object = array.dtype == object
    for each in array.flat if is_object or array.dtype.kind in "UST" else ():
        if each is None or isinstance(each, (str, bytes)):
            raise TypeError(f"the elements of a constant of {name} must be numbers, not {type(each).__name__}")
    if array.dtype.kind not in "biufcO" and array.dtype.name not in OWN_NAMES:
        raise TypeError(f"unsupported dtype {array.dtype} of a constant")
    numbers = array
    if array.dtype.kind == "c" and name[0] != "c":
        _refuse(array, array.imag != 0, name)
        numbers = array.real
    if is_whole and is_object:
        low, high = _bounds(name)
        fits = [bool(low <= each <= high) and int(each) == each for each in array.flat]
        _refuse(array, ~np.array(fits, dtype=bool).reshape(array.shape), name)
        return array.astype(dtype)
    # NumPy can't compare small and foreign dtypes with large Python numbers.
    if is_object or numbers.dtype.isbuiltin != 1 or numbers.dtype == np.float16:
        try:
            numbers = numbers.astype(np.complex128 if name[0] == "c" else np.float64)
        except OverflowError:
            raise ValueError(f"the array has an int that is too large for {name}") from None
    if is_whole:
        low, high = _bounds(name)
        wrong = (numbers < low) | (numbers >= high + 1)
        if numbers.dtype.kind == "f":
            wrong |= np.trunc(numbers) != numbers
        _refuse(array, wrong, name)
        return numbers.astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        made: np.ndarray[Any, Any] = numbers.astype(dtype)
    wrong = (np.isfinite(made) != np.isfinite(numbers)) | (np.isnan(made) != np.isnan(numbers))
    if name in _TOO_LARGE:
        wrong |= np.abs(numbers) >= _TOO_LARGE[name]
    _refuse(array, wrong, name)
    return made


def _refuse(array: np.ndarray[Any, Any], wrong: Any, name: str) -> None:
    rejected = array[wrong]
    if rejected.size:
        raise ValueError(f"{name} cannot represent {rejected.flat[0]}")


def _bounds(name: str) -> tuple[int, int]:
    """Returns the minimum and the maximum of an integer dtype."""
    if name == "bool":
        return 0, 1
    bits = 64 if name == "index" else int(name[1:])
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _is_texts(array: np.ndarray[Any, Any]) -> bool:
    if array.dtype == object:
        return all(isinstance(text, (str, bytes)) for text in array.flat)
    return array.dtype.kind in "UST"


def _texts(array: np.ndarray[Any, Any]) -> bytes:
    """Encodes strings in the host's layout: 8-byte offsets of each string and of the end, then all strings."""
    import numpy as np

    texts = [text.encode() if isinstance(text, str) else bytes(text) for text in array.flat]
    offsets = np.cumsum([0, *map(len, texts)], dtype="<u8")
    return offsets.tobytes() + b"".join(texts)


def _wanted(dtype: Any) -> str:
    """Returns the host's name of a dtype argument."""
    import numpy as np

    if isinstance(dtype, str):
        if dtype in OWN_NAMES:
            return OWN_NAMES[dtype]
        if dtype[:1].isalpha() and dtype[1:].isdigit():
            raise TypeError(f"unknown dtype `{dtype}`; expected bits as in `f32`, or NumPy's bytes as in `<f4`")
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"unknown dtype `{dtype}`") from None
    own = "str" if found.kind in "OUST" else OWN_NAMES.get(found.name)
    if own is None:
        raise TypeError(f"unsupported dtype `{found}` of a constant")
    return own


def _pack(elements: np.ndarray[Any, Any], name: str) -> bytes:
    import numpy as np

    bits, _ = _PACKED[name]
    each = np.ascontiguousarray(elements).reshape(-1, 1).view(np.uint8)
    stream = np.unpackbits(each, axis=1, bitorder="little")[:, :bits]
    return np.packbits(stream, bitorder="little").tobytes()
