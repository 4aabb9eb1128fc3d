//! [`Function`]: reading constants and attributes.

use passdock_abi as abi;
use passdock_abi::{ConstId, DType, Dim, OpId, SymbolId, ValueId};

use super::attr::{Attr, Strings};
use super::name::Name;
use super::Function;
use crate::data::{element, EditError};

impl Function {
    // Results.

    /// Whether a value is an optional result that its op omits.
    #[track_caller]
    pub fn is_absent(&self, value: ValueId) -> bool {
        self.value_record(value)
            .map_or(false, |record| record.flags & abi::Value::ABSENT != 0)
    }

    // Constants.

    /// Returns the constant of a value. The default of a parameter doesn't count, because callers may override it.
    #[inline]
    #[track_caller]
    pub fn constant(&self, value: ValueId) -> Option<ConstId> {
        let record = self.value_record(value)?;
        if record.flags & abi::Value::KIND == abi::Value::CONST {
            record.constant.option()
        } else {
            None
        }
    }

    /// Returns the default of a parameter, which callers may override.
    #[track_caller]
    pub fn default_of(&self, param: ValueId) -> Option<ConstId> {
        let record = self.value_record(param)?;
        if record.flags & abi::Value::KIND == abi::Value::ARG {
            record.constant.option()
        } else {
            None
        }
    }

    /// Returns the record of a constant: its type, size and storage.
    pub fn constant_record(&self, constant: ConstId) -> Option<abi::Constant> {
        let record = self.raw.constant(constant.0)?;
        (record.flags & abi::Constant::DEAD == 0).then_some(record)
    }

    /// Returns the elements of a constant value, little-endian, packed as in ONNX; `None` if it isn't constant.
    ///
    /// # Errors
    /// If the file that stores the bytes can't be read.
    #[track_caller]
    pub fn constant_data(&self, value: ValueId) -> Result<Option<&[u8]>, EditError> {
        match self.constant(value) {
            Some(constant) => self.constant_bytes(constant).map(Some),
            None => Ok(None),
        }
    }

    /// Whether two constants have the same bytes: 0.0 and -0.0 differ. Types aren't compared.
    ///
    /// # Errors
    /// If a file that stores the bytes can't be read, or the host is older than this function.
    pub fn constants_equal(&self, a: ConstId, b: ConstId) -> Result<bool, EditError> {
        Ok(a == b || self.raw_constants_equal(a, b)? != 0)
    }

    /// Iterates over all constants that are values, in the order of creation. Defaults of parameters and tensors of
    /// attributes aren't included.
    pub fn constants(&self) -> impl Iterator<Item = (ConstId, abi::Constant)> + '_ {
        let all = (0..self.raw.constant_ids()).map(ConstId);
        all.filter_map(move |id| {
            let record = self.constant_record(id)?;
            let value = record.value;
            let is_value = self.is_live_value(value) && self.constant(value) == Some(id);
            Some((id, record)).filter(|_| is_value)
        })
    }

    /// Returns the elements of a constant int64 or int32 tensor; `None` for any other value.
    ///
    /// # Errors
    /// If the file that stores the bytes can't be read.
    #[track_caller]
    pub fn constant_ints(&self, value: ValueId) -> Result<Option<Vec<i64>>, EditError> {
        let bytes = match self.constant_data(value)? {
            Some(bytes) => bytes,
            None => return Ok(None),
        };
        Ok(match self.dtype(value) {
            Some(DType::I64 | DType::INDEX) => Some(elements(bytes, i64::from_le_bytes)),
            Some(DType::I32) => Some(elements(bytes, |four| i32::from_le_bytes(four).into())),
            _ => None,
        })
    }

    /// Returns the known elements of a small integer tensor as dims: all elements of a constant, or those of an op's
    /// result that [`PassContext::infer`](crate::PassContext::infer) found during this pass. `None` if nothing is
    /// known.
    #[track_caller]
    pub fn known_dims(&self, value: ValueId) -> Option<Vec<Dim>> {
        match self.constant_ints(value) {
            Ok(Some(ints)) => Some(ints.into_iter().map(Dim::constant).collect()),
            Ok(None) => Some(self.raw_known_dims(value).ok()?.to_vec()),
            // The file can't be read: a pass that needs the bytes reports it.
            Err(_) => None,
        }
    }

    /// Returns the elements of a constant float tensor (float16, bfloat16, float32, float64), which all are exact in
    /// `f64`; `None` for any other value. [`Function::dtype`] has the actual type.
    ///
    /// # Errors
    /// If the file that stores the bytes can't be read.
    #[track_caller]
    pub fn constant_floats(&self, value: ValueId) -> Result<Option<Vec<f64>>, EditError> {
        let dtype = match self.dtype(value) {
            Some(dtype @ (DType::F32 | DType::F16 | DType::BF16 | DType::F64)) => dtype,
            _ => return Ok(None),
        };
        let size = element::size_of(dtype).unwrap_or(1);
        let floats = |bytes: &[u8]| {
            let floats = bytes.chunks_exact(size);
            floats.map(|float| element::read(dtype, float)).collect()
        };
        Ok(self.constant_data(value)?.map(floats))
    }

    // Attributes.

    /// Returns an attribute of an op.
    #[track_caller]
    pub fn attr<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<Attr<'_>> {
        let attrs = self.op_record(op).attrs;
        if attrs.len == 0 {
            return None;
        }
        // There are few of them: comparing strings is faster than finding the symbol.
        let name = name.into();
        let mut attrs = self.raw.attr_range(attrs);
        let attr = attrs.find(|attr| name.is(attr.name, self))?;
        Some(Attr::read(self, &attr))
    }

    /// Iterates over all attributes of an op, with the symbols of their names.
    #[track_caller]
    pub fn attrs(&self, op: OpId) -> impl Iterator<Item = (SymbolId, Attr<'_>)> + '_ {
        let attrs = self.raw.attr_range(self.op_record(op).attrs);
        attrs.map(move |attr| (attr.name, Attr::read(self, &attr)))
    }

    /// Returns an attribute of the function (`SkipOptimization`).
    pub fn function_attr<'n>(&self, name: impl Into<Name<'n>>) -> Option<Attr<'_>> {
        let name = name.into().find(self)?;
        let attrs = self.raw.function_attrs();
        let attr = self.raw.attr_range(attrs).find(|attr| attr.name == name)?;
        Some(Attr::read(self, &attr))
    }

    /// Whether the function must not be optimized: it has an attribute `SkipOptimization`, `Compiler` or `Extern` that
    /// isn't 0. The host doesn't run function passes on it; module passes should skip it, too.
    pub fn skips_optimization(&self) -> bool {
        const NAMES: [&str; 3] = ["SkipOptimization", "Compiler", "Extern"];
        let mut attrs = self.raw.attr_range(self.raw.function_attrs());
        attrs.any(|attr| {
            NAMES.contains(&self.text(attr.name))
                && !matches!(Attr::read(self, &attr), Attr::Int(0))
        })
    }

    /// Iterates over all attributes of the function, with the symbols of their names.
    pub fn function_attrs(&self) -> impl Iterator<Item = (SymbolId, Attr<'_>)> + '_ {
        let attrs = self.raw.attr_range(self.raw.function_attrs());
        attrs.map(move |attr| (attr.name, Attr::read(self, &attr)))
    }

    /// Returns an integer attribute.
    #[track_caller]
    pub fn int<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<i64> {
        match self.attr(op, name)? {
            Attr::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a float attribute.
    #[track_caller]
    pub fn float<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<f32> {
        match self.attr(op, name)? {
            Attr::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a string attribute, or `None` if it isn't valid UTF-8.
    #[track_caller]
    pub fn string<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<&str> {
        match self.attr(op, name)? {
            Attr::String(value) => std::str::from_utf8(value).ok(),
            _ => None,
        }
    }

    /// Returns an attribute that is a list of integers.
    #[track_caller]
    pub fn ints<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<&[i64]> {
        match self.attr(op, name)? {
            Attr::Ints(values) => Some(values),
            _ => None,
        }
    }

    /// Returns an attribute that is a list of floats.
    #[track_caller]
    pub fn floats<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<&[f32]> {
        match self.attr(op, name)? {
            Attr::Floats(values) => Some(values),
            _ => None,
        }
    }

    /// Returns an attribute that is a list of strings.
    #[track_caller]
    pub fn strings<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<Strings<'_>> {
        match self.attr(op, name)? {
            Attr::Strings(values) => Some(values),
            _ => None,
        }
    }

    /// Returns an attribute that is a tensor.
    #[track_caller]
    pub fn tensor<'n>(&self, op: OpId, name: impl Into<Name<'n>>) -> Option<ConstId> {
        match self.attr(op, name)? {
            Attr::Tensor(id) => Some(id),
            _ => None,
        }
    }
}

/// Reads little-endian elements of `N` bytes.
fn elements<T, const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    let chunks = bytes.chunks_exact(N);
    chunks
        .map(|chunk| {
            let mut element = [0; N];
            element.copy_from_slice(chunk);
            read(element)
        })
        .collect()
}
