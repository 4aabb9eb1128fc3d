//! Names of values in the file, and the records that have to be written anew because of them.
//!
//! Values keep the names of the input. A new value gets a name nobody has; an output that passes
//! gave another value gets its name from that value, or an `Identity`.

use passdock_abi::{ConstId, Op, OpId, Port, Region, RegionId, SymbolId, Value, ValueId, symbol};
use passdock_ir::symbols::MAX_SYMBOL_BYTES;
use passdock_ir::{Entity, Function, OpName};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extras::importer_data::ImporterData;
use crate::format::header::MAIN;

/// The plan of the names of one function.
pub(crate) struct NamePlan {
    names: Vec<SymbolId>,
    dirty_ops: FxHashSet<OpId>,
    dirty_regions: FxHashSet<RegionId>,
    dirty_constants: FxHashSet<ConstId>,
    copies: FxHashMap<RegionId, Vec<(ValueId, SymbolId)>>,
    /// Names of outputs that nobody named, by place.
    outputs: FxHashMap<(RegionId, usize), SymbolId>,
    /// An error about values that would need the same name.
    pub(crate) clash: Option<String>,
    /// Live regions, each before those nested in it.
    pub(crate) regions: Vec<RegionId>,
}

impl NamePlan {
    /// A value's name in the file.
    pub(crate) fn name(&self, value: ValueId) -> SymbolId {
        self.names[value.index()]
    }

    /// The names of all values in the file.
    pub(crate) fn names(&self) -> &[SymbolId] {
        &self.names
    }

    /// Whether an op's own fields differ from its origin's.
    pub(crate) fn is_op_dirty(&self, op: OpId) -> bool {
        self.dirty_ops.contains(&op)
    }

    /// Whether anything in a region differs from its origin.
    pub(crate) fn is_region_dirty(&self, region: RegionId) -> bool {
        self.dirty_regions.contains(&region)
    }

    /// Whether a constant's name differs from its origin's.
    pub(crate) fn is_constant_dirty(&self, id: ConstId) -> bool {
        self.dirty_constants.contains(&id)
    }

    /// The `Identity` nodes a region ends with: value and output.
    pub(crate) fn copies(&self, region: RegionId) -> &[(ValueId, SymbolId)] {
        self.copies.get(&region).map_or(&[], Vec::as_slice)
    }

    /// The name of an output that nobody named; NONE: nothing is known about it.
    pub(crate) fn output_name(&self, region: RegionId, index: usize) -> SymbolId {
        let known = self.outputs.get(&(region, index));
        known.copied().unwrap_or(SymbolId::NONE)
    }

    /// Has all regions written anew, and the ops that hold them.
    pub(crate) fn renew_regions(&mut self, f: &Function) {
        self.dirty_regions.extend(&self.regions);
        let holders = self.regions.iter().map(|&region| f.region(region).parent);
        self.dirty_ops.extend(holders);
    }

    /// Plans a function; `fresh`: everything is written anew. `moved` are the constants whose data
    /// goes elsewhere, `kept` names that stay though no value has them any more.
    pub(crate) fn new(
        f: &Function,
        fresh: bool,
        moved: impl Iterator<Item = ConstId>,
        kept: impl IntoIterator<Item = SymbolId>,
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
            taken: kept.into_iter().collect(),
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

/// The names of the file's values, and those that passes gave.
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

/// The region that a value is defined in.
fn home(f: &Function, value: ValueId) -> RegionId {
    let home = f.home(value);
    if home.is_none() { f.body() } else { home }
}

/// The outputs of a region: the value of each, and its port.
fn outputs_of(f: &Function, region: RegionId) -> impl Iterator<Item = (ValueId, &Port)> {
    let slots = f.terminator(region).map_or(&[][..], |op| f.operands(op));
    slots.iter().map(|slot| slot.value).zip(f.ports(region))
}

/// Whether a name is there and says something.
fn is_text(name: SymbolId) -> bool {
    name.is_some() && name != symbol::EMPTY
}

struct Planner<'f> {
    f: &'f Function,
    taken: FxHashSet<SymbolId>,
    plan: NamePlan,
}

impl Planner<'_> {
    /// Whether a value stood in the file, or in the text.
    fn is_imported(&self, entity: Entity, value: ValueId) -> bool {
        let touched = self.f.value(value).flags & Value::TOUCHED != 0;
        let is_arg = entity == Entity::Value(value);
        is_arg || !touched || self.f.origins().get(entity).is_some()
    }

    /// Takes the names that have to stay: outputs', and those of the file's values.
    fn take(&mut self) {
        let regions = self.plan.regions.iter();
        let ports = regions.flat_map(|&region| self.f.ports(region));
        let outputs: Vec<SymbolId> = ports.map(|port| port.name).collect();
        let is_imported = |&(value, entity): &(ValueId, Entity)| self.is_imported(entity, value);
        let imported = self.definitions().filter(is_imported);
        let imported: Vec<SymbolId> = imported.map(|(value, _)| self.plan.name(value)).collect();
        self.taken.extend(outputs);
        self.taken.extend(imported);
        self.taken.extend([SymbolId::NONE, symbol::EMPTY]);
    }

    /// The values, each with the entity that defines it: an argument is its own.
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

    /// A value that has its name in the file again, though it means another value outside, keeps the
    /// name it got instead where a pass has come to use the other one behind it.
    fn shadows(&mut self) {
        let f = self.f;
        let mut restored: FxHashMap<(RegionId, SymbolId), ValueId> = FxHashMap::default();
        let mut names = FxHashSet::default();
        for at in 0..f.value_ids() {
            let value = ValueId(at as u32);
            let name = self.plan.names[at];
            if name != f.value(value).name && f.live_value(value).is_ok() {
                restored.insert((home(f, value), name), value);
                names.insert(name);
            }
        }
        if restored.is_empty() {
            return;
        }
        let mut captors = FxHashSet::default();
        for at in 0..f.value_ids() {
            let value = ValueId(at as u32);
            let name = self.plan.names[at];
            if !names.contains(&name) || f.live_value(value).is_err() {
                continue;
            }
            let end = home(f, value);
            // In one graph there is one of a name: one of them was brought up from another graph.
            if let Some(&captor) = restored.get(&(end, name))
                && captor != value
            {
                captors.insert(captor);
            }
            for (_, slot) in f.uses(value) {
                let mut user = slot.user;
                while f.op(user).parent != end {
                    let region = f.op(user).parent;
                    if let Some(&captor) = restored.get(&(region, name))
                        && f.defining_op(captor)
                            .is_none_or(|op| f.op(op).order < f.op(user).order)
                    {
                        captors.insert(captor);
                    }
                    user = f.region(region).parent;
                }
            }
        }
        let mut captors: Vec<ValueId> = captors.into_iter().collect();
        captors.sort_unstable();
        for captor in captors {
            let given = f.value(captor).name;
            let name = match self.taken.insert(given) {
                true => given,
                false => self.fresh(given),
            };
            self.rename(captor, name);
        }
    }

    /// Sees to it that every output has its name.
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
                // Two outputs of a name are one value.
                if is_text(name)
                    && let Some(known) = outputs.insert(name, value)
                {
                    if known != value {
                        let name = f.text(name);
                        self.plan.clash = Some(format!(
                            "two outputs {name:?} of a graph aren't the same value any more, and in \
                             ONNX they are; give one another name"
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

    /// The values of each region by the names that they have now.
    fn holders_by_name(&self) -> FxHashMap<(RegionId, SymbolId), Vec<ValueId>> {
        let f = self.f;
        let mut holders: FxHashMap<(RegionId, SymbolId), Vec<ValueId>> = FxHashMap::default();
        for (value, entity) in self.definitions() {
            let is_default =
                matches!(entity, Entity::Constant(_)) && f.as_constant(value).is_none();
            if !is_default {
                let key = (home(f, value), self.plan.name(value));
                holders.entry(key).or_default().push(value);
            }
        }
        holders
    }

    /// Takes a name away from the values of a region that have it. The names of the main graph's
    /// inputs are its interface; all other inputs are known by their place.
    fn free(&mut self, region: RegionId, name: SymbolId, keeper: ValueId, known: &[ValueId]) {
        let f = self.f;
        let is_interface = region == f.body() && f.text(f.name()) == MAIN;
        for &value in known {
            // It may have got another name meanwhile.
            if value == keeper || self.plan.names[value.index()] != name {
                continue;
            }
            if is_interface && f.value(value).flags & Value::KIND == Value::ARG {
                let name = f.text(name);
                self.plan.clash = Some(format!(
                    "the main graph's output {name:?} isn't its input of this name any more, and in \
                     ONNX they are one value; give the output another name"
                ));
                continue;
            }
            let fresh = self.fresh(name);
            self.rename(value, fresh);
        }
    }

    /// Gives names to what has none, or one that was taken.
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
                // An input of the file that has no name is left so as long as nobody needs one.
                let needs_name = record.use_count > 0
                    || record.constant.is_some()
                    || record.flags & Value::TOUCHED != 0;
                if self.plan.names[arg.index()].is_none() && needs_name {
                    self.name_anew(arg, symbol::EMPTY);
                }
            }
        }
        for op in f.walk(f.body()) {
            for value in f.results(op) {
                let imported = self.is_imported(Entity::Op(op), value);
                let record = f.value(value);
                let name = self.plan.names[value.index()];
                let nameless = !is_text(name);
                let absent = record.flags & Value::ABSENT != 0;
                if claimed.contains(&value) || (absent && record.use_count == 0) {
                    continue;
                }
                if nameless || (!imported && !self.taken.insert(name)) {
                    self.name_anew(value, self.f.op(op).name);
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
            if name.is_none() || (!imported && !self.taken.insert(name)) {
                self.name_anew(value, symbol::EMPTY);
            }
        }
    }

    /// Names the outputs that nobody named: each is the value, or an `Identity` of one that another
    /// output is already, or that is from outside.
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
                if home(f, value) != region || !names.insert(name) {
                    name = self.fresh(name);
                    let copies = self.plan.copies.entry(region).or_default();
                    copies.push((value, name));
                }
                self.plan.outputs.insert((region, index), name);
            }
        }
    }

    fn name_anew(&mut self, value: ValueId, op: SymbolId) {
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

    /// A name nobody has: the base with the value's number.
    fn fresh(&mut self, base: SymbolId) -> SymbolId {
        let symbols = self.f.symbols();
        let mut number = self.taken.len();
        loop {
            let name = symbols.intern(&numbered(symbols.text(base), number));
            if self.taken.insert(name) {
                return name;
            }
            number += 1;
        }
    }

    /// Gives a value a name; what says the name has to be written anew.
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
        let home = home(f, value);
        self.dirty_region(home);
        for (_, slot) in f.uses(value) {
            self.plan.dirty_ops.insert(slot.user);
            self.dirty_region(f.op(slot.user).parent);
        }
    }

    /// Marks the records that say where a constant's data is as changed.
    fn moved(&mut self, id: ConstId) {
        let home = self.f.constant(id).region;
        self.plan.dirty_constants.insert(id);
        self.dirty_region(if home.is_none() { self.f.body() } else { home });
    }

    /// An op has to be written anew if a region of it has.
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

/// A name with a number behind it; cut, where it would be too long to be read again.
pub(crate) fn numbered(base: &str, number: usize) -> String {
    let end = base.floor_char_boundary(MAX_SYMBOL_BYTES - "_18446744073709551615".len());
    format!("{}_{number}", &base[..end])
}
