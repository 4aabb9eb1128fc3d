//! The printed names of values and the positions of constants.

use std::fmt::Write;

use passdock_abi::{
    ConstId, Constant, DType, FunctionKind, LocId, OpId, RegionId, SymbolId, TypeKind, Value,
    ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::syntax::element::literal;
use super::super::syntax::write_number;
use crate::function::Function;
use crate::function::origin::Entity;
use crate::function::walk::{Event, Events};
use crate::pool::in_region;
use crate::quote::write_name;

const NO_NUMBER: u32 = u32::MAX;

/// The printed names of one function's values.
pub(super) struct ValueNames {
    /// The number of each value.
    numbers: Vec<u32>,
    /// Values whose name is shadowed by another value at their definition.
    renamed: FxHashMap<ValueId, String>,
    /// Constants printed as literals at their uses.
    literals: FxHashMap<ValueId, String>,
    /// Constants at the start of their region, sorted by region.
    top: Vec<(RegionId, ConstId)>,
    /// Constants right before an op.
    anchored: FxHashMap<OpId, Vec<ConstId>>,
}

/// The maximum length in bytes of a parameter's name that is kept if all values are numbered.
const MAX_PARAMETER_LEN: usize = 24;

impl ValueNames {
    /// Names all values: by their own names, or by numbers if they have none or `numbers_all` is set.
    pub(super) fn new(f: &Function, numbers_all: bool) -> ValueNames {
        let mut names = ValueNames {
            numbers: vec![NO_NUMBER; f.value_ids()],
            renamed: FxHashMap::default(),
            literals: FxHashMap::default(),
            top: Vec::new(),
            anchored: FxHashMap::default(),
        };
        names.assign_constants(f);
        let mut binder = Binder {
            f,
            names: &mut names,
            bound: FxHashSet::default(),
            log: Vec::new(),
            next: 0,
            created: FxHashSet::default(),
            tried: FxHashMap::default(),
            numbers_all,
        };
        binder.function();
        names
    }

    /// Returns the numbered values, sorted by number.
    pub(super) fn numbered(&self) -> Vec<(ValueId, u32)> {
        let each = self.numbers.iter().enumerate();
        let numbered = each.filter(|(_, number)| **number != NO_NUMBER);
        let mut numbered: Vec<_> = numbered.map(|(at, &n)| (ValueId(at as u32), n)).collect();
        numbered.sort_by_key(|(_, number)| *number);
        numbered
    }

    /// Changes the number of a value; the new number has to be unused.
    pub(super) fn set_number(&mut self, value: ValueId, number: u32) {
        self.numbers[value.index()] = number;
    }

    /// Returns the constants at the start of a region.
    pub(super) fn top(&self, region: RegionId) -> &[(RegionId, ConstId)] {
        in_region(&self.top, region)
    }

    /// Returns the constants right before an op.
    pub(super) fn before(&self, op: OpId) -> &[ConstId] {
        self.anchored.get(&op).map_or(&[], Vec::as_slice)
    }

    /// Writes a value as an operand.
    pub(super) fn write_use(&self, out: &mut String, f: &Function, value: ValueId) {
        if value.is_none() {
            out.push('_');
        } else if let Some(text) = self.literals.get(&value) {
            out.push_str(text);
        } else {
            self.write(out, f, value);
        }
    }

    /// Writes a value's name.
    pub(super) fn write(&self, out: &mut String, f: &Function, value: ValueId) {
        out.push('%');
        let number = self.numbers.get(value.index());
        match number.copied() {
            Some(NO_NUMBER) => {
                let name = f.value(value).name;
                if let Some(text) = self.renamed.get(&value) {
                    write_name(out, text);
                } else if name.is_some() {
                    write_name(out, f.text(name));
                } else {
                    // The function is invalid: nothing defines the value. Writing to a string can't fail, here and
                    // below.
                    _ = write!(out, "<{value}>");
                }
            }
            Some(number) => write_number(out, number),
            None => _ = write!(out, "<{value}>"),
        }
    }

    fn assign_constants(&mut self, f: &Function) {
        let is_value = |constant: &Constant| {
            let value = constant
                .value
                .option()
                .filter(|id| id.index() < f.value_ids());
            value.is_some_and(|id| f.value(id).flags & Value::KIND == Value::CONST)
        };
        let mut late = Vec::new();
        for (id, constant) in f
            .live_constants()
            .filter(|(_, constant)| is_value(constant))
        {
            if f.kind() == FunctionKind::PRIM
                && let Some(text) = inline(f, id, constant)
            {
                self.literals.insert(constant.value, text);
            } else if constant.flags & Constant::NODE == 0 {
                self.top.push((constant.region, id));
            } else {
                let anchor = f.live_op(constant.anchor);
                if anchor.is_ok_and(|op| op.parent == constant.region) {
                    self.anchored.entry(constant.anchor).or_default().push(id);
                }
                late.push((constant.region, id));
            }
        }
        if !self.anchored.is_empty() {
            self.drop_late_anchors(f);
        }
        // Constants written as ops go after the others: when parsed again, they precede the first op.
        let placed: FxHashSet<ConstId> = self.anchored.values().flatten().copied().collect();
        self.top
            .extend(late.into_iter().filter(|(_, id)| !placed.contains(id)));
        self.top.sort_by_key(|entry| entry.0);
    }

    /// Drops the anchor of constants that are used before it.
    fn drop_late_anchors(&mut self, f: &Function) {
        let mut waiting: FxHashSet<ValueId> = self
            .anchored
            .values()
            .flatten()
            .map(|&id| f.constant(id).value)
            .collect();
        let mut early = FxHashSet::default();
        for op in f.walk(f.body()) {
            for &id in self.before(op) {
                waiting.remove(&f.constant(id).value);
            }
            let uses = f.operands(op).iter().map(|slot| slot.value);
            early.extend(uses.filter(|value| waiting.remove(value)));
        }
        if !early.is_empty() {
            for ids in self.anchored.values_mut() {
                ids.retain(|&id| !early.contains(&f.constant(id).value));
            }
        }
    }
}

/// Returns the literal of a constant that is printed at its uses: an unnamed scalar in a prim function without other
/// properties.
fn inline(f: &Function, id: ConstId, constant: &Constant) -> Option<String> {
    let value = f.value(constant.value);
    let plain = value.name.is_none()
        && value.use_count > 0
        && value.flags & Value::DECLARED == 0
        && constant.region == f.body()
        && constant.flags & Constant::NODE == 0
        && constant.loc == LocId::NONE
        && f.origins().extras(Entity::Value(constant.value)).is_none()
        && f.origins().extras(Entity::Constant(id)).is_none();
    let ty = f.live_type(constant.ty).ok()?;
    let scalar = ty.kind == TypeKind::SCALAR && ty.lanes <= 1;
    if !plain || !scalar || ty.dtype == DType::NONE {
        return None;
    }
    literal(ty.dtype, f.constant_data(id).bytes().ok()?)
}

/// Walks the function in the same order as the parser.
struct Binder<'f> {
    f: &'f Function,
    names: &'f mut ValueNames,
    /// The names of the visible values.
    bound: FxHashSet<SymbolId>,
    /// The visible names, in the order in which they were bound.
    log: Vec<SymbolId>,
    next: u32,
    /// The generated names, and the last suffix tried per name.
    created: FxHashSet<String>,
    tried: FxHashMap<SymbolId, u32>,
    /// Whether values are numbered, except for parameters with short names.
    numbers_all: bool,
}

impl Binder<'_> {
    fn function(&mut self) {
        let mut marks = Vec::new();
        for event in Events::new(self.f, self.f.body()) {
            match event {
                Event::Enter(region) => {
                    marks.push(self.log.len());
                    self.f.args(region).for_each(|arg| self.define(arg));
                    for at in 0..self.names.top(region).len() {
                        let id = self.names.top(region)[at].1;
                        self.define(self.f.constant(id).value);
                    }
                }
                Event::Op(op) => {
                    for at in 0..self.names.before(op).len() {
                        let id = self.names.before(op)[at];
                        self.define(self.f.constant(id).value);
                    }
                    let nested = self.f.op(op).regions.len > 0;
                    for result in self.f.results(op) {
                        self.number(result);
                        if !nested {
                            self.bind(result);
                        }
                    }
                }
                Event::After(op) => self.f.results(op).for_each(|result| self.bind(result)),
                Event::Leave => {
                    let mark = marks.pop().unwrap_or(0);
                    for name in self.log.drain(mark..) {
                        self.bound.remove(&name);
                    }
                }
            }
        }
    }

    fn define(&mut self, value: ValueId) {
        self.number(value);
        self.bind(value);
    }

    fn number(&mut self, value: ValueId) {
        let record = self.f.value(value);
        if !self.is_named(record) && self.f.is_present(value) {
            self.names.numbers[value.index()] = self.next;
            self.next += 1;
        }
    }

    /// Whether a value is printed by its name.
    fn is_named(&self, record: &Value) -> bool {
        let parameter = || {
            record.flags & Value::KIND == Value::ARG
                && RegionId(record.def) == self.f.body()
                && self.f.text(record.name).len() <= MAX_PARAMETER_LEN
        };
        record.name.is_some() && (!self.numbers_all || parameter())
    }

    fn bind(&mut self, value: ValueId) {
        let record = self.f.value(value);
        let name = record.name;
        if !self.is_named(record) || !self.f.is_present(value) {
            return;
        }
        if self.bound.insert(name) {
            self.log.push(name);
            return;
        }
        // Another value with this name is visible, so this one is printed with another name.
        let base = self.f.text(name);
        let number = self.tried.entry(name).or_insert(0);
        let fresh = loop {
            *number += 1;
            let text = format!("{base}_{number}");
            if self.f.symbols().find(&text).is_none() && self.created.insert(text.clone()) {
                break text;
            }
        };
        self.names.renamed.insert(value, fresh);
    }
}
