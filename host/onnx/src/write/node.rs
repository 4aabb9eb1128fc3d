//! `NodeProto`.

use std::borrow::Cow;

use passdock_abi::{Attr, AttrKind, OpId, Range, Value as ValueRecord, ValueId};
use passdock_ir::{Entity, OpName, name};
use rustc_hash::{FxHashMap, FxHashSet};

use super::location::named_sources;
use super::writer::FunctionWriter;
use crate::format::attribute::{Attribute, MAX_ATTRS};
use crate::format::error::{OnnxError, Result};
use crate::format::schema::{attr, doc, node};
use crate::format::wire::{Message, Value, fields_of};

impl<'w> FunctionWriter<'w> {
    /// Writes an op as field `number`, over the original node if there is one.
    pub(super) fn node(&mut self, number: u32, op: OpId, original: Option<Message<'_>>) -> Result {
        let f = self.f;
        let record = *f.op(op);
        let text = f.text(record.name);
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
        let operands = f.operands(op).iter();
        let inputs: Vec<&str> = operands.map(|slot| self.name(slot.value)).collect();
        let outputs: Vec<&str> = f.results(op).map(|value| self.result_name(value)).collect();
        let attrs = self.attrs_of(op)?;
        let attrs = &*attrs;
        let mut by_name: FxHashMap<&str, (usize, bool)> = FxHashMap::default();
        for (at, attr) in attrs.iter().enumerate() {
            by_name.insert(f.text(attr.name), (at, false));
        }
        let same = Same::new(original, &inputs, &outputs, &domain)?;
        let sources = self.sources(op);
        let node_name = self.node_name(op);
        let text_of = |number| match number {
            node::NAME => node_name.as_deref(),
            node::OP_TYPE => Some(&*name),
            node::DOMAIN => Some(&*domain),
            _ => Some(&*overload),
        };
        let mut known = Vec::new();
        // Written once, whatever the number of their records.
        let (mut inputs_done, mut outputs_done, mut attrs_seen) = (same.inputs, same.outputs, 0);
        let mark = self.store.begin();
        for field in fields_of(original) {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                self.store.copy(field.record);
                continue;
            };
            match field.number {
                node::INPUT if same.inputs => self.store.copy(field.record),
                node::INPUT => self.names(node::INPUT, &inputs, &mut inputs_done),
                node::OUTPUT if same.outputs => self.store.copy(field.record),
                node::OUTPUT => self.names(node::OUTPUT, &outputs, &mut outputs_done),
                node::ATTRIBUTE => {
                    let attribute = Attribute::read(body)?;
                    match by_name.get_mut(attribute.name) {
                        // Only the first of a name is the IR's.
                        Some((_, true)) => self.store.copy(field.record),
                        Some((at, seen)) => {
                            *seen = true;
                            let old = Some((field.record, attribute));
                            let old = old.filter(|_| !is_placeholder(body));
                            self.attr(node::ATTRIBUTE, op, &attrs[*at], old)?;
                        }
                        None => {}
                    }
                    attrs_seen += 1;
                    if attrs_seen == same.attrs {
                        self.new_attrs(op, attrs, &mut by_name)?;
                    }
                }
                number if number == doc::NODE[1] && !sources.is_empty() => {
                    match named_sources(body)? {
                        Some(names) => known.extend(names),
                        None => self.store.copy(field.record),
                    }
                }
                number @ (node::NAME | node::OP_TYPE | node::DOMAIN | node::OVERLOAD) => {
                    // Of a text that stands there twice the last one counts.
                    let last = same.last[number as usize] == body.at;
                    match text_of(number) {
                        Some(text) if last && !(number == node::DOMAIN && same.domain) => {
                            self.store.text(field, text);
                        }
                        Some(_) => self.store.copy(field.record),
                        None => {}
                    }
                }
                _ => self.store.copy(field.record),
            }
        }
        self.names(node::INPUT, &inputs, &mut inputs_done);
        self.names(node::OUTPUT, &outputs, &mut outputs_done);
        for number in [node::NAME, node::OP_TYPE, node::DOMAIN, node::OVERLOAD] {
            if same.last[number as usize] == 0
                && let Some(text) = text_of(number)
                && (number == node::NAME || !text.is_empty())
            {
                self.store.field(number, text.as_bytes());
            }
        }
        if same.attrs == 0 {
            self.new_attrs(op, attrs, &mut by_name)?;
        }
        self.texts(Entity::Op(op), doc::NODE);
        self.put_sources(&known, &sources);
        self.store.end(mark, number);
        Ok(())
    }

    /// An op's attributes, and its regions that no attribute names: in a node, each is one.
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
                let what = "a region of the op has no name, and ONNX's graphs are attributes";
                return Err(OnnxError::new(what));
            }
            if attrs.iter().any(|attr| attr.name == name) {
                let name = f.text(name);
                let what = format!(
                    "a region and an attribute are both called `{name}`, and ONNX's graphs are \
                     attributes"
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
                "a node can't have more than {MAX_ATTRS} attributes, and it would have {}",
                attrs.len()
            );
            return Err(OnnxError::new(what));
        }
        Ok(attrs)
    }

    /// Attributes that the original doesn't have.
    fn new_attrs(
        &mut self,
        op: OpId,
        attrs: &[Attr],
        by_name: &mut FxHashMap<&str, (usize, bool)>,
    ) -> Result {
        for attr in attrs {
            let seen = by_name
                .get_mut(self.f.text(attr.name))
                .map(|entry| &mut entry.1);
            if seen.is_none_or(|seen| !std::mem::replace(seen, true)) {
                self.attr(node::ATTRIBUTE, op, attr, None)?;
            }
        }
        Ok(())
    }

    /// A result's name; "" for one that is left out.
    fn result_name(&self, value: ValueId) -> &'w str {
        let record = self.f.value(value);
        let absent = record.flags & ValueRecord::ABSENT != 0 && record.use_count == 0;
        if absent { "" } else { self.name(value) }
    }

    /// A repeated string, once.
    fn names(&mut self, number: u32, names: &[&str], done: &mut bool) {
        if !std::mem::replace(done, true) {
            names
                .iter()
                .for_each(|text| self.store.field(number, text.as_bytes()));
        }
    }

    /// An `Identity` that gives an output its name.
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

/// Whether what is left of an attribute is only the name by which it is found.
pub(super) fn is_placeholder(body: Message<'_>) -> bool {
    let mut fields = body.fields().map_while(std::result::Result::ok);
    let name = fields
        .next()
        .is_some_and(|field| field.number == attr::NAME);
    body.is_detached() && name && fields.next().is_none()
}

/// The parts of an original node that still say what the op does.
#[derive(Default)]
struct Same {
    inputs: bool,
    outputs: bool,
    domain: bool,
    /// The number of attributes that it has.
    attrs: usize,
    /// The place of the last record of each text, by field number; 0: there is none.
    last: [u64; node::OVERLOAD as usize + 1],
}

impl Same {
    fn new(
        original: Option<Message<'_>>,
        inputs: &[&str],
        outputs: &[&str],
        domain: &str,
    ) -> Result<Same> {
        let (mut ins, mut outs) = (inputs.iter(), outputs.iter());
        let mut same = Same {
            inputs: true,
            outputs: true,
            ..Same::default()
        };
        for field in fields_of(original) {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            let is = |text: Option<&&str>| text.is_some_and(|text| text.as_bytes() == body.bytes);
            if let Some(last) = same.last.get_mut(field.number as usize) {
                *last = body.at;
            }
            match field.number {
                node::INPUT => same.inputs &= is(ins.next()),
                node::OUTPUT => same.outputs &= is(outs.next()),
                node::DOMAIN => {
                    same.domain = body.bytes == domain.as_bytes()
                        || (domain.is_empty() && body.bytes == b"ai.onnx");
                }
                node::ATTRIBUTE => same.attrs += 1,
                _ => {}
            }
        }
        same.inputs &= ins.next().is_none();
        same.outputs &= outs.next().is_none();
        Ok(same)
    }
}
