//! Regions and ops in order, and the values they define, checked in one walk.

use passdock_abi::{Constant, LocId, Op, OpId, Region, RegionId, SymbolId, Value, ValueId};

use super::tables::entries;
use super::{Checker, Invariant};
use crate::function::{MAX_DEPTH, MAX_LIST};
use crate::pool::in_region;
use crate::symbols::is_terminator;

/// A region on the stack of the walk.
struct Frame {
    region: RegionId,
    next: OpId,
    prev: OpId,
    order: u64,
    /// The lengths of the logs of visible values and bound names at its start.
    marks: (usize, usize),
    /// The op whose regions are visited next, and the index of the next one.
    pending: Option<(OpId, u32)>,
}

/// The values and names that are visible at the current position of the walk.
struct Scope<'c> {
    /// The constants that are values, sorted by region.
    constants: &'c [(RegionId, ValueId)],
    visible: Vec<bool>,
    visible_log: Vec<ValueId>,
    /// Whether each symbol is bound.
    bound: Vec<bool>,
    bound_log: Vec<SymbolId>,
}

impl Scope<'_> {
    fn leave(&mut self, marks: (usize, usize)) {
        for value in self.visible_log.drain(marks.0..) {
            self.visible[value.index()] = false;
        }
        for name in self.bound_log.drain(marks.1..) {
            self.bound[name.index()] = false;
        }
    }
}

impl<'f> Checker<'f> {
    pub(super) fn structure(&mut self) {
        let f = self.f;
        self.ops = vec![false; f.ops.len()];
        self.regions = vec![false; f.regions.len()];
        self.values = vec![false; f.values.len()];
        self.slots = vec![false; f.uses.len()];
        let body = f.regions.get(f.body.index());
        let is_whole = |body: &Region| body.parent.is_none() && body.flags & Region::DEAD == 0;
        if !body.is_some_and(is_whole) {
            let message = format!("body {} is not a live region without a parent op", f.body);
            self.report(Invariant::Body, OpId::NONE, message);
            return;
        }
        self.walk();
        self.unreached();
    }

    fn walk(&mut self) {
        let f = self.f;
        let constants = self.constants_by_region();
        let mut scope = Scope {
            constants: &constants,
            visible: vec![false; f.values.len()],
            visible_log: Vec::new(),
            bound: vec![false; f.symbols().count()],
            bound_log: Vec::new(),
        };
        let mut stack = Vec::from_iter(self.enter(f.body, 0, &mut scope));
        while let Some(frame) = stack.last_mut() {
            if let Some((op, at)) = frame.pending {
                let record = f.ops.get(op.index());
                let regions = record.and_then(|op| entries(&f.ids, op.regions));
                let Some(&region) = regions.and_then(|regions| regions.get(at as usize)) else {
                    frame.pending = None;
                    self.results(op, &mut scope);
                    continue;
                };
                frame.pending = Some((op, at + 1));
                let region = RegionId(region);
                let depth = stack.len() as u32;
                if self.is_nested(region, op) {
                    stack.extend(self.enter(region, depth, &mut scope));
                }
                continue;
            }
            match frame.next.option() {
                Some(op) => match self.link(op, frame) {
                    Some(record) => {
                        (frame.next, frame.prev, frame.order) = (record.next, op, record.order);
                        frame.pending = Some((op, 0));
                        self.op(op, record, &scope);
                    }
                    None => frame.next = OpId::NONE,
                },
                None => {
                    let (region, last, marks) = (frame.region, frame.prev, frame.marks);
                    stack.pop();
                    self.end(region, last);
                    scope.leave(marks);
                }
            }
        }
    }

    fn constants_by_region(&self) -> Vec<(RegionId, ValueId)> {
        let f = self.f;
        let live = f.constants.iter().filter(|constant| {
            let value = f.values.get(constant.value.index());
            let is_value = value.is_some_and(|value| value.flags & Value::KIND == Value::CONST);
            constant.flags & Constant::DEAD == 0 && is_value
        });
        let mut all: Vec<_> = live.map(|live| (live.region, live.value)).collect();
        all.sort();
        all
    }

    /// Whether a region that an op lists is a live region of that op and wasn't visited before.
    fn is_nested(&mut self, region: RegionId, op: OpId) -> bool {
        let f = self.f;
        let record = f.regions.get(region.index());
        let own =
            record.is_some_and(|record| record.parent == op && record.flags & Region::DEAD == 0);
        let fresh = self.regions.get(region.index()) == Some(&false);
        if !own || !fresh {
            let op_name = f.describe_op(op);
            let message = format!(
                "{op_name} lists {region}, which is erased, listed twice or part of another op"
            );
            self.report(Invariant::Regions, op, message);
        }
        own && fresh
    }

    /// Enters a region: its arguments and constants become visible.
    fn enter(&mut self, region: RegionId, depth: u32, scope: &mut Scope<'_>) -> Option<Frame> {
        let f = self.f;
        let record = f.regions.get(region.index())?;
        self.regions[region.index()] = true;
        if depth > MAX_DEPTH {
            let message = format!("{region} is nested deeper than {MAX_DEPTH} levels");
            self.report(Invariant::Regions, record.parent, message);
        }
        let frame = Frame {
            region,
            next: record.first,
            prev: OpId::NONE,
            order: 0,
            marks: (scope.visible_log.len(), scope.bound_log.len()),
            pending: None,
        };
        if !self.is_symbol_or_none(record.name) || !self.is_loc(record.loc) {
            let message = format!("{region} has an invalid name or location");
            self.report(Invariant::Regions, record.parent, message);
        }
        match entries(&f.ids, record.args) {
            Some(args) => {
                for (index, &arg) in args.iter().enumerate() {
                    let expected = (Value::ARG, region.0, index as u32);
                    self.define(ValueId(arg), expected, record.parent, scope);
                }
            }
            None => self.outside(Invariant::Regions, record.parent, "arguments", region),
        }
        self.ports(region, record);
        for &(_, value) in in_region(scope.constants, region) {
            let record = f.values.get(value.index());
            let constant = record.map_or(0, |value| value.constant.0);
            self.define(value, (Value::CONST, constant, 0), OpId::NONE, scope);
        }
        Some(frame)
    }

    fn ports(&mut self, region: RegionId, record: &Region) {
        let f = self.f;
        let Some(ports) = entries(&f.ports, record.ports) else {
            self.outside(Invariant::Ports, record.parent, "ports", region);
            return;
        };
        for (at, port) in ports.iter().enumerate() {
            let typed = port.ty.is_none() || f.live_type(port.ty).is_ok();
            if !typed || !self.is_symbol_or_none(port.name) {
                let message = format!("port {at} of {region} has an invalid name or type");
                self.report(Invariant::Ports, record.parent, message);
            }
        }
    }

    fn outside(&mut self, rule: Invariant, op: OpId, what: &str, of: impl std::fmt::Display) {
        let message = format!("the {what} of {of} are outside their pool");
        self.report(rule, op, message);
    }

    /// Returns the next op of a region's list, if the links to it are valid.
    fn link(&mut self, op: OpId, frame: &Frame) -> Option<&'f Op> {
        let f = self.f;
        let record = f.ops.get(op.index());
        let fresh = self.ops.get(op.index()) == Some(&false);
        let right = record.filter(|record| {
            fresh
                && record.flags & Op::DEAD == 0
                && record.parent == frame.region
                && record.prev == frame.prev
                && (frame.prev.is_none() || record.order > frame.order)
        });
        if right.is_none() {
            let message = format!(
                "{op} is not linked as the live op after {} in {}",
                frame.prev, frame.region
            );
            self.report(Invariant::Order, op, message);
            return None;
        }
        self.ops[op.index()] = true;
        right
    }

    /// Checks one op, before its regions.
    fn op(&mut self, op: OpId, record: &Op, scope: &Scope<'_>) {
        let f = self.f;
        if !self.is_symbol(record.name) || !self.is_loc(record.loc) {
            let message = format!("{op} has an invalid name or location");
            self.report(Invariant::Ops, op, message);
        }
        let lists = [
            record.operands,
            record.results,
            record.attrs,
            record.regions,
        ];
        if lists.iter().any(|list| list.len as usize > MAX_LIST) {
            let message = format!("a list of {op} has more than {MAX_LIST} entries");
            self.report(Invariant::Limits, op, message);
        }
        if entries(&f.ids, record.results).is_none() {
            self.outside(Invariant::Ops, op, "results", op);
        }
        if entries(&f.ids, record.regions).is_none() {
            self.outside(Invariant::Ops, op, "regions", op);
        }
        if is_terminator(record.name) {
            let lists = [record.results, record.regions, record.attrs];
            let is_single = lists.iter().all(|list| list.len == 0);
            if record.next.is_some() || !is_single {
                let name = f.describe_op(op);
                let message = format!(
                    "terminator {name} is not the last op of its region, or has results, regions or attributes"
                );
                self.report(Invariant::Terminators, op, message);
            }
        }
        let Some(slots) = entries(&f.uses, record.operands) else {
            self.outside(Invariant::Ops, op, "operands", op);
            return;
        };
        for (index, slot) in slots.iter().enumerate() {
            let at = record.operands.start as usize + index;
            if slot.user != op || std::mem::replace(&mut self.slots[at], true) {
                let name = f.describe_op(op);
                let message =
                    format!("the slot of operand {index} of {name} belongs to another operand");
                self.report(Invariant::Uses, op, message);
            }
            let value = slot.value;
            if value.is_some() && scope.visible.get(value.index()) != Some(&true) {
                let (name, value) = (f.describe_op(op), f.describe(value));
                let message =
                    format!("operand {index} of {name} is {value}, which is not visible here");
                self.report(Invariant::Visible, op, message);
            }
        }
    }

    /// Defines an op's results, which are visible after it.
    fn results(&mut self, op: OpId, scope: &mut Scope<'_>) {
        let f = self.f;
        let record = f.ops.get(op.index());
        let results = record.and_then(|record| entries(&f.ids, record.results));
        for (index, &result) in results.unwrap_or(&[]).iter().enumerate() {
            let expected = (Value::RESULT, op.0, index as u32);
            self.define(ValueId(result), expected, op, scope);
        }
    }

    /// Checks and defines a value; `expected` is its kind, definition and index.
    fn define(&mut self, id: ValueId, expected: (u32, u32, u32), op: OpId, scope: &mut Scope<'_>) {
        let f = self.f;
        let fresh = self.values.get(id.index()) == Some(&false);
        let Some(value) = f.values.get(id.index()).filter(|_| fresh) else {
            let message =
                format!("{id} is listed as a definition, but does not exist or is defined twice");
            self.report(Invariant::Definitions, op, message);
            return;
        };
        self.values[id.index()] = true;
        let (kind, def, index) = expected;
        let own = value.flags & Value::KIND == kind
            && value.flags & Value::DEAD == 0
            && value.def == def
            && value.index == index;
        if !own {
            let name = f.describe(id);
            let message = format!("the record of {name} does not match its definition");
            self.report(Invariant::Definitions, op, message);
        }
        const FLAGS: u32 = Value::KIND | Value::TOUCHED | Value::ABSENT | Value::DECLARED;
        let named = self.is_symbol_or_none(value.name);
        let known = value.flags & !(FLAGS | Value::DEAD) == 0;
        if f.live_type(value.ty).is_err() || !named || !known {
            let message = format!("{id} has an invalid type, name or flags");
            self.report(Invariant::Values, op, message);
        }
        let absent = value.flags & Value::ABSENT != 0;
        if absent && (value.use_count > 0 || kind != Value::RESULT) {
            let name = f.describe(id);
            let message = format!("{name} is absent, but it is used or not a result");
            self.report(Invariant::Absent, op, message);
        }
        scope.visible[id.index()] = true;
        scope.visible_log.push(id);
        if absent || value.name.is_none() || !named {
            return;
        }
        match scope.bound.get_mut(value.name.index()) {
            Some(bound) if !*bound => {
                *bound = true;
                scope.bound_log.push(value.name);
            }
            _ => {
                let name = f.describe(id);
                let message = format!(
                    "duplicate name {name}: another value with this name is visible at its definition"
                );
                self.report(Invariant::Names, op, message);
            }
        }
    }

    /// Checks the end of a region: its last op and terminator.
    fn end(&mut self, region: RegionId, last: OpId) {
        let f = self.f;
        let Some(record) = f.regions.get(region.index()) else {
            return;
        };
        if record.last != last {
            let message = format!(
                "the last op of {region} is {last}, but the record has {}",
                record.last
            );
            self.report(Invariant::Order, last, message);
        }
        let word = f.terminator_name(region);
        let ended = f.ops.get(last.index()).filter(|op| op.name == word);
        let ports = record.ports.len;
        if ended.is_none_or(|op| op.operands.len != ports) {
            let message = format!(
                "{region} must end with `{}` with one operand for each of its {ports} ports",
                f.text(word)
            );
            self.report(Invariant::Terminators, last, message);
        }
    }

    /// Checks that all entities that the walk didn't visit are dead.
    fn unreached(&mut self) {
        let f = self.f;
        let live_ops = f.ops.iter().filter(|op| op.flags & Op::DEAD == 0).count();
        let op = unmet(&f.ops, &self.ops, |op| op.flags & Op::DEAD == 0);
        let region = unmet(&f.regions, &self.regions, |region| {
            region.flags & Region::DEAD == 0
        });
        let in_dead = |value: &Value| {
            // A constant of an erased region counts as erased.
            let constant = f.constants.get(value.constant.index());
            let region = constant.and_then(|constant| f.regions.get(constant.region.index()));
            value.flags & Value::KIND == Value::CONST
                && region.is_some_and(|region| region.flags & Region::DEAD != 0)
        };
        let value = unmet(&f.values, &self.values, |value| {
            value.flags & Value::DEAD == 0 && !in_dead(value)
        });
        let rule = Invariant::Reachable;
        if let Some(op) = op.map(OpId) {
            let name = f.describe_op(op);
            self.report(rule, op, format!("{name} is live, but in no region"));
        }
        if let Some(region) = region.map(RegionId) {
            let message = format!("{region} is live, but belongs to no op");
            self.report(rule, OpId::NONE, message);
        }
        if let Some(value) = value.map(ValueId) {
            let name = f.describe(value);
            let message = format!("{name} is live, but has no definition");
            self.report(rule, OpId::NONE, message);
        }
        if live_ops != f.live_ops as usize {
            let message = format!("{live_ops} ops are live, but the count is {}", f.live_ops);
            self.report(rule, OpId::NONE, message);
        }
    }

    pub(super) fn is_loc(&self, id: LocId) -> bool {
        id.is_none() || self.f.loc(id).is_some()
    }
}

/// Returns the first live record that the walk didn't visit.
fn unmet<T>(records: &[T], met: &[bool], is_live: impl Fn(&T) -> bool) -> Option<u32> {
    let mut records = records.iter().zip(met);
    let at = records.position(|(record, met)| !met && is_live(record));
    at.map(|at| at as u32)
}
