//! Parsing function bodies: a stack of regions, one statement at a time.

use passdock_abi::{ConstId, Constant, FunctionKind, OpId, RegionId, SymbolId, Value, ValueId};

use super::parser::{Frame, Owner, Parse, Parser, Ports};
use crate::function::MAX_DEPTH;
use crate::function::origin::Entity;
use crate::pool::push_range;

impl<'t> Parser<'t, '_> {
    /// Parses a function's body after its `{`.
    pub(super) fn body(&mut self, ports: Option<Ports>, start: usize) -> Parse<()> {
        let body = self.f.body();
        self.frames.clear();
        // The parameters go out of scope with the body.
        self.push_frame(body, ports, None, start, 0);
        loop {
            match self.cur.peek() {
                b'}' => {
                    self.cur.eat("}");
                    if self.close()? {
                        return Ok(());
                    }
                }
                0 if self.cur.here() >= self.cur.text().len() => {
                    let start = self.frames.last().map_or(start, |frame| frame.start);
                    let message = "missing `}` at the end of the body that starts here";
                    return self.fail_at(start..start + 1, message);
                }
                _ => self.statement()?,
            }
        }
    }

    /// Returns the current region; the body while the function's header is parsed.
    pub(super) fn region(&self) -> RegionId {
        self.frames
            .last()
            .map_or(self.f.body(), |frame| frame.region)
    }

    pub(super) fn push_frame(
        &mut self,
        region: RegionId,
        ports: Option<Ports>,
        owner: Option<Owner<'t>>,
        start: usize,
        mark: usize,
    ) {
        self.frames.push(Frame {
            region,
            ports,
            mark,
            ended: false,
            waiting: Vec::new(),
            owner,
            start,
        });
    }

    /// Closes a region at its `}`; returns whether it was the function's body.
    fn close(&mut self) -> Parse<bool> {
        let Some(mut frame) = self.frames.pop() else {
            return Ok(true);
        };
        let at = self.cur.end() - 1;
        if !frame.ended {
            let prim = self.f.kind() == FunctionKind::PRIM;
            let ports = frame.ports.as_ref();
            if !prim || ports.is_some_and(|ports| !ports.records.is_empty()) {
                let ident = self.f.text(self.f.terminator_name(frame.region));
                let message = format!("missing `{ident}` at the end of the region");
                return self.fail_at(at..at + 1, message);
            }
            let end = self.end_region(frame.region, &[], frame.ports.take(), at..at + 1)?;
            anchor(&mut self.f.constants, &mut frame.waiting, end);
        }
        self.scope.leave(frame.mark, frame.owner.is_some());
        match frame.owner {
            None => Ok(true),
            Some(owner) => {
                if !owner.short && self.cur.peek_ident() == "region" {
                    self.open(owner)?;
                } else {
                    self.finish(owner)?;
                }
                Ok(false)
            }
        }
    }

    /// Parses `region then_branch(%x: f32[]) -> (%y: f32[]) {`.
    pub(super) fn open(&mut self, mut owner: Owner<'t>) -> Parse<()> {
        let start = self.cur.here();
        self.cur.ident();
        let name = match self.cur.peek() {
            b'(' | b'{' | b'-' => SymbolId::NONE,
            _ if self.is_region_clause() => SymbolId::NONE,
            _ => self.symbol("a region name or `{`")?,
        };
        let region = self.new_region(&mut owner, name, start)?;
        let mark = self.scope.mark();
        if self.cur.peek() == b'(' {
            self.args(region)?;
        }
        let ports = self.ports()?;
        self.f.regions[region.index()].loc = self.clauses(Entity::Region(region))?;
        self.cur.expect("{", "before the ops of a region")?;
        self.push_frame(region, ports, Some(owner), start, mark);
        Ok(())
    }

    /// Whether a clause follows `region`: `loc(` and similar. A region with such a name is quoted.
    fn is_region_clause(&mut self) -> bool {
        self.cur.peek_ident() == "loc" && self.cur.after_ident() == b'(' || self.is_extras()
    }

    pub(super) fn new_region(
        &mut self,
        owner: &mut Owner<'t>,
        name: SymbolId,
        start: usize,
    ) -> Parse<RegionId> {
        if self.frames.len() as u32 > MAX_DEPTH {
            let message = format!("region nested deeper than {MAX_DEPTH} levels");
            return self.fail(start, message);
        }
        let region = self.f.make_region(owner.op, name);
        owner.regions.push(region.0);
        Ok(region)
    }

    /// Completes an op whose regions are parsed: its results become visible.
    pub(super) fn finish(&mut self, owner: Owner<'t>) -> Parse<()> {
        let regions = push_range(&mut self.f.ids, owner.regions);
        self.f.ops[owner.op.index()].regions = regions;
        self.resolve_regions(owner.op, owner.region_attrs)?;
        let first = self.f.ops[owner.op.index()].results.start as usize;
        for (at, result) in owner.results.into_iter().enumerate() {
            let value = ValueId(self.f.ids[first + at]);
            match result.name {
                Some(name) => self.define(name, value, result.start)?,
                None => self.f.values[value.index()].flags |= Value::ABSENT,
            }
            if let Some(extras) = result.extras {
                self.f.origins.set_extras(Entity::Value(value), extras);
            }
        }
        Ok(())
    }

    /// Records a constant that was written as an op in the file, until the op after it is parsed.
    pub(super) fn await_anchor(&mut self, id: ConstId) {
        self.f.constants[id.index()].flags |= Constant::NODE;
        if let Some(frame) = self.frames.last_mut() {
            frame.waiting.push(id);
        }
    }

    /// Sets the op as the anchor of the recorded constants.
    pub(super) fn anchor(&mut self, op: OpId) {
        if let Some(frame) = self.frames.last_mut() {
            anchor(&mut self.f.constants, &mut frame.waiting, op);
        }
    }
}

fn anchor(constants: &mut [Constant], waiting: &mut Vec<ConstId>, op: OpId) {
    for id in waiting.drain(..) {
        constants[id.index()].anchor = op;
    }
}
