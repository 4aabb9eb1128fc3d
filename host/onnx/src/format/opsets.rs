//! `OperatorSetIdProto`: the opset imports of models and functions.

use passdock_ir::MAX_OPSETS;

use super::error::{OnnxError, Result};
use super::fields::text;
use super::schema::opset;
use super::wire::{Message, Value, put_bytes, put_int};

/// Opset imports: domains and versions in the order of the file. The last import of a domain counts.
pub(crate) type Opsets = Vec<(String, i64)>;

/// Reads an opset import.
pub(crate) fn read_opset(message: Message<'_>, into: &mut Opsets) -> Result {
    let (mut domain, mut version) = ("", 0);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (opset::DOMAIN, Value::Bytes(body)) => domain = text(body)?,
            (opset::VERSION, Value::Varint(value)) => version = value as i64,
            _ => {}
        }
    }
    let domain = if domain == "ai.onnx" { "" } else { domain };
    let count = into.len();
    match into.iter_mut().find(|(known, _)| known == domain) {
        Some((_, known)) => *known = version,
        None if count == MAX_OPSETS => {
            let what = format!("opsets of more than {MAX_OPSETS} domains");
            return Err(OnnxError::at(message.at, what));
        }
        None => into.push((domain.to_owned(), version)),
    }
    Ok(())
}

/// Appends an opset import. Without a domain, it is an import of ONNX's own.
pub(crate) fn put_import(to: &mut Vec<u8>, number: u32, domain: Option<&str>, version: i64) {
    let mut body = Vec::new();
    if let Some(domain) = domain {
        put_bytes(&mut body, opset::DOMAIN, domain.as_bytes());
    }
    put_int(&mut body, opset::VERSION, version);
    put_bytes(to, number, &body);
}
