//! Value infos and the types in them.

use passdock_abi::{SymbolId, TypeId};

use super::frame::Info;
use super::importer::Importer;
use crate::format::error::{OnnxError, Result};
use crate::format::schema::value_info;
use crate::format::types::{Placeholders, read_type};
use crate::format::wire::{Message, Value};

impl<'a> Importer<'_, 'a> {
    /// Reads a value info. Its placeholders get distinct symbols.
    pub(super) fn info(&mut self, message: Message<'a>) -> Result<Info<'a>> {
        let mut info = Info::untyped(message, SymbolId::NONE);
        for field in message.fields() {
            let field = field?;
            match (field.number, field.value) {
                (value_info::NAME, Value::Bytes(body)) => info.name = self.cx.symbol(body)?,
                (value_info::TYPE, Value::Bytes(_)) if info.ty.is_some() => {
                    return Err(OnnxError::at(field.record.at, "the value has two types"));
                }
                (value_info::TYPE, Value::Bytes(body)) => info.ty = self.ty(body)?,
                _ => info.is_annotated = true,
            }
        }
        Ok(info)
    }

    /// Interns a type. Results are cached by bytes, since most types occur often.
    pub(super) fn ty(&mut self, message: Message<'a>) -> Result<TypeId> {
        let (id, has_placeholders) = match self.types.get(message.bytes) {
            Some(&known) => known,
            None => {
                let id = read_type(&mut self.f, message)?;
                let read = (id, Placeholders::are_in(&self.f, id));
                self.types.insert(message.bytes, read);
                read
            }
        };
        Ok(match has_placeholders {
            true => self.placeholders.with_distinct_symbols(&mut self.f, id),
            false => id,
        })
    }
}
