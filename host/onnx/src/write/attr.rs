//! `AttributeProto`.

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId, SymbolId, TypeId};
use passdock_ir::{Entity, Function};

use crate::format::attribute::{Attribute, is_list, is_value, of_kind, read_floats, read_ints};

use super::writer::FunctionWriter;
use crate::format::error::{OnnxError, Result};
use crate::format::schema::attr;
use crate::format::types::encode_type;
use crate::format::wire::{Message, Value, fields_of, put_bytes, put_float, put_int};

/// The ids of the entities in an attribute: those of its list, or `one`.
fn entity_ids<'a>(f: &'a Function, attr: &Attr, one: &'a [u32; 1]) -> &'a [u32] {
    match is_list(attr.kind) {
        true => f.ids_in(attr.list),
        false => one,
    }
}

impl FunctionWriter<'_> {
    /// Writes an attribute of an op (NONE: of the function) as field `number`, over the original
    /// record and attribute if there is one.
    pub(super) fn attr(
        &mut self,
        number: u32,
        op: OpId,
        attr: &Attr,
        original: Option<(Message<'_>, Attribute<'_>)>,
    ) -> Result {
        if let Some((record, old)) = original
            && self.is_same(attr, old)?
        {
            self.store.copy(record);
            return Ok(());
        }
        let name = self.f.text(attr.name);
        if attr.kind == AttrKind::OPAQUE {
            self.check_opaque(op, attr)?;
            self.store.field(number, self.f.bytes_in(attr.list));
            return Ok(());
        }
        let code = self.type_code(attr)?;
        let old = original.map(|(_, old)| old);
        let mark = self.store.begin();
        if old.is_none() {
            self.store.field(attr::NAME, name.as_bytes());
        }
        // In old files no type stands; without one, a list of nothing wouldn't be a list.
        let mut typed = old.is_some() && (attr.list.len > 0 || !is_list(attr.kind));
        let mut written = false;
        for field in fields_of(old.map(|old| old.message)) {
            let field = field?;
            match (field.number, field.value) {
                (attr::NAME, Value::Bytes(_)) => {
                    self.store.field(attr::NAME, name.as_bytes());
                }
                (attr::TYPE, Value::Varint(_)) => {
                    typed = true;
                    self.type_field(code);
                }
                (attr::REF_ATTR_NAME, Value::Bytes(body))
                    if body.bytes.is_empty() && attr.kind != AttrKind::REFERENCE =>
                {
                    self.store.copy(field.record);
                }
                (number, value) if number == attr::REF_ATTR_NAME || is_value(number, value) => {
                    if !std::mem::replace(&mut written, true) {
                        self.value(op, attr, old)?;
                    }
                }
                _ => self.store.copy(field.record),
            }
        }
        // Where there was no value, ONNX's default was meant.
        let same = old.map(|old| self.is_same(attr, old)).transpose()?;
        if !written && same != Some(true) {
            self.value(op, attr, old)?;
        }
        if !typed {
            self.type_field(code);
        }
        self.store.end(mark, number);
        Ok(())
    }

    /// Refuses an attribute in ONNX's form that would be read as something else, or not at all.
    fn check_opaque(&self, op: OpId, attr: &Attr) -> Result {
        let name = self.f.text(attr.name);
        let wrong = |what: &str| {
            OnnxError::new(format!(
                "the attribute `{name}` is in ONNX's own form (`opaque`), and {what}"
            ))
        };
        let message = Message::detached(self.f.bytes_in(attr.list));
        let read = Attribute::read(message)
            .map_err(|_| wrong("its bytes are no `AttributeProto` that can be read"))?;
        if read.name != name {
            return Err(wrong(&format!("its bytes call it {:?}", read.name)));
        }
        // Of a default, the reader keeps all but numbers and strings in this form.
        let plain = match read.kind {
            AttrKind::OPAQUE => false,
            AttrKind::INT | AttrKind::FLOAT | AttrKind::STRING => true,
            AttrKind::INTS | AttrKind::FLOATS | AttrKind::STRINGS => true,
            _ => op.is_some(),
        };
        match plain {
            true => Err(wrong("its value isn't one that only this form has")),
            false => Ok(()),
        }
    }

    fn type_field(&mut self, code: u32) {
        self.store.put(|to| put_int(to, attr::TYPE, code.into()));
    }

    fn type_code(&self, attr: &Attr) -> Result<u32> {
        let kind = match attr.kind {
            AttrKind::REFERENCE => attr.stands_for,
            kind => kind,
        };
        match of_kind(kind) {
            Some((code, _)) => Ok(code),
            None if attr.kind == AttrKind::REFERENCE => Ok(0),
            None => {
                let name = self.f.text(attr.name);
                Err(OnnxError::new(format!(
                    "the attribute `{name}` has no value"
                )))
            }
        }
    }

    /// Writes the value's records.
    fn value(&mut self, op: OpId, attr: &Attr, old: Option<Attribute<'_>>) -> Result {
        let f = self.f;
        let number = of_kind(attr.kind).map_or(attr::REF_ATTR_NAME, |(_, number)| number);
        let one = [attr.bits as u32];
        let ids = entity_ids(f, attr, &one);
        match attr.kind {
            AttrKind::TENSOR | AttrKind::TENSORS => {
                for &id in ids {
                    self.tensor_value(number, ConstId(id))?;
                }
            }
            AttrKind::TYPE | AttrKind::TYPES => {
                let old = old.filter(|old| old.kind == attr.kind);
                let mut bodies = old.into_iter().flat_map(Attribute::bodies);
                for &id in ids {
                    let body = bodies.next().transpose()?;
                    self.type_value(number, TypeId(id), body)?;
                }
            }
            AttrKind::REGION | AttrKind::REGIONS => {
                for &id in ids {
                    self.region_value(number, op, RegionId(id))?;
                }
            }
            _ => self.store.put(|to| put_plain(to, number, f, attr)),
        }
        Ok(())
    }

    fn tensor_value(&mut self, number: u32, id: ConstId) -> Result {
        let entity = Entity::Constant(id);
        if let Some(body) = self.span(entity) {
            self.store.copy_field(number, body);
            return Ok(());
        }
        self.tensor(number, id, None, self.original(entity), Some(entity))
    }

    fn type_value(&mut self, number: u32, id: TypeId, old: Option<Message<'_>>) -> Result {
        let bytes = encode_type(self.f, id)?;
        if let Some(old) = old
            && old.bytes != bytes
            && self.says(old, &bytes)?
        {
            self.store.copy_field(number, old);
            return Ok(());
        }
        self.new_type(number, id, &bytes)
    }

    fn region_value(&mut self, number: u32, op: OpId, id: RegionId) -> Result {
        if let Some(&done) = self.done.get(&id) {
            self.store.message(number, done);
            return Ok(());
        }
        match self.span(Entity::Region(id)) {
            Some(body) => {
                self.store.copy_field(number, body);
                Ok(())
            }
            None => {
                let what = format!("an attribute names {id}, which isn't a region of the op");
                Err(OnnxError::new(what).inside(self.f.describe_op(op)))
            }
        }
    }

    /// Whether an attribute still has the value it was read from.
    fn is_same(&mut self, attr: &Attr, old: Attribute<'_>) -> Result<bool> {
        let f = self.f;
        if attr.kind != old.kind || f.text(attr.name) != old.name {
            return Ok(false);
        }
        let one = [attr.bits as u32];
        let ids = entity_ids(f, attr, &one);
        Ok(match attr.kind {
            AttrKind::INT => attr.bits == old.bits(),
            AttrKind::FLOAT => attr.bits as u32 == old.bits() as u32,
            AttrKind::STRING => f.bytes_in(attr.list) == old.body().bytes,
            AttrKind::OPAQUE => f.bytes_in(attr.list) == old.message.bytes,
            AttrKind::REFERENCE => {
                f.text(SymbolId(attr.bits as u32)).as_bytes() == old.body().bytes
                    && attr.stands_for == old.referred
            }
            AttrKind::INTS => f.ints_in(attr.list) == read_ints(old)?,
            AttrKind::FLOATS => {
                let (own, bits) = (f.floats_in(attr.list).iter(), |float: &f32| float.to_bits());
                own.map(bits).eq(read_floats(old)?.iter().map(bits))
            }
            AttrKind::STRINGS => f.strings_in(attr.list).eq(old.texts()?),
            AttrKind::TENSOR | AttrKind::TENSORS => {
                let origins = ids.iter().map(|&id| Entity::Constant(ConstId(id)));
                self.are_originals(origins, old)?
            }
            AttrKind::REGION | AttrKind::REGIONS => {
                let clean = ids
                    .iter()
                    .all(|&id| !self.plan.is_region_dirty(RegionId(id)));
                let origins = ids.iter().map(|&id| Entity::Region(RegionId(id)));
                clean && self.are_originals(origins, old)?
            }
            AttrKind::TYPE | AttrKind::TYPES => {
                let mut bodies = old.bodies();
                for &id in ids {
                    let bytes = encode_type(f, TypeId(id))?;
                    match bodies.next().transpose()? {
                        Some(body) if self.says(body, &bytes)? => {}
                        _ => return Ok(false),
                    }
                }
                bodies.next().is_none()
            }
            _ => false,
        })
    }

    fn are_originals(
        &self,
        entities: impl Iterator<Item = Entity>,
        old: Attribute<'_>,
    ) -> Result<bool> {
        let mut bodies = old.bodies();
        for entity in entities {
            let origin = self.f.origins().get(entity);
            match bodies.next().transpose()? {
                Some(body) if origin.is_some() && origin.start == body.at => {}
                _ => return Ok(false),
            }
        }
        Ok(bodies.next().is_none())
    }
}

/// Appends the records of numbers and strings.
fn put_plain(to: &mut Vec<u8>, number: u32, f: &Function, attr: &Attr) {
    match attr.kind {
        AttrKind::INT => put_int(to, number, attr.bits as i64),
        AttrKind::FLOAT => put_float(to, number, attr.bits as u32),
        AttrKind::STRING => put_bytes(to, number, f.bytes_in(attr.list)),
        AttrKind::REFERENCE => {
            let name = f.text(SymbolId(attr.bits as u32));
            put_bytes(to, number, name.as_bytes());
        }
        AttrKind::INTS => {
            let ints = f.ints_in(attr.list).iter();
            ints.for_each(|&int| put_int(to, number, int));
        }
        AttrKind::FLOATS => {
            let floats = f.floats_in(attr.list).iter();
            floats.for_each(|float| put_float(to, number, float.to_bits()));
        }
        AttrKind::STRINGS => {
            let texts = f.strings_in(attr.list);
            texts.for_each(|text| put_bytes(to, number, text));
        }
        _ => {}
    }
}
