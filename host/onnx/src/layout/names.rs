//! Names of values in the output file, and the records that change because of them.
//!
//! Values keep the names of the input. A new value gets an unused name. An output whose value was replaced gets its
//! name from the new value, or from an `Identity`.

use passdock_abi::{ConstId, Op, OpId, Port, Region, RegionId, SymbolId, Value, ValueId, symbol};
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Entity, Function, OpName};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extras::importer_data::ImporterData;
use crate::format::header::MAIN;

/// The names of one function's values in the file.
pub(crate) struct NamePlan {
    names: Vec<SymbolId>,
    dirty_ops: FxHashSet<OpId>,
    dirty_regions: FxHashSet<RegionId>,
    dirty_constants: FxHashSet<ConstId>,
    copies: FxHashMap<RegionId, Vec<(ValueId, SymbolId)>>,
    /// Names of outputs whose ports have none, by region and index.
    outputs: FxHashMap<(RegionId, usize), SymbolId>,
    /// An error, if two values would need the same name.
    pub(crate) clash: Option<String>,
    /// The live regions; outer ones precede inner ones.
    pub(crate) regions: Vec<RegionId>,
}

impl NamePlan {
    /// Returns a value's name in the file.
    pub(crate) fn name(&self, value: ValueId) -> SymbolId {
        self.names[value.index()]
    }

    /// Returns the names of all values in the file.
    pub(crate) fn names(&self) -> &[SymbolId] {
        &self.names
    }

    /// Whether an op's own fields differ from its message in the file.
    pub(crate) fn is_op_dirty(&self, op: OpId) -> bool {
        self.dirty_ops.contains(&op)
    }

    /// Whether anything in a region differs from its message in the file.
    pub(crate) fn is_region_dirty(&self, region: RegionId) -> bool {
        self.dirty_regions.contains(&region)
    }

    /// Whether a constant's name or data location differs from its message in the file.
    pub(crate) fn is_constant_dirty(&self, id: ConstId) -> bool {
        self.dirty_constants.contains(&id)
    }

    /// Returns the `Identity` nodes at the end of a region: operand and name of the result.
    pub(crate) fn copies(&self, region: RegionId) -> &[(ValueId, SymbolId)] {
        self.copies.get(&region).map_or(&[], Vec::as_slice)
    }

    /// Returns the name of an output whose port has none; `NONE` if the plan has none either.
    pub(crate) fn output_name(&self, region: RegionId, index: usize) -> SymbolId {
        let known = self.outputs.get(&(region, index));
        known.copied().unwrap_or(SymbolId::NONE)
    }

    /// Marks all regions and the ops that contain them as dirty.
    pub(crate) fn renew_regions(&mut self, f: &Function) {
        self.dirty_regions.extend(&self.regions);
        let holders = self.regions.iter().map(|&region| f.region(region).parent);
        self.dirty_ops.extend(holders);
    }

    /// Plans the names of a function. With `fresh`, all parts are encoded again. `moved` are the constants whose data
    /// moves, `kept` are names that stay reserved without a value.
    pub(crate) fn new(
        f: &Function,
        fresh: bool,
        moved: impl Iterator<Item = ConstId>,
        reserved: impl IntoIterator<Item = SymbolId>,
    ) -> NamePlan {
        let mut regions = vec![f.body()];
        for op in f.walk(f.body()) {
            regions.extend(f.regions_of(op));
        }
        let is_dirty = |&region: &RegionId| {
            let touched = f.region(region).flags & Region::TOUCHED != 0;
            fresh || touched || !f.origins().get(Entity::Region(region)).is_some()
        };
        let ops = f.live_ops();
        let mut planner = Planner {
            f,
            used: reserved.into_iter().collect(),
            plan: NamePlan {
                names: export_names(f),
                dirty_ops: ops
                    .filter(|(_, op)| fresh || op.flags & Op::TOUCHED != 0)
                    .map(|(id, _)| id)
                    .collect(),
                dirty_regions: regions.iter().copied().filter(is_dirty).collect(),
                dirty_constants: FxHashSet::default(),
                copies: FxHashMap::default(),
                outputs: FxHashMap::default(),
                clash: None,
                regions,
            },
        };
        planner.take();
        planner.shadows();
        planner.outputs();
        planner.new_values();
        planner.unnamed_outputs();
        moved.for_each(|id| planner.moved(id));
        planner.holders();
        planner.plan
    }
}

/// Returns the names of imported values in the file, and the names that passes set.
pub(crate) fn export_names(f: &Function) -> Vec<SymbolId> {
    let all = (0..f.value_ids()).map(|at| ValueId(at as u32));
    all.map(|value| {
        let name = f.value(value).name;
        match ImporterData::from_entity(f, Entity::Value(value)).names {
            Some([given, original]) if f.text(name) == given => f.symbols().intern(original),
            _ => name,
        }
    })
    .collect()
}

/// Returns the region in which a value is defined.
fn region_or_body(f: &Function, value: ValueId) -> RegionId {
    let region = f.region_of(value);
    if region.is_none() { f.body() } else { region }
}

/// Returns the values and ports of a region's outputs.
fn outputs_of(f: &Function, region: RegionId) -> impl Iterator<Item = (ValueId, &Port)> {
    let slots = f.terminator(region).map_or(&[][..], |op| f.operands(op));
    slots.iter().map(|slot| slot.value).zip(f.ports(region))
}

/// Whether a name is present and not empty.
fn is_text(name: SymbolId) -> bool {
    name.is_some() && name != symbol::EMPTY
}

struct Planner<'f> {
    f: &'f Function,
    used: FxHashSet<SymbolId>,
    plan: NamePlan,
}

impl Planner<'_> {
    /// Whether a value was read from the file or from IR text.
    fn is_imported(&self, entity: Entity, value: ValueId) -> bool {
        let touched = self.f.value(value).flags & Value::TOUCHED != 0;
        let is_arg = entity == Entity::Value(value);
        is_arg || !touched || self.f.origins().get(entity).is_some()
    }

    /// Reserves the names that can't change: those of outputs and of imported values.
    fn take(&mut self) {
        let regions = self.plan.regions.iter();
        let ports = regions.flat_map(|&region| self.f.ports(region));
        let outputs: Vec<SymbolId> = ports.map(|port| port.name).collect();
        let is_imported = |&(value, entity): &(ValueId, Entity)| self.is_imported(entity, value);
        let imported = self.definitions().filter(is_imported);
        let imported: Vec<SymbolId> = imported.map(|(value, _)| self.plan.name(value)).collect();
        self.used.extend(outputs);
        self.used.extend(imported);
        self.used.extend([SymbolId::NONE, symbol::EMPTY]);
    }

    /// Returns all values with the entities that define them. An argument is its own entity.
    fn definitions(&self) -> impl Iterator<Item = (ValueId, Entity)> {
        let f = self.f;
        let args = self.plan.regions.iter().flat_map(|&region| f.args(region));
        let results = f.walk(f.body()).flat_map(|op| {
            let entity = Entity::Op(op);
            f.results(op).map(move |result| (result, entity))
        });
        let constants = f.live_constants().filter_map(|(id, constant)| {
            let value = constant.value.option()?;
            Some((value, Entity::Constant(id)))
        });
        let args = args.map(|arg| (arg, Entity::Value(arg)));
        args.chain(results).chain(constants)
    }

    /// A value whose name shadows an outer value's was renamed on import, and gets its own name back in the file. If a
    /// pass added a use of the outer value in its scope, the value keeps the name from the import.
    fn shadows(&mut self) {
        let f = self.f;
        let mut restored: FxHashMap<(RegionId, SymbolId), ValueId> = FxHashMap::default();
        let mut names = FxHashSet::default();
        for at in 0..f.value_ids() {
            let value = ValueId(at as u32);
            let name = self.plan.names[at];
            if name != f.value(value).name && f.live_value(value).is_ok() {
                restored.insert((region_or_body(f, value), name), value);
                names.insert(name);
            }
        }
        if restored.is_empty() {
            return;
        }
        let mut capturing = FxHashSet::default();
        for at in 0..f.value_ids() {
            let value = ValueId(at as u32);
            let name = self.plan.names[at];
            if !names.contains(&name) || f.live_value(value).is_err() {
                continue;
            }
            let end = region_or_body(f, value);
            // Names are unique in a graph, so one of the two values was moved here from another graph.
            if let Some(&capturing_value) = restored.get(&(end, name))
                && capturing_value != value
            {
                capturing.insert(capturing_value);
            }
            for (_, slot) in f.uses(value) {
                let mut user = slot.user;
                while f.op(user).parent != end {
                    let region = f.op(user).parent;
                    if let Some(&capturing_value) = restored.get(&(region, name))
                        && f.defining_op(capturing_value)
                            .is_none_or(|op| f.op(op).order < f.op(user).order)
                    {
                        capturing.insert(capturing_value);
                    }
                    user = f.region(region).parent;
                }
            }
        }
        let mut capturing: Vec<ValueId> = capturing.into_iter().collect();
        capturing.sort_unstable();
        for capturing_value in capturing {
            let given = f.value(capturing_value).name;
            let name = match self.used.insert(given) {
                true => given,
                false => self.fresh(given),
            };
            self.rename(capturing_value, name);
        }
    }

    /// Ensures that each output has its name.
    fn outputs(&mut self) {
        let f = self.f;
        let mut holders = None;
        for region in self.plan.regions.clone() {
            if !self.plan.is_region_dirty(region) {
                continue;
            }
            let mut claimed = FxHashSet::default();
            let mut missing = Vec::new();
            let mut outputs = FxHashMap::default();
            for (value, port) in outputs_of(f, region) {
                let name = port.name;
                // Two outputs with the same name have to be the same value.
                if is_text(name)
                    && let Some(known) = outputs.insert(name, value)
                {
                    if known != value {
                        let name = f.text(name);
                        self.plan.clash = Some(format!(
                            "two outputs of a graph are named {name:?}, but are different values; rename one of them"
                        ));
                    }
                } else if value.is_some() && self.plan.name(value) == name {
                    claimed.insert(value);
                } else if value.is_some() && is_text(name) {
                    missing.push((value, name));
                }
            }
            for (value, name) in missing {
                let holders = holders.get_or_insert_with(|| self.holders_by_name());
                let known = holders.get(&(region, name)).map_or(&[][..], Vec::as_slice);
                self.free(region, name, value, known);
                let op = f.defining_op(value);
                if op.is_some_and(|op| f.op(op).parent == region) && claimed.insert(value) {
                    self.rename(value, name);
                } else {
                    let copies = self.plan.copies.entry(region).or_default();
                    copies.push((value, name));
                }
            }
        }
    }

    /// Returns the values of each region by their current names.
    fn holders_by_name(&self) -> FxHashMap<(RegionId, SymbolId), Vec<ValueId>> {
        let f = self.f;
        let mut holders: FxHashMap<(RegionId, SymbolId), Vec<ValueId>> = FxHashMap::default();
        for (value, entity) in self.definitions() {
            let is_default =
                matches!(entity, Entity::Constant(_)) && f.as_constant(value).is_none();
            if !is_default {
                let key = (region_or_body(f, value), self.plan.name(value));
                holders.entry(key).or_default().push(value);
            }
        }
        holders
    }

    /// Renames the values of a region that have a name, so that `keeper` can have it. The names of the main graph's
    /// inputs are its interface and can't change; other inputs are matched by position.
    fn free(&mut self, region: RegionId, name: SymbolId, owner: ValueId, known: &[ValueId]) {
        let f = self.f;
        let is_interface = region == f.body() && f.text(f.name()) == MAIN;
        for &value in known {
            // The value may have been renamed before.
            if value == owner || self.plan.names[value.index()] != name {
                continue;
            }
            if is_interface && f.value(value).flags & Value::KIND == Value::ARG {
                let name = f.text(name);
                self.plan.clash = Some(format!(
                    "an input and an output of the main graph are named {name:?}, but are different values; \
                     rename the output"
                ));
                continue;
            }
            let fresh = self.fresh(name);
            self.rename(value, fresh);
        }
    }

    /// Names the values without a name and the new values whose name is in use.
    fn new_values(&mut self) {
        let f = self.f;
        let mut claimed: FxHashSet<ValueId> = FxHashSet::default();
        for &region in &self.plan.regions {
            let outputs = outputs_of(f, region).filter(|(value, port)| {
                value.is_some() && is_text(port.name) && self.plan.name(*value) == port.name
            });
            claimed.extend(outputs.map(|(value, _)| value));
        }
        for region in self.plan.regions.clone() {
            for arg in f.args(region) {
                let record = f.value(arg);
                // An input without a name in the file stays so, unless it needs one.
                let needs_name = record.use_count > 0
                    || record.constant.is_some()
                    || record.flags & Value::TOUCHED != 0;
                if self.plan.names[arg.index()].is_none() && needs_name {
                    self.assign_fresh_name(arg, symbol::EMPTY);
                }
            }
        }
        for op in f.walk(f.body()) {
            for value in f.results(op) {
                let imported = self.is_imported(Entity::Op(op), value);
                let name = self.plan.names[value.index()];
                let nameless = !is_text(name);
                if claimed.contains(&value) || !f.is_present(value) {
                    continue;
                }
                if nameless || (!imported && !self.used.insert(name)) {
                    self.assign_fresh_name(value, self.f.op(op).name);
                }
            }
        }
        for (id, constant) in f.live_constants() {
            let Some(value) = constant.value.option() else {
                continue;
            };
            let name = self.plan.names[value.index()];
            let imported = self.is_imported(Entity::Constant(id), value);
            if f.value(value).flags & Value::KIND != Value::CONST || claimed.contains(&value) {
                continue;
            }
            let record = f.value(value);
            if name.is_none() && record.use_count == 0 && record.flags & Value::TOUCHED == 0 {
                continue;
            }
            if name.is_none() || (!imported && !self.used.insert(name)) {
                self.assign_fresh_name(value, symbol::EMPTY);
            }
        }
    }

    /// Names unnamed outputs after their values. If another output already has the value, or if
    /// the value is from an outer region, the output is an `Identity` of it.
    fn unnamed_outputs(&mut self) {
        let f = self.f;
        for region in self.plan.regions.clone() {
            if !self.plan.is_region_dirty(region) {
                continue;
            }
            let names = f.ports(region).iter().map(|port| port.name);
            let mut names: FxHashSet<SymbolId> = names.collect();
            for (index, (value, port)) in outputs_of(f, region).enumerate() {
                if port.name.is_some() || value.is_none() {
                    continue;
                }
                let mut name = self.plan.name(value);
                if region_or_body(f, value) != region || !names.insert(name) {
                    name = self.fresh(name);
                    let copies = self.plan.copies.entry(region).or_default();
                    copies.push((value, name));
                }
                self.plan.outputs.insert((region, index), name);
            }
        }
    }

    fn assign_fresh_name(&mut self, value: ValueId, op: SymbolId) {
        let name = self.plan.names[value.index()];
        let base = if name.is_some() && name != symbol::EMPTY {
            name
        } else {
            let text = self.f.text(op);
            let op = OpName::parse(text).map_or(text.into(), |op| op.name);
            self.f
                .symbols()
                .intern(if op.is_empty() { "constant" } else { &op })
        };
        let fresh = self.fresh(base);
        self.rename(value, fresh);
    }

    /// Returns an unused name: the base with a number.
    fn fresh(&mut self, base: SymbolId) -> SymbolId {
        let symbols = self.f.symbols();
        let mut number = self.used.len();
        loop {
            let name = symbols.intern(&numbered(symbols.text(base), number));
            if self.used.insert(name) {
                return name;
            }
            number += 1;
        }
    }

    /// Renames a value and marks the records that contain its name as dirty.
    fn rename(&mut self, value: ValueId, name: SymbolId) {
        let f = self.f;
        self.plan.names[value.index()] = name;
        let record = f.value(value);
        if record.flags & Value::KIND == Value::RESULT {
            self.plan.dirty_ops.insert(OpId(record.def));
        }
        if record.constant.is_some() {
            self.plan.dirty_constants.insert(record.constant);
        }
        let region = region_or_body(f, value);
        self.dirty_region(region);
        for (_, slot) in f.uses(value) {
            self.plan.dirty_ops.insert(slot.user);
            self.dirty_region(f.op(slot.user).parent);
        }
    }

    /// Marks the records with the location of a constant's data as dirty.
    fn moved(&mut self, id: ConstId) {
        let region = self.f.constant(id).region;
        self.plan.dirty_constants.insert(id);
        self.dirty_region(match region.is_none() {
            true => self.f.body(),
            false => region,
        });
    }

    /// Marks the ops that contain dirty regions as dirty.
    fn holders(&mut self) {
        let dirty = self.plan.dirty_regions.iter();
        let holders = dirty.map(|&region| self.f.region(region).parent);
        self.plan.dirty_ops.extend(holders);
    }

    fn dirty_region(&mut self, region: RegionId) {
        let mut next = region;
        while self.plan.dirty_regions.insert(next) {
            match self.f.region(next).parent.option() {
                Some(op) => next = self.f.op(op).parent,
                None => break,
            }
        }
    }
}

/// Appends a number to a name, which is shortened if it would be too long for the reader.
pub(crate) fn numbered(base: &str, number: usize) -> String {
    let end = base.floor_char_boundary(MAX_SYMBOL_BYTES - "_18446744073709551615".len());
    format!("{}_{number}", &base[..end])
}
