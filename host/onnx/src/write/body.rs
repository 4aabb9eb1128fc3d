//! `GraphProto`, and `FunctionProto` as far as it is one.

use std::collections::hash_map::Entry;

use passdock_abi::{
    ConstId, Constant, OpId, Region, RegionId, SymbolId, Value as ValueRecord, ValueId,
};
use passdock_ir::{Entity, OpName};
use rustc_hash::{FxHashMap, FxHashSet};

use super::imports::Imports;
use super::rope::Chain;
use super::writer::FunctionWriter;
use crate::extras::carry::{Carried, Fate};
use crate::extras::kept::Kept;
use crate::format::body::BodyKind;
use crate::format::error::{OnnxError, Result};
use crate::format::fields::bodies;
use crate::format::header::newest_opset;
use crate::format::opsets::put_import;
use crate::format::schema::{annotation, doc, entry, function, graph, model, node, tensor};
use crate::format::wire::{Field, Message, Value, fields_of, string_of};
use crate::layout::constants::is_imported;
use crate::layout::nodes::Item;
use crate::layout::sparse::sparse_value;
use crate::layout::version::function_name;

/// The part of a body that a field is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Node,
    Input,
    Output,
    Info,
    Initializer,
    Sparse,
    Name,
    Domain,
    Overload,
    Opset,
    Param,
    Default,
    Annotation,
    Metadata,
    /// A field that the IR doesn't know.
    Other,
}

impl Part {
    /// The part that a field holds.
    fn of(kind: BodyKind, number: u32) -> Part {
        match kind {
            BodyKind::Graph => match number {
                graph::NODE => Part::Node,
                graph::INPUT => Part::Input,
                graph::OUTPUT => Part::Output,
                graph::VALUE_INFO => Part::Info,
                graph::INITIALIZER => Part::Initializer,
                graph::SPARSE_INITIALIZER => Part::Sparse,
                graph::NAME => Part::Name,
                graph::QUANTIZATION_ANNOTATION => Part::Annotation,
                number if number == doc::GRAPH[1] => Part::Metadata,
                _ => Part::Other,
            },
            BodyKind::Function => match number {
                function::NODE => Part::Node,
                function::INPUT => Part::Input,
                function::OUTPUT => Part::Output,
                function::VALUE_INFO => Part::Info,
                function::NAME => Part::Name,
                function::DOMAIN => Part::Domain,
                function::OVERLOAD => Part::Overload,
                function::OPSET_IMPORT => Part::Opset,
                function::ATTRIBUTE => Part::Param,
                function::ATTRIBUTE_PROTO => Part::Default,
                number if number == doc::FUNCTION[1] => Part::Metadata,
                _ => Part::Other,
            },
        }
    }
}

/// The places of the original's records, by kind.
#[derive(Default)]
pub(super) struct Skeleton<'o> {
    pub(super) nodes: Vec<u64>,
    pub(super) inputs: Vec<u64>,
    pub(super) outputs: Vec<u64>,
    pub(super) initializers: Vec<u64>,
    sparse: Vec<u64>,
    pub(super) infos: usize,
    metadata: Vec<Message<'o>>,
    /// The place of the last record of each other field, by number.
    parts: FxHashMap<u32, u64>,
    /// The initializers that quantization annotations name, which need no other use.
    pub(super) parameters: FxHashSet<&'o [u8]>,
}

impl<'o> Skeleton<'o> {
    fn of(kind: BodyKind, original: Option<Message<'o>>) -> Result<Skeleton<'o>> {
        let mut skeleton = Skeleton::default();
        for field in fields_of(original) {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            let list = match Part::of(kind, field.number) {
                Part::Node => &mut skeleton.nodes,
                Part::Input => &mut skeleton.inputs,
                Part::Output => &mut skeleton.outputs,
                Part::Initializer => &mut skeleton.initializers,
                Part::Sparse => &mut skeleton.sparse,
                Part::Info => {
                    skeleton.infos += 1;
                    continue;
                }
                Part::Annotation => {
                    for pair in bodies(body, annotation::PARAMETERS) {
                        skeleton.parameters.insert(string_of(pair?, entry::VALUE)?);
                    }
                    continue;
                }
                Part::Metadata => {
                    skeleton.metadata.push(body);
                    continue;
                }
                Part::Other => continue,
                _ => {
                    skeleton.parts.insert(field.number, body.at);
                    continue;
                }
            };
            list.push(body.at);
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
    pub(super) chain: Chain,
    /// Nodes to write, and how many were.
    pub(super) items: Vec<Item>,
    pub(super) written: usize,
    /// Whether the nodes that the original has are still in its order.
    pub(super) ordered: bool,
    /// Records seen so far.
    pub(super) seen: Seen,
    /// Arguments by where they stood.
    pub(super) args: FxHashMap<u64, ValueId>,
    /// Whether the outputs are the original's.
    pub(super) same_outputs: bool,
    /// Constants by where they stood.
    pub(super) initializers: FxHashMap<u64, ConstId>,
    pub(super) new_initializers: Vec<ConstId>,
    pub(super) sparse: FxHashMap<u64, OpId>,
    /// Sparse initializers that stood in no file.
    pub(super) new_sparse: Vec<OpId>,
    /// Value infos of no value, of which the extras keep all.
    pub(super) whole_infos: Vec<Message<'o>>,
    /// Orders that differ from the IR's.
    pub(super) kept: Kept<'o>,
    /// Values whose types are declared and not written yet, by the name in the file.
    pub(super) declared: FxHashMap<SymbolId, ValueId>,
    /// Such values that the file can't know, as another one had their name there.
    pub(super) undeclared: Vec<ValueId>,
    /// Names of those that were written.
    pub(super) declared_here: FxHashSet<SymbolId>,
    /// Names that the original's nodes and initializers define, once they are asked for.
    pub(super) defined: Option<FxHashSet<&'o [u8]>>,
    /// The original's inputs that are initializers, with the initializers, before IR version 4.
    pub(super) constant_inputs: FxHashMap<&'o [u8], u64>,
    /// Attribute parameters written so far.
    pub(super) params: FxHashSet<SymbolId>,
}

/// The number of records of each kind that went by.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) nodes: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) initializers: usize,
    pub(super) infos: usize,
}

impl<'w> FunctionWriter<'w> {
    /// Writes the main graph, and the opset imports it needs beside the function's.
    pub(super) fn graph(mut self) -> Result<(Chain, Vec<u8>)> {
        self.nested()?;
        let original = self.original(Entity::Function);
        let chain = self.body(self.f.body(), BodyKind::Graph, original)?;
        Ok((chain, self.own_import(model::OPSET_IMPORT)))
    }

    /// Writes a local function.
    pub(super) fn function(mut self) -> Result<Chain> {
        self.nested()?;
        let original = self.original(Entity::Function);
        self.body(self.f.body(), BodyKind::Function, original)
    }

    /// The import of ONNX's own ops, if nodes of them were added to a function that has none.
    fn own_import(&self, number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.added_nodes && self.f.opset(passdock_abi::symbol::EMPTY).is_none() {
            put_import(&mut bytes, number, Some(""), newest_opset(self.ir_version));
        }
        bytes
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
            let written = self.body(region, BodyKind::Graph, original);
            let op = self.f.region(region).parent;
            let written = written.map_err(|error| self.explain(op)(error))?;
            let id = self.store.keep(written);
            self.done.insert(region, id);
        }
        Ok(())
    }

    fn body(
        &mut self,
        region: RegionId,
        kind: BodyKind,
        original: Option<Message<'w>>,
    ) -> Result<Chain> {
        let skeleton = Skeleton::of(kind, original)?;
        let no_initializers = kind == BodyKind::Function || self.ir_version < 4;
        let entity = self.entity(region);
        let kept = Kept::of_entity(self.f, entity);
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
            chain: Chain::default(),
            items,
            written: 0,
            ordered,
            seen: Seen::default(),
            args: FxHashMap::default(),
            same_outputs: self.are_outputs_same(region, &skeleton.outputs),
            initializers: FxHashMap::default(),
            new_initializers: Vec::new(),
            sparse: FxHashMap::default(),
            new_sparse: Vec::new(),
            whole_infos: Vec::new(),
            kept,
            declared: FxHashMap::default(),
            undeclared: Vec::new(),
            declared_here: FxHashSet::default(),
            defined: None,
            constant_inputs: FxHashMap::default(),
            params: FxHashSet::default(),
            skeleton,
        };
        self.sort_constants(&mut body, no_initializers);
        self.sort_inputs(&mut body)?;
        self.find_declared(&mut body)?;
        let numbers = match kind {
            BodyKind::Graph => doc::GRAPH,
            BodyKind::Function => doc::FUNCTION,
        };
        let carries = self.carries && entity == Entity::Function;
        let mut carried = Carried::new(self.f, &body.skeleton.metadata, carries)?;
        let opsets = self.domains.opsets_of(self.f);
        let mut imports = match kind {
            BodyKind::Graph => None,
            BodyKind::Function => Some(Imports::new(&opsets, original, function::OPSET_IMPORT)?),
        };
        for field in fields_of(original) {
            let field = field?;
            let Value::Bytes(message) = field.value else {
                self.store.copy(&mut body.chain, field.record);
                continue;
            };
            match Part::of(kind, field.number) {
                Part::Node => self.nodes_at(&mut body, field.record, message.at)?,
                Part::Input => self.input_at(&mut body, field, message)?,
                Part::Output => self.output_at(&mut body, field, message)?,
                Part::Info => self.info_at(&mut body, field, message)?,
                Part::Initializer => self.initializer_at(&mut body, field, message)?,
                Part::Sparse => self.sparse_at(&mut body, field, message)?,
                // Of a text that stands there twice the last one counts.
                Part::Name | Part::Domain | Part::Overload
                    if body.skeleton.parts[&field.number] != message.at =>
                {
                    self.store.copy(&mut body.chain, field.record);
                }
                Part::Name | Part::Domain | Part::Overload => {
                    let text = self.header_text(&body, field.number)?;
                    self.header(&mut body.chain, field, message, text.as_deref());
                }
                Part::Opset => match imports.as_mut().and_then(Imports::next) {
                    Some(bytes) => self.store.bytes(&mut body.chain, &bytes),
                    None => self.store.copy(&mut body.chain, field.record),
                },
                Part::Param => self.param_at(&mut body, field, message),
                Part::Default => self.default_at(&mut body, field, message)?,
                Part::Metadata => match carried.at(message)? {
                    Fate::Stays => self.store.copy(&mut body.chain, field.record),
                    Fate::Becomes(pair) => self.store.field(&mut body.chain, field.number, &pair),
                    Fate::Goes => {}
                },
                Part::Annotation | Part::Other => self.store.copy(&mut body.chain, field.record),
            }
        }
        self.what_has_no_record(&mut body)?;
        if let Some(mut imports) = imports {
            self.store.bytes(&mut body.chain, &imports.rest());
            let import = self.own_import(function::OPSET_IMPORT);
            self.store.bytes(&mut body.chain, &import);
        }
        self.function_texts(&mut body, entity, numbers, carried);
        Ok(body.chain)
    }

    /// Documentation and metadata, which attributes of the function are too.
    fn function_texts(
        &mut self,
        body: &mut Body<'_>,
        entity: Entity,
        [doc, metadata]: [u32; 2],
        carried: Carried<'_>,
    ) {
        let extras = self.f.origins().extras(entity);
        if let Some(text) = extras.and_then(|extras| extras.doc.as_deref()) {
            self.store.field(&mut body.chain, doc, text.as_bytes());
        }
        let pairs = extras.iter().flat_map(|extras| &extras.metadata);
        let pairs = pairs.filter(|(key, _)| !carried.has(key));
        let mut pairs: Vec<(String, String)> = pairs
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        pairs.extend(carried.rest());
        body.kept.reorder(metadata, &mut pairs);
        for (key, value) in pairs {
            self.store.pair(&mut body.chain, metadata, &key, &value);
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

    /// Writes everything whose kind has no record in the original.
    fn what_has_no_record(&mut self, body: &mut Body<'w>) -> Result {
        let numbers: &[u32] = match body.kind {
            BodyKind::Graph => &[graph::NAME],
            BodyKind::Function => &[function::NAME, function::DOMAIN, function::OVERLOAD],
        };
        for &number in numbers
            .iter()
            .filter(|number| !body.skeleton.parts.contains_key(number))
        {
            if let Some(text) = self.header_text(body, number)?
                && !text.is_empty()
            {
                self.store.field(&mut body.chain, number, text.as_bytes());
            }
        }
        if body.skeleton.nodes.is_empty() {
            self.nodes_until(body, None)?;
            self.copies(body);
        }
        if body.skeleton.inputs.is_empty() {
            self.inputs(body)?;
        }
        if body.skeleton.outputs.is_empty() {
            self.outputs(body)?;
        }
        if body.skeleton.initializers.is_empty() {
            self.initializers(body)?;
        }
        for op in std::mem::take(&mut body.new_sparse) {
            if let Some(value) = sparse_value(self.f, op) {
                self.sparse_initializer(body, op, value)?;
            }
        }
        if body.skeleton.infos == body.whole_infos.len() {
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
                body.initializers.insert(span.at, id);
            } else if !self.layout.is_own_value(record.value)
                || self.layout.is_old_initializer(id)
                || self.f.origins().get(Entity::Constant(id)).is_some()
                || (!no_initializers
                    && (is_imported(self.f, id) || self.f.value(record.value).use_count > 0))
            {
                body.new_initializers.push(id);
            }
        }
        if self.layout.sparse.is_empty() {
            return;
        }
        for op in self.f.ops_in(body.region) {
            match self.layout.sparse.get(&op) {
                Some(0) => body.new_sparse.push(op),
                Some(&at) => _ = body.sparse.insert(at, op),
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
                Some(name) if !body.declared.contains_key(&name) => {
                    body.declared.insert(name, value);
                }
                _ => body.undeclared.push(value),
            }
        }
        // What replaces a value of the file takes its declaration over.
        let declared = &mut body.declared;
        body.undeclared
            .retain(|&value| match declared.entry(self.plan.name(value)) {
                Entry::Vacant(free) => {
                    free.insert(value);
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
            let is_made = body.original.is_none() && region.flags & Region::TOUCHED != 0;
            let name = name.or_else(|| is_made.then(|| self.f.text(region.name)));
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

    fn header(&mut self, chain: &mut Chain, field: Field<'_>, old: Message<'_>, new: Option<&str>) {
        let alias = old.bytes == b"ai.onnx" && new == Some("");
        match new.filter(|_| !alias) {
            Some(new) => self.store.text(chain, field, new),
            None => self.store.copy(chain, field.record),
        }
    }
}
