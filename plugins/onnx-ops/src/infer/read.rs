//! Access to operands and attributes in type rules: sizes in scalars, constants.

use passdock_plugin_api::{DType, Dim, ExprKind, Type, TypeKind, TypeSpec};

use super::rule::{Infer, Inferred, Stop, Ty, invalid};
use crate::eval::Tensor;
use crate::eval::number::doubles;

/// The maximum number of elements of an operand that determines a size.
const MAX_ELEMENTS: u64 = 256;

impl<'a> Infer<'a> {
    /// Returns a dim of a tensor operand, or `?` if it has no such dim or is absent.
    pub(crate) fn dim(&self, index: usize, at: usize) -> Dim {
        let dims = self.dims(index).unwrap_or_default();
        dims.get(at).copied().unwrap_or(Dim::UNKNOWN)
    }

    /// Returns the dims of an operand that must have this rank, or all `?` if its rank is unknown. `name` is the
    /// operand's name in ONNX, for messages.
    pub(crate) fn dims_of<const N: usize>(&self, index: usize, name: &str) -> Inferred<[Dim; N]> {
        match self.dims(index).map(<[Dim; N]>::try_from) {
            None => Ok([Dim::UNKNOWN; N]),
            Some(Ok(dims)) => Ok(dims),
            Some(Err(dims)) => invalid!("`{name}` has rank {}, expected {N}", dims.len()),
        }
    }

    /// Returns the size in an operand of one element of any numeric type, or `?` if it is unknown.
    pub(crate) fn size(&self, index: usize) -> Dim {
        if let Some(&[size]) = self.values(index).as_deref() {
            return size;
        }
        match self.numbers(index).as_deref() {
            Some(&[size]) if size.is_finite() => Dim::constant(size as i64),
            _ => Dim::UNKNOWN,
        }
    }

    /// Returns the elements of a small constant operand of numbers.
    pub(crate) fn numbers(&self, index: usize) -> Option<Vec<f64>> {
        doubles(&self.constant(index)?).ok()
    }

    /// Returns a small constant operand.
    pub(crate) fn constant(&self, index: usize) -> Option<Tensor<'a>> {
        let ty = self.host.operand_type(index);
        let few = ty.is_tensor()
            && ty
                .element_count()
                .is_some_and(|count| count <= MAX_ELEMENTS);
        let bytes = self.host.operand_data(index).ok().filter(|_| few)??;
        let shape = ty.shape()?.into_iter().map(|dim| dim as usize).collect();
        Tensor::from_bytes(ty.dtype()?, shape, bytes).ok()
    }

    /// Whether an integer operand is known to contain a 0.
    pub(crate) fn has_zero(&self, index: usize) -> bool {
        let ty = self.host.operand_type(index);
        let (Some(size), true) = (ty.dtype().and_then(integer_size), ty.is_tensor()) else {
            return false;
        };
        match self.host.operand_data(index) {
            Ok(Some(bytes)) => bytes
                .chunks_exact(size)
                .any(|element| element.iter().all(|&byte| byte == 0)),
            _ => self
                .values(index)
                .is_some_and(|values| values.into_iter().any(|value| value.as_const() == Some(0))),
        }
    }

    /// Returns the element type in an attribute.
    pub(crate) fn dtype_attr(&self, name: &str) -> Inferred<Option<DType>> {
        let Some(code) = self.int(name)? else {
            return Ok(None);
        };
        match u32::try_from(code).map(DType) {
            Ok(dtype) if dtype.name().is_some() => Ok(Some(dtype)),
            _ => invalid!("invalid attribute `{name}`: unknown element type {code}"),
        }
    }

    /// Returns the sum of a dim and a constant that may be negative. The sum is negative only for invalid ops.
    pub(crate) fn shift(&self, dim: Dim, by: i64) -> Dim {
        match dim.as_const().map(|size| size.checked_add(by)) {
            Some(Some(size @ 0..)) => Dim::constant(size),
            Some(_) => Dim::UNKNOWN,
            None if by == 0 || !dim.is_known() => dim,
            None => self.expr(ExprKind::ADD, dim, Dim::constant(by)),
        }
    }

    /// Divides a dim by a size. A constant dim must be a multiple of it.
    pub(crate) fn parts(&self, dim: Dim, size: i64) -> Inferred<Dim> {
        match dim.as_const() {
            _ if size <= 0 => invalid!("cannot divide a dim by {size}"),
            Some(whole) if whole % size != 0 => invalid!("dim {whole} is not a multiple of {size}"),
            _ => Ok(self.div(dim, size)),
        }
    }

    /// Returns the item type of a sequence or optional operand.
    pub(crate) fn item(&self, index: usize, kind: TypeKind) -> Inferred<Type<'_>> {
        let ty = self.host.operand_type(index);
        match ty.items() {
            &[item] if ty.kind() == kind => Ok(self.host.ty(item)),
            _ => Err(Stop::Unknown),
        }
    }

    /// Sets the type of a result to a sequence of `item`.
    pub(crate) fn set_sequence(&self, index: usize, item: &TypeSpec) -> Inferred {
        let item = self.host.add_type(item).map_err(|_| Stop::Unknown)?;
        self.set_type(index, Ty::Other(TypeSpec::sequence(item)))
    }
}

/// Returns the size of an integer type in bytes, or `None` for other types.
fn integer_size(dtype: DType) -> Option<usize> {
    match dtype {
        DType::I8 | DType::U8 => Some(1),
        DType::I16 | DType::U16 => Some(2),
        DType::I32 | DType::U32 => Some(4),
        DType::I64 | DType::U64 => Some(8),
        _ => None,
    }
}
