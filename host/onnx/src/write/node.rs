//! `NodeProto`.

use std::borrow::Cow;

use passdock_abi::{Attr, AttrKind, OpId, Range, ValueId};
use passdock_ir::{OpName, name};
use rustc_hash::FxHashSet;

use super::message::RestFields;
use super::writer::FunctionWriter;
use crate::detach::stripped::StrippedMessage;
use crate::format::attribute::MAX_ATTRS;
use crate::format::error::{OnnxError, Result};
use crate::format::schema::{doc, node};

impl<'w> FunctionWriter<'w> {
    /// Writes an op as field `number`.
    pub(super) fn node(&mut self, number: u32, op: OpId) -> Result {
        let f = self.f;
        let text = f.text(f.op(op).name);
        name::check_canonical(text).map_err(OnnxError::new)?;
        let Some(OpName {
            domain: Some(domain),
            name,
            overload,
        }) = OpName::parse(text)
        else {
            let what = format!("ONNX has no op `{text}`; lower or remove it before exporting");
            return Err(OnnxError::new(what));
        };
        let attrs = self.attrs_of(op)?;
        let stripped = self.stripper.op(op, true)?;
        let mark = self.store.begin();
        let mut rest = RestFields::new(&stripped, self.store)?;
        for slot in f.operands(op) {
            let name = self.name(slot.value);
            self.store.field(node::INPUT, name.as_bytes());
        }
        for value in f.results(op) {
            let name = self.result_name(value);
            self.store.field(node::OUTPUT, name.as_bytes());
        }
        self.name_field(node::NAME, self.node_name(op).as_deref(), &mut rest);
        self.text(node::OP_TYPE, &name, &mut rest);
        self.attrs(node::ATTRIBUTE, op, &attrs, &mut rest)?;
        self.text(node::DOMAIN, &domain, &mut rest);
        self.text(node::OVERLOAD, &overload, &mut rest);
        let [doc, metadata] = doc::NODE;
        self.doc(doc, stripped.doc);
        self.metadata(metadata, &self.with_sources(op, &stripped.metadata));
        rest.finish(self.store)?;
        self.store.end(mark, number);
        Ok(())
    }

    /// Writes a string. For an empty one, the original's record is kept, if it has one.
    pub(super) fn text(&mut self, number: u32, text: &str, rest: &mut RestFields<'_>) {
        let new = Some(text).filter(|text| !text.is_empty());
        self.name_field(number, new, rest);
    }

    /// Writes a string, or keeps the original's if `new` is `None`. The last of several records in a message
    /// counts.
    pub(super) fn name_field(&mut self, number: u32, new: Option<&str>, rest: &mut RestFields<'_>) {
        let mut original = rest.take(number);
        if new.is_some() {
            original.pop();
        }
        for field in original {
            self.store.copy(field.record);
        }
        if let Some(new) = new {
            self.store.field(number, new.as_bytes());
        }
    }

    /// Writes the documentation of a message.
    pub(super) fn doc(&mut self, number: u32, doc: Option<&str>) {
        if let Some(doc) = doc {
            self.store.field(number, doc.as_bytes());
        }
    }

    /// Writes the metadata of a message.
    pub(super) fn metadata<T: AsRef<str>>(&mut self, number: u32, pairs: &[(T, T)]) {
        for (key, value) in pairs {
            self.store.pair(number, key.as_ref(), value.as_ref());
        }
    }

    /// Writes the documentation and the metadata of a message.
    pub(super) fn texts(&mut self, [doc, metadata]: [u32; 2], stripped: &StrippedMessage<'_>) {
        self.doc(doc, stripped.doc);
        self.metadata(metadata, &stripped.metadata);
    }

    /// Returns an op's attributes. Regions without an attribute get one, since a node's graphs are attributes.
    fn attrs_of(&self, op: OpId) -> Result<Cow<'w, [Attr]>> {
        let f = self.f;
        let mut attrs = Cow::Borrowed(f.attrs(op));
        let mut named = FxHashSet::default();
        if f.op(op).regions.len > 0 {
            for attr in attrs.iter() {
                match attr.kind {
                    AttrKind::REGION => named.extend(u32::try_from(attr.bits)),
                    AttrKind::REGIONS => named.extend(f.ids_in(attr.list)),
                    _ => {}
                }
            }
        }
        for region in f.regions_of(op).filter(|region| !named.contains(&region.0)) {
            let name = f.region(region).name;
            if f.text(name).is_empty() {
                let what = "a region of the op has no name, which ONNX requires";
                return Err(OnnxError::new(what));
            }
            if attrs.iter().any(|attr| attr.name == name) {
                let name = f.text(name);
                let what = format!(
                    "a region and an attribute are both named `{name}`, but ONNX stores both as attributes"
                );
                return Err(OnnxError::new(what));
            }
            attrs.to_mut().push(Attr {
                name,
                kind: AttrKind::REGION,
                bits: u64::from(region.0),
                list: Range { start: 0, len: 0 },
                flags: 0,
                stands_for: AttrKind::NONE,
            });
        }
        if attrs.len() > MAX_ATTRS {
            let what = format!(
                "a node cannot have more than {MAX_ATTRS} attributes, found {}",
                attrs.len()
            );
            return Err(OnnxError::new(what));
        }
        Ok(attrs)
    }

    /// Returns a result's name; empty for an omitted result.
    fn result_name(&self, value: ValueId) -> &'w str {
        match self.f.is_present(value) {
            true => self.name(value),
            false => "",
        }
    }

    /// Writes an `Identity` whose result is an output's name.
    pub(super) fn identity(&mut self, number: u32, from: &str, to: &str) {
        self.added_nodes = true;
        let mark = self.store.begin();
        self.store.field(node::INPUT, from.as_bytes());
        self.store.field(node::OUTPUT, to.as_bytes());
        self.store
            .field(node::NAME, format!("Identity_{to}").as_bytes());
        self.store.field(node::OP_TYPE, b"Identity");
        self.store.end(mark, number);
    }
}
