//! [`Function`]: its ops, values and regions. Iterators are in `iter.rs`, types in `types.rs`, constants and attributes
//! in `read.rs`, edits in `edit.rs`.

use std::fmt;

use passdock_abi as abi;
use passdock_abi::{FunctionKind, LocId, LocKind, OpId, RegionId, SymbolId, TypeId, ValueId};

use super::name::Name;
use crate::data::{EditError, OpTraits};
use crate::ffi::Function;

#[cold]
#[track_caller]
fn stale(what: &dyn fmt::Display) -> ! {
    panic!(
        "{} is not in this function: it was erased, or belongs to another function; use `is_live` to check ids \
         that were kept across edits",
        what
    )
}

impl Function {
    /// Returns the canonical name of the function.
    pub fn function_name(&self) -> &str {
        self.text(self.raw.name())
    }

    /// Returns the kind: graph function (`fn`) or loop-level function (`prim`).
    pub fn kind(&self) -> FunctionKind {
        self.raw.kind()
    }

    /// Returns the function's body.
    pub fn body(&self) -> RegionId {
        self.raw.body()
    }

    /// Returns the function's parameters: the body's arguments.
    pub fn params(&self) -> &[ValueId] {
        self.args(self.body())
    }

    /// Returns the version, which increases with each edit: if it is the same, the function hasn't changed.
    pub fn version(&self) -> u64 {
        self.raw.version()
    }

    /// Returns the number of ops in all regions, terminators included.
    pub fn op_count(&self) -> usize {
        self.raw.op_count() as usize
    }

    /// Returns the imported version of a domain; `""` is ONNX's own.
    pub fn opset(&self, domain: &str) -> Option<i64> {
        // There are few of them: comparing strings is faster than finding the symbol.
        let mut opsets = self.opsets();
        let opset = opsets.find(|(name, _)| *name == domain);
        opset.map(|(_, version)| version)
    }

    /// Returns the imported domains, as (domain, version).
    pub fn opsets(&self) -> impl Iterator<Item = (&str, i64)> + '_ {
        let opsets = self.raw.opsets();
        opsets.map(move |opset| (self.text(opset.domain), opset.version))
    }

    // Symbols.

    /// Returns the string of a symbol.
    #[inline]
    pub fn text(&self, symbol: SymbolId) -> &str {
        self.raw.symbols().text(symbol)
    }

    /// Returns the symbol of a string, if the string is interned in the module.
    pub fn find_symbol(&self, text: &str) -> Option<SymbolId> {
        self.raw.symbols().find(text)
    }

    /// Interns a string and returns its symbol.
    ///
    /// # Errors
    /// If the string is longer than the host allows.
    pub fn intern(&self, text: &str) -> Result<SymbolId, EditError> {
        self.raw.symbols().intern(text)
    }

    /// Whether an op is live: it exists and isn't erased.
    #[inline]
    pub fn is_live(&self, op: OpId) -> bool {
        self.raw
            .op(op.0)
            .map_or(false, |record| record.flags & abi::Op::DEAD == 0)
    }

    /// Whether a value is live: it exists and isn't erased.
    pub fn is_live_value(&self, value: ValueId) -> bool {
        self.raw
            .value(value.0)
            .map_or(false, |record| record.flags & abi::Value::DEAD == 0)
    }

    // Records of live entities.

    #[inline]
    #[track_caller]
    pub(crate) fn op_record(&self, op: OpId) -> abi::Op {
        match self.raw.op(op.0) {
            Some(record) if record.flags & abi::Op::DEAD == 0 => record,
            _ => stale(&op),
        }
    }

    /// Returns the record of a value; `None` for an omitted operand.
    #[inline]
    #[track_caller]
    pub(crate) fn value_record(&self, value: ValueId) -> Option<abi::Value> {
        match self.raw.value(value.0) {
            Some(record) if record.flags & abi::Value::DEAD == 0 => Some(record),
            _ if value.is_none() => None,
            _ => stale(&value),
        }
    }

    #[inline]
    #[track_caller]
    pub(crate) fn region_record(&self, region: RegionId) -> abi::Region {
        match self.raw.region(region.0) {
            Some(record) if record.flags & abi::Region::DEAD == 0 => record,
            _ => stale(&region),
        }
    }

    // Ops.

    /// Returns an op's name, domain included: `onnx.Relu`.
    #[inline]
    #[track_caller]
    pub fn name(&self, op: OpId) -> &str {
        self.text(self.symbol(op))
    }

    /// Returns the symbol of an op's name. Comparing symbols is cheaper than comparing strings.
    #[inline]
    #[track_caller]
    pub fn symbol(&self, op: OpId) -> SymbolId {
        self.op_record(op).name
    }

    /// Returns the number of an op's operands, omitted ones included.
    #[inline]
    #[track_caller]
    pub fn operand_count(&self, op: OpId) -> usize {
        self.op_record(op).operands.len as usize
    }

    /// Returns an operand; `None` if it is omitted or `index` is out of range.
    #[inline]
    #[track_caller]
    pub fn operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        let slot = self.raw.use_range(self.op_record(op).operands).get(index)?;
        slot.value.option()
    }

    /// Iterates over an op's operands; an omitted one is [`ValueId::NONE`].
    #[inline]
    #[track_caller]
    pub fn operands(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + '_ {
        let slots = self.raw.use_range(self.op_record(op).operands);
        slots.map(|slot| slot.value)
    }

    /// Returns the number of an op's results.
    #[inline]
    #[track_caller]
    pub fn result_count(&self, op: OpId) -> usize {
        self.op_record(op).results.len as usize
    }

    /// Returns a result; [`ValueId::NONE`] if `index` is out of range.
    #[inline]
    #[track_caller]
    pub fn result(&self, op: OpId, index: usize) -> ValueId {
        self.results(op)
            .get(index)
            .copied()
            .unwrap_or(ValueId::NONE)
    }

    /// Returns an op's results.
    #[inline]
    #[track_caller]
    pub fn results(&self, op: OpId) -> &[ValueId] {
        self.raw.ids(self.op_record(op).results)
    }

    /// Returns an op's regions.
    #[inline]
    #[track_caller]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        self.raw.ids(self.op_record(op).regions)
    }

    /// Returns an op's region with this name (`"then_branch"`).
    #[track_caller]
    pub fn region<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<RegionId> {
        let name = name.into().find(self)?;
        let mut regions = self.regions(op).iter().copied();
        regions.find(|region| self.region_record(*region).name == name)
    }

    /// Returns an op's region with this name, or an error if there is none.
    pub(crate) fn expect_region(&self, op: OpId, region: &str) -> Result<RegionId, EditError> {
        self.region(op, region).ok_or_else(|| {
            let message = format!("`{}` has no region called `{}`", self.name(op), region);
            EditError::new(abi::Status::NOT_FOUND, message, Some(op))
        })
    }

    /// Returns the region that contains an op.
    #[inline]
    #[track_caller]
    pub fn parent_region(&self, op: OpId) -> RegionId {
        self.op_record(op).parent
    }

    /// Returns the op after `op` in its region.
    #[inline]
    #[track_caller]
    pub fn next_op(&self, op: OpId) -> Option<OpId> {
        let record = self.op_record(op);
        // A list that a faulty plugin has written to may be cyclic; its order can't be.
        let next = self.raw.op(record.next.0)?;
        (next.order > record.order).then_some(record.next)
    }

    /// Returns the op before `op` in its region.
    #[inline]
    #[track_caller]
    pub fn previous_op(&self, op: OpId) -> Option<OpId> {
        let record = self.op_record(op);
        let previous = self.raw.op(record.prev.0)?;
        (previous.order < record.order).then_some(record.prev)
    }

    /// Whether `a` precedes `b`.
    ///
    /// # Panics
    /// If they aren't in the same region.
    #[inline]
    #[track_caller]
    pub fn is_before(&self, a: OpId, b: OpId) -> bool {
        let (a, b) = (self.op_record(a), self.op_record(b));
        assert_eq!(
            a.parent, b.parent,
            "`is_before` expects two ops of the same region"
        );
        a.order < b.order
    }

    /// Returns the traits of an op's definition.
    #[track_caller]
    pub fn traits(&self, op: OpId) -> OpTraits {
        self.traits_of(self.symbol(op))
    }

    /// Returns the traits of an operator's definition.
    pub(crate) fn traits_of(&self, operator: SymbolId) -> OpTraits {
        OpTraits(self.raw_traits(operator).unwrap_or(0))
    }

    /// Returns an op's location.
    #[track_caller]
    pub fn loc(&self, op: OpId) -> LocId {
        self.op_record(op).loc
    }

    /// Returns the ONNX node's name, if an op's location is one.
    #[track_caller]
    pub fn loc_name(&self, op: OpId) -> Option<&str> {
        let loc = self.raw.loc(self.loc(op).0)?;
        if loc.kind == LocKind::NAME {
            loc.name.option().map(|name| self.text(name))
        } else {
            None
        }
    }

    /// Whether the model has more data for an op than its record: documentation, metadata, several locations. Copies of
    /// the op have it, too.
    #[track_caller]
    pub fn is_annotated(&self, op: OpId) -> bool {
        let loc = self.raw.loc(self.loc(op).0);
        self.op_record(op).flags & abi::Op::ANNOTATED != 0
            || loc.map_or(false, |loc| loc.kind == LocKind::FUSED)
    }

    // Values.

    /// Returns the op that a value is a result of; `None` for an argument, a constant, and an omitted operand.
    #[inline]
    #[track_caller]
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        let record = self.value_record(value)?;
        (record.flags & abi::Value::KIND == abi::Value::RESULT).then_some(OpId(record.def))
    }

    /// Returns the index of a value among its op's results or its region's arguments.
    #[inline]
    #[track_caller]
    pub fn index(&self, value: ValueId) -> usize {
        self.value_record(value)
            .map_or(0, |record| record.index as usize)
    }

    /// Returns the region that a value is an argument of.
    #[inline]
    #[track_caller]
    pub fn arg_region(&self, value: ValueId) -> Option<RegionId> {
        let record = self.value_record(value)?;
        (record.flags & abi::Value::KIND == abi::Value::ARG).then_some(RegionId(record.def))
    }

    /// Returns the number of a value's uses.
    #[inline]
    #[track_caller]
    pub fn use_count(&self, value: ValueId) -> usize {
        self.value_record(value)
            .map_or(0, |record| record.use_count as usize)
    }

    /// Returns the name of a value.
    #[track_caller]
    pub fn value_name(&self, value: ValueId) -> Option<&str> {
        let name = self.value_record(value)?.name.option()?;
        Some(self.text(name))
    }

    /// Returns the id of a value's type. Equal ids are equal types.
    #[inline]
    #[track_caller]
    pub fn type_id(&self, value: ValueId) -> TypeId {
        self.value_record(value)
            .map_or(TypeId::NONE, |record| record.ty)
    }

    // Regions.

    /// Returns the arguments of a region.
    #[inline]
    #[track_caller]
    pub fn args(&self, region: RegionId) -> &[ValueId] {
        self.raw.ids(self.region_record(region).args)
    }

    /// Returns the name of a region among its op's regions.
    #[track_caller]
    pub fn region_name(&self, region: RegionId) -> &str {
        match self.region_record(region).name.option() {
            Some(name) => self.text(name),
            None => "",
        }
    }

    /// Returns the op that contains a region; `None` for the body.
    #[inline]
    #[track_caller]
    pub fn parent_op(&self, region: RegionId) -> Option<OpId> {
        self.region_record(region).parent.option()
    }

    /// Returns the first op of a region.
    #[inline]
    #[track_caller]
    pub fn first_op(&self, region: RegionId) -> Option<OpId> {
        self.region_record(region).first.option()
    }

    /// Returns the terminator of a region, a `return` or `yield`, whose operands are the region's results.
    #[inline]
    #[track_caller]
    pub fn terminator(&self, region: RegionId) -> Option<OpId> {
        let last = self.region_record(region).last.option()?;
        let name = self.symbol(last);
        (name == abi::symbol::RETURN || name == abi::symbol::YIELD).then_some(last)
    }

    /// Whether an op is the terminator of its region.
    #[track_caller]
    pub fn is_terminator(&self, op: OpId) -> bool {
        self.terminator(self.parent_region(op)) == Some(op)
    }

    /// Returns the names and declared types of a region's results.
    #[track_caller]
    pub fn ports(&self, region: RegionId) -> impl ExactSizeIterator<Item = abi::Port> + '_ {
        self.raw.port_range(self.region_record(region).ports)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{} ({} ops)", self.function_name(), self.op_count())
    }
}
