//! Builders of ops and constants, and [`FunctionBuilder`], which builds a body op by op.

use std::borrow::Cow;

use passdock_abi as abi;
use passdock_abi::{LocId, OpId, Position, RegionId, TypeId, ValueId};

use super::few::Few;
use super::name::Name;
use super::Function;
use crate::data::AttrValue;
use crate::data::EditError;
use crate::ffi::describe;
use crate::ffi::descriptions::{ConstantDesc, OpDesc, RegionDesc};

/// An op to create, for [`Function::create_op`] and [`Function::replace_op`]:
/// `OpBuilder::new("onnx.Concat").operands([a, b]).attr("axis", 1).result(ty)`.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Replaces a `Sum` of two operands with `Add`.
/// fn sum_to_add(f: &mut Function, _cx: &PassContext) -> PassResult {
///     for op in f.ops_named("onnx.Sum") {
///         if let (2, Some(a), Some(b)) = (f.operand_count(op), f.operand(op, 0), f.operand(op, 1)) {
///             f.replace_op(op, OpBuilder::new("onnx.Add").operand(a).operand(b))?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct OpBuilder<'a> {
    name: Name<'a>,
    flags: u32,
    loc: LocId,
    operands: Few<ValueId>,
    /// `None`: the default number of results.
    result_types: Option<Few<TypeId>>,
    attrs: Vec<(Name<'a>, AttrValue)>,
    regions: Vec<Name<'a>>,
}

impl<'a> OpBuilder<'a> {
    /// Creates a builder for an op with this name, domain included.
    pub fn new(name: impl Into<Name<'a>>) -> OpBuilder<'a> {
        OpBuilder {
            name: name.into(),
            flags: 0,
            loc: LocId::NONE,
            operands: Few::new(ValueId::NONE),
            result_types: None,
            attrs: Vec::new(),
            regions: Vec::new(),
        }
    }

    /// Appends an operand; [`ValueId::NONE`] omits it.
    pub fn operand(mut self, value: ValueId) -> OpBuilder<'a> {
        self.operands.push(value);
        self
    }

    /// Appends operands.
    pub fn operands(mut self, values: impl IntoIterator<Item = ValueId>) -> OpBuilder<'a> {
        self.operands.extend(values);
        self
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: impl Into<Name<'a>>, value: impl Into<AttrValue>) -> OpBuilder<'a> {
        self.attrs.push((name.into(), value.into()));
        self
    }

    /// Appends a result with a type.
    pub fn result(mut self, ty: TypeId) -> OpBuilder<'a> {
        self.result_types
            .get_or_insert(Few::new(TypeId::NONE))
            .push(ty);
        self
    }

    /// Appends results with these types.
    pub fn results(mut self, types: impl IntoIterator<Item = TypeId>) -> OpBuilder<'a> {
        self.result_types
            .get_or_insert(Few::new(TypeId::NONE))
            .extend(types);
        self
    }

    /// Appends results without a type. In `replace_op` they have the types of the replaced results, otherwise they are
    /// unknown until they are inferred.
    pub fn untyped_results(self, count: usize) -> OpBuilder<'a> {
        self.results(std::iter::repeat(TypeId::NONE).take(count))
    }

    /// Appends an empty region. To add arguments, call [`Function::add_arg`] once the op is created.
    pub fn region(mut self, name: impl Into<Name<'a>>) -> OpBuilder<'a> {
        self.regions.push(name.into());
        self
    }

    /// Sets the location. By default, `replace_op` uses the location of the replaced op.
    pub fn loc(mut self, loc: LocId) -> OpBuilder<'a> {
        self.loc = loc;
        self
    }

    /// In `replace_op`: copies the attributes of the replaced op; those of the builder override them.
    pub fn take_attrs(mut self) -> OpBuilder<'a> {
        self.flags |= abi::OpDesc::TAKE_ATTRS;
        self
    }

    /// In `replace_op`: moves the regions of the replaced op to the new one.
    pub fn take_regions(mut self) -> OpBuilder<'a> {
        self.flags |= abi::OpDesc::TAKE_REGIONS;
        self
    }

    /// Interns the names, and calls `call` with the description. `results` is the default number of results.
    pub(crate) fn described<R>(
        &self,
        function: &mut Function,
        results: usize,
        call: impl FnOnce(&mut Function, OpDesc<'_>) -> Result<R, EditError>,
    ) -> Result<R, EditError> {
        const UNTYPED: [TypeId; 8] = [TypeId::NONE; 8];
        let result_types: Cow<'_, [TypeId]> = match &self.result_types {
            Some(types) => types.as_slice().into(),
            None if results <= UNTYPED.len() => UNTYPED[..results].into(),
            None => vec![TypeId::NONE; results].into(),
        };
        let values = self.attrs.iter().map(|(_, value)| value);
        let strings: Vec<_> = values.clone().map(describe::strings).collect();
        let mut attrs = Vec::with_capacity(strings.len());
        for ((name, value), strings) in self.attrs.iter().zip(&strings) {
            attrs.push(describe::attr(name.intern(function)?, value, strings));
        }
        let mut regions = Vec::with_capacity(self.regions.len());
        for name in &self.regions {
            let (flags, name, args) = (0, name.intern(function)?, &[][..]);
            regions.push(RegionDesc { flags, name, args }.borrowed());
        }
        let desc = OpDesc {
            flags: self.flags,
            name: self.name.intern(function)?,
            loc: self.loc,
            operands: self.operands.as_slice(),
            result_types: &result_types,
            attrs: &attrs,
            regions: &regions,
        };
        call(function, desc)
    }
}

/// A constant to create, for [`Function::add_constant`].
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn make_ones(f: &mut Function, _cx: &PassContext) -> PassResult {
///     let ty = f.add_type(&TypeSpec::shaped(DType::F32, &[2, 3]))?;
///     let ones = f.add_constant(&ConstantSpec::splat(ty, &1.0f32.to_le_bytes()).named("ones"))?;
///     assert!(f.constant(ones).is_some());
///     Ok(())
/// }
/// ```
pub struct ConstantSpec<'a>(pub(super) ConstantDesc<'a>);

impl<'a> ConstantSpec<'a> {
    /// Creates a constant of a tensor type with constant dims, from its elements: little-endian, packed as in ONNX.
    pub fn new(ty: TypeId, data: &'a [u8]) -> ConstantSpec<'a> {
        ConstantSpec(ConstantDesc {
            flags: 0,
            ty,
            region: RegionId::NONE,
            name: "",
            data,
        })
    }

    /// Creates a constant whose elements are all equal to `element`.
    pub fn splat(ty: TypeId, element: &'a [u8]) -> ConstantSpec<'a> {
        let mut spec = ConstantSpec::new(ty, element);
        spec.0.flags = abi::ConstantDesc::SPLAT;
        spec
    }

    /// Sets the name. If it is in use, a number is appended.
    pub fn named(mut self, name: &'a str) -> ConstantSpec<'a> {
        self.0.name = name;
        self
    }

    /// Makes the constant visible in this region only.
    pub fn in_region(mut self, region: RegionId) -> ConstantSpec<'a> {
        self.0.region = region;
        self
    }
}

/// Builds a region op by op, at its end or before an op.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Adds a function `relu(x)`.
/// fn add_relu(m: &mut Module, _cx: &PassContext) -> PassResult {
///     let mut f = m.create("relu", FunctionKind::GRAPH, None)?;
///     f.set_opset("", 17)?;
///     let mut b = FunctionBuilder::new(&mut f);
///     let x = b.param("x", TypeId::NONE)?;
///     let y = b.value("onnx.Relu", [x])?;
///     b.finish(&[y])?;
///     Ok(())
/// }
/// ```
pub struct FunctionBuilder<'f> {
    function: &'f mut Function,
    at: Position,
}

impl<'f> FunctionBuilder<'f> {
    /// Creates a builder at the end of the body, for a new function.
    pub fn new(function: &'f mut Function) -> FunctionBuilder<'f> {
        let at = Position::end_of(function.body());
        FunctionBuilder { function, at }
    }

    /// Creates a builder at a position.
    pub fn at(function: &'f mut Function, at: Position) -> FunctionBuilder<'f> {
        FunctionBuilder { function, at }
    }

    /// Returns the function.
    pub fn function(&mut self) -> &mut Function {
        self.function
    }

    /// Appends a parameter to the function.
    ///
    /// # Errors
    /// See [`Function::add_arg`].
    pub fn param(&mut self, name: &str, ty: TypeId) -> Result<ValueId, EditError> {
        let body = self.function.body();
        self.function.add_arg(body, name, ty)
    }

    /// Creates an op at the builder's position.
    ///
    /// # Errors
    /// See [`Function::create_op`].
    pub fn op(&mut self, op: OpBuilder<'_>) -> Result<OpId, EditError> {
        self.function.create_op(op, self.at)
    }

    /// Creates an op with one result at the builder's position, and returns the result, whose type is left to
    /// inference.
    ///
    /// # Errors
    /// See [`Function::create_op`].
    pub fn value<'n>(
        &mut self,
        name: impl Into<Name<'n>>,
        operands: impl IntoIterator<Item = ValueId>,
    ) -> Result<ValueId, EditError> {
        let op = OpBuilder::new(name).operands(operands).untyped_results(1);
        let op = self.op(op)?;
        Ok(self.function.result(op, 0))
    }

    /// Returns a builder for a region of a new op.
    ///
    /// # Errors
    /// If the op has no region with this name.
    pub fn inside(&mut self, op: OpId, region: &str) -> Result<FunctionBuilder<'_>, EditError> {
        let id = self.function.expect_region(op, region)?;
        Ok(FunctionBuilder::at(self.function, Position::end_of(id)))
    }

    /// Creates the region's terminator, a `return` or `yield`.
    ///
    /// # Errors
    /// See [`Function::set_results`].
    pub fn finish(self, values: &[ValueId]) -> Result<(), EditError> {
        let region = match self.at.before.option() {
            Some(op) => self.function.parent_region(op),
            None => self.at.region,
        };
        self.function.set_results(region, values)
    }
}
