//! [`Function`]: what a pass edits. Each edit is done whole or refused in a whole sentence.

use passdock_abi::{Dim, LocId, OpId, Position, RegionId, SymbolId, TypeId, ValueId};

use super::builder::{ConstantSpec, OpBuilder};
use super::name::Name;
use super::types::TypeSpec;
use super::Function;
use crate::data::AttrValue;
use crate::data::EditError;
use crate::ffi::describe;
use crate::ffi::descriptions::{PortDesc, ResultsDesc};

impl Function {
    /// Makes an op.
    ///
    /// # Errors
    /// If an operand isn't visible there, or the place or a type names nothing.
    pub fn create_op(&mut self, op: OpBuilder<'_>, at: Position) -> Result<OpId, EditError> {
        self.create_op_of(op, at, 0)
    }

    /// Makes an op as [`Function::create_op`] does, with so many results if the builder says nothing of them.
    pub(crate) fn create_op_of(
        &mut self,
        op: OpBuilder<'_>,
        at: Position,
        results: usize,
    ) -> Result<OpId, EditError> {
        op.described(self, results, |f, desc| f.raw_create_op(desc, at))
    }

    /// Makes an op in place of `old`: all uses of the old results go over to the new ones, then
    /// `old` is erased. If the builder says nothing of results, there are as many as `old` has,
    /// of the same types. What `old` used stays, also if nobody uses it any more: [`Function::erase_dead`] erases it.
    ///
    /// # Errors
    /// If `old` is stale, or the new op has other results than the uses of the old ones allow.
    pub fn replace_op(&mut self, old: OpId, new: OpBuilder<'_>) -> Result<OpId, EditError> {
        let results = self
            .raw
            .op(old.0)
            .map_or(0, |record| record.results.len as usize);
        new.described(self, results, |f, desc| f.raw_replace_op(old, desc))
    }

    /// Sets an attribute of an op.
    ///
    /// # Errors
    /// If the op is stale, or the value names nothing of this function.
    pub fn set_attr<'n>(
        &mut self,
        op: OpId,
        name: impl Into<Name<'n>>,
        value: impl Into<AttrValue>,
    ) -> Result<(), EditError> {
        let (name, value) = (name.into().intern(self)?, value.into());
        let strings = describe::strings(&value);
        self.raw_set_attr(op, &describe::attr(name, &value, &strings))
    }

    /// Removes an attribute of an op. No such attribute: an error.
    ///
    /// # Errors
    /// If the op is stale, has no such attribute, or it is a region.
    pub fn remove_attr<'n>(
        &mut self,
        op: OpId,
        name: impl Into<Name<'n>>,
    ) -> Result<(), EditError> {
        let name = name.into().intern(self)?;
        self.raw_remove_attr(op, name)
    }

    /// Sets an attribute of the function itself.
    ///
    /// # Errors
    /// If the value names nothing of this function.
    pub fn set_function_attr<'n>(
        &mut self,
        name: impl Into<Name<'n>>,
        value: impl Into<AttrValue>,
    ) -> Result<(), EditError> {
        self.set_attr(OpId::NONE, name, value)
    }

    /// Gives the function an attribute parameter: an attribute of its calls, which its ops refer to
    /// ([`AttrValue::Reference`]), and its value in calls that don't give it.
    ///
    /// # Errors
    /// If the value names nothing of this function.
    pub fn add_attr_param<'n>(
        &mut self,
        name: impl Into<Name<'n>>,
        default: Option<AttrValue>,
    ) -> Result<(), EditError> {
        let name = name.into().intern(self)?;
        let strings = default.as_ref().map_or(Vec::new(), describe::strings);
        let desc = describe::attr_param(name, default.as_ref(), &strings);
        self.raw_set_attr(OpId::NONE, &desc)
    }

    /// Removes an attribute of the function itself.
    ///
    /// # Errors
    /// If the function has no such attribute.
    pub fn remove_function_attr<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<(), EditError> {
        self.remove_attr(OpId::NONE, name)
    }

    /// The id of a type, made if it is new.
    ///
    /// # Errors
    /// If the description isn't one of a type: dims of what has none, items that name nothing.
    pub fn add_type(&mut self, spec: &TypeSpec) -> Result<TypeId, EditError> {
        self.raw_add_type(spec.desc())
    }

    /// Makes a constant.
    ///
    /// # Errors
    /// If the type isn't a tensor's of known shape, or the data has another length.
    pub fn add_constant(&mut self, constant: &ConstantSpec<'_>) -> Result<ValueId, EditError> {
        self.raw_add_constant(constant.0)
    }

    /// Makes a constant int64 tensor of rank 1, as shapes and axes are.
    ///
    /// # Errors
    /// If the host refuses constants of this size.
    pub fn add_ints(&mut self, values: &[i64]) -> Result<ValueId, EditError> {
        let ty = TypeSpec::shaped(passdock_abi::DType::I64, &[values.len() as i64]);
        let ty = self.add_type(&ty)?;
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.add_constant(&ConstantSpec::new(ty, &bytes))
    }

    /// Moves the ops of a region, without its terminator, right before the op that holds it, where
    /// `args` stand for the region's arguments. Answers what stands for the terminator's operands: with
    /// [`Function::replace_op_with`] the region takes the op's place.
    ///
    /// Nothing is copied, so it takes as long as the region itself has ops, however much is nested in
    /// them; and the region is left empty, so it can be inlined once.
    ///
    /// # Errors
    /// If the region is the body, or there isn't one value for each argument.
    pub fn inline_region(
        &mut self,
        region: RegionId,
        args: &[ValueId],
    ) -> Result<Vec<ValueId>, EditError> {
        self.raw_inline_region(region, args)?;
        let last = self.raw.region(region.0).map(|region| region.last);
        let terminator = last.and_then(|last| self.raw.op(last.0));
        let slots = terminator.map(|op| self.raw.use_range(op.operands));
        Ok(slots.into_iter().flatten().map(|slot| slot.value).collect())
    }

    /// Appends an argument to a region; to the body: a parameter, which changes the interface.
    ///
    /// # Errors
    /// If the region is stale, or the type names nothing.
    pub fn add_arg(
        &mut self,
        region: RegionId,
        name: &str,
        ty: TypeId,
    ) -> Result<ValueId, EditError> {
        self.raw_add_arg(region, PortDesc { flags: 0, ty, name })
    }

    /// Puts dims in the place of dim symbols, of all at once, in all types of the function, which may
    /// change the interface. Refused if a size would be negative, or contradict what is known.
    ///
    /// # Errors
    /// If a size would be negative, or contradict what is known.
    pub fn replace_symbols(&mut self, symbols: &[(SymbolId, Dim)]) -> Result<(), EditError> {
        let (symbols, dims): (Vec<SymbolId>, Vec<Dim>) = symbols.iter().copied().unzip();
        self.raw_replace_symbols(&symbols, &dims)
    }

    /// Ends a region with these values: makes its `return` or `yield`, or changes what it has. Names and
    /// declared types stay: those of the places if there are as many values as before, else those
    /// that the same values had.
    ///
    /// # Errors
    /// If a value isn't visible at the region's end.
    pub fn set_results(&mut self, region: RegionId, values: &[ValueId]) -> Result<(), EditError> {
        let results = values.iter().map(|&value| ("", TypeId::NONE, value));
        self.set_named_results(region, &results.collect::<Vec<_>>())
    }

    /// Ends a region as [`Function::set_results`] does, under these names and declared types; `""`
    /// and NONE say nothing.
    ///
    /// # Errors
    /// As [`Function::set_results`].
    pub fn set_named_results(
        &mut self,
        region: RegionId,
        results: &[(&str, TypeId, ValueId)],
    ) -> Result<(), EditError> {
        let values: Vec<ValueId> = results.iter().map(|(_, _, value)| *value).collect();
        let ports = describe::ports(results.iter().map(|(name, ty, _)| (*name, *ty)));
        let (flags, values, ports) = (0, &values[..], &ports[..]);
        self.raw_set_results(
            region,
            ResultsDesc {
                flags,
                values,
                ports,
            },
        )
    }

    /// The location of an op that stands for all of these, the most telling first: what it is merged
    /// of stays known, `OpBuilder::new("acme.Gelu").loc(f.fused_loc(&[mul, erf])?)`.
    ///
    /// # Errors
    /// If the host refuses a location.
    pub fn fused_loc(&mut self, ops: &[OpId]) -> Result<LocId, EditError> {
        let locs: Vec<LocId> = ops.iter().map(|op| self.loc(*op)).collect();
        self.fused_locs(&locs)
    }

    /// Names a domain of the module's own functions among the opsets, as a file needs for calls of them: version 1,
    /// unless it is there. A function without opsets stays so.
    ///
    /// # Errors
    /// If it is the 1,025th.
    pub fn add_domain(&mut self, domain: &str) -> Result<(), EditError> {
        match self.opset(domain).is_none() && self.opsets().next().is_some() {
            true => self.set_opset(domain, 1),
            false => Ok(()),
        }
    }
}
