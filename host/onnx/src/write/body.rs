//! `GraphProto` and `FunctionProto`.

use passdock_abi::{
    Attr, AttrKind, ConstId, Constant, OpId, Port, RegionId, TypeId, Value as ValueRecord, ValueId,
};
use passdock_ir::{Entity, OpName};
use rustc_hash::FxHashSet;

use super::imports::put_imports;
use super::message::RestFields;
use super::writer::FunctionWriter;
use crate::detach::stripped::{self, StrippedMessage};
use crate::detach::stripper::{StrippedBody, offset_in_file};
use crate::extras::function_attributes::{EntryChange, FunctionAttributes};
use crate::extras::importer_data::ImporterData;
use crate::format::body::BodyKind;
use crate::format::error::{OnnxError, Result, Within};
use crate::format::header::newest_opset;
use crate::format::opsets::put_import;
use crate::format::schema::{doc, function, graph, model, sparse, tensor, value_info};
use crate::format::types::encode_type;
use crate::format::wire::{Message, Value, WireField, string_of};
use crate::layout::constants::is_imported;
use crate::layout::nodes::Item;
use crate::layout::sparse::sparse_value;
use crate::layout::version::function_name;

impl<'w> FunctionWriter<'w> {
    /// Writes the main graph, and an import of ONNX's own domain if it needs one in addition to the function's.
    pub(super) fn graph(mut self) -> Result {
        self.nested()?;
        let outer = self.store.open();
        self.body(self.f.body(), BodyKind::Graph)?;
        let graph = self.store.keep(outer);
        self.store.message(model::GRAPH, graph);
        self.own_import(model::OPSET_IMPORT);
        Ok(())
    }

    /// Writes a local function.
    pub(super) fn function(mut self) -> Result {
        self.nested()?;
        let mark = self.store.begin();
        self.body(self.f.body(), BodyKind::Function)?;
        self.store.end(mark, model::FUNCTIONS);
        Ok(())
    }

    /// Writes an import of ONNX's own domain, if a function without one got nodes of it.
    fn own_import(&mut self, number: u32) {
        if self.added_nodes && self.f.opset(passdock_abi::symbol::EMPTY).is_none() {
            let version = newest_opset(self.ir_version);
            self.store
                .put(|to| put_import(to, number, Some(""), version));
        }
    }

    /// Writes the nested regions, innermost first.
    fn nested(&mut self) -> Result {
        if let Some(clash) = &self.plan.clash {
            return Err(OnnxError::new(clash));
        }
        for at in (1..self.plan.regions.len()).rev() {
            let region = self.plan.regions[at];
            if !self.plan.is_region_dirty(region) {
                continue;
            }
            let outer = self.store.open();
            let written = self.body(region, BodyKind::Graph);
            written.within(|| self.f.describe_op(self.f.region(region).parent))?;
            let id = self.store.keep(outer);
            self.done.insert(region, id);
        }
        Ok(())
    }

    fn body(&mut self, region: RegionId, kind: BodyKind) -> Result {
        let names = self.plan.names();
        let body = self.stripper.body(region, kind, &self.layout, names)?;
        self.check_sparse(region, kind, &body.sparse);
        self.name_nodes(region)?;
        match kind {
            BodyKind::Graph => self.graph_fields(region, &body),
            BodyKind::Function => self.function_fields(region, &body),
        }
    }

    fn graph_fields(&mut self, region: RegionId, body: &StrippedBody<'_>) -> Result {
        let kind = BodyKind::Graph;
        let mut rest = RestFields::new(&body.message, self.store)?;
        self.nodes(region, kind, body)?;
        let name = self.graph_name(region, &body.message);
        self.text(graph::NAME, name, &mut rest);
        self.initializers(region, &mut rest)?;
        self.doc(doc::GRAPH[0], body.message.doc);
        self.inputs(region, kind, body, &mut rest)?;
        self.outputs(region, kind)?;
        self.infos(region, kind, body, &mut rest)?;
        self.sparse_initializers(region)?;
        self.body_metadata(region, kind, &body.message, &mut rest)?;
        rest.finish(self.store)?;
        Ok(())
    }

    fn function_fields(&mut self, region: RegionId, body: &StrippedBody<'_>) -> Result {
        let kind = BodyKind::Function;
        let OpName {
            domain,
            name,
            overload,
        } = function_name(self.f)?;
        let (named, defaults) = self.params();
        let mut rest = RestFields::new(&body.message, self.store)?;
        self.text(function::NAME, &name, &mut rest);
        self.inputs(region, kind, body, &mut rest)?;
        self.outputs(region, kind)?;
        for attr in named {
            let name = self.f.text(attr.name);
            self.store.field(function::ATTRIBUTE, name.as_bytes());
        }
        self.nodes(region, kind, body)?;
        self.doc(doc::FUNCTION[0], body.message.doc);
        let opsets = self.domains.opsets_of(self.f);
        put_imports(&opsets, function::OPSET_IMPORT, &mut rest, self.store)?;
        self.own_import(function::OPSET_IMPORT);
        self.text(function::DOMAIN, &domain.unwrap_or_default(), &mut rest);
        self.attrs(function::ATTRIBUTE_PROTO, OpId::NONE, &defaults, &mut rest)?;
        self.infos(region, kind, body, &mut rest)?;
        self.text(function::OVERLOAD, &overload, &mut rest);
        self.body_metadata(region, kind, &body.message, &mut rest)?;
        rest.finish(self.store)?;
        Ok(())
    }

    /// Returns the name of a graph. ONNX requires one, but a graph that was read without a name stays without one.
    fn graph_name(&self, region: RegionId, original: &StrippedMessage<'_>) -> &'w str {
        let record = self.f.region(region);
        let own = match region == self.f.body() {
            _ if original.stays => return self.loc_name(record.loc).unwrap_or_default(),
            true => self.f.name(),
            false => record.name,
        };
        self.loc_name(record.loc)
            .unwrap_or_else(|| self.f.text(own))
    }

    /// Returns the attribute parameters of a function: those without and those with a default.
    fn params(&self) -> (Vec<Attr>, Vec<Attr>) {
        let attrs = self.f.attrs(OpId::NONE).iter().copied();
        attrs
            .filter(|attr| attr.flags & Attr::PARAM != 0)
            .partition(|attr| attr.kind == AttrKind::NONE)
    }

    /// Returns the extras of a region; for the body, those of the function.
    fn importer_data(&self, region: RegionId) -> ImporterData<'w> {
        let entity = match region == self.f.body() {
            true => Entity::Function,
            false => Entity::Region(region),
        };
        ImporterData::from_entity(self.f, entity)
    }

    /// Writes the nodes, and an `Identity` for each output that isn't a result of the region's ops.
    fn nodes(&mut self, region: RegionId, kind: BodyKind, body: &StrippedBody<'_>) -> Result {
        let no_initializers = kind == BodyKind::Function || self.ir_version < 4;
        let mut items = self.layout.sequence(region, &body.nodes, no_initializers);
        self.importer_data(region).reorder(graph::NODE, &mut items);
        let number = kind.node();
        for Item { entity, .. } in items {
            let is_clean = match entity {
                Entity::Op(op) => !self.plan.is_op_dirty(op),
                Entity::Constant(id) => {
                    self.f.constant(id).flags & Constant::NODE != 0 && !self.is_dirty(id)
                }
                _ => false,
            };
            match (self.stripper.span(entity), entity) {
                (Some(span), _) if is_clean => self.store.copy_field(number, span),
                (_, Entity::Op(op)) => {
                    let written = self.node(number, op);
                    written.within(|| self.f.describe_op(op))?;
                }
                (_, Entity::Constant(id)) => self.constant_node(number, id)?,
                _ => {}
            }
        }
        for &(value, output) in self.plan.copies(region).to_vec().iter() {
            let (from, to) = (self.name(value), self.f.text(output));
            self.identity(number, from, to);
        }
        Ok(())
    }

    /// Whether a constant has to be encoded again.
    fn is_dirty(&self, id: ConstId) -> bool {
        let touched = self.f.constant(id).flags & Constant::TOUCHED != 0;
        touched || self.plan.is_constant_dirty(id)
    }

    /// Writes the initializers: imported ones in the order of the file, then new ones.
    fn initializers(&mut self, region: RegionId, rest: &mut RestFields<'_>) -> Result {
        let f = self.f;
        let mut ids = self.layout.initializers(region);
        ids.retain(|&id| {
            let value = f.constant(id).value;
            let may_be_new =
                self.ir_version >= 4 && (is_imported(f, id) || f.value(value).use_count > 0);
            f.origins().get(Entity::Constant(id)).is_some()
                || !self.layout.is_constant_value(value)
                || self.layout.is_old_initializer(id)
                || may_be_new
        });
        let start = |id| self.stripper.start(Entity::Constant(id));
        let ids: Vec<(u64, ConstId)> = ids.into_iter().map(|id| (start(id), id)).collect();
        self.repeated(region, graph::INITIALIZER, ids, rest, Self::initializer)
    }

    fn initializer(&mut self, id: ConstId) -> Result {
        let span = self.stripper.span(Entity::Constant(id));
        if let Some(span) = span.filter(|_| !self.is_dirty(id)) {
            self.store.copy_field(graph::INITIALIZER, span);
            return Ok(());
        }
        let name = self.name(self.f.constant(id).value);
        let stripped = self.stripper.constant(id)?;
        self.tensor(graph::INITIALIZER, id, Some(name), &stripped)
    }

    /// Writes a repeated field in the order of the file, followed by new records. `items` have their starts in the
    /// file; records that remain unchanged come from `rest`.
    fn repeated<T: Clone>(
        &mut self,
        region: RegionId,
        number: u32,
        items: Vec<(u64, T)>,
        rest: &mut RestFields<'_>,
        mut write: impl FnMut(&mut Self, T) -> Result,
    ) -> Result {
        let whole = rest.take(number).into_iter();
        let whole = whole.map(|field| (offset_in_file(Some(field.body())), Err(field)));
        let items = items.into_iter().map(|(start, item)| (start, Ok(item)));
        let mut records: Vec<(u64, std::result::Result<T, WireField<'_>>)> =
            items.chain(whole).collect();
        records.sort_by_key(|(start, _)| *start);
        self.importer_data(region).reorder(number, &mut records);
        for (_, record) in records {
            match record {
                Ok(item) => write(self, item)?,
                Err(field) => self.store.copy(field.record),
            }
        }
        Ok(())
    }

    /// Writes the inputs; before IR version 4, including initializers that are also inputs.
    fn inputs(
        &mut self,
        region: RegionId,
        kind: BodyKind,
        body: &StrippedBody<'_>,
        rest: &mut RestFields<'_>,
    ) -> Result {
        let f = self.f;
        let start = |arg| self.stripper.start(Entity::Value(arg));
        let args = f.args(region).map(|arg| (start(arg), Input::Argument(arg)));
        let mut inputs: Vec<(u64, Input<'_>)> = args.collect();
        if kind == BodyKind::Graph && self.ir_version < 4 {
            for id in self.layout.initializers(region) {
                let message = body.inputs.get(&id).copied();
                if message.is_some() || self.layout.is_old_input(id) {
                    inputs.push((offset_in_file(message), Input::Constant(id, message)));
                }
            }
        }
        let number = kind.input();
        self.repeated(region, number, inputs, rest, |writer, input| match input {
            Input::Argument(arg) => {
                let value = f.value(arg);
                let is_touched = value.flags & ValueRecord::TOUCHED != 0;
                let (entity, name) = (Entity::Value(arg), writer.name(arg));
                writer.port(number, kind, entity, name, value.ty, is_touched)
            }
            Input::Constant(id, message) => writer.constant_input(id, message),
        })
    }

    /// Writes an input or output. In a function, it consists of a name only.
    fn port(
        &mut self,
        number: u32,
        kind: BodyKind,
        entity: Entity,
        name: &str,
        ty: TypeId,
        is_touched: bool,
    ) -> Result {
        match kind {
            BodyKind::Graph => self.info(number, entity, name, ty, is_touched),
            BodyKind::Function => {
                self.store.field(number, name.as_bytes());
                Ok(())
            }
        }
    }

    /// Writes the input of an initializer that is also an input, before IR version 4. `message` is the one in the file.
    fn constant_input(&mut self, id: ConstId, message: Option<Message<'_>>) -> Result {
        let record = self.f.constant(id);
        let (name, ty) = (self.name(record.value), record.ty);
        let stripped = match message {
            Some(message) if string_of(message, value_info::NAME)? == name.as_bytes() => {
                self.store.copy_field(graph::INPUT, message);
                return Ok(());
            }
            Some(message) => {
                stripped::info(message, &encode_type(self.f, ty)?, stripped::NO_TEXTS)?
            }
            None => {
                let data = ImporterData::from_entity(self.f, Entity::Value(record.value));
                StrippedMessage::from_records(data.input)?
            }
        };
        // The original has a type that isn't the constant's.
        let mut fields = stripped.records.iter();
        let is_typed = fields.any(|field| field.number == value_info::TYPE);
        let ty = if is_typed { TypeId::NONE } else { ty };
        self.value_info(graph::INPUT, name, ty, &stripped)
    }

    /// Writes the outputs.
    fn outputs(&mut self, region: RegionId, kind: BodyKind) -> Result {
        let first = self.f.region(region).ports.start;
        for (index, port) in self.f.ports(region).iter().enumerate() {
            let name = match port.name.option() {
                Some(name) => name,
                None => self.plan.output_name(region, index),
            };
            let entity = Entity::Port(first + index as u32);
            let is_touched = port.flags & Port::TOUCHED != 0;
            let name = self.f.text(name);
            self.port(kind.output(), kind, entity, name, port.ty, is_touched)?;
        }
        Ok(())
    }

    /// Writes the value infos of values, and those without a value.
    fn infos(
        &mut self,
        region: RegionId,
        kind: BodyKind,
        body: &StrippedBody<'_>,
        rest: &mut RestFields<'_>,
    ) -> Result {
        let start = |value| body.info_start(self.stripper.start(Entity::Value(value)));
        let values = self.layout.declared(region).into_iter();
        let values: Vec<(u64, ValueId)> = values.map(|value| (start(value), value)).collect();
        let number = kind.info();
        self.repeated(region, number, values, rest, |writer, value| {
            let (name, record) = (writer.name(value), writer.f.value(value));
            let entity = Entity::Value(value);
            let origins = writer.f.origins();
            let has_more = origins.get(entity).is_some() || origins.extras(entity).is_some();
            if name.is_empty() || (record.ty.index() == 0 && !has_more) {
                return Ok(());
            }
            let is_touched = record.flags & ValueRecord::TOUCHED != 0;
            writer.info(number, entity, name, record.ty, is_touched)
        })
    }

    /// Finds the sparse initializers that have to be nodes: all copies except the first in the original's graph.
    fn check_sparse(&mut self, region: RegionId, kind: BodyKind, starts: &[u64]) {
        if self.layout.sparse.is_empty() {
            return;
        }
        let mut here = FxHashSet::default();
        for op in self.f.ops_in(region) {
            let Some(&at) = self.layout.sparse.get(&op) else {
                continue;
            };
            let mut is_first = || starts.binary_search(&at).is_ok() && here.insert(at);
            if kind == BodyKind::Function || !(at == 0 || is_first()) {
                self.layout.sparse.remove(&op);
            }
        }
    }

    /// Writes the sparse initializers.
    fn sparse_initializers(&mut self, region: RegionId) -> Result {
        if self.layout.sparse.is_empty() {
            return Ok(());
        }
        let ops = self.f.ops_in(region);
        let ops = ops.filter_map(|op| Some((*self.layout.sparse.get(&op)?, op)));
        let mut ops: Vec<(u64, OpId)> = ops.collect();
        // Those that aren't in a file come last.
        ops.sort_by_key(|&(at, _)| (at == 0, at));
        for (_, op) in ops {
            if let Some(value) = sparse_value(self.f, op) {
                self.sparse_initializer(op, value)?;
            }
        }
        Ok(())
    }

    /// Writes a sparse initializer under its value's name.
    fn sparse_initializer(&mut self, op: OpId, message: Message<'w>) -> Result {
        let name = self.f.result(op, 0).map_or("", |value| self.name(value));
        let outer = self.store.begin();
        for field in message.fields() {
            let field = field?;
            let (sparse::VALUES, Value::Bytes(values)) = (field.number, field.value) else {
                self.store.copy(field.record);
                continue;
            };
            let inner = self.store.begin();
            for field in values.fields() {
                let field = field?;
                match field.number {
                    tensor::NAME => self.store.field(tensor::NAME, name.as_bytes()),
                    _ => self.store.copy(field.record),
                }
            }
            self.store.end(inner, sparse::VALUES);
        }
        self.store.end(outer, graph::SPARSE_INITIALIZER);
        Ok(())
    }

    /// Writes the metadata of a body, including the function's attributes.
    fn body_metadata(
        &mut self,
        region: RegionId,
        kind: BodyKind,
        message: &StrippedMessage<'_>,
        rest: &mut RestFields<'_>,
    ) -> Result {
        let [_, number] = kind.texts();
        let original = rest.take(number);
        let bodies: Vec<Message<'_>> = original.iter().map(|field| field.body()).collect();
        let has_attributes = self.has_metadata && region == self.f.body();
        let mut attributes = FunctionAttributes::new(self.f, &bodies, has_attributes)?;
        for field in original {
            match attributes.at(field.body())? {
                EntryChange::Stays => self.store.copy(field.record),
                EntryChange::Becomes(pair) => self.store.field(number, &pair),
                EntryChange::Removed => {}
            }
        }
        let pairs = message.metadata.iter();
        let pairs = pairs.filter(|(key, _)| !attributes.has(key));
        let mut pairs: Vec<(String, String)> = pairs
            .map(|&(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        pairs.extend(attributes.rest());
        self.importer_data(region).reorder(number, &mut pairs);
        self.metadata(number, &pairs);
        Ok(())
    }
}

/// An input to write.
#[derive(Clone, Copy)]
enum Input<'w> {
    Argument(ValueId),
    /// An initializer that is also an input, with the input's message in the file.
    Constant(ConstId, Option<Message<'w>>),
}
