//! The records of a body, kind by kind: in place of the original's, and behind the last.

use passdock_abi::{
    Attr, AttrKind, ConstId, Constant, OpId, RegionId, TypeId, Value as ValueRecord, ValueId,
};
use passdock_ir::Entity;
use rustc_hash::FxHashMap;

use super::body::Body;
use super::node::is_placeholder;
use super::writer::FunctionWriter;
use crate::extras::kept::Kept;
use crate::format::attribute::Attribute;
use crate::format::body::BodyKind;
use crate::format::error::Result;
use crate::format::fields::bodies;
use crate::format::schema::{function, graph, sparse, tensor, value_info};
use crate::format::wire::{Field, Message, Value, has_field, string_of};
use crate::layout::nodes::Node;

/// Whether a quantization annotation names an initializer.
fn is_parameter(body: &Body<'_>, tensor: Message<'_>) -> Result<bool> {
    let parameters = &body.skeleton.parameters;
    Ok(!parameters.is_empty() && parameters.contains(string_of(tensor, tensor::NAME)?))
}

impl<'w> FunctionWriter<'w> {
    /// Writes the nodes for a node's record: new nodes before it, and its op unless that was
    /// erased.
    pub(super) fn nodes_at(
        &mut self,
        body: &mut Body<'w>,
        record: Message<'w>,
        start: u64,
    ) -> Result {
        body.seen.nodes += 1;
        self.nodes_until(body, Some((record, start)))?;
        if body.seen.nodes == body.skeleton.nodes.len() {
            self.nodes_until(body, None)?;
            self.copies(body);
        }
        Ok(())
    }

    /// Writes the nodes that come before, or are, the one of a record; `None`: all that are left.
    pub(super) fn nodes_until(
        &mut self,
        body: &mut Body<'w>,
        place: Option<(Message<'w>, u64)>,
    ) -> Result {
        while let Some(&item) = body.items.get(body.written) {
            let here = place.filter(|&(_, start)| item.start == Some(start));
            if let (Some((_, start)), Some(own), true) = (place, item.start, body.ordered)
                && own > start
            {
                break;
            }
            body.written += 1;
            let number = body.kind.node();
            match item.what {
                Node::Op(op) => {
                    let clean = self.span(Entity::Op(op));
                    if let Some(clean) = clean.filter(|_| !self.plan.is_op_dirty(op)) {
                        self.untouched(body, number, clean, here.map(|(record, _)| record));
                    } else {
                        let original = self.original(Entity::Op(op));
                        let written = self.node(&mut body.chain, number, op, original);
                        written.map_err(|error| self.explain(op)(error))?;
                    }
                }
                Node::Constant(id) => {
                    let original = self
                        .original(Entity::Constant(id))
                        .filter(|_| self.was_node(id));
                    let clean = self.span(Entity::Constant(id));
                    if let Some(clean) = clean.filter(|_| self.was_node(id) && !self.is_dirty(id)) {
                        self.untouched(body, number, clean, here.map(|(record, _)| record));
                    } else {
                        self.constant_node(&mut body.chain, number, id, original)?;
                    }
                }
            }
            if here.is_some() && body.ordered {
                break;
            }
        }
        Ok(())
    }

    fn untouched(
        &mut self,
        body: &mut Body<'_>,
        number: u32,
        original: Message<'_>,
        record: Option<Message<'_>>,
    ) {
        match record {
            Some(record) => self.store.copy(&mut body.chain, record),
            None => self.store.copy_field(&mut body.chain, number, original),
        }
    }

    fn was_node(&self, id: ConstId) -> bool {
        self.f.constant(id).flags & Constant::NODE != 0
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
            self.identity(&mut body.chain, body.kind.node(), from, to);
        }
    }

    /// Writes the input for an input's record.
    pub(super) fn input_at(
        &mut self,
        body: &mut Body<'w>,
        field: Field<'w>,
        message: Message<'w>,
    ) -> Result {
        body.seen.inputs += 1;
        match body.args.get(&message.at).copied() {
            Some(arg) => self.param(body, arg, Some(field.record))?,
            None => self.constant_input(body, field, message)?,
        }
        if body.seen.inputs == body.skeleton.inputs.len() {
            self.inputs(body)?;
        }
        Ok(())
    }

    /// Finds the arguments that stood in the original, and its inputs that are constants.
    pub(super) fn sort_inputs(&self, body: &mut Body<'w>) -> Result {
        for arg in self.f.args(body.region) {
            if let Some(original) = self.original(Entity::Value(arg)) {
                body.args.insert(original.at, arg);
            }
        }
        if body.kind == BodyKind::Function || self.ir_version >= 4 {
            return Ok(());
        }
        let Some(original) = body.original else {
            return Ok(());
        };
        let mut initializers = FxHashMap::default();
        for tensor in bodies(original, graph::INITIALIZER) {
            let tensor = tensor?;
            initializers.insert(string_of(tensor, tensor::NAME)?, tensor.at);
        }
        for input in bodies(original, graph::INPUT) {
            let name = string_of(input?, value_info::NAME)?;
            if let Some(&start) = initializers.get(name) {
                body.constant_inputs.insert(name, start);
            }
        }
        Ok(())
    }

    fn param(&mut self, body: &mut Body<'w>, arg: ValueId, record: Option<Message<'w>>) -> Result {
        let value = *self.f.value(arg);
        let name = self.name(arg);
        let original = self.original(Entity::Value(arg));
        let number = body.kind.input();
        if body.kind == BodyKind::Function {
            match record.filter(|_| original.is_some_and(|old| old.bytes == name.as_bytes())) {
                Some(record) => self.store.copy(&mut body.chain, record),
                _ => self.store.field(&mut body.chain, number, name.as_bytes()),
            }
            return Ok(());
        }
        let clean = value.flags & ValueRecord::TOUCHED == 0;
        let same = match original {
            Some(original) => string_of(original, value_info::NAME)? == name.as_bytes(),
            None => false,
        };
        match record {
            Some(record) if clean && same => self.store.copy(&mut body.chain, record),
            _ => {
                let entity = Some(Entity::Value(arg));
                self.info(&mut body.chain, number, name, value.ty, original, entity)?;
            }
        }
        Ok(())
    }

    /// An input whose initializer makes it a constant, before IR version 4: part of the interface,
    /// so it stays even if nobody uses the constant any more.
    fn constant_input(
        &mut self,
        body: &mut Body<'w>,
        field: Field<'w>,
        message: Message<'w>,
    ) -> Result {
        let name = string_of(message, value_info::NAME)?;
        let Some(start) = body.constant_inputs.get(name) else {
            return Ok(());
        };
        let value = body
            .initializers
            .get(start)
            .map(|&id| self.f.constant(id).value);
        let renamed = value
            .map(|value| self.name(value))
            .filter(|new| new.as_bytes() != name);
        match renamed {
            Some(renamed) => {
                let ty = passdock_abi::TypeId::NONE;
                self.info(
                    &mut body.chain,
                    graph::INPUT,
                    renamed,
                    ty,
                    Some(message),
                    None,
                )?;
            }
            None => self.store.copy(&mut body.chain, field.record),
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
        if body.kind == BodyKind::Graph {
            let old = self.layout.initializers(body.region);
            let old = old.into_iter().filter(|&id| self.layout.is_old_input(id));
            inputs.extend(old.map(Err));
        }
        body.kept.reorder(graph::INPUT, &mut inputs);
        for input in inputs {
            match input {
                Ok(arg) => self.param(body, arg, None)?,
                Err(id) => self.old_input(body, id)?,
            }
        }
        Ok(())
    }

    /// A constant as the input that it is too, before IR version 4.
    fn old_input(&mut self, body: &mut Body<'w>, id: ConstId) -> Result {
        let record = self.f.constant(id);
        let (name, mut ty) = (self.name(record.value), record.ty);
        let input = Kept::of_entity(self.f, Entity::Value(record.value)).input;
        // A type that says something else than the constant's.
        if has_field(input, value_info::TYPE)? {
            ty = TypeId::NONE;
        }
        self.info(&mut body.chain, graph::INPUT, name, ty, input, None)
    }

    /// Writes the outputs for an output's record: the same output, or at the first one all of them.
    pub(super) fn output_at(
        &mut self,
        body: &mut Body<'w>,
        field: Field<'w>,
        message: Message<'w>,
    ) -> Result {
        let index = body.seen.outputs;
        body.seen.outputs += 1;
        if body.same_outputs {
            let port = self.f.ports(body.region)[index];
            let name = self.port_name(body, index);
            let old = if body.kind == BodyKind::Graph {
                string_of(message, value_info::NAME)?
            } else {
                message.bytes
            };
            let touched = port.flags & passdock_abi::Port::TOUCHED != 0;
            if !touched && old == name.as_bytes() {
                self.store.copy(&mut body.chain, field.record);
                return Ok(());
            }
            return self.output(body, index);
        }
        if index == 0 {
            self.outputs(body)?;
        }
        Ok(())
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

    fn port_name(&self, body: &Body<'_>, index: usize) -> &'w str {
        let name = self.f.ports(body.region)[index].name;
        if name.is_some() {
            return self.f.text(name);
        }
        self.f.text(self.plan.output_name(body.region, index))
    }

    fn output(&mut self, body: &mut Body<'w>, index: usize) -> Result {
        let region = self.f.region(body.region);
        let port = self.f.ports(body.region)[index];
        let name = self.port_name(body, index);
        let number = body.kind.output();
        if body.kind == BodyKind::Function {
            self.store.field(&mut body.chain, number, name.as_bytes());
            return Ok(());
        }
        let entity = Entity::Port(region.ports.start + index as u32);
        let original = self.original(entity);
        self.info(
            &mut body.chain,
            number,
            name,
            port.ty,
            original,
            Some(entity),
        )
    }

    /// Writes all outputs.
    pub(super) fn outputs(&mut self, body: &mut Body<'w>) -> Result {
        (0..self.f.ports(body.region).len()).try_for_each(|index| self.output(body, index))
    }

    /// Writes the initializer for an initializer's record.
    pub(super) fn initializer_at(
        &mut self,
        body: &mut Body<'w>,
        field: Field<'w>,
        message: Message<'w>,
    ) -> Result {
        body.seen.initializers += 1;
        match body.initializers.get(&message.at).copied() {
            Some(id) if !self.is_dirty(id) => self.store.copy(&mut body.chain, field.record),
            Some(id) => self.initializer(body, id, Some(message))?,
            // Erased; but an input without it would be one that callers have to give, and a
            // quantization annotation would name nothing.
            None if self.is_constant_input(body, message)? || is_parameter(body, message)? => {
                self.store.copy(&mut body.chain, field.record);
            }
            None => {}
        }
        if body.seen.initializers == body.skeleton.initializers.len() {
            self.initializers(body)?;
        }
        Ok(())
    }

    fn is_constant_input(&self, body: &Body<'_>, tensor: Message<'_>) -> Result<bool> {
        let name = string_of(tensor, tensor::NAME)?;
        Ok(body.constant_inputs.get(name) == Some(&tensor.at))
    }

    fn initializer(
        &mut self,
        body: &mut Body<'_>,
        id: ConstId,
        original: Option<Message<'_>>,
    ) -> Result {
        let name = self.name(self.f.constant(id).value);
        self.tensor(
            &mut body.chain,
            graph::INITIALIZER,
            id,
            Some(name),
            original,
            Some(Entity::Constant(id)),
        )
    }

    /// Initializers that the original doesn't have.
    pub(super) fn initializers(&mut self, body: &mut Body<'_>) -> Result {
        let mut ids = std::mem::take(&mut body.new_initializers);
        body.kept.reorder(graph::INITIALIZER, &mut ids);
        for id in ids {
            self.initializer(body, id, self.original(Entity::Constant(id)))?;
        }
        Ok(())
    }

    /// Writes the sparse initializer for its record.
    pub(super) fn sparse_at(
        &mut self,
        body: &mut Body<'w>,
        field: Field<'w>,
        message: Message<'w>,
    ) -> Result {
        let Some(&op) = body.sparse.get(&message.at) else {
            return Ok(());
        };
        if self.sparse_name(op).as_bytes() == sparse_name(message)? {
            self.store.copy(&mut body.chain, field.record);
            return Ok(());
        }
        self.sparse_initializer(body, op, message)
    }

    fn sparse_name(&self, op: OpId) -> &'w str {
        self.f.result(op, 0).map_or("", |value| self.name(value))
    }

    /// Writes a sparse initializer with its value's name.
    pub(super) fn sparse_initializer(
        &mut self,
        body: &mut Body<'w>,
        op: OpId,
        message: Message<'w>,
    ) -> Result {
        let name = self.sparse_name(op);
        let outer = self.store.begin(&mut body.chain);
        for field in message.fields() {
            let field = field?;
            let (sparse::VALUES, Value::Bytes(values)) = (field.number, field.value) else {
                self.store.copy(&mut body.chain, field.record);
                continue;
            };
            let inner = self.store.begin(&mut body.chain);
            for field in values.fields() {
                let field = field?;
                match field.number {
                    tensor::NAME => self.store.text(&mut body.chain, field, name),
                    _ => self.store.copy(&mut body.chain, field.record),
                }
            }
            self.store.end(&mut body.chain, inner, sparse::VALUES);
        }
        self.store
            .end(&mut body.chain, outer, graph::SPARSE_INITIALIZER);
        Ok(())
    }

    /// Writes the name for that of an attribute parameter.
    pub(super) fn param_at(&mut self, body: &mut Body<'_>, field: Field<'_>, name: Message<'_>) {
        let known = self.param_named(name.bytes, |kind| kind == AttrKind::NONE);
        if let Some(attr) = known
            && body.params.insert(attr.name)
        {
            self.store.copy(&mut body.chain, field.record);
        }
    }

    /// Writes the default for that of an attribute parameter.
    pub(super) fn default_at(
        &mut self,
        body: &mut Body<'_>,
        field: Field<'_>,
        message: Message<'_>,
    ) -> Result {
        let attribute = Attribute::read(message)?;
        let name = attribute.name.as_bytes();
        let Some(attr) = self.param_named(name, |kind| kind != AttrKind::NONE) else {
            return Ok(());
        };
        if body.params.insert(attr.name) {
            let original = Some((field.record, attribute));
            let original = original.filter(|_| !is_placeholder(message));
            self.attr(
                &mut body.chain,
                function::ATTRIBUTE_PROTO,
                OpId::NONE,
                &attr,
                original,
            )?;
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
            if attr.flags & Attr::PARAM == 0 || !body.params.insert(attr.name) {
                continue;
            }
            if attr.kind == AttrKind::NONE {
                let name = self.f.text(attr.name).as_bytes();
                self.store.field(&mut body.chain, function::ATTRIBUTE, name);
            } else {
                let number = function::ATTRIBUTE_PROTO;
                self.attr(&mut body.chain, number, OpId::NONE, &attr, None)?;
            }
        }
        Ok(())
    }
}

/// The name of a sparse initializer: that of its values.
fn sparse_name(message: Message<'_>) -> Result<&[u8]> {
    let values = bodies(message, sparse::VALUES).last().transpose()?;
    Ok(values.map_or(Ok(&[][..]), |values| string_of(values, tensor::NAME))?)
}
