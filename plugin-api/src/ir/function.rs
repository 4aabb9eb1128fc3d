//! [`Function`]: its ops, values and regions. Walks are in `iter.rs`, types in `types.rs`, constants and
//! attributes in `read.rs`, edits in `edit.rs`.

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
        "{} names nothing in this function: it was erased, or belongs to another function; \
         ask `is_live` about an id that was kept across edits",
        what
    )
}

impl Function {
    /// The canonical name of the function itself.
    pub fn function_name(&self) -> &str {
        self.text(self.raw.name())
    }

    /// Graph function (`fn`) or loop-level function (`prim`).
    pub fn kind(&self) -> FunctionKind {
        self.raw.kind()
    }

    /// The function's body.
    pub fn body(&self) -> RegionId {
        self.raw.body()
    }

    /// The function's parameters: the body's arguments.
    pub fn params(&self) -> &[ValueId] {
        self.args(self.body())
    }

    /// Grows with every edit; equal versions are equal functions.
    pub fn version(&self) -> u64 {
        self.raw.version()
    }

    /// The number of ops, in all regions, terminators included.
    pub fn op_count(&self) -> usize {
        self.raw.op_count() as usize
    }

    /// The version of a domain that the function's ops mean; `""` is ONNX's own.
    pub fn opset(&self, domain: &str) -> Option<i64> {
        // They are few: comparing texts is faster than finding the symbol.
        let mut opsets = self.opsets();
        let opset = opsets.find(|(name, _)| *name == domain);
        opset.map(|(_, version)| version)
    }

    /// The versions of domains, as (domain, version).
    pub fn opsets(&self) -> impl Iterator<Item = (&str, i64)> + '_ {
        let opsets = self.raw.opsets();
        opsets.map(move |opset| (self.text(opset.domain), opset.version))
    }

    // Symbols.

    /// The text of a symbol.
    #[inline]
    pub fn text(&self, symbol: SymbolId) -> &str {
        self.raw.symbols().text(symbol)
    }

    /// The symbol of a text, if the module has one.
    pub fn find_symbol(&self, text: &str) -> Option<SymbolId> {
        self.raw.symbols().find(text)
    }

    /// The symbol of a text, made if it is new.
    ///
    /// # Errors
    /// If the text is longer than the host takes.
    pub fn intern(&self, text: &str) -> Result<SymbolId, EditError> {
        self.raw.symbols().intern(text)
    }

    /// Whether an op is still there.
    #[inline]
    pub fn is_live(&self, op: OpId) -> bool {
        self.raw
            .op(op.0)
            .map_or(false, |record| record.flags & abi::Op::DEAD == 0)
    }

    /// Whether a value is still there.
    pub fn is_live_value(&self, value: ValueId) -> bool {
        self.raw
            .value(value.0)
            .map_or(false, |record| record.flags & abi::Value::DEAD == 0)
    }

    // Records, live ones only.

    #[inline]
    #[track_caller]
    pub(crate) fn op_record(&self, op: OpId) -> abi::Op {
        match self.raw.op(op.0) {
            Some(record) if record.flags & abi::Op::DEAD == 0 => record,
            _ => stale(&op),
        }
    }

    /// `None` for an operand left out.
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

    /// An op's name, domain included: `onnx.Relu`.
    #[inline]
    #[track_caller]
    pub fn name(&self, op: OpId) -> &str {
        self.text(self.symbol(op))
    }

    /// The symbol of an op's name: comparing symbols is cheaper than comparing texts.
    #[inline]
    #[track_caller]
    pub fn symbol(&self, op: OpId) -> SymbolId {
        self.op_record(op).name
    }

    /// The number of an op's operands, those left out in between included.
    #[inline]
    #[track_caller]
    pub fn operand_count(&self, op: OpId) -> usize {
        self.op_record(op).operands.len as usize
    }

    /// An operand; `None` if there is no such slot, or it is left out.
    #[inline]
    #[track_caller]
    pub fn operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        let slot = self.raw.use_range(self.op_record(op).operands).get(index)?;
        slot.value.option()
    }

    /// An op's operands; one left out is [`ValueId::NONE`].
    #[inline]
    #[track_caller]
    pub fn operands(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + '_ {
        let slots = self.raw.use_range(self.op_record(op).operands);
        slots.map(|slot| slot.value)
    }

    /// The number of an op's results.
    #[inline]
    #[track_caller]
    pub fn result_count(&self, op: OpId) -> usize {
        self.op_record(op).results.len as usize
    }

    /// A result; [`ValueId::NONE`] if there is no such one.
    #[inline]
    #[track_caller]
    pub fn result(&self, op: OpId, index: usize) -> ValueId {
        self.results(op)
            .get(index)
            .copied()
            .unwrap_or(ValueId::NONE)
    }

    /// An op's results.
    #[inline]
    #[track_caller]
    pub fn results(&self, op: OpId) -> &[ValueId] {
        self.raw.ids(self.op_record(op).results)
    }

    /// An op's regions.
    #[inline]
    #[track_caller]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        self.raw.ids(self.op_record(op).regions)
    }

    /// An op's region of a name (`"then_branch"`).
    #[track_caller]
    pub fn region<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<RegionId> {
        let name = name.into().find(self)?;
        let mut regions = self.regions(op).iter().copied();
        regions.find(|region| self.region_record(*region).name == name)
    }

    /// The region an op stands in.
    #[inline]
    #[track_caller]
    pub fn parent_region(&self, op: OpId) -> RegionId {
        self.op_record(op).parent
    }

    /// The op after it in its region.
    #[inline]
    #[track_caller]
    pub fn next_op(&self, op: OpId) -> Option<OpId> {
        let record = self.op_record(op);
        // A list that somebody wrote into may have no end; the order of its ops has one.
        let next = self.raw.op(record.next.0)?;
        (next.order > record.order).then_some(record.next)
    }

    /// The op before it in its region.
    #[inline]
    #[track_caller]
    pub fn previous_op(&self, op: OpId) -> Option<OpId> {
        let record = self.op_record(op);
        let previous = self.raw.op(record.prev.0)?;
        (previous.order < record.order).then_some(record.prev)
    }

    /// Whether `a` stands before `b`; both must stand in the same region.
    #[inline]
    #[track_caller]
    pub fn is_before(&self, a: OpId, b: OpId) -> bool {
        let (a, b) = (self.op_record(a), self.op_record(b));
        assert_eq!(
            a.parent, b.parent,
            "`is_before` compares ops of one region; these stand in two"
        );
        a.order < b.order
    }

    /// The traits that an op's definition gives it.
    #[track_caller]
    pub fn traits(&self, op: OpId) -> OpTraits {
        self.traits_of(self.symbol(op))
    }

    /// The traits that the definition of an operator gives its ops.
    pub(crate) fn traits_of(&self, operator: SymbolId) -> OpTraits {
        OpTraits(self.raw_traits(operator).unwrap_or(0))
    }

    /// The location that an op comes from.
    #[track_caller]
    pub fn loc(&self, op: OpId) -> LocId {
        self.op_record(op).loc
    }

    /// The ONNX node's name, if that is where an op comes from.
    #[track_caller]
    pub fn loc_name(&self, op: OpId) -> Option<&str> {
        let loc = self.raw.loc(self.loc(op).0)?;
        if loc.kind == LocKind::NAME {
            loc.name.option().map(|name| self.text(name))
        } else {
            None
        }
    }

    /// Whether more is known of an op than its record says: documentation, metadata, several places that it comes
    /// from. A copy has it, too.
    #[track_caller]
    pub fn is_annotated(&self, op: OpId) -> bool {
        let loc = self.raw.loc(self.loc(op).0);
        self.op_record(op).flags & abi::Op::ANNOTATED != 0
            || loc.map_or(false, |loc| loc.kind == LocKind::FUSED)
    }

    // Values.

    /// The op that a value is a result of; `None` for an argument, a constant, an operand left out.
    #[inline]
    #[track_caller]
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        let record = self.value_record(value)?;
        (record.flags & abi::Value::KIND == abi::Value::RESULT).then_some(OpId(record.def))
    }

    /// The index of a value among its op's results, or its region's arguments.
    #[inline]
    #[track_caller]
    pub fn index(&self, value: ValueId) -> usize {
        self.value_record(value)
            .map_or(0, |record| record.index as usize)
    }

    /// The region that a value is an argument of.
    #[inline]
    #[track_caller]
    pub fn arg_region(&self, value: ValueId) -> Option<RegionId> {
        let record = self.value_record(value)?;
        (record.flags & abi::Value::KIND == abi::Value::ARG).then_some(RegionId(record.def))
    }

    /// The number of a value's uses.
    #[inline]
    #[track_caller]
    pub fn use_count(&self, value: ValueId) -> usize {
        self.value_record(value)
            .map_or(0, |record| record.use_count as usize)
    }

    /// The name of a value.
    #[track_caller]
    pub fn value_name(&self, value: ValueId) -> Option<&str> {
        let name = self.value_record(value)?.name.option()?;
        Some(self.text(name))
    }

    /// The id of a value's type; equal ids are equal types.
    #[inline]
    #[track_caller]
    pub fn type_id(&self, value: ValueId) -> TypeId {
        self.value_record(value)
            .map_or(TypeId::NONE, |record| record.ty)
    }

    // Regions.

    /// The arguments of a region.
    #[inline]
    #[track_caller]
    pub fn args(&self, region: RegionId) -> &[ValueId] {
        self.raw.ids(self.region_record(region).args)
    }

    /// The name of a region among its op's regions.
    #[track_caller]
    pub fn region_name(&self, region: RegionId) -> &str {
        match self.region_record(region).name.option() {
            Some(name) => self.text(name),
            None => "",
        }
    }

    /// The op a region is of; `None` for the body.
    #[inline]
    #[track_caller]
    pub fn parent_op(&self, region: RegionId) -> Option<OpId> {
        self.region_record(region).parent.option()
    }

    /// The first op of a region.
    #[inline]
    #[track_caller]
    pub fn first_op(&self, region: RegionId) -> Option<OpId> {
        self.region_record(region).first.option()
    }

    /// The `return` or `yield` that ends a region; its operands are what the region gives out.
    #[inline]
    #[track_caller]
    pub fn terminator(&self, region: RegionId) -> Option<OpId> {
        let last = self.region_record(region).last.option()?;
        let name = self.symbol(last);
        (name == abi::symbol::RETURN || name == abi::symbol::YIELD).then_some(last)
    }

    /// The names and declared types under which a region's results go out.
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
