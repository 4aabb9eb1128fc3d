//! `ValueInfoProto`.

use passdock_abi::TypeId;
use passdock_ir::Entity;
use passdock_ir::text::value_text;

use super::message::RestFields;
use super::writer::FunctionWriter;
use crate::detach::stripped::StrippedMessage;
use crate::format::error::{Result, Within};
use crate::format::schema::{doc, value_info};
use crate::format::types::{check_dtypes, encode_type};
use crate::format::wire::string_of;

impl FunctionWriter<'_> {
    /// Writes the value info of an argument, a port or a declared value. The original is copied unless it is touched or
    /// its name in the file differs.
    pub(super) fn info(
        &mut self,
        number: u32,
        entity: Entity,
        name: &str,
        ty: TypeId,
        is_touched: bool,
    ) -> Result {
        if let Some(message) = self.stripper.span(entity).filter(|_| !is_touched)
            && string_of(message, value_info::NAME)? == name.as_bytes()
        {
            self.store.copy_field(number, message);
            return Ok(());
        }
        let stripped = self.stripper.info(entity, ty)?;
        self.value_info(number, name, ty, &stripped)
    }

    /// Writes a value info. If the IR has no type, the original's is kept.
    pub(super) fn value_info(
        &mut self,
        number: u32,
        name: &str,
        ty: TypeId,
        stripped: &StrippedMessage<'_>,
    ) -> Result {
        let encoded = encode_type(self.f, ty)?;
        let mark = self.store.begin();
        let mut rest = RestFields::new(stripped, self.store)?;
        self.text(value_info::NAME, name, &mut rest);
        let original = rest.take(value_info::TYPE);
        let mut is_typed = encoded.is_empty();
        for field in original {
            if ty.is_none() || self.stripper.is_type(field.body(), &encoded)? {
                self.store.copy(field.record);
                is_typed = true;
            }
        }
        if !is_typed {
            let written = self.new_type(value_info::TYPE, ty, &encoded);
            written.within(|| value_text(name))?;
        }
        self.texts(doc::VALUE_INFO, stripped);
        rest.finish(self.store)?;
        self.store.end(mark, number);
        Ok(())
    }

    /// Writes a type that differs from the original's.
    pub(super) fn new_type(&mut self, number: u32, id: TypeId, encoded: &[u8]) -> Result {
        check_dtypes(self.f, id)?;
        self.store.field(number, encoded);
        Ok(())
    }
}
