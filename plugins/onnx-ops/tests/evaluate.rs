//! `evaluate` without a host: raw bytes, hostile sizes, old versions of operators.

use std::borrow::Cow;

use expect_test::{Expect, expect};
use passdock_plugin_api::DType;
use passdock_plugins_onnx_ops::eval::{Call, EvalAttr, Tensor};
use passdock_plugins_onnx_ops::evaluate;

fn ints(shape: &[usize], elements: &[i64]) -> Option<Tensor<'static>> {
    Some(Tensor::from_vec(
        DType::I64,
        shape.to_vec(),
        elements.to_vec(),
    ))
}

fn singles(shape: &[usize], elements: &[f32]) -> Option<Tensor<'static>> {
    Some(Tensor::from_vec(
        DType::F32,
        shape.to_vec(),
        elements.to_vec(),
    ))
}

/// Returns the results, or the error.
fn outcome(
    name: &str,
    version: i64,
    inputs: &[Option<Tensor>],
    attrs: Vec<(&str, EvalAttr)>,
) -> String {
    let call = Call {
        name,
        version,
        inputs,
        attrs: &attrs,
        attr_defs: &[],
        outputs: 1,
        max_bytes: 1 << 20,
    };
    match evaluate(&call) {
        Ok(results) => results
            .iter()
            .map(|result| format!("{result:?}\n"))
            .collect(),
        Err(reason) => format!("{reason}\n"),
    }
}

#[track_caller]
fn check(
    name: &str,
    version: i64,
    inputs: &[Option<Tensor>],
    attrs: Vec<(&str, EvalAttr)>,
    expected: Expect,
) {
    expected.assert_eq(&outcome(name, version, inputs, attrs));
}

#[test]
fn unaligned_elements_are_read() {
    let bytes: Vec<u8> = [0u8]
        .into_iter()
        .chain([5i64, -1].map(i64::to_le_bytes).concat())
        .collect();
    let tensor = Tensor::from_bytes(DType::I64, vec![2], &bytes[1..]).expect("it fits");
    check(
        "onnx.Neg",
        13,
        &[Some(tensor)],
        vec![],
        expect![[r#"
        i64[2] [fb, ff, ff, ff, ff, ff, ff, ff, 01, 00, 00, 00, 00, 00, 00, 00]
    "#]],
    );
}

#[test]
fn tensor_with_wrong_byte_count_is_rejected() {
    let short = Tensor::from_bytes(DType::F32, vec![2], &[0; 7]).expect_err("a byte is missing");
    let huge = Tensor::from_bytes(DType::F32, vec![0, usize::MAX, 2], &[]).expect_err("overflow");
    let strings = |bytes: &[u8]| {
        let table: Vec<u8> = bytes
            .iter()
            .flat_map(|&end| u64::from(end).to_le_bytes())
            .collect();
        Tensor::from_bytes(DType::STRING, vec![1], &table)
            .expect_err("damaged")
            .to_string()
    };
    expect![[r#"
        found 7 bytes for 2 elements of type f32
        shape [0, 18446744073709551615, 2] has too many elements
        invalid offsets in a string tensor
        invalid offsets in a string tensor
    "#]]
    .assert_eq(&format!(
        "{short}\n{huge}\n{}\n{}\n",
        strings(&[0, 9]),
        strings(&[1, 0])
    ));
}

#[test]
fn result_above_size_limit_is_rejected() {
    let scalar = || singles(&[], &[0.0]);
    let size = || ints(&[2], &[1 << 20, 1 << 20]);
    let cases = [
        ("onnx.Expand", vec![scalar(), size()]),
        ("onnx.ConstantOfShape", vec![size()]),
        (
            "onnx.ConstantOfShape",
            vec![ints(&[2], &[i64::MAX, i64::MAX])],
        ),
        ("onnx.Tile", vec![singles(&[1, 1], &[0.0]), size()]),
        (
            "onnx.Range",
            vec![ints(&[], &[0]), ints(&[], &[i64::MAX]), ints(&[], &[1])],
        ),
        (
            "onnx.Pad",
            vec![singles(&[1], &[0.0]), ints(&[2], &[i64::MAX, 0])],
        ),
    ];
    let outcomes =
        cases.map(|(name, inputs)| format!("{name}: {}", outcome(name, 17, &inputs, vec![])));
    expect![[r#"
        onnx.Expand: result would take 4,398,046,511,104 bytes, limit is 1,048,576
        onnx.ConstantOfShape: result would take 4,398,046,511,104 bytes, limit is 1,048,576
        onnx.ConstantOfShape: shape [9223372036854775807, 9223372036854775807] has too many elements
        onnx.Tile: result would take 4,398,046,511,104 bytes, limit is 1,048,576
        onnx.Range: size of the result is unknown or overflows
        onnx.Pad: pads 9223372036854775807 and 0 are out of range for a dim of 1
    "#]]
    .assert_eq(&outcomes.concat());
}

#[test]
fn malformed_calls_are_rejected() {
    let matrix = || ints(&[2, 2], &[1, 2, 3, 4]);
    let list = |ints: &'static [i64]| EvalAttr::Ints(Cow::Borrowed(ints));
    let cases = [
        (
            "onnx.Transpose",
            vec![matrix()],
            vec![("perm", list(&[0, 2]))],
        ),
        (
            "onnx.Transpose",
            vec![matrix()],
            vec![("perm", EvalAttr::Other)],
        ),
        (
            "onnx.Concat",
            vec![matrix(), None],
            vec![("axis", EvalAttr::Int(0))],
        ),
        ("onnx.Concat", vec![], vec![("axis", EvalAttr::Int(0))]),
        ("onnx.Add", vec![matrix(), singles(&[], &[1.0])], vec![]),
        ("onnx.Add", vec![matrix()], vec![]),
        (
            "onnx.Reshape",
            vec![matrix(), ints(&[2], &[-1, -1])],
            vec![],
        ),
        ("onnx.Reshape", vec![matrix(), ints(&[1], &[3])], vec![]),
        (
            "onnx.Slice",
            vec![matrix(), ints(&[1], &[0]), ints(&[2], &[1, 1])],
            vec![],
        ),
        ("onnx.Softmax", vec![matrix()], vec![]),
        ("onnx.Nothing", vec![], vec![]),
    ];
    let outcomes =
        cases.map(|(name, inputs, attrs)| format!("{name}: {}", outcome(name, 17, &inputs, attrs)));
    expect![[r#"
        onnx.Transpose: axis 2 is out of range for rank 2
        onnx.Transpose: invalid attribute `perm`: expected a list of integers
        onnx.Concat: missing operand 1
        onnx.Concat: unsupported number of operands: 0
        onnx.Add: expected operands of one element type, found i64 and f32
        onnx.Add: unsupported number of operands: 1
        onnx.Reshape: invalid shape [-1, -1]
        onnx.Reshape: cannot reshape 4 elements to [3]
        onnx.Slice: expected `starts`, `ends`, `axes` and `steps` of equal length
        onnx.Softmax: unsupported element type i64
        onnx.Nothing: no definition of `onnx.Nothing` in opset 17
    "#]]
    .assert_eq(&outcomes.concat());
    check(
        "onnx.Neg",
        99,
        &[matrix()],
        vec![],
        expect![["
            i64[2, 2] [ff, ff, ff, ff, ff, ff, ff, ff, fe, ff, ff, ff, ff, ff, ff, ff, fd, ff, ff, ff, ff, ff, ff, \
              ff, fc, ff, ff, ff, ff, ff, ff, ff]
        "]],
    );
    check(
        "onnx.Neg",
        99,
        &[matrix()],
        vec![("mode", EvalAttr::Int(0))],
        expect![[r#"
            unknown attribute `mode`
        "#]],
    );
}

/// Returns the only result.
fn result<'a>(name: &str, inputs: &[Option<Tensor>], attrs: Vec<(&str, EvalAttr)>) -> Tensor<'a> {
    let call = Call {
        name,
        version: 25,
        inputs,
        attrs: &attrs,
        attr_defs: &[],
        outputs: 1,
        max_bytes: 1 << 20,
    };
    let mut results = evaluate(&call).unwrap_or_else(|reason| panic!("{name}: {reason}"));
    let result = results.remove(0);
    owned(&result)
}

fn owned<'a>(tensor: &Tensor) -> Tensor<'a> {
    let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
    Tensor::from_vec(dtype, shape, tensor.bytes().to_vec())
}

/// Returns a matrix of three rows for each element type except strings, with arbitrary bits; the padding after the
/// last element is 0.
fn matrices() -> impl Iterator<Item = Tensor<'static>> {
    let known = DType::ALL.iter().filter(|&&dtype| dtype != DType::STRING);
    known.map(|&dtype| {
        let bytes = dtype.byte_len(15).expect("its elements have a size");
        let mut bytes: Vec<u8> = (0..bytes).map(|at| (at * 37 + 9) as u8).collect();
        if let (used @ 1.., Some(last)) = (dtype.bits() * 15 % 8, bytes.last_mut()) {
            *last &= (1 << used) - 1;
        }
        Tensor::from_vec(dtype, vec![3, 5], bytes)
    })
}

#[test]
fn moving_ops_preserve_every_element_type() {
    let all = || ints(&[3], &[0, 1, -1]);
    let list = |values: &[i64]| ints(&[values.len()], values);
    for x in matrices() {
        let same = |what: &str, back: &Tensor| {
            assert_eq!(format!("{x:?}"), format!("{back:?}"), "{what}");
        };
        let turned = result("onnx.Transpose", &[Some(x.clone())], vec![]);
        same(
            "Transpose",
            &result("onnx.Transpose", &[Some(turned)], vec![]),
        );
        same(
            "Gather",
            &result("onnx.Gather", &[Some(x.clone()), all()], vec![]),
        );
        let backwards = |x: Tensor| {
            let walk = [list(&[-1]), list(&[i64::MIN]), list(&[1]), list(&[-1])];
            let inputs: Vec<_> = [Some(x)].into_iter().chain(walk).collect();
            result("onnx.Slice", &inputs, vec![])
        };
        same("Slice", &backwards(backwards(x.clone())));
        let twice = [Some(x.clone()), Some(x.clone())];
        let twice = result("onnx.Concat", &twice, vec![("axis", EvalAttr::Int(1))]);
        let first = [Some(twice), list(&[0]), list(&[5]), list(&[1])];
        same("Concat and Slice", &result("onnx.Slice", &first, vec![]));
        let padded = result("onnx.Pad", &[Some(x.clone()), list(&[1, 0, 0, 2])], vec![]);
        let cut = [Some(padded), list(&[-1, 0, 0, -2])];
        same("Pad", &result("onnx.Pad", &cut, vec![]));
        let scattered = [Some(x.clone()), ints(&[3, 1], &[2, 0, 1]), Some(x.clone())];
        let scattered = result("onnx.ScatterND", &scattered, vec![]);
        let ordered = [Some(scattered), ints(&[3], &[2, 0, 1])];
        same("ScatterND", &result("onnx.Gather", &ordered, vec![]));
    }
}

#[test]
fn sub_byte_elements_survive_widening() {
    let is_small = |x: &Tensor| x.dtype().bits() <= 8 && x.dtype() != DType::BOOL;
    for x in matrices().filter(is_small) {
        for wide in [DType::F32, DType::F64, DType::BF16] {
            let to = |dtype: DType| vec![("to", EvalAttr::Int(dtype.0.into()))];
            let widened = result("onnx.Cast", &[Some(x.clone())], to(wide));
            let back = result("onnx.Cast", &[Some(widened)], to(x.dtype()));
            let (x, back) = (format!("{x:?}"), format!("{back:?}"));
            assert_eq!(x, back, "through {wide:?}");
        }
    }
}

#[test]
fn batch_norm_in_training_mode() {
    let x = || singles(&[1, 2, 2], &[1.0, 3.0, -2.0, -2.0]);
    let two = |a: f32, b: f32| singles(&[2], &[a, b]);
    let operands = || {
        [
            x(),
            two(1.0, 2.0),
            two(0.0, 0.5),
            two(0.5, 1.0),
            two(4.0, 1.0),
        ]
    };
    let attrs = |trains: i64| {
        vec![
            ("training_mode", EvalAttr::Int(trains)),
            ("epsilon", EvalAttr::Float(0.0625)),
        ]
    };
    check(
        "onnx.BatchNormalization",
        15,
        &operands(),
        attrs(0),
        expect![[r#"
            f32[1, 2, 2] [ec, 05, 7e, 3e, b4, c3, 9e, 3f, 72, 44, aa, c0, 72, 44, aa, c0]
        "#]],
    );
    check(
        "onnx.BatchNormalization",
        15,
        &operands(),
        attrs(1),
        expect![[r#"
            f32[1, 2, 2] [42, 5b, 78, bf, 42, 5b, 78, 3f, 00, 00, 00, 3f, 00, 00, 00, 3f]
            f32[2] [67, 66, 26, 3f, 32, 33, 33, 3f]
            f32[2] [cc, cc, 6c, 40, 66, 66, 66, 3f]
        "#]],
    );
    check(
        "onnx.BatchNormalization",
        9,
        &operands(),
        Vec::new(),
        expect![[r#"
            f32[1, 2, 2] [eb, ff, 7f, 3e, f3, ff, 9f, 3f, c1, ff, af, c0, c1, ff, af, c0]
        "#]],
    );
    let each = || vec![("spatial", EvalAttr::Int(0))];
    check(
        "onnx.BatchNormalization",
        7,
        &operands(),
        each(),
        expect![[r#"
            unsupported attribute `spatial`: expected 1
        "#]],
    );
    let nothing = [
        singles(&[0, 2], &[]),
        two(1.0, 1.0),
        two(0.0, 0.0),
        two(0.0, 0.0),
        two(1.0, 1.0),
    ];
    check(
        "onnx.BatchNormalization",
        15,
        &nothing,
        attrs(0),
        expect![[r#"
            f32[0, 2] []
        "#]],
    );
    check(
        "onnx.BatchNormalization",
        15,
        &nothing,
        attrs(1),
        expect![[r#"
            mean of no elements is undefined
        "#]],
    );
    let long = [
        x(),
        singles(&[3], &[1.0; 3]),
        two(0.0, 0.0),
        two(0.0, 0.0),
        two(1.0, 1.0),
    ];
    check(
        "onnx.BatchNormalization",
        15,
        &long,
        attrs(0),
        expect![[r#"
            expected operand 1 to have shape [2] and element type f32
        "#]],
    );
}
