//! `ValueInfoProto`.

use passdock_abi::TypeId;
use passdock_ir::Entity;

use super::FunctionWriter;
use super::rope::Chain;
use crate::error::Result;
use crate::schema::{doc, value_info};
use crate::types::{put_type, read_type};
use crate::wire::{Message, Value};

impl FunctionWriter<'_> {
    /// Writes a value info as field `number`, over the original if there is one; `entity`: whose
    /// documentation and metadata are its. Without a type the original keeps its own.
    pub(super) fn info(
        &mut self,
        chain: &mut Chain,
        number: u32,
        name: &str,
        ty: TypeId,
        original: Option<Message<'_>>,
        entity: Option<Entity>,
    ) -> Result {
        let mut encoded = Vec::new();
        if ty.is_some() {
            put_type(self.f, ty, &mut encoded)?;
        }
        let (mut named, mut typed) = (false, encoded.is_empty());
        let mark = self.store.begin(chain);
        for field in original.iter().flat_map(|original| original.fields()) {
            let field = field?;
            match (field.number, field.value) {
                (value_info::NAME, Value::Bytes(body)) => {
                    named = true;
                    if body.bytes != name.as_bytes() {
                        self.store.field(chain, value_info::NAME, name.as_bytes());
                    } else {
                        self.store.copy(chain, field.record);
                    }
                }
                (value_info::TYPE, Value::Bytes(body)) => {
                    typed = true;
                    let plain = body.bytes == encoded;
                    if ty.is_none() || plain || self.says(body, &encoded)? {
                        self.store.copy(chain, field.record);
                    } else if !encoded.is_empty() {
                        self.store.field(chain, value_info::TYPE, &encoded);
                    }
                }
                _ => self.store.copy(chain, field.record),
            }
        }
        if !named && !name.is_empty() {
            self.store.field(chain, value_info::NAME, name.as_bytes());
        }
        if !typed {
            self.store.field(chain, value_info::TYPE, &encoded);
        }
        if let Some(entity) = entity {
            self.texts(chain, entity, doc::VALUE_INFO);
        }
        self.store.end(chain, mark, number);
        Ok(())
    }

    /// Whether a type of the file says what an encoded one does, in other words or with more.
    pub(super) fn says(&mut self, body: Message<'_>, encoded: &[u8]) -> Result<bool> {
        let id = read_type(&mut self.types, body)?;
        let mut plain = Vec::new();
        put_type(&self.types, id, &mut plain)?;
        Ok(plain == encoded)
    }
}
