//! The header of a `ModelProto`: the fields that are metadata of the module.

use passdock_ir::Module;
use rustc_hash::FxHashMap;

use super::error::{OnnxError, Result};
use super::fields::text;
use super::schema::model;
use super::wire::{Message, Value, fields_of, put_bytes, put_int};

/// The name of the function that the main graph is.
pub const MAIN: &str = "main";

/// Fields of the model's header that are metadata of the module, by number.
pub(crate) const METADATA: [(u32, &str); 5] = [
    (model::IR_VERSION, "onnx.ir_version"),
    (model::PRODUCER_NAME, "onnx.producer_name"),
    (model::PRODUCER_VERSION, "onnx.producer_version"),
    (model::DOMAIN, "onnx.domain"),
    (model::MODEL_VERSION, "onnx.model_version"),
];

/// The IR version of a module without a file behind it.
const IR_VERSION: i64 = 10;

/// The `ir_version` that a module's metadata gives.
pub(crate) fn ir_version(module: &Module) -> i64 {
    version_of(module.metadata())
}

/// The `ir_version` that metadata gives.
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

/// A field of the model's header that the IR keeps as text.
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

/// Metadata that the file has no field for.
pub(crate) fn missing_metadata<'m>(
    metadata: impl Fn(u32) -> Option<&'m str>,
    old: &FxHashMap<u32, String>,
    is_new: bool,
    to: &mut Vec<u8>,
) -> Result {
    for &(number, _) in METADATA.iter().filter(|row| !old.contains_key(&row.0)) {
        match metadata(number) {
            Some(text) => put_metadata(number, text, to)?,
            None if number == model::IR_VERSION && is_new => {
                put_int(to, model::IR_VERSION, IR_VERSION);
            }
            None => {}
        }
    }
    Ok(())
}

/// The metadata in the file's header, by field number; a field's last record counts.
pub(crate) fn old_metadata(template: Option<Message<'_>>) -> Result<FxHashMap<u32, String>> {
    let mut old = FxHashMap::default();
    for field in fields_of(template) {
        let field = field?;
        if let Some((_, text)) = read_metadata(field.number, field.value)? {
            old.insert(field.number, text);
        }
    }
    Ok(old)
}

pub(crate) fn put_metadata(number: u32, text: &str, to: &mut Vec<u8>) -> Result {
    if !matches!(number, model::IR_VERSION | model::MODEL_VERSION) {
        put_bytes(to, number, text.as_bytes());
        return Ok(());
    }
    let wrong = |_| OnnxError::new(format!("the version {text:?} of the model is no number"));
    put_int(to, number, text.parse().map_err(wrong)?);
    Ok(())
}

/// The newest version of ONNX's own ops that came out with an IR version.
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
