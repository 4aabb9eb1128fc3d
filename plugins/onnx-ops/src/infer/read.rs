//! What a type rule reads of its operands and attributes, beyond types: sizes in scalars, constants.

use passdock_plugin_api::{DType, Dim, ExprKind, Type, TypeKind, TypeSpec};

use super::dims::{as_const, is_known};
use super::rule::{Answer, Infer, Stop, Ty, wrong};
use crate::eval::Tensor;
use crate::eval::number::doubles;

/// No operand that says how large something is has more elements.
const MOST: u64 = 256;

impl<'a> Infer<'a> {
    /// A dim of a tensor operand; `?` if there is no such dim or operand.
    pub(crate) fn dim(&self, index: usize, at: usize) -> Dim {
        let dims = self.dims(index).unwrap_or_default();
        dims.get(at).copied().unwrap_or(Dim::UNKNOWN)
    }

    /// The dims of an operand that must have so many; `?` for each where they aren't known.
    pub(crate) fn dims_of<const N: usize>(&self, index: usize, what: &str) -> Answer<[Dim; N]> {
        match self.dims(index).map(<[Dim; N]>::try_from) {
            None => Ok([Dim::UNKNOWN; N]),
            Some(Ok(dims)) => Ok(dims),
            Some(Err(dims)) => wrong!("{what} has {} dims instead of {N}", dims.len()),
        }
    }

    /// The size in an operand of one element, of whatever numbers; `?` if it isn't known.
    pub(crate) fn size(&self, index: usize) -> Dim {
        if let Some(&[size]) = self.values(index).as_deref() {
            return size;
        }
        match self.numbers(index).as_deref() {
            Some(&[size]) if size.is_finite() => Dim::constant(size as i64),
            _ => Dim::UNKNOWN,
        }
    }

    /// The elements of a small constant operand of numbers.
    pub(crate) fn numbers(&self, index: usize) -> Option<Vec<f64>> {
        doubles(&self.constant(index)?).ok()
    }

    /// A small constant operand.
    pub(crate) fn constant(&self, index: usize) -> Option<Tensor<'a>> {
        let ty = self.host.operand_type(index);
        let few = ty.is_tensor() && ty.element_count().is_some_and(|count| count <= MOST);
        let bytes = self.host.operand_data(index).ok().filter(|_| few)??;
        let shape = ty.shape()?.into_iter().map(|dim| dim as usize).collect();
        Tensor::from_bytes(ty.dtype(), shape, bytes).ok()
    }

    /// Whether an operand of integers is known to have one that is 0.
    pub(crate) fn has_zero(&self, index: usize) -> bool {
        let ty = self.host.operand_type(index);
        let (Some(size), true) = (integer_size(ty.dtype()), ty.is_tensor()) else {
            return false;
        };
        match self.host.operand_data(index) {
            Ok(Some(bytes)) => bytes
                .chunks_exact(size)
                .any(|element| element.iter().all(|&byte| byte == 0)),
            _ => self
                .values(index)
                .is_some_and(|values| values.into_iter().any(|value| as_const(value) == Some(0))),
        }
    }

    /// The element type that an attribute says.
    pub(crate) fn dtype_attr(&self, name: &str) -> Answer<Option<DType>> {
        let Some(code) = self.int(name)? else {
            return Ok(None);
        };
        match u32::try_from(code).map(DType) {
            Ok(dtype) if dtype.name().is_some() => Ok(Some(dtype)),
            _ => wrong!("its `{name}` {code} isn't an element type"),
        }
    }

    /// A dim and a constant that may be negative. A sum that is negative is one of an op that can't
    /// be right.
    pub(crate) fn shift(&self, dim: Dim, by: i64) -> Dim {
        match as_const(dim).map(|size| size.checked_add(by)) {
            Some(Some(size @ 0..)) => Dim::constant(size),
            Some(_) => Dim::UNKNOWN,
            None if by == 0 || !is_known(dim) => dim,
            None => self.expr(ExprKind::ADD, dim, Dim::constant(by)),
        }
    }

    /// A dim in parts of a size, which must fit.
    pub(crate) fn parts(&self, dim: Dim, size: i64) -> Answer<Dim> {
        match as_const(dim) {
            _ if size <= 0 => wrong!("parts of {size}"),
            Some(whole) if whole % size != 0 => wrong!("{whole} isn't a multiple of {size}"),
            _ => Ok(self.div(dim, size)),
        }
    }

    /// The item type of a sequence or an optional operand.
    pub(crate) fn item(&self, index: usize, kind: TypeKind) -> Answer<Type<'_>> {
        let ty = self.host.operand_type(index);
        match ty.items() {
            &[item] if ty.kind() == kind => Ok(self.host.ty(item)),
            _ => Err(Stop::Unknown),
        }
    }

    /// A result is a sequence of this.
    pub(crate) fn set_sequence(&self, index: usize, item: &TypeSpec) -> Answer {
        let item = self.host.add_type(item).map_err(|_| Stop::Unknown)?;
        self.set_type(index, Ty::Other(TypeSpec::sequence(item)))
    }
}

/// The number of bytes of an integer; `None` for anything else.
fn integer_size(dtype: DType) -> Option<usize> {
    match dtype {
        DType::I8 | DType::U8 => Some(1),
        DType::I16 | DType::U16 => Some(2),
        DType::I32 | DType::U32 => Some(4),
        DType::I64 | DType::U64 => Some(8),
        _ => None,
    }
}
