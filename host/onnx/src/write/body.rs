//! `GraphProto`, and `FunctionProto` as far as it is one.

use std::collections::hash_map::Entry;

use passdock_abi::{ConstId, Constant, OpId, RegionId, SymbolId, Value as ValueRecord, ValueId};
use passdock_ir::{Entity, OpName};
use rustc_hash::{FxHashMap, FxHashSet};

use super::imports::Imports;
use super::writer::FunctionWriter;
use crate::extras::function_attributes::{EntryChange, FunctionAttributes};
use crate::extras::importer_data::ImporterData;
use crate::format::body::{BodyKind, parameters_of};
use crate::format::error::{OnnxError, Result, Within};
use crate::format::fields::bodies;
use crate::format::header::newest_opset;
use crate::format::opsets::put_import;
use crate::format::schema::{doc, function, graph, model, node, tensor};
use crate::format::wire::{Message, Value, fields_of, string_of};
use crate::layout::constants::is_imported;
use crate::layout::nodes::Item;
use crate::layout::sparse::sparse_value;
use crate::layout::version::function_name;

/// The part of a body that a field is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Node,
    Input,
    Output,
    Info,
    Initializer,
    Sparse,
    /// Name, domain or overload.
    Text,
    Opset,
    Param,
    Default,
    Annotation,
    Metadata,
    /// A field that the IR doesn't know.
    Other,
}

/// The number of parts.
const PARTS: usize = Part::Other as usize + 1;

impl Part {
    /// The part that a field holds.
    fn from_field(kind: BodyKind, number: u32) -> Part {
        match kind {
            BodyKind::Graph => match number {
                graph::NODE => Part::Node,
                graph::INPUT => Part::Input,
                graph::OUTPUT => Part::Output,
                graph::VALUE_INFO => Part::Info,
                graph::INITIALIZER => Part::Initializer,
                graph::SPARSE_INITIALIZER => Part::Sparse,
                graph::NAME => Part::Text,
                graph::QUANTIZATION_ANNOTATION => Part::Annotation,
                number if number == doc::GRAPH[1] => Part::Metadata,
                _ => Part::Other,
            },
            BodyKind::Function => match number {
                function::NODE => Part::Node,
                function::INPUT => Part::Input,
                function::OUTPUT => Part::Output,
                function::VALUE_INFO => Part::Info,
                function::NAME | function::DOMAIN | function::OVERLOAD => Part::Text,
                function::OPSET_IMPORT => Part::Opset,
                function::ATTRIBUTE => Part::Param,
                function::ATTRIBUTE_PROTO => Part::Default,
                number if number == doc::FUNCTION[1] => Part::Metadata,
                _ => Part::Other,
            },
        }
    }
}

/// The places of the original's records, by part.
#[derive(Default)]
pub(super) struct Skeleton<'o> {
    pub(super) nodes: Vec<u64>,
    pub(super) inputs: Vec<u64>,
    pub(super) outputs: Vec<u64>,
    sparse: Vec<u64>,
    /// Value infos of no value, of which the extras keep all.
    pub(super) whole_infos: Vec<Message<'o>>,
    metadata: Vec<Message<'o>>,
    /// The place of the last record of each text, by field number.
    texts: FxHashMap<u32, u64>,
    /// The initializers that quantization annotations name, which need no other use.
    pub(super) parameters: FxHashSet<&'o [u8]>,
    /// The number of records of each part.
    counts: [usize; PARTS],
}

impl<'o> Skeleton<'o> {
    fn from_message(kind: BodyKind, original: Option<Message<'o>>) -> Result<Skeleton<'o>> {
        let mut skeleton = Skeleton::default();
        for field in fields_of(original) {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            let part = Part::from_field(kind, field.number);
            match part {
                Part::Node => skeleton.nodes.push(body.at),
                Part::Input => skeleton.inputs.push(body.at),
                Part::Output => skeleton.outputs.push(body.at),
                Part::Sparse => skeleton.sparse.push(body.at),
                Part::Info if body.is_detached() => {
                    skeleton.whole_infos.push(body);
                    continue;
                }
                Part::Text => _ = skeleton.texts.insert(field.number, body.at),
                Part::Annotation => skeleton.parameters.extend(parameters_of(body)?),
                Part::Metadata => skeleton.metadata.push(body),
                _ => {}
            }
            skeleton.counts[part as usize] += 1;
        }
        Ok(skeleton)
    }
}

/// A body half written.
pub(super) struct Body<'o> {
    pub(super) region: RegionId,
    pub(super) kind: BodyKind,
    pub(super) original: Option<Message<'o>>,
    pub(super) skeleton: Skeleton<'o>,
    /// Nodes to write, and how many were.
    pub(super) items: Vec<Item>,
    pub(super) written: usize,
    /// Whether the nodes that the original has are still in its order.
    pub(super) ordered: bool,
    /// The number of records of each part that went by.
    pub(super) seen: [usize; PARTS],
    /// Whether the outputs are the original's.
    pub(super) same_outputs: bool,
    /// Orders that differ from the IR's.
    pub(super) kept: ImporterData<'o>,
    pub(super) found: Found<'o>,
}

/// The entities of a body by their places in the original, and those that have none there.
#[derive(Default)]
pub(super) struct Found<'o> {
    pub(super) args: FxHashMap<u64, ValueId>,
    pub(super) initializers: FxHashMap<u64, ConstId>,
    pub(super) new_initializers: Vec<ConstId>,
    pub(super) sparse: FxHashMap<u64, OpId>,
    /// Sparse initializers that stood in no file.
    new_sparse: Vec<OpId>,
    /// Values whose types are declared, by the name in the file; `None`: written already.
    pub(super) declared: FxHashMap<SymbolId, Option<ValueId>>,
    /// Such values that the file can't know, as another one had their name there.
    pub(super) undeclared: Vec<ValueId>,
    /// Names that the original's nodes and initializers define, once they are asked for.
    pub(super) defined: Option<FxHashSet<&'o [u8]>>,
    /// Attribute parameters written so far.
    pub(super) params: FxHashSet<SymbolId>,
}

impl<'w> FunctionWriter<'w> {
    /// Writes the main graph, and the opset import that it needs beside the function's.
    pub(super) fn graph(mut self) -> Result {
        self.nested()?;
        let original = self.original(Entity::Function);
        let outer = self.store.open();
        self.body(self.f.body(), BodyKind::Graph, original)?;
        let graph = self.store.keep(outer);
        self.own_import(model::OPSET_IMPORT);
        self.store.message(model::GRAPH, graph);
        Ok(())
    }

    /// Writes a local function.
    pub(super) fn function(mut self) -> Result {
        self.nested()?;
        let original = self.original(Entity::Function);
        let mark = self.store.begin();
        self.body(self.f.body(), BodyKind::Function, original)?;
        self.store.end(mark, model::FUNCTIONS);
        Ok(())
    }

    /// The import of ONNX's own ops, if nodes of them were added to a function that has none.
    fn own_import(&mut self, number: u32) {
        if self.added_nodes && self.f.opset(passdock_abi::symbol::EMPTY).is_none() {
            let version = newest_opset(self.ir_version);
            self.store
                .put(|to| put_import(to, number, Some(""), version));
        }
    }

    /// Writes the regions inside, innermost first.
    fn nested(&mut self) -> Result {
        if let Some(clash) = &self.plan.clash {
            return Err(OnnxError::new(clash));
        }
        for at in (1..self.plan.regions.len()).rev() {
            let region = self.plan.regions[at];
            if !self.plan.is_region_dirty(region) {
                continue;
            }
            let original = self.original(Entity::Region(region));
            let outer = self.store.open();
            let written = self.body(region, BodyKind::Graph, original);
            written.within(|| self.f.describe_op(self.f.region(region).parent))?;
            let id = self.store.keep(outer);
            self.done.insert(region, id);
        }
        Ok(())
    }

    fn body(&mut self, region: RegionId, kind: BodyKind, original: Option<Message<'w>>) -> Result {
        let skeleton = Skeleton::from_message(kind, original)?;
        let no_initializers = kind == BodyKind::Function || self.ir_version < 4;
        let entity = self.entity(region);
        let kept = ImporterData::from_entity(self.f, entity);
        self.check_sparse(region, kind, &skeleton);
        self.name_nodes(region)?;
        let mut items = self
            .layout
            .sequence(region, &skeleton.nodes, no_initializers);
        kept.reorder(graph::NODE, &mut items);
        let ordered = items.iter().filter_map(|item| item.start).is_sorted();
        let mut body = Body {
            region,
            kind,
            original,
            items,
            written: 0,
            ordered,
            seen: [0; PARTS],
            same_outputs: self.are_outputs_same(region, &skeleton.outputs),
            kept,
            found: Found::default(),
            skeleton,
        };
        self.sort_constants(&mut body, no_initializers);
        self.sort_inputs(&mut body);
        self.find_declared(&mut body)?;
        let carries = self.carries && entity == Entity::Function;
        let mut carried = FunctionAttributes::new(self.f, &body.skeleton.metadata, carries)?;
        let mut imports = match kind {
            BodyKind::Graph => None,
            BodyKind::Function => {
                let opsets = self.domains.opsets_of(self.f);
                Some(Imports::new(opsets, original, function::OPSET_IMPORT)?)
            }
        };
        for field in fields_of(original) {
            let field = field?;
            let Value::Bytes(message) = field.value else {
                self.store.copy(field.record);
                continue;
            };
            let part = Part::from_field(kind, field.number);
            match (part, &mut imports) {
                (Part::Node, _) => self.nodes_until(&mut body, Some(field))?,
                (Part::Input, _) => self.input_at(&mut body, field)?,
                (Part::Output, _) => self.output_at(&mut body, field)?,
                (Part::Info, _) if message.is_detached() => {}
                (Part::Info, _) => self.info_at(&mut body, field)?,
                (Part::Initializer, _) => self.initializer_at(&mut body, field)?,
                (Part::Sparse, _) => self.sparse_at(&mut body, field)?,
                // Of a text that stands there twice the last one counts.
                (Part::Text, _) if body.skeleton.texts[&field.number] == message.at => {
                    match self.header_text(&body, field.number)? {
                        Some(text) if !(text.is_empty() && message.bytes == b"ai.onnx") => {
                            self.store.text(field, &text);
                        }
                        _ => self.store.copy(field.record),
                    }
                }
                (Part::Opset, Some(imports)) => imports.at(field.record, self.store),
                (Part::Param, _) => self.param_at(&mut body, field),
                (Part::Default, _) => self.default_at(&mut body, field)?,
                (Part::Metadata, _) => match carried.at(message)? {
                    EntryChange::Stays => self.store.copy(field.record),
                    EntryChange::Becomes(pair) => self.store.field(field.number, &pair),
                    EntryChange::Goes => {}
                },
                _ => self.store.copy(field.record),
            }
            let seen = &mut body.seen[part as usize];
            *seen += 1;
            if *seen == body.skeleton.counts[part as usize] && part != Part::Output {
                self.rest(&mut body, part)?;
            }
        }
        self.what_has_no_record(&mut body)?;
        if let Some(mut imports) = imports {
            imports.rest(self.store);
            self.own_import(function::OPSET_IMPORT);
        }
        self.function_texts(&mut body, entity, carried);
        Ok(())
    }

    /// Documentation and metadata, which attributes of the function are too.
    fn function_texts(
        &mut self,
        body: &mut Body<'_>,
        entity: Entity,
        carried: FunctionAttributes<'_>,
    ) {
        let [doc, metadata] = body.kind.texts();
        let extras = self.f.origins().extras(entity);
        if let Some(text) = extras.and_then(|extras| extras.doc.as_deref()) {
            self.store.field(doc, text.as_bytes());
        }
        let pairs = extras.iter().flat_map(|extras| &extras.metadata);
        let pairs = pairs.filter(|(key, _)| !carried.has(key));
        let mut pairs: Vec<(String, String)> = pairs
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        pairs.extend(carried.rest());
        body.kept.reorder(metadata, &mut pairs);
        for (key, value) in pairs {
            self.store.pair(metadata, &key, &value);
        }
    }

    /// The entity whose extras are a body's: the function for its own.
    fn entity(&self, region: RegionId) -> Entity {
        if region == self.f.body() {
            Entity::Function
        } else {
            Entity::Region(region)
        }
    }

    /// Writes the records of a part that the original doesn't have, behind the last that it has.
    fn rest(&mut self, body: &mut Body<'w>, part: Part) -> Result {
        match part {
            Part::Node => {
                self.nodes_until(body, None)?;
                self.copies(body);
                Ok(())
            }
            Part::Input => self.inputs(body),
            Part::Output => self.outputs(body),
            Part::Initializer => self.initializers(body),
            Part::Info => self.infos(body),
            _ => Ok(()),
        }
    }

    /// Writes everything whose part has no record in the original.
    fn what_has_no_record(&mut self, body: &mut Body<'w>) -> Result {
        let numbers: &[u32] = match body.kind {
            BodyKind::Graph => &[graph::NAME],
            BodyKind::Function => &[function::NAME, function::DOMAIN, function::OVERLOAD],
        };
        let missing = numbers.iter().copied();
        for number in missing.filter(|number| !body.skeleton.texts.contains_key(number)) {
            if let Some(text) = self.header_text(body, number)?
                && !text.is_empty()
            {
                self.store.field(number, text.as_bytes());
            }
        }
        for part in [Part::Node, Part::Input, Part::Output, Part::Initializer] {
            if body.skeleton.counts[part as usize] == 0 {
                self.rest(body, part)?;
            }
        }
        for op in std::mem::take(&mut body.found.new_sparse) {
            if let Some(value) = sparse_value(self.f, op) {
                self.sparse_initializer(op, value)?;
            }
        }
        if body.skeleton.counts[Part::Info as usize] == 0 {
            self.infos(body)?;
        }
        if body.kind == BodyKind::Function {
            self.params(body)?;
        }
        Ok(())
    }

    /// Constants that are initializers: by where they stood, and new ones.
    fn sort_constants(&self, body: &mut Body<'_>, no_initializers: bool) {
        for id in self.layout.initializers(body.region) {
            let record = self.f.constant(id);
            if let Some(span) = self.span(Entity::Constant(id)) {
                body.found.initializers.insert(span.at, id);
            } else if !self.layout.is_own_value(record.value)
                || self.layout.is_old_initializer(id)
                || self.f.origins().get(Entity::Constant(id)).is_some()
                || (!no_initializers
                    && (is_imported(self.f, id) || self.f.value(record.value).use_count > 0))
            {
                body.found.new_initializers.push(id);
            }
        }
        if self.layout.sparse.is_empty() {
            return;
        }
        for op in self.f.ops_in(body.region) {
            match self.layout.sparse.get(&op) {
                Some(0) => body.found.new_sparse.push(op),
                Some(&at) => _ = body.found.sparse.insert(at, op),
                None => {}
            }
        }
    }

    /// Makes all copies of a sparse initializer but the first in its graph nodes.
    fn check_sparse(&mut self, region: RegionId, kind: BodyKind, skeleton: &Skeleton<'_>) {
        if self.layout.sparse.is_empty() {
            return;
        }
        let mut here = FxHashSet::default();
        for op in self.f.ops_in(region) {
            let Some(&at) = self.layout.sparse.get(&op) else {
                continue;
            };
            let mut known = || skeleton.sparse.binary_search(&at).is_ok() && here.insert(at);
            if kind == BodyKind::Function || !(at == 0 || known()) {
                self.layout.sparse.remove(&op);
            }
        }
    }

    /// The values of a region whose types the file declares.
    fn find_declared(&self, body: &mut Body<'_>) -> Result {
        for value in self.layout.declared(body.region) {
            match self.name_in_file(value)? {
                // One that came from another graph may have had the name there.
                Some(name) if !body.found.declared.contains_key(&name) => {
                    body.found.declared.insert(name, Some(value));
                }
                _ => body.found.undeclared.push(value),
            }
        }
        // What replaces a value of the file takes its declaration over.
        let declared = &mut body.found.declared;
        body.found
            .undeclared
            .retain(|&value| match declared.entry(self.plan.name(value)) {
                Entry::Vacant(free) => {
                    free.insert(Some(value));
                    false
                }
                Entry::Occupied(_) => true,
            });
        Ok(())
    }

    /// The name that the file gives a value, if it stood there: another one than it has now, if it
    /// was renamed.
    fn name_in_file(&self, value: ValueId) -> Result<Option<SymbolId>> {
        let record = self.f.value(value);
        let place = match record.constant.option() {
            Some(id) => (Entity::Constant(id), 0),
            None => (Entity::Op(OpId(record.def)), record.index as usize),
        };
        let Some(message) = self.span(place.0) else {
            return Ok(None);
        };
        if record.flags & ValueRecord::TOUCHED == 0 && record.name == self.plan.name(value) {
            return Ok(Some(record.name));
        }
        let constant = record.constant.option().map(|id| self.f.constant(id));
        let initializer = constant.is_some_and(|constant| constant.flags & Constant::NODE == 0);
        let name = if initializer {
            string_of(message, tensor::NAME)?
        } else {
            let mut outputs = bodies(message, node::OUTPUT);
            outputs
                .nth(place.1)
                .transpose()?
                .map_or(&[][..], |body| body.bytes)
        };
        let name = std::str::from_utf8(name).ok();
        Ok(name.and_then(|name| self.f.symbols().find(name)))
    }

    /// Name, domain or overload.
    fn header_text(&self, body: &Body<'_>, number: u32) -> Result<Option<String>> {
        if body.kind == BodyKind::Graph {
            let region = self.f.region(body.region);
            let name = self.loc_name(region.loc);
            // A graph has to have a name; one that came without stays so.
            let own = match body.region == self.f.body() {
                true => self.f.name(),
                false => region.name,
            };
            let is_made = body.original.is_none();
            let name = name.or_else(|| is_made.then(|| self.f.text(own)));
            return Ok(name.map(str::to_owned));
        }
        let OpName {
            domain,
            name,
            overload,
        } = function_name(self.f)?;
        Ok(Some(match number {
            function::NAME => name.into_owned(),
            function::DOMAIN => domain.unwrap_or_default().into_owned(),
            _ => overload.into_owned(),
        }))
    }
}
