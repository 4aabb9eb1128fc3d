//! Regions: creating them, their arguments, their results.

use std::collections::VecDeque;

use passdock_abi::{
    LocId, OpId, Port, Range, Region, RegionId, SymbolId, TypeId, Value, ValueId, symbol,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{NewPort, NewRegion};
use crate::error::{Edit, invalid, reject};
use crate::function::{Function, MAX_DEPTH, MAX_LIST};
use crate::pool::{push_range, span};

impl Function {
    /// Adds a region to an op.
    ///
    /// # Errors
    /// If the op is erased, regions nest too deeply, or an argument's type isn't a type of this function.
    pub fn add_region(&mut self, op: OpId, new: &NewRegion<'_>) -> Edit<RegionId> {
        let parent = self.live_op(op)?.parent;
        self.check_region(new, parent)?;
        let region = self.insert_region(op, new);
        self.touch_op(op);
        Ok(region)
    }

    pub(crate) fn check_region(&self, new: &NewRegion<'_>, around: RegionId) -> Edit {
        if self.depth(around) + 1 > MAX_DEPTH {
            reject!("region nested deeper than {MAX_DEPTH} levels");
        }
        let name = new.name;
        if name == symbol::EMPTY {
            invalid!("missing region name");
        }
        self.live_symbol(name)?;
        if new.args.len() > MAX_LIST {
            invalid!("region has more than {MAX_LIST} arguments");
        }
        self.check_types(new.args.iter().map(|arg| arg.ty))
    }

    pub(crate) fn insert_region(&mut self, op: OpId, new: &NewRegion<'_>) -> RegionId {
        let id = self.make_region(op, new.name);
        for arg in new.args {
            self.push_arg(id, arg);
        }
        let old = self.ops[op.index()].regions;
        self.ops[op.index()].regions = append_id(&mut self.ids, old, id.0);
        id
    }

    /// Creates a region that isn't in its op's list yet.
    pub(crate) fn make_region(&mut self, op: OpId, name: SymbolId) -> RegionId {
        let id = RegionId(self.regions.len() as u32);
        self.regions.push(Region {
            parent: op,
            name,
            args: Range::EMPTY,
            ports: Range::EMPTY,
            first: OpId::NONE,
            last: OpId::NONE,
            flags: 0,
            loc: LocId::NONE,
        });
        self.touch_region(id);
        id
    }

    /// Appends an argument to a region; an argument of the body is a parameter.
    ///
    /// # Errors
    /// If the region is erased, or the type isn't a type of this function.
    pub fn add_arg(&mut self, region: RegionId, new: &NewPort<'_>) -> Edit<ValueId> {
        self.live_region(region)?;
        self.check_types([new.ty])?;
        let value = self.push_arg(region, new);
        self.touch_region(region);
        Ok(value)
    }

    /// Removes unused arguments with their defaults; the arguments after them move up. All are removed, or none.
    ///
    /// # Errors
    /// If one of them is erased, used, or not an argument.
    pub fn remove_args(&mut self, args: &[ValueId]) -> Edit {
        for &arg in args {
            let record = *self.live_value(arg)?;
            if record.flags & Value::KIND != Value::ARG || record.use_count > 0 {
                let name = self.describe(arg);
                let why = match record.use_count {
                    0 => "is not an argument",
                    _ => "is used",
                };
                reject!("cannot remove {name} from the arguments: it {why}");
            }
        }
        for region in self.unlist_args(args) {
            self.touch_region(region);
        }
        for &arg in args {
            // An argument that is listed twice is removed once.
            if self.live_value(arg).is_err() {
                continue;
            }
            if let Some(default) = self.value(arg).constant.option() {
                self.erase_constant_record(default);
            }
            if self.live_value(arg).is_ok() {
                self.erase_value_record(arg);
            }
        }
        Ok(())
    }

    /// Turns parameters with a default into constants: callers can't set them any more. The values keep their names and
    /// uses. All change, or none.
    ///
    /// # Errors
    /// If one of them isn't a parameter with a default.
    pub fn freeze_args(&mut self, args: &[ValueId]) -> Edit {
        for &arg in args {
            let record = *self.live_value(arg)?;
            if record.flags & Value::KIND != Value::ARG || record.constant.is_none() {
                let name = self.describe(arg);
                reject!("{name} is not a parameter with a default");
            }
        }
        self.unlist_args(args);
        for &arg in args {
            let constant = self.value(arg).constant;
            let ty = self.constant(constant).ty;
            let value = &mut self.values[arg.index()];
            value.flags = value.flags & !Value::KIND | Value::CONST;
            (value.def, value.index, value.ty) = (constant.0, 0, ty);
            self.touch_value(arg);
        }
        Ok(())
    }

    /// Removes arguments from their regions' lists; returns these regions.
    fn unlist_args(&mut self, args: &[ValueId]) -> FxHashSet<RegionId> {
        let removed: FxHashSet<ValueId> = args.iter().copied().collect();
        let regions = args.iter().map(|&arg| RegionId(self.value(arg).def));
        let regions: FxHashSet<RegionId> = regions.collect();
        for region in &regions {
            let range = self.regions[region.index()].args;
            let mut len = 0;
            for at in span(range) {
                let arg = self.ids[at];
                if !removed.contains(&ValueId(arg)) {
                    self.ids[(range.start + len) as usize] = arg;
                    self.values[arg as usize].index = len;
                    len += 1;
                }
            }
            self.regions[region.index()].args.len = len;
        }
        regions
    }

    pub(crate) fn push_arg(&mut self, region: RegionId, new: &NewPort<'_>) -> ValueId {
        let old = self.regions[region.index()].args;
        let value = self.make_value(Value::ARG, region.0, old.len, new.ty);
        self.regions[region.index()].args = append_id(&mut self.ids, old, value.0);
        if !new.name.is_empty() {
            self.set_unique_name(value, new.name);
        }
        value
    }

    /// Sets the operands and ports of a region's terminator, which is created if missing. A name or type that a port
    /// leaves open is kept.
    ///
    /// # Errors
    /// If the region is erased, or a value isn't visible at its end.
    pub fn set_results(
        &mut self,
        region: RegionId,
        values: &[ValueId],
        ports: &[NewPort<'_>],
    ) -> Edit {
        self.live_region(region)?;
        if values.len() != ports.len() || values.len() > MAX_LIST {
            invalid!(
                "expected one port per result, at most {MAX_LIST}; found {} values and {} ports",
                values.len(),
                ports.len()
            );
        }
        self.check_operands(values, region, OpId::NONE)?;
        self.check_types(ports.iter().map(|port| port.ty))?;
        let known = self.known_ports(region, values);
        let ports = ports.iter().zip(&known).map(|(port, known)| Port {
            name: match port.name {
                "" => known.name,
                name => self.symbols.intern(name),
            },
            ty: port.ty.option().unwrap_or(known.ty),
            ..*known
        });
        let records: Vec<Port> = ports.collect();
        self.end_region(region, values, &records);
        Ok(())
    }

    /// Returns the known names and types of a region's new results. If their number doesn't change, they are matched by
    /// position, otherwise by value.
    fn known_ports(&self, region: RegionId, values: &[ValueId]) -> Vec<Port> {
        let old = self.ports(region);
        let mut ports: FxHashMap<ValueId, VecDeque<usize>> = FxHashMap::default();
        if let Some(terminator) = self
            .terminator(region)
            .filter(|_| old.len() != values.len())
        {
            for (port, slot) in self.operands(terminator).iter().enumerate() {
                ports.entry(slot.value).or_default().push_back(port);
            }
        }
        let known = |(port, &value): (usize, &ValueId)| {
            let port = match old.len() == values.len() {
                true => Some(port),
                false => ports.get_mut(&value).and_then(VecDeque::pop_front),
            };
            let known = port.and_then(|port| old.get(port));
            let declared = known.map_or(TypeId::NONE, |known| known.ty);
            let ty = value.option().map(|value| self.value(value).ty);
            Port {
                name: known.map_or(SymbolId::NONE, |known| known.name),
                // A declared type that contradicts the new value's type is replaced.
                ty: match ty.filter(|&ty| !self.is_compatible(declared, ty)) {
                    Some(ty) => ty,
                    None => declared,
                },
                flags: Port::TOUCHED,
                reserved: 0,
            }
        };
        values.iter().enumerate().map(known).collect()
    }

    /// Sets the checked terminator and ports of a region.
    pub(crate) fn end_region(&mut self, region: RegionId, values: &[ValueId], ports: &[Port]) {
        self.hold_port_names(ports);
        let terminator = match self.terminator(region) {
            Some(op) => op,
            None => self.push_terminator(region),
        };
        self.drop_slots(terminator);
        self.ops[terminator.index()].operands = self.make_slots(terminator, values);
        let ports = ports.iter().map(|&port| Port {
            flags: Port::TOUCHED,
            ..port
        });
        self.regions[region.index()].ports = push_range(&mut self.ports, ports);
        self.touch_op(terminator);
    }

    fn push_terminator(&mut self, region: RegionId) -> OpId {
        let op = self.make_op(self.terminator_name(region), region, LocId::NONE);
        self.link_op(op, region, OpId::NONE);
        op
    }
}

/// Appends an id to a range of the id pool; the range moves to the end if other ids follow it.
fn append_id(ids: &mut Vec<u32>, range: Range, id: u32) -> Range {
    let mut start = range.start;
    if span(range).end != ids.len() {
        start = ids.len() as u32;
        ids.extend_from_within(span(range));
    }
    ids.push(id);
    let len = range.len + 1;
    Range { start, len }
}
