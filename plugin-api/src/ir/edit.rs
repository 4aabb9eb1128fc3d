//! [`Function`]: edits. An edit succeeds, or returns an error and changes nothing.

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
    /// Creates an op.
    ///
    /// # Errors
    /// If an operand isn't visible at the position, or the position or a type is invalid.
    pub fn create_op(&mut self, op: OpBuilder<'_>, at: Position) -> Result<OpId, EditError> {
        self.create_op_of(op, at, 0)
    }

    /// Creates an op as [`Function::create_op`], with a default number of results.
    pub(crate) fn create_op_of(
        &mut self,
        op: OpBuilder<'_>,
        at: Position,
        results: usize,
    ) -> Result<OpId, EditError> {
        op.described(self, results, |f, desc| f.raw_create_op(desc, at))
    }

    /// Creates an op in place of `old`: moves all uses of the results of `old` to the new results, and erases `old`.
    ///
    /// By default, the op has as many results as `old`, with the same types. Operands of `old` aren't erased, even if
    /// they are dead now: see [`Function::erase_dead`].
    ///
    /// # Errors
    /// If `old` is stale, or the results of the new op don't fit the uses of the old ones.
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
    /// If the op is stale, or the value refers to an unknown entity.
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

    /// Removes an attribute of an op.
    ///
    /// # Errors
    /// If the op is stale, has no such attribute, or the attribute is a region.
    pub fn remove_attr<'n>(
        &mut self,
        op: OpId,
        name: impl Into<Name<'n>>,
    ) -> Result<(), EditError> {
        let name = name.into().intern(self)?;
        self.raw_remove_attr(op, name)
    }

    /// Sets an attribute of the function.
    ///
    /// # Errors
    /// If the value refers to an unknown entity.
    pub fn set_function_attr<'n>(
        &mut self,
        name: impl Into<Name<'n>>,
        value: impl Into<AttrValue>,
    ) -> Result<(), EditError> {
        self.set_attr(OpId::NONE, name, value)
    }

    /// Adds an attribute parameter to the function, with the default for calls that don't set it. Ops of the function
    /// refer to it with [`AttrValue::Reference`].
    ///
    /// # Errors
    /// If the value refers to an unknown entity.
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

    /// Removes an attribute of the function.
    ///
    /// # Errors
    /// If the function has no such attribute.
    pub fn remove_function_attr<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<(), EditError> {
        self.remove_attr(OpId::NONE, name)
    }

    /// Interns a type and returns its id.
    ///
    /// # Errors
    /// If the description is invalid: dims of a type without dims, unknown items.
    pub fn add_type(&mut self, spec: &TypeSpec) -> Result<TypeId, EditError> {
        self.raw_add_type(spec.desc())
    }

    /// Creates a constant.
    ///
    /// # Errors
    /// If the type isn't a tensor type with constant dims, or the data has the wrong length.
    pub fn add_constant(&mut self, constant: &ConstantSpec<'_>) -> Result<ValueId, EditError> {
        self.raw_add_constant(constant.0)
    }

    /// Creates a constant int64 tensor of rank 1, the type of shapes and axes.
    ///
    /// # Errors
    /// If the host rejects constants of this size.
    pub fn add_ints(&mut self, values: &[i64]) -> Result<ValueId, EditError> {
        let ty = TypeSpec::shaped(passdock_abi::DType::I64, &[values.len() as i64]);
        let ty = self.add_type(&ty)?;
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.add_constant(&ConstantSpec::new(ty, &bytes))
    }

    /// Moves the ops of a region, without its terminator, directly before the op that contains it. `args` replace the
    /// region's arguments. Returns the terminator's operands: pass them to [`Function::replace_op_with`] to replace the
    /// op with the region.
    ///
    /// Nothing is copied: the cost is linear in the number of the region's own ops, without nested ones. The region is
    /// empty afterwards, so it can be inlined only once.
    ///
    /// # Errors
    /// If the region is the body, or the number of arguments differs.
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

    /// Appends an argument to a region. For the body it is a parameter, and the interface changes.
    ///
    /// # Errors
    /// If the region is stale, or the type is unknown.
    pub fn add_arg(
        &mut self,
        region: RegionId,
        name: &str,
        ty: TypeId,
    ) -> Result<ValueId, EditError> {
        self.raw_add_arg(region, PortDesc { flags: 0, ty, name })
    }

    /// Replaces dim symbols with dims, simultaneously, in all types of the function. The interface may change.
    ///
    /// # Errors
    /// If a size would be negative, or a type would contradict a known one.
    pub fn replace_symbols(&mut self, symbols: &[(SymbolId, Dim)]) -> Result<(), EditError> {
        let (symbols, dims): (Vec<SymbolId>, Vec<Dim>) = symbols.iter().copied().unzip();
        self.raw_replace_symbols(&symbols, &dims)
    }

    /// Sets the results of a region: creates its `return` or `yield`, or changes the operands of the existing one.
    ///
    /// Names and declared types are kept: by position if the number of results is unchanged, otherwise by value.
    ///
    /// # Errors
    /// If a value isn't visible at the region's end.
    pub fn set_results(&mut self, region: RegionId, values: &[ValueId]) -> Result<(), EditError> {
        let results = values.iter().map(|&value| ("", TypeId::NONE, value));
        self.set_named_results(region, &results.collect::<Vec<_>>())
    }

    /// Sets the results of a region as [`Function::set_results`], with names and declared types. `""` and NONE keep the
    /// current ones.
    ///
    /// # Errors
    /// See [`Function::set_results`].
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

    /// Returns the location of an op that was merged from these ops, the most important one first:
    /// `OpBuilder::new("acme.Gelu").loc(f.fused_loc(&[mul, erf])?)`.
    ///
    /// # Errors
    /// If the host rejects a location.
    pub fn fused_loc(&mut self, ops: &[OpId]) -> Result<LocId, EditError> {
        let locs: Vec<LocId> = ops.iter().map(|op| self.loc(*op)).collect();
        self.fused_locs(&locs)
    }

    /// Imports a domain of functions of the module with version 1, if the function doesn't import it yet. ONNX files
    /// require the import for calls of these functions. A function without opsets doesn't change.
    ///
    /// # Errors
    /// Beyond 1,024 domains.
    pub fn add_domain(&mut self, domain: &str) -> Result<(), EditError> {
        match self.opset(domain).is_none() && self.opsets().next().is_some() {
            true => self.set_opset(domain, 1),
            false => Ok(()),
        }
    }
}
