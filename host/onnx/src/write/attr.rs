//! `AttributeProto`.

use std::collections::hash_map::Entry;

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId, SymbolId, TypeId};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashMap;

use super::message::RestFields;
use super::writer::FunctionWriter;
use crate::detach::stripped::StrippedMessage;
use crate::format::attribute::{
    Attribute, is_list, is_value, read_floats, read_ints, type_and_field,
};
use crate::format::error::{OnnxError, Result};
use crate::format::schema::attr;
use crate::format::types::encode_type;
use crate::format::wire::{Message, Value, WireField, put_bytes, put_float, put_int, string_of};

impl FunctionWriter<'_> {
    /// Writes the attributes of an op (`NONE`: of the function) as fields `number`.
    pub(super) fn attrs(
        &mut self,
        number: u32,
        op: OpId,
        attrs: &[Attr],
        rest: &mut RestFields<'_>,
    ) -> Result {
        let (mut stripped, mut duplicates) = (FxHashMap::default(), Vec::new());
        for field in rest.take(number) {
            match stripped.entry(string_of(field.body(), attr::NAME)?) {
                Entry::Vacant(free) => _ = free.insert(field.body()),
                Entry::Occupied(first) => duplicates.push((*first.key(), field.record)),
            }
        }
        for attr in attrs {
            let stripped = stripped.get(self.f.text(attr.name).as_bytes());
            self.attr(number, op, attr, stripped.copied())?;
        }
        for (name, record) in duplicates {
            let mut names = attrs.iter().map(|attr| self.f.text(attr.name));
            if names.any(|attr| attr.as_bytes() == name) {
                self.store.copy(record);
            }
        }
        Ok(())
    }

    /// Writes an attribute of an op (`NONE`: of the function) as field `number`. `stripped` is its message without the
    /// value.
    fn attr(
        &mut self,
        number: u32,
        op: OpId,
        attr: &Attr,
        stripped: Option<Message<'_>>,
    ) -> Result {
        if attr.kind == AttrKind::OPAQUE {
            self.check_opaque(op, attr)?;
            self.store.field(number, self.f.bytes_in(attr.list));
            return Ok(());
        }
        let code = self.type_code(attr)?;
        let message = StrippedMessage::from_records(stripped)?;
        let mark = self.store.begin();
        let mut rest = RestFields::new(&message, self.store)?;
        self.name_field(attr::NAME, Some(self.f.text(attr.name)), &mut rest);
        let is_reference = attr.kind == AttrKind::REFERENCE;
        let values = rest.take_if(|field| match (field.number, field.value) {
            (attr::REF_ATTR_NAME, Value::Bytes(body)) => is_reference || !body.bytes.is_empty(),
            (number, value) => is_value(number, value),
        });
        let old = stripped.map(Attribute::read).transpose()?;
        let is_same = old.map(|old| self.is_same(attr, old)).transpose()? == Some(true);
        // Old files have no types. An empty list needs one, because its kind can't be derived from a value.
        let is_empty_list = is_list(attr.kind) && attr.list.len == 0;
        let is_typed = stripped.is_none() || is_empty_list || rest.has(attr::TYPE);
        rest.take_if(|field| field.number == attr::TYPE);
        let number_of_value =
            type_and_field(attr.kind).map_or(attr::REF_ATTR_NAME, |(_, number)| number);
        match is_same {
            true => values
                .iter()
                .for_each(|field| self.store.copy(field.record)),
            false => self.value(number_of_value, op, attr, &values)?,
        }
        if is_typed {
            self.store.put(|to| put_int(to, attr::TYPE, code.into()));
        }
        rest.finish(self.store)?;
        self.store.end(mark, number);
        Ok(())
    }

    /// Whether an attribute of numbers or strings has the same value as its original. An absent value is ONNX's
    /// default.
    fn is_same(&self, attr: &Attr, old: Attribute<'_>) -> Result<bool> {
        let f = self.f;
        let bits = |float: &f32| float.to_bits();
        Ok(attr.kind == old.kind
            && match attr.kind {
                AttrKind::INT => attr.bits == old.bits(),
                AttrKind::FLOAT => attr.bits as u32 == old.bits() as u32,
                AttrKind::STRING => f.bytes_in(attr.list) == old.body().bytes,
                AttrKind::INTS => f.ints_in(attr.list) == read_ints(old)?,
                AttrKind::FLOATS => {
                    let old = read_floats(old)?;
                    f.floats_in(attr.list)
                        .iter()
                        .map(bits)
                        .eq(old.iter().map(bits))
                }
                AttrKind::STRINGS => f.strings_in(attr.list).eq(old.texts()?),
                _ => false,
            })
    }

    /// Rejects an attribute in ONNX's form that the reader would reject or read differently.
    fn check_opaque(&self, op: OpId, attr: &Attr) -> Result {
        let name = self.f.text(attr.name);
        let invalid =
            |what: &str| OnnxError::new(format!("invalid `opaque` attribute `{name}`: {what}"));
        let message = Message::detached(self.f.bytes_in(attr.list));
        let read = Attribute::read(message).map_err(|_| invalid("not a valid `AttributeProto`"))?;
        if read.name != name {
            return Err(invalid(&format!("its bytes have the name {:?}", read.name)));
        }
        // The reader keeps a default in this form unless it consists of numbers or strings.
        let plain = match read.kind {
            AttrKind::OPAQUE => false,
            AttrKind::INT | AttrKind::FLOAT | AttrKind::STRING => true,
            AttrKind::INTS | AttrKind::FLOATS | AttrKind::STRINGS => true,
            _ => op.is_some(),
        };
        match plain {
            true => Err(invalid("its value has a regular attribute kind")),
            false => Ok(()),
        }
    }

    fn type_code(&self, attr: &Attr) -> Result<u32> {
        let kind = match attr.kind {
            AttrKind::REFERENCE => attr.stands_for,
            kind => kind,
        };
        match type_and_field(kind) {
            Some((code, _)) => Ok(code),
            None if attr.kind == AttrKind::REFERENCE => Ok(0),
            None => {
                let name = self.f.text(attr.name);
                Err(OnnxError::new(format!("attribute `{name}` has no value")))
            }
        }
    }

    /// Writes the value's records. `original` are the records of a value in another form.
    fn value(&mut self, number: u32, op: OpId, attr: &Attr, original: &[WireField<'_>]) -> Result {
        let f = self.f;
        let one = [attr.bits as u32];
        let ids = match is_list(attr.kind) {
            true => f.ids_in(attr.list),
            false => &one,
        };
        match attr.kind {
            AttrKind::TENSOR | AttrKind::TENSORS => {
                for &id in ids {
                    self.tensor_value(number, ConstId(id))?;
                }
            }
            AttrKind::TYPE | AttrKind::TYPES => {
                let mut original = original.iter().filter(|field| field.number == number);
                for &id in ids {
                    self.type_value(number, TypeId(id), original.next())?;
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
        if let Some(body) = self.stripper.span(Entity::Constant(id)) {
            self.store.copy_field(number, body);
            return Ok(());
        }
        let stripped = self.stripper.constant(id)?;
        self.tensor(number, id, None, &stripped)
    }

    fn type_value(&mut self, number: u32, id: TypeId, original: Option<&WireField<'_>>) -> Result {
        let bytes = encode_type(self.f, id)?;
        if let Some(original) = original
            && self.stripper.is_type(original.body(), &bytes)?
        {
            self.store.copy(original.record);
            return Ok(());
        }
        self.new_type(number, id, &bytes)
    }

    fn region_value(&mut self, number: u32, op: OpId, id: RegionId) -> Result {
        if let Some(&done) = self.done.get(&id) {
            self.store.message(number, done);
            return Ok(());
        }
        match self.stripper.span(Entity::Region(id)) {
            Some(body) => {
                self.store.copy_field(number, body);
                Ok(())
            }
            None => {
                let what = format!("an attribute refers to {id}, which is not a region of the op");
                Err(OnnxError::new(what).inside(self.f.describe_op(op)))
            }
        }
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
