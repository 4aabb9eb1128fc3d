//! Reading graphs as regions, without recursion.
//!
//! Pending work is on a stack: graphs whose nodes are being read, and graphs of the current op that aren't opened yet.
//! One table binds names for all scopes. When a graph ends, its bindings are undone.

use passdock_abi::{Constant, OpId, RegionId, SymbolId, ValueId, symbol};
use passdock_ir::{Entity, Extras, Function, NewPort};

use super::frame::{Frame, Info};
use super::importer::{Importer, Work};
use crate::extras::importer_data::ImporterDataBuilder;
use crate::format::error::{OnnxError, Result};
use crate::format::wire::Message;

impl<'c, 'a> Importer<'c, 'a> {
    /// Binds a constant's name, and records a value info with the same type.
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
        if let Some(&(info, true)) = frame.declared.get(&name)
            && info.ty == self.f.value(value).ty
        {
            self.declared(value, info);
        }
        // Unlike a result, a constant is also visible in graphs before it.
        let ended = self.ended.get(&name);
        if self.cx.value(name).is_none() && ended.is_some_and(|&at| at > frame.opened) {
            self.shadowing.push(value);
        }
        self.define(frame, name, value)
    }

    /// Records the value info that declares a value.
    pub(super) fn declared(&mut self, value: ValueId, info: Info<'a>) {
        self.f.import_declared(value);
        self.set_origin(Entity::Value(value), info.message);
    }

    /// Binds a name to a value from here to the end of the graph.
    pub(super) fn define(&mut self, frame: &Frame<'a>, name: SymbolId, value: ValueId) -> Result {
        self.define_in(frame.region, name, value)
    }

    pub(super) fn define_in(&mut self, region: RegionId, name: SymbolId, value: ValueId) -> Result {
        let before = self.cx.set_value(name, value);
        if before.is_some() {
            if self.f.region_of(before) == region {
                let name = self.cx.symbols.text(name);
                return Err(OnnxError::new(format!("duplicate definition of {name:?}")));
            }
            self.shadowing.push(value);
        }
        self.undo.push((name, before));
        Ok(())
    }

    /// Returns the value that a name in the file is bound to; `NONE` for an empty name.
    pub(super) fn lookup(&mut self, name: Message<'a>) -> Result<ValueId> {
        if name.bytes.is_empty() {
            return Ok(ValueId::NONE);
        }
        let symbol = self.cx.symbol(name)?;
        let value = self.cx.value(symbol);
        if value.is_none() {
            self.undefined = true;
            let name = self.cx.symbols.text(symbol);
            return Err(OnnxError::at(0, format!("undefined name {name:?}")));
        }
        Ok(value)
    }

    /// Processes the stack of pending work.
    pub(super) fn run(&mut self) -> Result {
        while let Some(work) = self.work.pop() {
            let done = match work {
                Work::Open(region, message) => self.open(region, message).map(Some),
                Work::Run(mut frame) => match self.advance(&mut frame) {
                    Ok(true) => self.close(&mut frame).map(|()| None),
                    Ok(false) => Ok(Some(frame)),
                    Err(error) => {
                        let at = frame.current.map(|node| node.at);
                        let error = at.map_or(error.clone(), |at| error.near(at));
                        Err(error.inside(frame.describe_position()))
                    }
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

    /// Pushes a frame back, below the regions that its current node opened.
    fn resume(&mut self, frame: Frame<'a>) {
        self.work.push(Work::Run(frame));
        while let Some((region, message)) = self.scratch.opened.pop() {
            self.work.push(Work::Open(region, message));
        }
    }

    /// Reads nodes until one opens regions (`false`) or all are read (`true`).
    fn advance(&mut self, frame: &mut Frame<'a>) -> Result<bool> {
        if let Some(op) = frame.parent.take() {
            self.define_results(frame, op)?;
        }
        while let Some(node) = frame.nodes.next() {
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

    /// Sets a region's results to the graph's outputs.
    fn close(&mut self, frame: &mut Frame<'a>) -> Result {
        let mut values = Vec::with_capacity(frame.outputs.len());
        for (index, info) in frame.outputs.iter().enumerate() {
            let value = match info.name.option() {
                None | Some(symbol::EMPTY) => ValueId::NONE,
                Some(name) => self.cx.value(name),
            };
            let named = info.name.is_some() && info.name != symbol::EMPTY;
            if named && value.is_none() {
                let name = self.cx.symbols.text(info.name);
                let what = format!("undefined output {name:?}");
                let error = OnnxError::at(info.message.at, what);
                return Err(error.inside(format!("output[{index}]")));
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
            self.set_origin(port, info.message);
        }
        let terminator = self.f.region(frame.region).last;
        self.anchor(frame, terminator);
        let is_nested = !self.work.is_empty();
        for (name, before) in self.undo.drain(frame.undo..).rev() {
            self.cx.table[name.index()] = before;
            if is_nested {
                self.ended.insert(name, self.opened);
            }
        }
        Ok(())
    }

    /// Sets the op after the waiting constants as their anchor.
    pub(super) fn anchor(&mut self, frame: &mut Frame<'a>, op: OpId) {
        for (constant, loc) in frame.waiting.drain(..) {
            self.f.mark_constant(constant, Constant::NODE, loc, op);
        }
    }

    /// Undoes all bindings, after an error.
    pub(super) fn forget(&mut self) {
        for (name, before) in self.undo.drain(..).rev() {
            self.cx.table[name.index()] = before;
        }
    }

    /// Adds the enclosing nodes to an error. For deep nesting, only the outermost and innermost ones are added.
    fn explain(&self, mut error: OnnxError) -> OnnxError {
        const ENDS: usize = 4;
        let frames = self.work.iter().filter_map(|work| match work {
            Work::Run(frame) => Some(frame),
            Work::Open(..) => None,
        });
        let frames: Vec<&Frame<'a>> = frames.collect();
        let middle = ENDS..frames.len().saturating_sub(ENDS);
        for (depth, frame) in frames.iter().enumerate().rev() {
            if !middle.contains(&depth) {
                error = error.inside(frame.describe_position());
            } else if depth == middle.start {
                error = error.inside(format!("({} more)", middle.len()));
            }
        }
        error
    }

    /// Returns the function after everything is read. Values whose names shadow an outer value are renamed.
    pub(super) fn finish(mut self) -> Result<Function> {
        for (count, value) in self.shadowing.iter().enumerate() {
            let name = self.f.value(*value).name;
            let original = self.cx.symbols.text(name).to_owned();
            self.f
                .set_name(*value, &format!("{original}.{}", count + 1))?;
            let given = self.f.text(self.f.value(*value).name);
            let mut data = ImporterDataBuilder::default();
            data.names(given, &original);
            let entity = Entity::Value(*value);
            let known = self.f.origins().extras(entity).cloned().unwrap_or_default();
            let extras = Extras {
                bytes: data.into_bytes(),
                ..Extras::clone(&known)
            };
            self.f.origins_mut().set_extras(entity, extras);
        }
        Ok(self.f)
    }
}
