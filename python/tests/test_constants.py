"""Constants: NumPy arrays that view the host's bytes, and constants from arrays."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from passdock import Constant, Module, Value
from support import check, module, on_functions, one_function


def constant(text: str) -> Constant:
    """Parses a constant from IR text: ``f32[2] [1.0, 2.0]``."""
    mod = module(f"""
        module {{
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {{
            %c = const {text}
            return %x
          }}
        }}
    """)
    created = mod["main"].value("c").constant
    assert created is not None
    return created


def added(data: Any, dtype: Any = None) -> tuple[Constant, str]:
    """Adds an array as a constant; returns the constant and its IR text."""
    text: list[str] = []

    def adds(func: Any, ctx: Any) -> Any:
        value = func.add_constant(data, dtype, name="c")
        func.create_op("acme.Use", [value], results=0, custom=True)
        return func

    after = on_functions("Adds", adds)(one_function())
    value = after["main"].value("c")
    text.append(next(line.strip() for line in str(after).splitlines() if "const" in line))
    assert value.constant is not None
    return value.constant, text[0].removeprefix("%c = const ")


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("f32[2] [1.5, -2.0]", np.float32, [1.5, -2.0]),
        ("f64[2] [1.5, -2.0]", np.float64, [1.5, -2.0]),
        ("f16[2] [1.5, -2.0]", np.float16, [1.5, -2.0]),
        ("i8[2] [1, -2]", np.int8, [1, -2]),
        ("i16[2] [1, -2]", np.int16, [1, -2]),
        ("i32[2] [1, -2]", np.int32, [1, -2]),
        ("i64[2,1] [1, -2]", np.int64, [[1], [-2]]),
        ("u8[2] [1, 255]", np.uint8, [1, 255]),
        ("u16[1] [65535]", np.uint16, [65535]),
        ("u32[1] [4294967295]", np.uint32, [4294967295]),
        ("u64[1] [18446744073709551615]", np.uint64, [18446744073709551615]),
        ("bool[3] [true, false, true]", np.bool_, [True, False, True]),
        ("bf16[2] [1.0, 2.0]", ml_dtypes.bfloat16, [1.0, 2.0]),
        ("f8e4m3fn[2] [0x38, 0xb8]", ml_dtypes.float8_e4m3fn, [1.0, -1.0]),
        ("f8e5m2[2] [0x3c, 0xbc]", ml_dtypes.float8_e5m2, [1.0, -1.0]),
        ("f8e4m3fnuz[1] [0x40]", ml_dtypes.float8_e4m3fnuz, [1.0]),
        ("f8e5m2fnuz[1] [0x40]", ml_dtypes.float8_e5m2fnuz, [1.0]),
        ("f8e8m0[1] [0x80]", ml_dtypes.float8_e8m0fnu, [2.0]),
        ("f32[] [3.0]", np.float32, 3.0),
    ],
)
def test_arrays_are_read_only_views(text: str, dtype: Any, expected: Any) -> None:
    """Read-only views of the host's bytes."""
    created = constant(text)
    array = created.numpy()
    assert array.dtype == np.dtype(dtype)
    assert array.shape == created.shape
    assert array.tolist() == expected
    assert not array.flags.writeable
    assert not array.flags.owndata
    assert np.shares_memory(array, created.numpy())
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("i4[3] [1, -2, 7]", ml_dtypes.int4, [1, -2, 7]),
        ("u4[3] [1, 15, 7]", ml_dtypes.uint4, [1, 15, 7]),
        ("i2[5] [1, -2, 0, -1, 1]", ml_dtypes.int2, [1, -2, 0, -1, 1]),
        ("u2[5] [1, 2, 3, 0, 1]", ml_dtypes.uint2, [1, 2, 3, 0, 1]),
        ("i4[2,2] [1, -2, 7, -8]", ml_dtypes.int4, [[1, -2], [7, -8]]),
        ("i4[0] []", ml_dtypes.int4, []),
        ("i4[3] splat(-2)", ml_dtypes.int4, [-2, -2, -2]),
        ("f6e2m3[5] [0x8, 0x28, 0x1f, 0x0, 0x10]", ml_dtypes.float6_e2m3fn, [1, -1, 7, 0, 2]),
    ],
)
def test_packed_elements_are_copied(text: str, dtype: Any, expected: Any) -> None:
    """The copies are read-only, because writes to them would be lost."""
    created = constant(text)
    array = created.numpy()
    assert array.dtype == np.dtype(dtype)
    assert array.astype(float).astype(int).tolist() == expected
    assert not np.shares_memory(array, created.numpy())
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 0
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(created, copy=False)
    assert np.array(created).flags.writeable


def test_float4_elements_are_copied() -> None:
    """The dtype ``f4e2m1``."""
    created, _ = added(np.array([0.5, -6.0, 1.5], ml_dtypes.float4_e2m1fn))
    assert created.dtype == "f4e2m1"
    assert created.nbytes == 2
    assert created.numpy().astype(float).tolist() == [0.5, -6.0, 1.5]


def test_strings_are_copied() -> None:
    created = constant('str[2,2] ["ab", "", "é", "c\\"d"]')
    assert created.strings == ["ab", "", "é", 'c"d']
    array = created.numpy()
    assert array.dtype == object
    assert array.tolist() == [["ab", ""], ["é", 'c"d']]
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = "x"
    with pytest.raises(ValueError, match="cannot read elements of str without a copy"):
        np.asarray(created, copy=False)
    assert constant('str[3] splat("x")').strings == ["x"]
    assert constant('str[3] splat("x")').numpy().tolist() == ["x"] * 3
    assert constant("str[0] []").numpy().tolist() == []
    with pytest.raises(TypeError, match="expected a constant of strings, found one of f32"):
        _ = constant("f32[1] [1.0]").strings


@pytest.mark.parametrize("text", ["f32[1000,1000] splat(1.5)", "i64[1000,1000] splat(3)", "bf16[1000,1000] splat(2.0)"])
def test_splat_is_stored_as_one_element(text: str) -> None:
    """It has strides of 0 and isn't materialized."""
    created = constant(text)
    assert created.is_splat
    assert len(created.data) == created.numpy().itemsize
    array = created.numpy()
    assert array.shape == (1000, 1000)
    assert array.strides == (0, 0)
    assert array[999, 1] == array[0, 0]
    assert not array.flags.writeable
    assert constant("u2[5] splat(3)").numpy().tolist() == [3] * 5


def test_array_outlives_its_module() -> None:
    mod = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %c = const f32[4] [1.0, 2.0, 3.0, 4.0]
            return %x
          }
        }
    """)
    created = mod["main"].value("c").constant
    assert created is not None
    array, data = created.numpy(), memoryview(created.data)
    del mod, created
    gc.collect()
    other = [constant("f32[4] [9.0, 9.0, 9.0, 8.0]").numpy() for _ in range(100)]
    assert array.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert bytes(data)[:4] == np.float32(1.0).tobytes()
    assert data.readonly
    assert len(other) == 100


def test_array_outlives_its_pass() -> None:
    kept: list[Any] = []

    def keeps(func: Any, ctx: Any) -> Any:
        value = func.add_constant([1.0, 2.0], name="c")
        kept.append(value.constant)
        kept.append(value.constant.numpy())
        return func

    on_functions("Keeps", keeps)(one_function())
    created, array = kept
    assert array.tolist() == created.numpy().tolist() == [1.0, 2.0]
    assert (created.shape, created.dtype, repr(created)) == ((2,), "f32", "<passdock.Constant f32(2,)>")


def test_file_data_is_viewed_without_copy(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    weight = np.arange(3000, dtype=np.float32)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3000])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [3000])],
        [onnx.numpy_helper.from_array(weight, "w")],
    )
    onnx.save(onnx.helper.make_model(graph), path)
    created = Module.read(str(path))["main"].value("w").constant
    assert created is not None
    gc.collect()
    np.testing.assert_array_equal(created.numpy(), weight)
    assert np.shares_memory(created.numpy(), created.numpy())


def test_array_protocol() -> None:
    created = constant("f32[2] [1.5, 2.5]")
    assert np.asarray(created).dtype == np.float32
    assert np.shares_memory(np.asarray(created), created.numpy())
    assert np.asarray(created, dtype=np.float64).tolist() == [1.5, 2.5]
    copied = np.array(created)
    copied[0] = 0
    assert created.numpy()[0] == 1.5
    assert np.add(created, 1.0).tolist() == [2.5, 3.5]
    with pytest.raises(ValueError, match="cannot convert to another dtype without a copy"):
        np.asarray(created, dtype=np.int32, copy=False)


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (2.0, None, "f32[] 2.0"),
        (2, None, "i64[] 2"),
        (True, None, "bool[] true"),
        ([1, 2], None, "i64[2] [1, 2]"),
        ([[1.0], [2.5]], None, "f32[2,1] [1.0, 2.5]"),
        ([1.0, 2.0], "f64", "f64[2] [1.0, 2.0]"),
        ([1.0, 2.0], np.float16, "f16[2] [1.0, 2.0]"),
        ([1, 2], "int32", "i32[2] [1, 2]"),
        ([1, 2], np.dtype("u1"), "u8[2] [1, 2]"),
        ([1.0, 2.0], np.dtype(">f4"), "f32[2] [1.0, 2.0]"),
        ([1.0, 2.0], "<f8", "f64[2] [1.0, 2.0]"),
        ([1.0, 2.0], "half", "f16[2] [1.0, 2.0]"),
        ([1.0, 2.0], float, "f64[2] [1.0, 2.0]"),
        (["a", "b"], np.dtype(object), 'str[2] ["a", "b"]'),
        (2**64 - 1, "u64", "u64[] 18446744073709551615"),
        ([2**63 + 1, 1], None, "u64[2] [9223372036854775809, 1]"),
        ([2**63 + 1, 1], "u64", "u64[2] [9223372036854775809, 1]"),
        (-(2.0**63), "i64", "i64[] -9223372036854775808"),
        (1 + 0j, "f32", "f32[] 1.0"),
        ([6.9, -6.0], "f4e2m1", "f4e2m1[2] [0x7, 0xf]"),
        ([1.0, -1.0, 7.5, 0.0, 2.0], "f6e2m3", "f6e2m3[5] [0x8, 0x28, 0x1f, 0x0, 0x10]"),
        ([float("inf"), float("nan")], "f16", "f16[2] [inf, nan]"),
        (np.array([1, -2], ml_dtypes.int4), "bf16", "bf16[2] [1.0, -2.0]"),
        (constant("f64[2] [1.0, 2.5]"), None, "f64[2] [1.0, 2.5]"),
        (np.ma.array([1, 2], mask=[False, False]), None, "i64[2] [1, 2]"),
        ([1.0, 2.0], "bf16", "bf16[2] [1.0, 2.0]"),
        ([1.0, 2.0], ml_dtypes.bfloat16, "bf16[2] [1.0, 2.0]"),
        (np.array([1.0], np.float64), None, "f64[1] [1.0]"),
        (np.array([1.0, 2.0], ">f4"), None, "f32[2] [1.0, 2.0]"),
        (np.arange(6, dtype=np.int32).reshape(2, 3).T, None, "i32[3,2] [0, 3, 1, 4, 2, 5]"),
        (np.arange(10)[::3], None, "i64[4] [0, 3, 6, 9]"),
        (np.array([1, -2, 7], ml_dtypes.int4), "i4", "i4[3] [1, -2, 7]"),
        (np.array([1, -2, 7], ml_dtypes.int4), None, "i4[3] [1, -2, 7]"),
        ([1, 2, 3], "u2", "u2[3] [1, 2, 3]"),
        ([1.0, -1.0], "f8e4m3fn", "f8e4m3fn[2] [0x38, 0xb8]"),
        (["ab", "c"], None, 'str[2] ["ab", "c"]'),
        ("ab", None, 'str[] "ab"'),
        (["é", ""], "str", 'str[2] ["é", ""]'),
        (b"ab", None, 'str[] "ab"'),
        ([b"ab", "c\0"], None, 'str[2] ["ab", "c\\u{0}"]'),
        (np.array([["a"], ["b"]], object), None, 'str[2,1] ["a", "b"]'),
        ([], "i64", "i64[0] []"),
        (np.zeros((0, 3), np.float32), None, "f32[0,3] []"),
    ],
)
def test_constants_are_created_from_arrays(data: Any, dtype: Any, expected: str) -> None:
    created, text = added(data, dtype)
    assert text.split(" ")[0] == expected.split(" ")[0]
    assert text == expected or created.is_splat or created.nbytes == 0
    again, _ = added(created, None if created.dtype == "str" else created.dtype)
    assert again.dtype == created.dtype
    np.testing.assert_array_equal(again.numpy(), created.numpy())


@pytest.mark.parametrize(
    ("data", "dtype", "message"),
    [
        (np.array(["2020-01-01"], "M8[D]"), None, "unsupported dtype datetime64"),
        (object(), None, "unsupported dtype object of a constant"),
        (["a", 1], None, "unsupported dtype object of a constant"),
        ([1.0], "f33", "unknown dtype `f33`"),
        ([1.0], "str", "the elements of a constant of strings must be str or bytes, not float64"),
        ([1, 300], "u8", "u8 cannot represent 300"),
        ([9], "i4", "i4 cannot represent 9"),
        ([-1], "u2", "u2 cannot represent -1"),
        ([1.5], "i64", "i64 cannot represent 1.5"),
        ([float("nan")], "i32", "i32 cannot represent nan"),
        ([2], "bool", "bool cannot represent 2"),
        (-1, "u64", "u64 cannot represent -1"),
        (np.int8(-1), "u8", "u8 cannot represent -1"),
        (np.uint64(2**63 + 1), "i64", "i64 cannot represent 9223372036854775809"),
        (2**64, "u64", "u64 cannot represent 18446744073709551616"),
        (2.0**64, "u64", "u64 cannot represent 1.8446744073709552e\\+19"),
        (2.0**63, "i64", "i64 cannot represent 9.223372036854776e\\+18"),
        (np.float16(65504), "i16", "i16 cannot represent 65504.0"),
        ([2**63, -1], "i64", "i64 cannot represent 9223372036854775808"),
        (np.array([1, -2], ml_dtypes.int4), "u8", "u8 cannot represent -2"),
        (1e39, None, "f32 cannot represent 1e\\+39"),
        (1e6, "f16", "f16 cannot represent 1000000.0"),
        (1e9, "f8e4m3fn", "f8e4m3fn cannot represent 1000000000.0"),
        (float("inf"), "f8e4m3fn", "f8e4m3fn cannot represent inf"),
        (7, "f4e2m1", "f4e2m1 cannot represent 7"),
        (float("nan"), "f4e2m1", "f4e2m1 cannot represent nan"),
        (8.0, "f6e2m3", "f6e2m3 cannot represent 8.0"),
        (0.0, "f8e8m0", "f8e8m0 cannot represent 0.0"),
        (1 + 2j, "f32", r"f32 cannot represent \(1\+2j\)"),
        (1e300, "c64", "c64 cannot represent 1e\\+300"),
        (10**400, "f32", "too large for f32"),
        (None, "f32", "the elements of a constant of f32 must be numbers, not NoneType"),
        ("1.5", "f32", "the elements of a constant of f32 must be numbers, not str"),
        (np.ma.array([1, 2], mask=[False, True]), None, "from a masked array"),
        ([1], "f4", "unknown dtype `f4`; expected bits as in `f32`, or NumPy's bytes as in `<f4`"),
        ([1], np.longdouble, "unsupported dtype `.*` of a constant"),
    ],
)
def test_invalid_constant_data_is_rejected(data: Any, dtype: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError), match=message):
        added(data, dtype)


def test_duplicate_names_are_numbered() -> None:
    names: list[str] = []

    def adds(func: Any, ctx: Any) -> Any:
        names.extend(func.add_constant(1.0, name="c").name for _ in range(3))
        return func

    on_functions("Adds", adds)(one_function())
    assert names == ["c", "c_1", "c_2"]


NUMBERS = st.sampled_from(
    [np.float16, np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8, np.uint64, np.bool_]
)


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(NUMBERS, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
def test_arrays_round_trip(array: np.ndarray[Any, Any]) -> None:
    """Through a pass, and through IR text."""

    def adds(func: Any, ctx: Any) -> Any:
        value = func.add_constant(array, name="c")
        func.create_op("acme.Use", [value], results=0, custom=True)
        return func

    after = on_functions("Adds", adds)(one_function())
    for mod in (after, Module.from_text(str(after))):
        created = mod["main"].value("c").constant
        assert created is not None
        assert created.numpy().dtype == array.dtype
        assert created.numpy().shape == array.shape
        assert created.numpy().tobytes() == array.tobytes()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(), max_size=5))
def test_strings_round_trip(texts: list[str]) -> None:
    created, _ = added(np.array(texts, object).reshape(len(texts)), "str")
    assert (created.strings if not created.is_splat else created.numpy().tolist()) == texts


def test_constant_in_an_attribute() -> None:
    mod = module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.Constant() {value = tensor f32[2] [1.0, 2.0]} : f32[2]
            return %y
          }
        }
    """)
    value = mod["main"].ops[0].attr("value")
    assert isinstance(value, Constant)
    assert value.numpy().tolist() == [1.0, 2.0]


def test_constant_of_another_function_is_rejected_as_attribute() -> None:
    """Constants and types can only be set in their own function."""
    other = constant("f32[1] [1.0]")

    def sets(func: Any, ctx: Any) -> Any:
        func.set_attr(func.ops[0], "value", other)
        return func

    with pytest.raises(ValueError, match="expected an object of function `@main`, found one of another function"):
        on_functions("Sets", sets)(one_function())


def test_unchanged_constant_is_shared_between_modules() -> None:
    """Unchanged parts aren't copied (rule 94)."""
    mod = module("""
        module {
          fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
            %c = const f32[4] [1.0, 2.0, 3.0, 4.0]
            %y = onnx.Add(%x, %c) : f32[4]
            return %y
          }
        }
    """)

    def edits(func: Any, ctx: Any) -> Any:
        func.set_function_attr("touched", 1)
        return func

    after = on_functions("Edits", edits)(mod)

    def data(mod: Module) -> np.ndarray[Any, Any]:
        value: Value = mod["main"].value("c")
        assert value.constant is not None
        return value.constant.numpy()

    assert np.shares_memory(data(mod), data(after))
    check(mod, str(mod))


@pytest.mark.parametrize(
    "text",
    [
        "f32[4000,1000] splat(1.0)",
        "bf16[2,3] splat(1.5)",
        "f8e4m3fn[2] [0x38, 0x40]",
        "i4[3] [1, 2, -3]",
        'str[2] ["a", "é"]',
        "bool[] [true]",
        "i64[0] []",
    ],
)
def test_readded_constant_shares_its_elements(text: str) -> None:
    given = constant(text)

    def adds(func: Any, ctx: Any) -> Any:
        for dtype in (None, given.dtype):
            value = func.add_constant(given, dtype, name="c")
            assert value.name == ("c" if dtype is None else "c_1")
            again = value.constant
            assert (again.dtype, again.shape, again.is_splat) == (given.dtype, given.shape, given.is_splat)
            viewed, own = np.asarray(again.data), np.asarray(given.data)
            assert own.size == 0 or viewed.ctypes.data == own.ctypes.data
            func.create_op("acme.Use", [value], results=0, custom=True)
        return func

    after = str(on_functions("Adds", adds)(one_function()))
    (first, second) = (line.split(" = ")[1] for line in after.splitlines() if "= const" in line)
    assert first == second and str(constant(first.removeprefix("const ")).numpy()) == str(given.numpy())


def test_constant_with_other_dtype_is_copied() -> None:
    def adds(func: Any, ctx: Any) -> Any:
        value = func.add_constant(constant("f32[2] [1.0, 2.0]"), "f64")
        assert (value.type, value.constant.numpy().tolist()) == ("f64[2]", [1.0, 2.0])
        return func

    on_functions("Adds", adds)(one_function())
