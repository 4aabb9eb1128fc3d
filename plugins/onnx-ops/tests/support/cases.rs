//! ONNX's node test cases, as `node_cases.py` writes them.

use std::borrow::Cow;
use std::path::Path;

use passdock_plugin_api::DType;
use passdock_plugins_onnx_ops::eval::{EvalAttr, NotFolded, Tensor};
use serde_json::Value;

/// An op with its operands and expected results.
pub(crate) struct Case<'b> {
    pub(crate) name: String,
    /// The name, with the domain.
    pub(crate) op: String,
    pub(crate) version: i64,
    pub(crate) inputs: Vec<Option<Tensor<'b>>>,
    pub(crate) outputs: Vec<Option<Tensor<'b>>>,
    attrs: Vec<(String, Given<'b>)>,
    rtol: f64,
    atol: f64,
}

/// An attribute value, owned except for tensors.
enum Given<'b> {
    Int(i64),
    Float(f32),
    String(Vec<u8>),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Strings(Vec<Vec<u8>>),
    Tensor(Tensor<'b>),
    Other,
}

/// Reads the cases in the directory that `PASSDOCK_NODE_CASES` names: their lines, and their tensors.
pub(crate) fn files() -> Option<(String, Vec<u8>)> {
    let directory = std::env::var_os("PASSDOCK_NODE_CASES")?;
    let directory = Path::new(&directory);
    let lines = std::fs::read_to_string(directory.join("cases.jsonl")).expect("cases are readable");
    let blob = std::fs::read(directory.join("cases.bin")).expect("their tensors are readable");
    Some((lines, blob))
}

/// Returns the cases whose tensors have known types.
pub(crate) fn cases<'b>(lines: &str, blob: &'b [u8]) -> Vec<Case<'b>> {
    let case = |line| read(&serde_json::from_str(line).expect("a case is JSON"), blob).ok();
    lines.lines().filter_map(case).collect()
}

fn read<'b>(case: &Value, blob: &'b [u8]) -> Result<Case<'b>, NotFolded> {
    let tensors = |key: &str| -> Result<Vec<_>, NotFolded> {
        list(&case[key])
            .iter()
            .map(|value| tensor(value, blob))
            .collect()
    };
    let attr = |attr: &Value| Ok((text(&attr[0]), given(attr, blob)?));
    Ok(Case {
        name: text(&case["name"]),
        op: format!("onnx.{}", text(&case["op"])),
        version: case["version"].as_i64().expect("a version"),
        inputs: tensors("inputs")?,
        outputs: tensors("outputs")?,
        attrs: list(&case["attrs"])
            .iter()
            .map(attr)
            .collect::<Result<_, _>>()?,
        rtol: case["rtol"].as_f64().unwrap_or(0.0),
        atol: case["atol"].as_f64().unwrap_or(0.0),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn bytes(value: &Value) -> Vec<u8> {
    list(value)
        .iter()
        .map(|byte| byte.as_u64().expect("a byte") as u8)
        .collect()
}

fn given<'b>(attr: &Value, blob: &'b [u8]) -> Result<Given<'b>, NotFolded> {
    let float = |value: &Value| value.as_f64().expect("a float") as f32;
    let value = &attr[2];
    Ok(match attr[1].as_str() {
        Some("int") => Given::Int(value.as_i64().expect("an integer")),
        Some("float") => Given::Float(float(value)),
        Some("string") => Given::String(bytes(value)),
        Some("ints") => Given::Ints(list(value).iter().filter_map(Value::as_i64).collect()),
        Some("floats") => Given::Floats(list(value).iter().map(float).collect()),
        Some("strings") => Given::Strings(list(value).iter().map(bytes).collect()),
        Some("tensor") => tensor(value, blob)?.map_or(Given::Other, Given::Tensor),
        _ => Given::Other,
    })
}

fn tensor<'b>(value: &Value, blob: &'b [u8]) -> Result<Option<Tensor<'b>>, NotFolded> {
    if value.is_null() {
        return Ok(None);
    }
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let shape = list(&value[1]).iter().map(number).collect();
    let (start, length) = (number(&value[2]), number(&value[3]));
    let dtype = DType(number(&value[0]) as u32);
    Tensor::from_bytes(dtype, shape, &blob[start..start + length]).map(Some)
}

impl Case<'_> {
    /// Returns the attributes, borrowed.
    pub(crate) fn attrs(&self) -> Vec<(&str, EvalAttr<'_>)> {
        let value = |given| match given {
            &Given::Int(value) => EvalAttr::Int(value),
            &Given::Float(value) => EvalAttr::Float(value),
            Given::String(value) => EvalAttr::String(value),
            Given::Ints(values) => EvalAttr::Ints(Cow::Borrowed(values)),
            Given::Floats(values) => EvalAttr::Floats(Cow::Borrowed(values)),
            Given::Strings(values) => EvalAttr::Strings(values.iter().map(|s| &**s).collect()),
            Given::Tensor(tensor) => EvalAttr::Tensor(tensor.clone()),
            Given::Other => EvalAttr::Other,
        };
        self.attrs
            .iter()
            .map(|(name, given)| (name.as_str(), value(given)))
            .collect()
    }

    /// Checks that a result is the expected one: floats within the tolerance, all others bit by bit.
    pub(crate) fn compare(&self, index: usize, result: &Tensor) -> Result<(), String> {
        let Some(Some(wanted)) = self.outputs.get(index) else {
            return Ok(());
        };
        let differ = || Err(format!("{}: {result:?} instead of {wanted:?}", self.name));
        if result.dtype() != wanted.dtype() || result.shape() != wanted.shape() {
            return differ();
        }
        let (Some(ours), Some(theirs)) = (floats(result), floats(wanted)) else {
            return if result.bytes() == wanted.bytes() {
                Ok(())
            } else {
                differ()
            };
        };
        let close = |(our, their): (&f64, &f64)| {
            our == their
                || our.is_nan() && their.is_nan()
                || (our - their).abs() <= self.atol + self.rtol * their.abs()
        };
        if ours.iter().zip(&theirs).all(close) {
            Ok(())
        } else {
            differ()
        }
    }
}

/// Returns the elements of a float tensor.
fn floats(tensor: &Tensor) -> Option<Vec<f64>> {
    Some(match tensor.dtype() {
        DType::F32 => tensor
            .stored::<f32>()
            .ok()?
            .iter()
            .map(|&x| x.into())
            .collect(),
        DType::F64 => tensor.stored::<f64>().ok()?.into_owned(),
        DType::F16 => tensor
            .stored::<half::f16>()
            .ok()?
            .iter()
            .map(|x| x.to_f64())
            .collect(),
        DType::BF16 => tensor
            .stored::<half::bf16>()
            .ok()?
            .iter()
            .map(|x| x.to_f64())
            .collect(),
        _ => return None,
    })
}
