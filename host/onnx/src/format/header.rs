//! The header of a `ModelProto`: the fields that are metadata of the module in the IR.

use passdock_ir::Module;

use super::error::{OnnxError, Result};
use super::fields::text;
use super::opsets::{Opsets, read_opset};
use super::schema::model;
use super::wire::{Message, Value, put_bytes, put_int};

/// The name of the main graph's function.
pub const MAIN: &str = "main";

/// The fields of the header that are metadata of the module, by number.
pub(crate) const METADATA: [(u32, &str); 5] = [
    (model::IR_VERSION, "onnx.ir_version"),
    (model::PRODUCER_NAME, "onnx.producer_name"),
    (model::PRODUCER_VERSION, "onnx.producer_version"),
    (model::DOMAIN, "onnx.domain"),
    (model::MODEL_VERSION, "onnx.model_version"),
];

/// The IR version of a module that wasn't read from ONNX.
const IR_VERSION: i64 = 10;

/// Returns the `ir_version` in a module's metadata.
pub(crate) fn ir_version(module: &Module) -> i64 {
    version_of(module.metadata())
}

/// Returns the `ir_version` in metadata.
pub(crate) fn version_of(metadata: &[(String, String)]) -> i64 {
    let (_, key) = METADATA[0];
    let version = metadata.iter().find(|(known, _)| known == key);
    let version = version.and_then(|(_, text)| text.parse().ok());
    version.unwrap_or(IR_VERSION)
}

pub(crate) fn metadata(module: &Module, number: u32) -> Option<&str> {
    let key = METADATA.iter().find(|row| row.0 == number)?.1;
    module
        .metadata()
        .iter()
        .find(|pair| pair.0 == key)
        .map(|pair| pair.1.as_str())
}

/// The parts of a `ModelProto` that the IR models.
#[derive(Default)]
pub(crate) struct Header<'a> {
    /// The metadata, as in the module.
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) opsets: Opsets,
    pub(crate) graph: Option<Message<'a>>,
    pub(crate) functions: Vec<Message<'a>>,
}

impl<'a> Header<'a> {
    /// Returns the IR version; 0 if the file has none.
    pub(crate) fn ir_version(&self) -> i64 {
        let (_, key) = METADATA[0];
        match self.metadata.iter().any(|(known, _)| known == key) {
            true => version_of(&self.metadata),
            false => 0,
        }
    }

    /// Reads a whole file.
    pub(crate) fn read(file: Message<'a>) -> Result<Header<'a>> {
        let mut header = Header::default();
        for field in file.fields() {
            let field = field.map_err(|error| {
                let what = match error.is_cut() {
                    true => "truncated, or not an ONNX model",
                    false => "not an ONNX model, or only a part of one",
                };
                OnnxError::at(error.at, format!("{what}: {error}"))
            })?;
            match (field.number, field.value) {
                (model::GRAPH, Value::Bytes(_)) if header.graph.is_some() => {
                    return Err(OnnxError::at(field.record.at, "the model has two graphs"));
                }
                (model::GRAPH, Value::Bytes(body)) => header.graph = Some(body),
                (model::FUNCTIONS, Value::Bytes(body)) => header.functions.push(body),
                (model::OPSET_IMPORT, Value::Bytes(body)) => {
                    read_opset(body, &mut header.opsets)?;
                }
                (number, value) => {
                    if let Some(pair) = read_metadata(number, value)? {
                        header.metadata.retain(|(known, _)| *known != pair.0);
                        header.metadata.push(pair);
                    }
                }
            }
        }
        Ok(header)
    }
}

/// Reads a field of the header that is metadata; `None` if it is another field.
pub(crate) fn read_metadata(number: u32, value: Value<'_>) -> Result<Option<(String, String)>> {
    let Some(&(_, key)) = METADATA.iter().find(|row| row.0 == number) else {
        return Ok(None);
    };
    let is_number = matches!(number, model::IR_VERSION | model::MODEL_VERSION);
    let value = match value {
        Value::Varint(value) if is_number => (value as i64).to_string(),
        Value::Bytes(body) if !is_number => text(body)?.to_owned(),
        _ => return Ok(None),
    };
    Ok(Some((key.to_owned(), value)))
}

/// Appends a field of the header. `is_new` is whether a model without an IR version gets the default one.
pub(crate) fn put_metadata(
    number: u32,
    text: Option<&str>,
    is_new: bool,
    to: &mut Vec<u8>,
) -> Result {
    let Some(text) = text else {
        if number == model::IR_VERSION && is_new {
            put_int(to, number, IR_VERSION);
        }
        return Ok(());
    };
    if !matches!(number, model::IR_VERSION | model::MODEL_VERSION) {
        put_bytes(to, number, text.as_bytes());
        return Ok(());
    }
    let invalid = |_| OnnxError::new(format!("the version {text:?} of the model is not a number"));
    put_int(to, number, text.parse().map_err(invalid)?);
    Ok(())
}

/// Returns the newest opset of ONNX's own domain that was released with an IR version.
pub(crate) fn newest_opset(ir_version: i64) -> i64 {
    match ir_version {
        ..=3 => 8,
        4 => 9,
        5 => 10,
        6 => 11,
        7 => 14,
        8 => 18,
        9 => 20,
        _ => 21,
    }
}
