//! Constants.

use std::sync::Arc;

use passdock_abi::{
    ConstId, Constant, DType, LocId, OpId, RegionId, TypeId, TypeKind, Value, ValueId,
};

use crate::constant::{ConstantData, Payload, element_count, string_elements};
use crate::error::{Edit, EditFailure, invalid, reject};
use crate::function::Function;

impl Function {
    /// Creates a constant that is a value, visible in `region` (NONE: in the whole function).
    ///
    /// # Errors
    /// If the data doesn't match the type, or the region is erased.
    pub fn add_constant(
        &mut self,
        ty: TypeId,
        data: Arc<ConstantData>,
        region: RegionId,
        name: &str,
    ) -> Edit<ValueId> {
        let constant = self.add_tensor(ty, data, region)?;
        let value = self.make_constant_value(constant, ty);
        if !name.is_empty() {
            self.set_unique_name(value, name);
        }
        Ok(value)
    }

    /// Creates a checked constant that is a value.
    pub(crate) fn insert_constant(
        &mut self,
        ty: TypeId,
        data: Arc<ConstantData>,
        region: RegionId,
    ) -> ValueId {
        let constant = self.insert_tensor(ty, data, region);
        self.make_constant_value(constant, ty)
    }

    /// Creates the value of a constant.
    pub(crate) fn make_constant_value(&mut self, constant: ConstId, ty: TypeId) -> ValueId {
        let value = self.make_value(Value::CONST, constant.0, 0, ty);
        self.values[value.index()].constant = constant;
        self.constants[constant.index()].value = value;
        value
    }

    /// Creates a constant that isn't a value: an attribute's tensor.
    ///
    /// # Errors
    /// If the data doesn't match the type, or the region is erased.
    pub fn add_tensor(
        &mut self,
        ty: TypeId,
        data: Arc<ConstantData>,
        region: RegionId,
    ) -> Edit<ConstId> {
        self.check_constant(ty, &data)?;
        let region = region.option().unwrap_or(self.body);
        self.live_region(region)?;
        Ok(self.insert_tensor(ty, data, region))
    }

    pub(crate) fn insert_tensor(
        &mut self,
        ty: TypeId,
        data: Arc<ConstantData>,
        region: RegionId,
    ) -> ConstId {
        let id = self.push_tensor(ty, data, region);
        if region != self.body {
            self.nested_constants.entry(region).or_default().push(id);
        }
        self.touch_region(region);
        id
    }

    /// Creates a constant without marking anything as changed.
    pub(super) fn push_tensor(
        &mut self,
        ty: TypeId,
        data: Arc<ConstantData>,
        region: RegionId,
    ) -> ConstId {
        let id = ConstId(self.constants.len() as u32);
        self.constants.push(Constant {
            value: ValueId::NONE,
            ty,
            region,
            storage: data.storage(),
            flags: Constant::TOUCHED,
            loc: LocId::NONE,
            anchor: OpId::NONE,
            reserved: 0,
            byte_len: data.len(),
        });
        self.data.push(data);
        id
    }

    /// Sets the default of a parameter: an overridable initializer in ONNX.
    ///
    /// # Errors
    /// If the value isn't a parameter, or the data doesn't match the type.
    pub fn set_default(
        &mut self,
        param: ValueId,
        ty: TypeId,
        data: Arc<ConstantData>,
    ) -> Edit<ConstId> {
        let record = *self.live_value(param)?;
        if record.flags & Value::KIND != Value::ARG {
            let name = self.describe(param);
            reject!("{name} is not a parameter and cannot have a default");
        }
        let id = self.add_tensor(ty, data, RegionId(record.def))?;
        self.constants[id.index()].value = param;
        self.values[param.index()].constant = id;
        Ok(id)
    }

    /// Replaces the storage of a constant's data. The bytes have to be the same, so the function counts as unchanged.
    ///
    /// # Errors
    /// If the constant is erased, or the data has another size.
    pub fn relocate_constant(&mut self, id: ConstId, data: Arc<ConstantData>) -> Edit {
        let record = *self.live_constant(id)?;
        if data.len() != record.byte_len {
            invalid!(
                "cannot relocate constant {id}: expected {} bytes, found {}",
                record.byte_len,
                data.len()
            );
        }
        self.constants[id.index()].storage = data.storage();
        self.data[id.index()] = data;
        Ok(())
    }

    /// Erases an unused constant. Tensors are erased with the attribute that refers to them.
    ///
    /// # Errors
    /// If the constant is erased or used, or is a parameter's default or an attribute's tensor.
    pub fn erase_constant(&mut self, id: ConstId) -> Edit {
        let record = *self.live_constant(id)?;
        let Some(value) = record.value.option() else {
            reject!("cannot erase constant {id}: it is the tensor of an attribute");
        };
        let held = &self.values[value.index()];
        let is_default = held.flags & Value::KIND != Value::CONST;
        if is_default || held.use_count > 0 {
            let name = self.describe(value);
            let why = if is_default {
                "the default of a parameter"
            } else {
                "used"
            };
            reject!("cannot erase {name}: it is {why}");
        }
        if held.flags & Value::SCRATCH != 0 {
            self.erase_scratch(id);
            return Ok(());
        }
        self.erase_constant_record(id);
        self.touch_region(record.region);
        Ok(())
    }

    /// Rejects data whose size doesn't match the type.
    pub(crate) fn check_constant(&self, ty: TypeId, data: &ConstantData) -> Edit {
        let record = self.live_type(ty)?;
        let elements = self.constant_len(ty)?;
        let (have, count, here) = match data.payload() {
            Payload::Splat { element, .. } => (element.len() as u64, 1, Some(element)),
            Payload::Inline(bytes) => (data.len(), elements, Some(bytes)),
            _ => (data.len(), elements, None),
        };
        let dtype = record.dtype.name().unwrap_or("unknown");
        let strings = record.dtype == DType::STRING;
        if strings && here.is_some_and(|bytes| string_elements(bytes, count).is_none()) {
            reject!(
                "invalid data of a string constant: expected {count} + 1 offsets, then the bytes of {count} strings"
            );
        }
        match record.dtype.byte_len(count) {
            Some(expected) if expected != have => Err(EditFailure::rejected(format!(
                "wrong data size: expected {expected} bytes for {count} elements of `{dtype}`, found {have}"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the number of elements of a constant of a type; an error if constants can't have the type.
    pub(crate) fn constant_len(&self, ty: TypeId) -> Edit<u64> {
        self.constant_elements(ty)?.ok_or_else(|| {
            let message = "a constant must be a scalar or a tensor with a static shape";
            EditFailure::rejected(message)
        })
    }

    /// Returns the number of elements of a constant of a type; `None` if constants can't have the type.
    ///
    /// # Errors
    /// If the type isn't a type of this function, or its shape is negative or too large.
    pub fn constant_elements(&self, ty: TypeId) -> Edit<Option<u64>> {
        let record = self.live_type(ty)?;
        let shape = match record.kind {
            TypeKind::TENSOR => self.static_shape(ty),
            TypeKind::SCALAR => Some(vec![i64::from(record.lanes.max(1))]),
            _ => None,
        };
        let Some(shape) = shape else { return Ok(None) };
        match element_count(&shape) {
            Some(elements) => Ok(Some(elements)),
            None => Err(EditFailure::rejected(format!(
                "constant shape {shape:?} has a negative dim or is too large"
            ))),
        }
    }

    /// Sets the flags, location and anchor that an importer found; `storage` is derived from the data.
    pub fn mark_constant(&mut self, id: ConstId, flags: u32, loc: LocId, anchor: OpId) {
        let record = &mut self.constants[id.index()];
        (record.loc, record.anchor) = (loc, anchor);
        record.flags |= flags & Constant::NODE;
    }

    /// Records that a constant's bytes stay in the importer's file even if the constant is erased.
    pub fn keep_constant(&mut self, id: ConstId) {
        self.constants[id.index()].flags |= Constant::KEPT;
    }
}
