//! The records of a body, kind by kind: in place of the original's, and behind the last.

use passdock_abi::{
    Attr, AttrKind, ConstId, Constant, OpId, Port, RegionId, TypeId, Value as ValueRecord, ValueId,
};
use passdock_ir::Entity;

use super::body::{Body, Part};
use super::node::is_placeholder;
use super::writer::FunctionWriter;
use crate::extras::importer_data::ImporterData;
use crate::format::attribute::Attribute;
use crate::format::body::BodyKind;
use crate::format::error::{Result, Within};
use crate::format::schema::{function, graph, sparse, tensor, value_info};
use crate::format::wire::{Message, Value, WireField, has_field, string_of};

/// Whether a quantization annotation names an initializer.
fn is_parameter(body: &Body<'_>, tensor: Message<'_>) -> Result<bool> {
    let parameters = &body.skeleton.parameters;
    Ok(!parameters.is_empty() && parameters.contains(string_of(tensor, tensor::NAME)?))
}

impl<'w> FunctionWriter<'w> {
    /// Writes the nodes that come before, or are, the one of a record; `None`: all that are left.
    pub(super) fn nodes_until(
        &mut self,
        body: &mut Body<'w>,
        place: Option<WireField<'w>>,
    ) -> Result {
        while let Some(&item) = body.items.get(body.written) {
            let here = place.filter(|field| item.start == Some(field.body().at));
            if let (Some(field), Some(own), true) = (place, item.start, body.ordered)
                && own > field.body().at
            {
                break;
            }
            body.written += 1;
            let number = body.kind.node();
            match item.entity {
                Entity::Op(op) => {
                    let clean = self.span(Entity::Op(op));
                    if let Some(clean) = clean.filter(|_| !self.plan.is_op_dirty(op)) {
                        self.untouched(number, clean, here);
                    } else {
                        let written = self.node(number, op, self.original(Entity::Op(op)));
                        written.within(|| self.f.describe_op(op))?;
                    }
                }
                Entity::Constant(id) => {
                    let was_node = self.f.constant(id).flags & Constant::NODE != 0;
                    let clean = self.span(Entity::Constant(id));
                    if let Some(clean) = clean.filter(|_| was_node && !self.is_dirty(id)) {
                        self.untouched(number, clean, here);
                    } else {
                        let original = self.original(Entity::Constant(id));
                        self.constant_node(number, id, original.filter(|_| was_node))?;
                    }
                }
                _ => {}
            }
            if here.is_some() && body.ordered {
                break;
            }
        }
        Ok(())
    }

    /// Copies a node, with its record if it stands here.
    fn untouched(&mut self, number: u32, node: Message<'_>, here: Option<WireField<'_>>) {
        match here {
            Some(field) => self.store.copy(field.record),
            None => self.store.copy_field(number, node),
        }
    }

    /// Whether a constant has to be written anew.
    fn is_dirty(&self, id: ConstId) -> bool {
        let touched = self.f.constant(id).flags & Constant::TOUCHED != 0;
        touched || self.plan.is_constant_dirty(id)
    }

    /// `Identity` nodes for outputs that no op of the region makes.
    pub(super) fn copies(&mut self, body: &mut Body<'_>) {
        for &(value, output) in self.plan.copies(body.region).to_vec().iter() {
            let (from, to) = (self.name(value), self.f.text(output));
            self.identity(body.kind.node(), from, to);
        }
    }

    /// Writes the input for an input's record.
    pub(super) fn input_at(&mut self, body: &mut Body<'w>, field: WireField<'w>) -> Result {
        match body.found.args.get(&field.body().at).copied() {
            Some(arg) => self.param(body, arg, Some(field)),
            None => self.constant_input(body, field),
        }
    }

    /// Finds the arguments that stood in the original.
    pub(super) fn sort_inputs(&self, body: &mut Body<'w>) {
        let args = self.f.args(body.region);
        let args = args.filter_map(|arg| Some((self.original(Entity::Value(arg))?.at, arg)));
        body.found.args.extend(args);
    }

    fn param(&mut self, body: &Body<'w>, arg: ValueId, record: Option<WireField<'w>>) -> Result {
        let value = self.f.value(arg);
        let record = record.filter(|_| value.flags & ValueRecord::TOUCHED == 0);
        let (number, name) = (body.kind.input(), self.name(arg));
        self.port(
            number,
            Entity::Value(arg),
            name,
            value.ty,
            body.kind,
            record,
        )
    }

    /// Writes an input or output: its record, unless it has another name there or was touched.
    fn port(
        &mut self,
        number: u32,
        entity: Entity,
        name: &str,
        ty: TypeId,
        kind: BodyKind,
        record: Option<WireField<'w>>,
    ) -> Result {
        if let Some(field) = record
            && kind.port_name(field.body())? == name.as_bytes()
        {
            self.store.copy(field.record);
            return Ok(());
        }
        match kind {
            BodyKind::Graph => self.info(number, name, ty, self.original(entity), Some(entity))?,
            BodyKind::Function => self.store.field(number, name.as_bytes()),
        }
        Ok(())
    }

    /// An input whose initializer makes it a constant, before IR version 4: part of the interface,
    /// so it stays even if nobody uses the constant any more. In a model that gets a later version with functions, it
    /// would be a parameter with a default, so it goes.
    fn constant_input(&mut self, body: &mut Body<'w>, field: WireField<'w>) -> Result {
        let message = field.body();
        let name = string_of(message, value_info::NAME)?;
        let Some(initializer) = self.constant_inputs.get(name) else {
            return Ok(());
        };
        let id = body.found.initializers.get(&initializer.at);
        let new = id.map(|&id| self.name(self.f.constant(id).value));
        match new.filter(|new| new.as_bytes() != name) {
            Some(new) => self.info(graph::INPUT, new, TypeId::NONE, Some(message), None)?,
            None => self.store.copy(field.record),
        }
        Ok(())
    }

    /// Inputs that the original doesn't have.
    pub(super) fn inputs(&mut self, body: &mut Body<'w>) -> Result {
        let mut inputs: Vec<std::result::Result<ValueId, ConstId>> = Vec::new();
        for arg in self.f.args(body.region) {
            let span = self.span(Entity::Value(arg));
            let here = span.is_some_and(|old| body.skeleton.inputs.binary_search(&old.at).is_ok());
            if !here {
                inputs.push(Ok(arg));
            }
        }
        if body.kind == BodyKind::Graph && self.ir_version < 4 {
            let old = self.layout.initializers(body.region);
            let old = old.into_iter().filter(|&id| self.layout.is_old_input(id));
            inputs.extend(old.map(Err));
        }
        body.kept.reorder(graph::INPUT, &mut inputs);
        for input in inputs {
            match input {
                Ok(arg) => self.param(body, arg, None)?,
                Err(id) => self.old_input(id)?,
            }
        }
        Ok(())
    }

    /// A constant as the input that it is too, before IR version 4.
    fn old_input(&mut self, id: ConstId) -> Result {
        let record = self.f.constant(id);
        let (name, mut ty) = (self.name(record.value), record.ty);
        let input = ImporterData::from_entity(self.f, Entity::Value(record.value)).input;
        // A type that says something else than the constant's.
        if has_field(input, value_info::TYPE)? {
            ty = TypeId::NONE;
        }
        self.info(graph::INPUT, name, ty, input, None)
    }

    /// Writes the outputs for an output's record: the same output, or at the first one all of them.
    pub(super) fn output_at(&mut self, body: &mut Body<'w>, field: WireField<'w>) -> Result {
        let index = body.seen[Part::Output as usize];
        match index {
            _ if body.same_outputs => self.output(body, index, Some(field)),
            0 => self.outputs(body),
            _ => Ok(()),
        }
    }

    /// Whether a region's outputs are those that stood at these places, in order.
    pub(super) fn are_outputs_same(&self, region: RegionId, starts: &[u64]) -> bool {
        let ports = self.f.region(region).ports;
        let known = (ports.start..ports.start + ports.len).map(|port| {
            let original = self.original(Entity::Port(port));
            original.map(|original| original.at)
        });
        known.eq(starts.iter().map(|&start| Some(start)))
    }

    fn output(&mut self, body: &Body<'w>, index: usize, record: Option<WireField<'w>>) -> Result {
        let port = self.f.ports(body.region)[index];
        let name = match port.name.option() {
            Some(name) => name,
            None => self.plan.output_name(body.region, index),
        };
        let entity = Entity::Port(self.f.region(body.region).ports.start + index as u32);
        let record = record.filter(|_| port.flags & Port::TOUCHED == 0);
        let (number, name) = (body.kind.output(), self.f.text(name));
        self.port(number, entity, name, port.ty, body.kind, record)
    }

    /// Writes all outputs.
    pub(super) fn outputs(&mut self, body: &mut Body<'w>) -> Result {
        (0..self.f.ports(body.region).len()).try_for_each(|index| self.output(body, index, None))
    }

    /// Writes the initializer for an initializer's record.
    pub(super) fn initializer_at(&mut self, body: &mut Body<'w>, field: WireField<'w>) -> Result {
        let message = field.body();
        match body.found.initializers.get(&message.at).copied() {
            Some(id) if !self.is_dirty(id) => self.store.copy(field.record),
            Some(id) => self.initializer(id, Some(message))?,
            // Erased; but an input without it would be one that callers have to give, and a
            // quantization annotation would name nothing.
            None if self.is_constant_input(message)? || is_parameter(body, message)? => {
                self.store.copy(field.record);
            }
            None => {}
        }
        Ok(())
    }

    fn is_constant_input(&self, tensor: Message<'_>) -> Result<bool> {
        let input = self.constant_inputs.get(string_of(tensor, tensor::NAME)?);
        Ok(input.is_some_and(|initializer| initializer.at == tensor.at))
    }

    fn initializer(&mut self, id: ConstId, original: Option<Message<'_>>) -> Result {
        let name = self.name(self.f.constant(id).value);
        self.tensor(
            graph::INITIALIZER,
            id,
            Some(name),
            original,
            Some(Entity::Constant(id)),
        )
    }

    /// Initializers that the original doesn't have.
    pub(super) fn initializers(&mut self, body: &mut Body<'_>) -> Result {
        let mut ids = std::mem::take(&mut body.found.new_initializers);
        body.kept.reorder(graph::INITIALIZER, &mut ids);
        for id in ids {
            self.initializer(id, self.original(Entity::Constant(id)))?;
        }
        Ok(())
    }

    /// Writes the sparse initializer for its record.
    pub(super) fn sparse_at(&mut self, body: &mut Body<'w>, field: WireField<'w>) -> Result {
        let message = field.body();
        let Some(&op) = body.found.sparse.get(&message.at) else {
            return Ok(());
        };
        if self.sparse_name(op).as_bytes() == sparse_name(message)? {
            self.store.copy(field.record);
            return Ok(());
        }
        self.sparse_initializer(op, message)
    }

    fn sparse_name(&self, op: OpId) -> &'w str {
        self.f.result(op, 0).map_or("", |value| self.name(value))
    }

    /// Writes a sparse initializer with its value's name.
    pub(super) fn sparse_initializer(&mut self, op: OpId, message: Message<'w>) -> Result {
        let name = self.sparse_name(op);
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
                    tensor::NAME => self.store.text(field, name),
                    _ => self.store.copy(field.record),
                }
            }
            self.store.end(inner, sparse::VALUES);
        }
        self.store.end(outer, graph::SPARSE_INITIALIZER);
        Ok(())
    }

    /// Writes the name for that of an attribute parameter.
    pub(super) fn param_at(&mut self, body: &mut Body<'_>, field: WireField<'_>) {
        let known = self.param_named(field.body().bytes, |kind| kind == AttrKind::NONE);
        if let Some(attr) = known
            && body.found.params.insert(attr.name)
        {
            self.store.copy(field.record);
        }
    }

    /// Writes the default for that of an attribute parameter.
    pub(super) fn default_at(&mut self, body: &mut Body<'_>, field: WireField<'_>) -> Result {
        let message = field.body();
        let attribute = Attribute::read(message)?;
        let name = attribute.name.as_bytes();
        let Some(attr) = self.param_named(name, |kind| kind != AttrKind::NONE) else {
            return Ok(());
        };
        if body.found.params.insert(attr.name) {
            let original = Some((field.record, attribute));
            let original = original.filter(|_| !is_placeholder(message));
            self.attr(function::ATTRIBUTE_PROTO, OpId::NONE, &attr, original)?;
        }
        Ok(())
    }

    fn param_named(&self, name: &[u8], fits: impl Fn(AttrKind) -> bool) -> Option<Attr> {
        let attrs = self.f.attrs(OpId::NONE).iter();
        let mut params = attrs.filter(|attr| attr.flags & Attr::PARAM != 0 && fits(attr.kind));
        params
            .find(|attr| self.f.text(attr.name).as_bytes() == name)
            .copied()
    }

    /// Attribute parameters that the original doesn't have.
    pub(super) fn params(&mut self, body: &mut Body<'_>) -> Result {
        for attr in self.f.attrs(OpId::NONE).to_vec() {
            if attr.flags & Attr::PARAM == 0 || !body.found.params.insert(attr.name) {
                continue;
            }
            if attr.kind == AttrKind::NONE {
                let name = self.f.text(attr.name).as_bytes();
                self.store.field(function::ATTRIBUTE, name);
            } else {
                let number = function::ATTRIBUTE_PROTO;
                self.attr(number, OpId::NONE, &attr, None)?;
            }
        }
        Ok(())
    }
}

/// The name of a sparse initializer: that of its values.
fn sparse_name(message: Message<'_>) -> Result<&[u8]> {
    let values = message.last(sparse::VALUES)?;
    Ok(values.map_or(Ok(&[][..]), |values| string_of(values, tensor::NAME))?)
}
