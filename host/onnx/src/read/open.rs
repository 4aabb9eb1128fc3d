//! Reading a graph except for its nodes: inputs, initializers and declarations.

use passdock_abi::{ConstId, RegionId, SymbolId, ValueId};
use passdock_ir::{Entity, NewPort};
use rustc_hash::{FxHashMap, FxHashSet};

use super::context::Context;
use super::frame::{Frame, Info, named};
use super::importer::{Importer, Work};
use super::tensor::Tensor;
use crate::format::body::BodyKind;
use crate::format::error::{OnnxError, Result, Within};
use crate::format::fields::{bodies, name_of, quoted, text};
use crate::format::schema::{function, graph, sparse, tensor, value_info};
use crate::format::wire::{Message, Value, push_varints};

impl<'a> Importer<'_, 'a> {
    /// Opens a `GraphProto` or `FunctionProto` as the function's body.
    pub(super) fn open_body(&mut self, message: Message<'a>, kind: BodyKind) -> Result {
        let body = self.f.body();
        let frame = match kind {
            BodyKind::Graph => self.open(body, message)?,
            BodyKind::Function => self.open_function(body, message)?,
        };
        self.work.push(Work::Run(frame));
        Ok(())
    }

    fn open_function(&mut self, region: RegionId, message: Message<'a>) -> Result<Frame<'a>> {
        let (mut frame, mut nodes) = (self.frame(region), Vec::new());
        for field in message.fields() {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                function::INPUT => {
                    let info = Info::untyped(body, self.cx.symbol(body)?);
                    self.param(region, info)?;
                }
                function::OUTPUT => {
                    let info = Info::untyped(body, self.cx.symbol(body)?);
                    frame.outputs.push(info);
                }
                function::NODE => nodes.push(body),
                function::VALUE_INFO => self.declare(&mut frame, body)?,
                _ => {}
            }
        }
        frame.nodes = self.in_order(message, nodes);
        Ok(frame)
    }

    /// Returns the nodes of a graph in reading order.
    fn in_order(
        &self,
        graph: Message<'a>,
        nodes: Vec<Message<'a>>,
    ) -> std::vec::IntoIter<Message<'a>> {
        match self.orders.and_then(|orders| orders.get(&graph.at)) {
            Some(order) => order.iter().map(|&at| nodes[at as usize]).collect(),
            None => nodes,
        }
        .into_iter()
    }

    fn frame(&mut self, region: RegionId) -> Frame<'a> {
        self.opened += 1;
        Frame {
            region,
            nodes: Vec::new().into_iter(),
            current: None,
            index: 0,
            parent: None,
            outputs: Vec::new(),
            declared: FxHashMap::default(),
            waiting: Vec::new(),
            undo: self.undo.len(),
            opened: self.opened,
        }
    }

    /// Reads a graph except for its nodes.
    pub(super) fn open(&mut self, region: RegionId, message: Message<'a>) -> Result<Frame<'a>> {
        let (mut frame, mut nodes) = (self.frame(region), Vec::new());
        self.set_origin(Entity::Region(region), message);
        let (mut inputs, mut initializers, mut sparse) = (Vec::new(), Vec::new(), Vec::new());
        for field in message.fields() {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                graph::NAME => {
                    self.cx.symbol(body)?;
                    let loc = self.f.add_name_loc(text(body)?);
                    self.f.set_region_loc(region, loc)?;
                }
                graph::NODE => nodes.push(body),
                graph::INPUT => {
                    let info = self.info(body);
                    inputs.push(info.within(|| port("input", inputs.len(), body))?);
                }
                graph::OUTPUT => {
                    let info = self.info(body);
                    let info = info.within(|| port("output", frame.outputs.len(), body))?;
                    frame.outputs.push(info);
                }
                graph::INITIALIZER => {
                    let tensor = self.cx.tensor(body);
                    let tensor = tensor.within(|| initializer(initializers.len(), body))?;
                    initializers.push((body, tensor));
                }
                graph::SPARSE_INITIALIZER => sparse.push(body),
                graph::VALUE_INFO => self.declare(&mut frame, body)?,
                _ => {}
            }
        }
        for info in &frame.outputs {
            if info.ty.is_some() {
                frame.declared.entry(info.name).or_insert((*info, false));
            }
        }
        self.inputs(&mut frame, &inputs, &initializers)?;
        for (index, message) in sparse.into_iter().enumerate() {
            self.sparse(&mut frame, message)
                .within(|| sparse_initializer(index, message))?;
        }
        frame.nodes = self.in_order(message, nodes);
        Ok(frame)
    }

    /// Creates arguments for inputs and constants for initializers. An initializer that is also an input is the input's
    /// default; before IR version 4, it is only a constant.
    fn inputs(
        &mut self,
        frame: &mut Frame<'a>,
        inputs: &[Info<'a>],
        initializers: &[(Message<'a>, Tensor<'a>)],
    ) -> Result {
        let region = frame.region;
        let named = |tensor: &Tensor<'a>, cx: &Context<'a>| match tensor.name {
            Some(name) if !name.bytes.is_empty() => cx.symbol(name),
            _ => Ok(SymbolId::NONE),
        };
        let mut defaults = FxHashMap::default();
        if !inputs.is_empty() {
            for (_, tensor) in initializers {
                defaults.insert(named(tensor, self.cx)?, ValueId::NONE);
            }
            defaults.remove(&SymbolId::NONE);
        }
        let mut known = FxHashSet::default();
        for (index, &info) in inputs.iter().enumerate() {
            let default = defaults.get_mut(&info.name);
            if default.is_some() && self.cx.ir_version < 4 {
                known.insert(info.name);
                continue;
            }
            let param = self.param(region, info);
            let param = param.map_err(|error| error.near(info.message.at));
            let param = param.within(|| port("input", index, info.message))?;
            if let Some(default) = default {
                *default = param;
            }
        }
        for (index, (message, tensor)) in initializers.iter().enumerate() {
            let name = named(tensor, self.cx)?;
            let param = defaults.get(&name).copied().unwrap_or(ValueId::NONE);
            let constant = self.initializer(frame, *message, tensor, name, param);
            let constant = constant.map_err(|error| error.near(message.at));
            let constant = constant.within(|| initializer(index, *message))?;
            if known.contains(&name) {
                self.f.keep_constant(constant);
            }
        }
        Ok(())
    }

    fn initializer(
        &mut self,
        frame: &mut Frame<'a>,
        message: Message<'a>,
        tensor: &Tensor<'a>,
        name: SymbolId,
        param: ValueId,
    ) -> Result<ConstId> {
        let ty = tensor.ty(&mut self.f);
        let constant = if param.is_some() {
            if self.f.value(param).constant.is_some() {
                return Err(OnnxError::new("another initializer has the same name"));
            }
            self.f.set_default(param, ty, tensor.data.clone())?
        } else {
            let value = self
                .f
                .add_constant(ty, tensor.data.clone(), frame.region, "")?;
            self.define_constant(frame, value, name)?;
            self.f.value(value).constant
        };
        self.set_origin(Entity::Constant(constant), message);
        Ok(constant)
    }

    /// Creates the op of a sparse initializer.
    fn sparse(&mut self, frame: &mut Frame<'a>, message: Message<'a>) -> Result {
        let mut name = None;
        let (mut dtype, mut dims) = (passdock_abi::DType::NONE, Vec::new());
        for field in message.fields() {
            let field = field?;
            match (field.number, field.value) {
                (sparse::VALUES, Value::Bytes(body)) => {
                    let values = self.cx.tensor(body)?;
                    (name, dtype) = (values.name, values.dtype);
                }
                (sparse::DIMS, value) => _ = push_varints(value, &mut dims)?,
                _ => {}
            }
        }
        let name = name.filter(|name| !name.bytes.is_empty());
        let name =
            name.ok_or_else(|| OnnxError::at(message.at, "the sparse initializer has no name"))?;
        let name = self.cx.symbol(name)?;
        let op = self.sparse_op(frame.region, message, dtype, &dims)?;
        if let Some(value) = self.f.result(op, 0) {
            self.f.import_name(value, name);
            self.define(frame, name, value)?;
        }
        Ok(())
    }

    fn param(&mut self, region: RegionId, info: Info<'a>) -> Result<ValueId> {
        let (name, ty) = ("", info.ty);
        let value = self.f.add_arg(region, &NewPort { name, ty })?;
        self.set_origin(Entity::Value(value), info.message);
        if info.name.is_some() {
            self.f.import_name(value, info.name);
            self.define_in(region, info.name, value)?;
        }
        Ok(value)
    }

    fn declare(&mut self, frame: &mut Frame<'a>, message: Message<'a>) -> Result {
        let info = self.info(message);
        let info = info.within(|| match name_of(message, value_info::NAME) {
            Some(name) => format!("value_info ({})", quoted(name)),
            None => "value_info".to_owned(),
        })?;
        if info.ty.is_some() {
            frame.declared.insert(info.name, (info, true));
        }
        Ok(())
    }
}

/// Describes an input or output for errors.
fn port(part: &str, index: usize, message: Message<'_>) -> String {
    named(part, index, message, value_info::NAME)
}

/// Describes an initializer for errors.
fn initializer(index: usize, message: Message<'_>) -> String {
    named("initializer", index, message, tensor::NAME)
}

/// Describes a sparse initializer for errors. Its name is that of its values.
fn sparse_initializer(index: usize, message: Message<'_>) -> String {
    let values = bodies(message, sparse::VALUES).map_while(std::result::Result::ok);
    let values = values.last().unwrap_or(message);
    named("sparse_initializer", index, values, tensor::NAME)
}
