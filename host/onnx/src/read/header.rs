//! The small messages around graphs: value infos and opset imports.

use passdock_abi::{SymbolId, TypeId};
use passdock_ir::MAX_OPSETS;

use super::Context;
use super::graph::Importer;
use crate::error::{OnnxError, Result};
use crate::schema::{opset, value_info};
use crate::types::{read_type, text};
use crate::wire::{Message, Value};

/// A `ValueInfoProto`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Info<'a> {
    pub(super) message: Message<'a>,
    /// NONE if it has none.
    pub(super) name: SymbolId,
    /// NONE if it has none.
    pub(super) ty: TypeId,
}

impl<'a> Importer<'_, 'a> {
    /// Reads a value info.
    pub(super) fn info(&mut self, message: Message<'a>) -> Result<Info<'a>> {
        let mut info = Info {
            message,
            name: SymbolId::NONE,
            ty: TypeId::NONE,
        };
        for field in message.fields() {
            let field = field?;
            match (field.number, field.value) {
                (value_info::NAME, Value::Bytes(body)) => info.name = self.cx.symbol(body)?,
                (value_info::TYPE, Value::Bytes(_)) if info.ty.is_some() => {
                    return Err(OnnxError::at(field.record.at, "it has two types"));
                }
                (value_info::TYPE, Value::Bytes(body)) => info.ty = self.ty(body)?,
                _ => {}
            }
        }
        Ok(info)
    }

    /// Interns a type; most are the same few bytes over and over.
    pub(super) fn ty(&mut self, message: Message<'a>) -> Result<TypeId> {
        if let Some(&known) = self.types.get(message.bytes) {
            return Ok(known);
        }
        let id = read_type(&mut self.f, message)?;
        self.types.insert(message.bytes, id);
        Ok(id)
    }
}

/// Opset imports: domain and version, in the order of the file; a domain's last one counts.
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
            let what = format!("there are versions of more than {MAX_OPSETS} domains");
            return Err(OnnxError::at(message.at, what));
        }
        None => into.push((domain.to_owned(), version)),
    }
    Ok(())
}

impl Context<'_> {
    /// Gives a function its opset versions.
    pub(super) fn import_opsets(&self, f: &mut passdock_ir::Function, opsets: &Opsets) {
        for (domain, version) in opsets {
            f.set_opset(self.symbols.intern(domain), *version);
        }
    }
}
