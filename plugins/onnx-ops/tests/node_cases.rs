//! ONNX's own node test cases against `evaluate`: what is answered must be right.
//!
//! `node_cases.py DIRECTORY` writes the cases; without `PASSDOCK_NODE_CASES` naming that directory
//! there is nothing to judge by. With `PASSDOCK_NODE_CASES_DETAILS` each case that isn't folded is
//! printed with its reason.

#![allow(
    clippy::print_stderr,
    reason = "the counts are what the test is run for"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use half::{bf16, f16};
use passdock_plugin_api::DType;
use passdock_plugins_onnx_ops::eval::{Attr, Call, Tensor, evaluate};
use passdock_plugins_onnx_ops::ops;
use serde_json::Value;

#[test]
fn onnx_node_cases_are_right_or_left_alone() {
    let Some(directory) = std::env::var_os("PASSDOCK_NODE_CASES") else {
        return;
    };
    let directory = Path::new(&directory);
    let lines = std::fs::read_to_string(directory.join("cases.jsonl")).expect("cases are readable");
    let blob = std::fs::read(directory.join("cases.bin")).expect("their tensors are readable");

    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let (name, op) = (text(&case["name"]), text(&case["op"]));
        let count = counts.entry(op.to_owned()).or_default();
        match judge(&case, &blob) {
            Ok(()) => count[0] += 1,
            Err(Verdict::NotFolded(reason)) => {
                count[1] += 1;
                if is_defined(op) && std::env::var_os("PASSDOCK_NODE_CASES_DETAILS").is_some() {
                    eprintln!("{name}: {reason}");
                }
            }
            Err(Verdict::Wrong(how)) => {
                count[2] += 1;
                wrong.push(format!("{name}: {how}"));
            }
        }
    }
    let mut defined = [0; 3];
    let mut all = [0; 3];
    for (op, count) in &counts {
        let is_defined = is_defined(op);
        if is_defined && count[1] > 0 {
            eprintln!("{op}: {} right, {} not folded", count[0], count[1]);
        }
        for slot in 0..3 {
            all[slot] += count[slot];
            defined[slot] += if is_defined { count[slot] } else { 0 };
        }
    }
    eprintln!(
        "defined operators: {} right, {} not folded, {} wrong",
        defined[0], defined[1], defined[2]
    );
    eprintln!(
        "all operators: {} right, {} not folded, {} wrong",
        all[0], all[1], all[2]
    );
    assert!(all[0] > 0, "no case was folded");
    assert!(wrong.is_empty(), "wrong results:\n{}", wrong.join("\n"));
}

fn is_defined(op: &str) -> bool {
    let row = ops::find(&format!("onnx.{op}"), ops::NEWEST_OPSET);
    row.is_some_and(|row| row.evaluate.is_some())
}

enum Verdict {
    NotFolded(String),
    Wrong(String),
}

/// Evaluates a case and compares.
fn judge(case: &Value, blob: &[u8]) -> Result<(), Verdict> {
    let unreadable =
        |error: passdock_plugins_onnx_ops::eval::NotFolded| Verdict::NotFolded(error.to_string());
    let tensors = |key: &str| -> Result<Vec<Option<Tensor>>, Verdict> {
        let list = case[key].as_array().expect("a list of tensors");
        list.iter()
            .map(|value| tensor(value, blob).map_err(unreadable))
            .collect()
    };
    let (inputs, wanted) = (tensors("inputs")?, tensors("outputs")?);
    let strings: Vec<Vec<Vec<u8>>> = list(&case["attrs"]).iter().map(attr_strings).collect();
    let mut attrs = Vec::new();
    for (attr, strings) in list(&case["attrs"]).iter().zip(&strings) {
        attrs.push((
            text(&attr[0]),
            attribute(attr, strings, blob).map_err(unreadable)?,
        ));
    }
    let call = Call {
        name: &format!("onnx.{}", text(&case["op"])),
        version: case["version"].as_i64().expect("a version"),
        inputs: &inputs,
        attrs: &attrs,
        outputs: wanted.len(),
        max_bytes: 1 << 24,
    };
    let results = evaluate(&call).map_err(unreadable)?;
    let tolerance = |key: &str| case[key].as_f64().unwrap_or(0.0);
    for (result, wanted) in results.iter().zip(&wanted) {
        if let Some(wanted) = wanted {
            compare(result, wanted, tolerance("rtol"), tolerance("atol"))
                .map_err(Verdict::Wrong)?;
        }
    }
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn bytes(value: &Value) -> Vec<u8> {
    list(value)
        .iter()
        .map(|byte| byte.as_u64().expect("a byte") as u8)
        .collect()
}

/// The strings of a string attribute, to be borrowed.
fn attr_strings(attr: &Value) -> Vec<Vec<u8>> {
    match text(&attr[1]) {
        "string" => vec![bytes(&attr[2])],
        "strings" => list(&attr[2]).iter().map(bytes).collect(),
        _ => vec![],
    }
}

type Read<T> = Result<T, passdock_plugins_onnx_ops::eval::NotFolded>;

fn attribute<'a>(attr: &Value, strings: &'a [Vec<u8>], blob: &'a [u8]) -> Read<Attr<'a>> {
    let floats = |value: &Value| value.as_f64().expect("a float") as f32;
    Ok(match text(&attr[1]) {
        "int" => Attr::Int(attr[2].as_i64().expect("an integer")),
        "float" => Attr::Float(floats(&attr[2])),
        "string" => Attr::String(&strings[0]),
        "ints" => Attr::Ints(Cow::Owned(
            list(&attr[2]).iter().filter_map(Value::as_i64).collect(),
        )),
        "floats" => Attr::Floats(Cow::Owned(list(&attr[2]).iter().map(floats).collect())),
        "strings" => Attr::Strings(strings.iter().map(|string| &**string).collect()),
        "tensor" => tensor(&attr[2], blob)?.map_or(Attr::Other, Attr::Tensor),
        _ => Attr::Other,
    })
}

fn tensor<'a>(value: &Value, blob: &'a [u8]) -> Read<Option<Tensor<'a>>> {
    if value.is_null() {
        return Ok(None);
    }
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let shape = list(&value[1]).iter().map(number).collect();
    let (start, length) = (number(&value[2]), number(&value[3]));
    Tensor::from_bytes(
        DType(number(&value[0]) as u32),
        shape,
        &blob[start..start + length],
    )
    .map(Some)
}

/// Whether a result is what was wanted: floats within the tolerance, all else to the bit.
fn compare(result: &Tensor, wanted: &Tensor, rtol: f64, atol: f64) -> Result<(), String> {
    if result.dtype() != wanted.dtype() || result.shape() != wanted.shape() {
        return Err(format!("{result:?} instead of {wanted:?}"));
    }
    let (Some(ours), Some(theirs)) = (floats(result), floats(wanted)) else {
        let same = result.bytes() == wanted.bytes();
        return if same {
            Ok(())
        } else {
            Err(format!("{result:?} instead of {wanted:?}"))
        };
    };
    for (at, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        let close = our == their
            || our.is_nan() && their.is_nan()
            || (our - their).abs() <= atol + rtol * their.abs();
        if !close {
            return Err(format!("element {at} is {our} instead of {their}"));
        }
    }
    Ok(())
}

fn floats(tensor: &Tensor) -> Option<Vec<f64>> {
    let bytes = tensor.bytes();
    Some(match tensor.dtype() {
        DType::F32 => bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into())
            .collect(),
        DType::F64 => bytes
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
            .collect(),
        DType::F16 => bytes
            .chunks_exact(2)
            .map(|b| f16::from_le_bytes([b[0], b[1]]).into())
            .collect(),
        DType::BF16 => bytes
            .chunks_exact(2)
            .map(|b| bf16::from_le_bytes([b[0], b[1]]).into())
            .collect(),
        _ => return None,
    })
}
