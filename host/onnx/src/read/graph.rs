//! Graphs to regions, without recursion.
//!
//! Work that waits stands on a stack: graphs whose nodes are being read, and graphs of the op just
//! made that have yet to be opened. Names are looked up in one table for all scopes; what a graph
//! defined is taken back when it ends.

use std::fmt;

use passdock_abi::{Constant, LocId, OpId, RegionId, SymbolId, TypeId, ValueId};
use passdock_ir::{Entity, Function, NewPort, Origin};
use rustc_hash::FxHashMap;

use super::Context;
use super::header::Info;
use super::sort::Orders;
use super::tensor::Tensor;
use crate::error::{OnnxError, Result};
use crate::schema::{function, graph, sparse};
use crate::wire::{Fields, Message, Value};

/// Reads one function.
pub(super) struct Importer<'c, 'a> {
    pub(super) cx: &'c mut Context<'a>,
    pub(super) f: Function,
    /// Types by the bytes they were read from.
    pub(super) types: FxHashMap<&'a [u8], TypeId>,
    /// Whether it ended because a name had no definition so far.
    pub(super) undefined: bool,
    pub(super) scratch: super::node::Scratch<'a>,
    orders: Option<&'c Orders>,
    work: Vec<Work<'a>>,
    /// What names meant before the graphs that are open.
    undo: Vec<(SymbolId, ValueId)>,
    /// Values whose name means another one outside.
    shadowing: Vec<ValueId>,
}

enum Work<'a> {
    /// A region of an op that was made, and its graph.
    Open(RegionId, Message<'a>),
    Run(Frame<'a>),
}

/// A graph whose nodes are being read.
pub(super) struct Frame<'a> {
    pub(super) region: RegionId,
    nodes: Nodes<'a>,
    /// The node at hand, and how many came before it.
    current: Option<Message<'a>>,
    index: usize,
    /// The op whose regions are being read; its results aren't defined yet.
    parent: Option<OpId>,
    outputs: Vec<Info<'a>>,
    /// Declared types of values to come; `true`: by a value info.
    pub(super) declared: FxHashMap<SymbolId, (TypeId, bool)>,
    /// Constants that wait for the op they stand before.
    pub(super) waiting: Vec<(passdock_abi::ConstId, LocId)>,
    /// Where its entries of `undo` begin.
    undo: usize,
}

/// The nodes of a graph, in the order to read them.
enum Nodes<'a> {
    AsWritten {
        fields: Fields<'a>,
        number: u32,
    },
    Sorted {
        nodes: Vec<Message<'a>>,
        order: std::vec::IntoIter<u32>,
    },
}

impl<'a> Nodes<'a> {
    fn new(message: Message<'a>, number: u32, orders: Option<&Orders>) -> Result<Nodes<'a>> {
        let Some(order) = orders.and_then(|orders| orders.get(&message.at)) else {
            return Ok(Nodes::AsWritten {
                fields: message.fields(),
                number,
            });
        };
        let nodes = bodies(message, number).collect::<Result<_>>()?;
        Ok(Nodes::Sorted {
            nodes,
            order: order.clone().into_iter(),
        })
    }
}

/// The messages of one repeated field.
pub(super) fn bodies(
    message: Message<'_>,
    number: u32,
) -> impl Iterator<Item = Result<Message<'_>>> {
    message.fields().filter_map(move |field| match field {
        Ok(field) => match field.value {
            Value::Bytes(body) if field.number == number => Some(Ok(body)),
            _ => None,
        },
        Err(error) => Some(Err(error.into())),
    })
}

impl<'a> Iterator for Nodes<'a> {
    type Item = Result<Message<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Nodes::AsWritten { fields, number } => loop {
                match fields.next()? {
                    Ok(field) => match field.value {
                        Value::Bytes(body) if field.number == *number => return Some(Ok(body)),
                        _ => {}
                    },
                    Err(error) => return Some(Err(error.into())),
                }
            },
            Nodes::Sorted { nodes, order } => Some(Ok(nodes[order.next()? as usize])),
        }
    }
}

impl<'c, 'a> Importer<'c, 'a> {
    pub(super) fn new(
        cx: &'c mut Context<'a>,
        f: Function,
        orders: Option<&'c Orders>,
    ) -> Importer<'c, 'a> {
        Importer {
            cx,
            f,
            types: FxHashMap::default(),
            undefined: false,
            scratch: Default::default(),
            orders,
            work: Vec::new(),
            undo: Vec::new(),
            shadowing: Vec::new(),
        }
    }

    /// Begins with a graph as the function's body.
    pub(super) fn open_body(&mut self, message: Message<'a>) -> Result {
        let body = self.f.body();
        let frame = self.open(body, message)?;
        self.work.push(Work::Run(frame));
        Ok(())
    }

    /// Begins with a `FunctionProto`.
    pub(super) fn open_function(&mut self, message: Message<'a>) -> Result {
        let region = self.f.body();
        let mut frame = self.frame(region, message, function::NODE)?;
        for field in message.fields() {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                function::INPUT => {
                    let name = self.cx.symbol(body)?;
                    self.param(
                        region,
                        Info {
                            message: body,
                            name,
                            ty: TypeId::NONE,
                        },
                    )?;
                }
                function::OUTPUT => {
                    let name = self.cx.symbol(body)?;
                    frame.outputs.push(Info {
                        message: body,
                        name,
                        ty: TypeId::NONE,
                    });
                }
                function::VALUE_INFO => self.declare(&mut frame, body)?,
                _ => {}
            }
        }
        self.work.push(Work::Run(frame));
        Ok(())
    }

    fn frame(&self, region: RegionId, message: Message<'a>, node: u32) -> Result<Frame<'a>> {
        Ok(Frame {
            region,
            nodes: Nodes::new(message, node, self.orders)?,
            current: None,
            index: 0,
            parent: None,
            outputs: Vec::new(),
            declared: FxHashMap::default(),
            waiting: Vec::new(),
            undo: self.undo.len(),
        })
    }

    /// Reads all of a graph but its nodes.
    fn open(&mut self, region: RegionId, message: Message<'a>) -> Result<Frame<'a>> {
        let mut frame = self.frame(region, message, graph::NODE)?;
        self.f
            .origins_mut()
            .set(Entity::Region(region), span(message));
        let (mut inputs, mut initializers, mut sparse) = (Vec::new(), Vec::new(), Vec::new());
        for field in message.fields() {
            let field = field?;
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                graph::NAME => {
                    self.cx.symbol(body)?;
                    let loc = self.f.add_name_loc(crate::types::text(body)?);
                    self.f.set_region_loc(region, loc)?;
                }
                graph::INPUT => {
                    let info = self.info(body);
                    inputs.push(info.map_err(|e| e.inside(format!("input[{}]", inputs.len())))?);
                }
                graph::OUTPUT => {
                    let info = self.info(body);
                    let place = || format!("output[{}]", frame.outputs.len());
                    let info = info.map_err(|e| e.inside(place()))?;
                    frame.outputs.push(info);
                }
                graph::INITIALIZER => {
                    let tensor = self.cx.tensor(body);
                    let place = || format!("initializer[{}]", initializers.len());
                    initializers.push((body, tensor.map_err(|e| e.inside(place()))?));
                }
                graph::SPARSE_INITIALIZER => sparse.push(body),
                graph::VALUE_INFO => self.declare(&mut frame, body)?,
                _ => {}
            }
        }
        for info in &frame.outputs {
            if info.ty.is_some() {
                frame.declared.entry(info.name).or_insert((info.ty, false));
            }
        }
        self.inputs(&mut frame, &inputs, &initializers)?;
        for (index, message) in sparse.into_iter().enumerate() {
            let read = self.sparse(&mut frame, message);
            read.map_err(|e| e.inside(format!("sparse_initializer[{index}]")))?;
        }
        Ok(frame)
    }

    /// Makes arguments of inputs and constants of initializers; an initializer that is an input too
    /// is the input's default, before IR version 4 a constant.
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
        for (index, &info) in inputs.iter().enumerate() {
            let default = defaults.get_mut(&info.name);
            if default.is_some() && self.cx.ir_version < 4 {
                continue;
            }
            let param = self.param(region, info);
            let param = param.map_err(|error| error.inside(format!("input[{index}]")))?;
            if let Some(default) = default {
                *default = param;
            }
        }
        for (index, (message, tensor)) in initializers.iter().enumerate() {
            let name = named(tensor, self.cx)?;
            let param = defaults.get(&name).copied().unwrap_or(ValueId::NONE);
            let made = self.initializer(frame, *message, tensor, name, param);
            made.map_err(|error| {
                error
                    .inside(format!("initializer[{index}]"))
                    .near(message.at)
            })?;
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
    ) -> Result {
        let ty = tensor.ty(&mut self.f);
        let constant = if param.is_some() {
            if self.f.value(param).constant.is_some() {
                return Err(OnnxError::new("a second initializer has its name"));
            }
            self.f.set_default(param, ty, tensor.data.clone())?
        } else {
            let value = self
                .f
                .add_constant(ty, tensor.data.clone(), frame.region, "")?;
            self.define_constant(frame, value, name)?;
            self.f.value(value).constant
        };
        self.f
            .origins_mut()
            .set(Entity::Constant(constant), span(message));
        Ok(())
    }

    /// Names a constant, and notes a declaration that says what it is.
    pub(super) fn define_constant(
        &mut self,
        frame: &mut Frame<'a>,
        value: ValueId,
        name: SymbolId,
    ) -> Result {
        if name.is_none() {
            return Ok(());
        }
        self.f.import_name(value, name);
        if frame.declared.get(&name) == Some(&(self.f.value(value).ty, true)) {
            self.f.import_declared(value);
        }
        self.define(frame, name, value)
    }

    /// A sparse initializer is an op that makes it.
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
                (sparse::DIMS, value) => _ = crate::wire::push_varints(value, &mut dims)?,
                _ => {}
            }
        }
        let name = name.filter(|name| !name.bytes.is_empty());
        let name = name.ok_or_else(|| OnnxError::at(message.at, "it has no name"))?;
        let name = self.cx.symbol(name)?;
        let op = self.sparse_op(frame.region, message, dtype, &dims)?;
        if let Some(value) = self.f.result(op, 0) {
            self.f.import_name(value, name);
            self.define(frame, name, value)?;
        }
        Ok(())
    }

    fn param(&mut self, region: RegionId, info: Info<'a>) -> Result<ValueId> {
        let value = self.f.add_arg(
            region,
            &NewPort {
                name: "",
                ty: info.ty,
            },
        )?;
        self.f
            .origins_mut()
            .set(Entity::Value(value), span(info.message));
        if info.name.is_some() {
            self.f.import_name(value, info.name);
            self.define_in(region, info.name, value)?;
        }
        Ok(value)
    }

    fn declare(&mut self, frame: &mut Frame<'a>, message: Message<'a>) -> Result {
        let info = self
            .info(message)
            .map_err(|error| error.inside("value_info"))?;
        if info.ty.is_some() {
            frame.declared.insert(info.name, (info.ty, true));
        }
        Ok(())
    }

    /// Lets a name mean a value from here on.
    pub(super) fn define(&mut self, frame: &Frame<'a>, name: SymbolId, value: ValueId) -> Result {
        self.define_in(frame.region, name, value)
    }

    fn define_in(&mut self, region: RegionId, name: SymbolId, value: ValueId) -> Result {
        let before = self.cx.set_value(name, value);
        if before.is_some() {
            if home(&self.f, before) == region {
                let name = self.cx.symbols.text(name);
                return Err(OnnxError::new(format!(
                    "the graph defines {name:?} a second time"
                )));
            }
            self.shadowing.push(value);
        }
        self.undo.push((name, before));
        Ok(())
    }

    /// What a name of the file means here; NONE for "".
    pub(super) fn lookup(&mut self, name: Message<'a>) -> Result<ValueId> {
        if name.bytes.is_empty() {
            return Ok(ValueId::NONE);
        }
        let symbol = self.cx.symbol(name)?;
        let value = self.cx.value(symbol);
        if value.is_none() {
            self.undefined = true;
            let name = self.cx.symbols.text(symbol);
            return Err(OnnxError::at(
                0,
                format!("{name:?} is used and nothing defines it"),
            ));
        }
        Ok(value)
    }

    /// Reads everything that waits.
    pub(super) fn run(&mut self) -> Result {
        while let Some(work) = self.work.pop() {
            let done = match work {
                Work::Open(region, message) => self.open(region, message).map(Some),
                Work::Run(mut frame) => match self.advance(&mut frame) {
                    Ok(true) => self.close(&mut frame).map(|()| None),
                    Ok(false) => Ok(Some(frame)),
                    Err(error) => Err(error.inside(frame.place())),
                },
            };
            match done {
                Ok(Some(frame)) => self.resume(frame),
                Ok(None) => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
        Ok(())
    }

    /// Puts a frame back, below the regions that its node at hand opened.
    fn resume(&mut self, frame: Frame<'a>) {
        self.work.push(Work::Run(frame));
        while let Some((region, message)) = self.scratch.opened.pop() {
            self.work.push(Work::Open(region, message));
        }
    }

    /// Reads nodes until one opens regions (`false`) or there are no more (`true`).
    fn advance(&mut self, frame: &mut Frame<'a>) -> Result<bool> {
        if let Some(op) = frame.parent.take() {
            self.define_results(frame, op)?;
        }
        while let Some(node) = frame.nodes.next() {
            let node = node?;
            frame.index += usize::from(frame.current.is_some());
            frame.current = Some(node);
            let op = self.node(frame, node)?;
            if !self.scratch.opened.is_empty() {
                frame.parent = op;
                return Ok(false);
            }
            if let Some(op) = op {
                self.define_results(frame, op)?;
            }
        }
        frame.current = None;
        Ok(true)
    }

    fn define_results(&mut self, frame: &Frame<'a>, op: OpId) -> Result {
        for index in 0..self.f.op(op).results.len as usize {
            let Some(value) = self.f.result(op, index) else {
                continue;
            };
            let name = self.f.value(value).name;
            if name.is_some() {
                self.define(frame, name, value)?;
            }
        }
        Ok(())
    }

    /// Ends a region with the graph's outputs.
    fn close(&mut self, frame: &mut Frame<'a>) -> Result {
        let mut values = Vec::with_capacity(frame.outputs.len());
        for (index, info) in frame.outputs.iter().enumerate() {
            let value = match info.name.option() {
                None | Some(passdock_abi::symbol::EMPTY) => ValueId::NONE,
                Some(name) => self.cx.value(name),
            };
            let named = info.name.is_some() && info.name != passdock_abi::symbol::EMPTY;
            if named && value.is_none() {
                let name = self.cx.symbols.text(info.name);
                let what = format!("nothing defines the output {name:?}");
                return Err(OnnxError::at(info.message.at, what).inside(format!("output[{index}]")));
            }
            values.push(value);
        }
        let symbols = self.cx.symbols.clone();
        let ports: Vec<NewPort<'_>> = frame
            .outputs
            .iter()
            .map(|info| NewPort {
                name: symbols.text(info.name),
                ty: info.ty,
            })
            .collect();
        self.f.set_results(frame.region, &values, &ports)?;
        let first = self.f.region(frame.region).ports.start;
        for (index, info) in frame.outputs.iter().enumerate() {
            let port = Entity::Port(first + index as u32);
            self.f.origins_mut().set(port, span(info.message));
        }
        let terminator = self.f.region(frame.region).last;
        self.anchor(frame, terminator);
        for (name, before) in self.undo.drain(frame.undo..).rev() {
            self.cx.table[name.index()] = before;
        }
        Ok(())
    }

    /// The constants that waited stand before this op.
    pub(super) fn anchor(&mut self, frame: &mut Frame<'a>, op: OpId) {
        for (constant, loc) in frame.waiting.drain(..) {
            self.f.mark_constant(constant, Constant::NODE, loc, op);
        }
    }

    /// Says which nodes an error is inside.
    fn explain(&self, error: OnnxError) -> OnnxError {
        self.work
            .iter()
            .rev()
            .fold(error, |error, work| match work {
                Work::Run(frame) => error.inside(frame.place()),
                Work::Open(..) => error,
            })
    }

    /// The function, once everything is read: names that hide another get one of their own.
    pub(super) fn finish(mut self) -> Result<Function> {
        for (count, value) in self.shadowing.iter().enumerate() {
            let name = self.f.value(*value).name;
            let original = self.cx.symbols.text(name).to_owned();
            self.f
                .set_name(*value, &format!("{original}.{}", count + 1))?;
            let given = self.f.text(self.f.value(*value).name);
            let kept = crate::Original {
                given,
                original: &original,
            }
            .to_bytes();
            self.f.origins_mut().set_extras(Entity::Value(*value), kept);
        }
        Ok(self.f)
    }
}

impl Frame<'_> {
    /// The node at hand, as errors name it.
    fn place(&self) -> Place<'_> {
        Place {
            node: self.current,
            index: self.index,
        }
    }
}

struct Place<'a> {
    node: Option<Message<'a>>,
    index: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::schema::node;
        let Some(message) = self.node else {
            return f.write_str("graph");
        };
        let (mut name, mut op) = (None, "".into());
        for field in message.fields().map_while(std::result::Result::ok) {
            let Value::Bytes(body) = field.value else {
                continue;
            };
            match field.number {
                node::NAME if !body.bytes.is_empty() => name = Some(body.bytes),
                node::OP_TYPE => op = String::from_utf8_lossy(body.bytes),
                _ => {}
            }
        }
        write!(f, "node[{}] ({op}", self.index)?;
        if let Some(name) = name {
            write!(f, " '{}'", String::from_utf8_lossy(name).escape_debug())?;
        }
        f.write_str(")")
    }
}

/// The region that a value is defined in.
fn home(f: &Function, value: ValueId) -> RegionId {
    let record = f.value(value);
    match record.flags & passdock_abi::Value::KIND {
        passdock_abi::Value::RESULT => f.op(OpId(record.def)).parent,
        passdock_abi::Value::ARG => RegionId(record.def),
        _ => f.constant(record.constant).region,
    }
}

/// The span of a message, as the IR keeps it; none if it is too long for the column.
pub(super) fn span(message: Message<'_>) -> Origin {
    match u32::try_from(message.len()) {
        Ok(len) => Origin {
            start: message.at,
            len,
            source: 0,
        },
        Err(_) => Origin::NONE,
    }
}
