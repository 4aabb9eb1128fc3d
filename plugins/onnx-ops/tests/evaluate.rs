//! `evaluate` by itself: bytes as they lie in files, hostile sizes, old versions of operators.

use std::borrow::Cow;

use expect_test::{Expect, expect};
use passdock_plugin_api::DType;
use passdock_plugins_onnx_ops::eval::{Attr, Call, Tensor, evaluate};

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

/// The results, or why there are none.
fn answer(name: &str, version: i64, inputs: &[Option<Tensor>], attrs: Vec<(&str, Attr)>) -> String {
    let call = Call {
        name,
        version,
        inputs,
        attrs: &attrs,
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
    attrs: Vec<(&str, Attr)>,
    expected: Expect,
) {
    expected.assert_eq(&answer(name, version, inputs, attrs));
}

#[test]
fn elements_that_are_not_aligned_are_read() {
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
fn bytes_that_do_not_fit_are_refused() {
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
        a tensor of 2 f32 has 7 bytes
        the shape [0, 18446744073709551615, 2] has too many elements
        the offsets of a string tensor are damaged
        the offsets of a string tensor are damaged
    "#]]
    .assert_eq(&format!(
        "{short}\n{huge}\n{}\n{}\n",
        strings(&[0, 9]),
        strings(&[1, 0])
    ));
}

#[test]
fn old_versions_have_attributes_where_new_ones_have_operands() {
    let x = || singles(&[1, 2, 1], &[3.0, -4.0]);
    let list = |ints: &'static [i64]| Attr::Ints(Cow::Borrowed(ints));
    check(
        "onnx.Squeeze",
        11,
        &[x()],
        vec![("axes", list(&[0]))],
        expect![[r#"
            f32[2, 1] [00, 00, 40, 40, 00, 00, 80, c0]
        "#]],
    );
    check(
        "onnx.Squeeze",
        13,
        &[x(), ints(&[1], &[-1])],
        vec![],
        expect![[r#"
            f32[1, 2] [00, 00, 40, 40, 00, 00, 80, c0]
        "#]],
    );
    check(
        "onnx.ReduceSum",
        11,
        &[x()],
        vec![("axes", list(&[1]))],
        expect![[r#"
            f32[1, 1, 1] [00, 00, 80, bf]
        "#]],
    );
    check(
        "onnx.ReduceSum",
        13,
        &[x(), ints(&[1], &[1])],
        vec![],
        expect![[r#"
            f32[1, 1, 1] [00, 00, 80, bf]
        "#]],
    );
    check(
        "onnx.Clip",
        6,
        &[x()],
        vec![("min", Attr::Float(-1.0)), ("max", Attr::Float(1.0))],
        expect![[r#"
            f32[1, 2, 1] [00, 00, 80, 3f, 00, 00, 80, bf]
        "#]],
    );
    check(
        "onnx.Slice",
        9,
        &[x()],
        vec![
            ("starts", list(&[1])),
            ("ends", list(&[9])),
            ("axes", list(&[1])),
        ],
        expect![[r#"
            f32[1, 1, 1] [00, 00, 80, c0]
        "#]],
    );
}

#[test]
fn nothing_larger_than_allowed_is_made() {
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
    let answers =
        cases.map(|(name, inputs)| format!("{name}: {}", answer(name, 17, &inputs, vec![])));
    expect![[r#"
        onnx.Expand: its result would take 4398046511104 bytes
        onnx.ConstantOfShape: its result would take 4398046511104 bytes
        onnx.ConstantOfShape: the shape [9223372036854775807, 9223372036854775807] has too many elements
        onnx.Tile: its result would take 4398046511104 bytes
        onnx.Range: the size of its result isn't known
        onnx.Pad: pads of 9223372036854775807 and 0 leave nothing of a dim of 1
    "#]].assert_eq(&answers.concat());
}

#[test]
fn what_is_malformed_is_refused_not_guessed() {
    let matrix = || ints(&[2, 2], &[1, 2, 3, 4]);
    let list = |ints: &'static [i64]| Attr::Ints(Cow::Borrowed(ints));
    let cases = [
        (
            "onnx.Transpose",
            vec![matrix()],
            vec![("perm", list(&[0, 2]))],
        ),
        (
            "onnx.Transpose",
            vec![matrix()],
            vec![("perm", Attr::Other)],
        ),
        (
            "onnx.Concat",
            vec![matrix(), None],
            vec![("axis", Attr::Int(0))],
        ),
        ("onnx.Concat", vec![], vec![("axis", Attr::Int(0))]),
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
    let answers =
        cases.map(|(name, inputs, attrs)| format!("{name}: {}", answer(name, 17, &inputs, attrs)));
    expect![[r#"
        onnx.Transpose: axis 2 is out of range for rank 2
        onnx.Transpose: its attribute `perm` isn't a list of integers
        onnx.Concat: operand 1 is missing
        onnx.Concat: onnx.Concat can't have 0 operands
        onnx.Add: its operands mix i64 and f32
        onnx.Add: onnx.Add can't have 1 operands
        onnx.Reshape: [-1, -1] isn't a shape
        onnx.Reshape: 4 elements don't fill the shape [3]
        onnx.Slice: its starts, ends, axes and steps aren't equally many
        onnx.Softmax: it isn't computed on i64
        onnx.Nothing: no definition of onnx.Nothing is known
    "#]]
    .assert_eq(&answers.concat());
    check(
        "onnx.Neg",
        99,
        &[matrix()],
        vec![],
        expect![[r#"
        onnx.Neg of opset 99 isn't known
    "#]],
    );
}
