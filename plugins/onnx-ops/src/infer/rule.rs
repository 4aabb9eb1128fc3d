//! [`Infer`]: the op that a rule infers, and the facts about its results.

use std::cell::RefCell;
use std::ops::Deref;

use passdock_plugin_api::{DType, Dim, OpCall, TypeSpec};

use super::dims::{as_consts, plain};
use crate::eval::{Call, NotFolded, axes as axes_of, axis as axis_of, listed_axes};

/// The maximum number of elements of a shape.
pub(super) const MAX_VALUES: usize = 256;

/// The type rule of an operator.
pub(crate) type Rule = fn(&Infer) -> Inferred;

/// The result of a rule: `Ok` after it recorded its facts, or why it stopped.
pub(crate) type Inferred<T = ()> = Result<T, Stop>;

/// Why a rule stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Not enough is known about the operands. This isn't an error.
    Unknown,
    /// The op is invalid.
    InvalidOp(String),
}

impl From<NotFolded> for Stop {
    /// An unreadable attribute, usually a reference to a parameter of the function.
    fn from(_: NotFolded) -> Stop {
        Stop::Unknown
    }
}

/// Returns [`Stop::InvalidOp`] with a formatted reason.
macro_rules! invalid {
    ($($text:tt)*) => { Err($crate::infer::Stop::InvalidOp(format!($($text)*))) };
}
pub(crate) use invalid;

/// Rejects a list of the wrong length.
pub(crate) fn check_length(name: &str, length: usize, expected: usize) -> Inferred<()> {
    match length == expected {
        true => Ok(()),
        false => invalid!("`{name}` has length {length}, expected {expected}"),
    }
}

/// The facts about a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResultFacts {
    /// The type.
    pub ty: Option<Ty>,
    /// The elements, if the result is a shape.
    pub values: Option<Vec<Dim>>,
}

/// The type of a result.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// A tensor, without dims if the rank is unknown.
    Tensor(DType, Option<Vec<Dim>>),
    /// Any other type.
    Other(TypeSpec),
}

impl Ty {
    /// Returns the description that the host takes.
    pub(crate) fn spec(&self) -> TypeSpec {
        match self {
            Ty::Tensor(dtype, Some(dims)) => TypeSpec::tensor(*dtype, dims.iter().copied()),
            Ty::Tensor(dtype, None) => TypeSpec::unranked(*dtype),
            Ty::Other(spec) => spec.clone(),
        }
    }
}

/// An op whose result types are being inferred. It dereferences to a [`Call`] for its attributes.
pub(crate) struct Infer<'a> {
    /// The op in its function.
    pub host: &'a OpCall,
    call: &'a Call<'a>,
    facts: RefCell<Vec<ResultFacts>>,
}

impl<'a> Deref for Infer<'a> {
    type Target = Call<'a>;

    fn deref(&self) -> &Call<'a> {
        self.call
    }
}

impl<'a> Infer<'a> {
    /// `call` has the op's name, version and attributes; operands are read through `host`.
    pub(crate) fn new(host: &'a OpCall, call: &'a Call<'a>) -> Infer<'a> {
        Infer {
            host,
            call,
            facts: RefCell::new(vec![ResultFacts::default(); host.result_count()]),
        }
    }

    /// Returns the recorded facts, one entry per result.
    pub(crate) fn finish(self) -> Vec<ResultFacts> {
        self.facts.into_inner()
    }

    /// Whether an operand is present.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.host.operand(index).is_some()
    }

    /// Returns the element type of a tensor operand.
    pub(crate) fn dtype(&self, index: usize) -> Inferred<DType> {
        let ty = self.host.operand_type(index);
        let dtype = ty.dtype().filter(|_| ty.is_tensor());
        dtype.ok_or(Stop::Unknown)
    }

    /// Returns the first known element type of these operands.
    pub(crate) fn dtype_of_any(
        &self,
        operands: impl IntoIterator<Item = usize>,
    ) -> Inferred<DType> {
        operands
            .into_iter()
            .find_map(|index| self.dtype(index).ok())
            .ok_or(Stop::Unknown)
    }

    /// Returns the dims of a tensor operand if its rank is known.
    pub(crate) fn dims(&self, index: usize) -> Option<Vec<Dim>> {
        let ty = self.host.operand_type(index);
        let dims = ty.dims().filter(|_| ty.is_tensor())?;
        Some(dims.map(plain).collect())
    }

    /// Like [`Infer::dims`], but stops the rule if the rank is unknown.
    pub(crate) fn shape(&self, index: usize) -> Inferred<Vec<Dim>> {
        self.dims(index).ok_or(Stop::Unknown)
    }

    /// Returns the elements of an operand that is a shape. Unknown elements are `?`.
    pub(crate) fn values(&self, index: usize) -> Option<Vec<Dim>> {
        let dims = self.host.operand_dims(index).ok().flatten()?;
        Some(dims.into_iter().map(plain).collect())
    }

    /// Returns the elements of an integer operand if all are constant.
    pub(crate) fn known_ints(&self, index: usize) -> Option<Vec<i64>> {
        as_consts(&self.values(index)?)
    }

    /// Returns the integers of an optional operand, `None` if it is absent.
    pub(crate) fn ints_if_given(&self, index: usize) -> Inferred<Option<Vec<i64>>> {
        if self.has(index) {
            self.known_ints(index).map(Some).ok_or(Stop::Unknown)
        } else {
            Ok(None)
        }
    }

    /// Returns integers that were an attribute before version `moved` and are an operand since.
    pub(crate) fn ints_since(
        &self,
        moved: i64,
        index: usize,
        attr: &str,
    ) -> Inferred<Option<Vec<i64>>> {
        if self.version >= moved {
            self.ints_if_given(index)
        } else {
            Ok(self.call.ints(attr)?.map(|ints| ints.into_owned()))
        }
    }

    /// Returns an attribute with one size per spatial dim, or `default` for each.
    pub(crate) fn sizes_or(&self, name: &str, default: i64, count: usize) -> Inferred<Vec<i64>> {
        let Some(given) = self.call.ints(name)? else {
            return Ok(vec![default; count]);
        };
        check_length(name, given.len(), count)?;
        Ok(given.into_owned())
    }

    /// Returns an axis counted from the front.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Inferred<usize> {
        axis_of(axis, rank).map_err(|error| Stop::InvalidOp(error.to_string()))
    }

    /// Returns the axes counted from the front.
    pub(crate) fn axes(&self, axes: &[i64], rank: usize) -> Inferred<Vec<usize>> {
        axes_of(axes, rank).map_err(|error| Stop::InvalidOp(error.to_string()))
    }

    /// Returns for each axis of a rank whether the list has it.
    pub(crate) fn listed_axes(&self, axes: &[i64], rank: usize) -> Inferred<Vec<bool>> {
        listed_axes(axes, rank).map_err(|error| Stop::InvalidOp(error.to_string()))
    }

    /// Sets the type of a result to a tensor, without dims if its rank is unknown.
    pub(crate) fn set(&self, index: usize, dtype: DType, dims: Option<Vec<Dim>>) -> Inferred {
        let negative = |dim: &&Dim| dim.as_const().is_some_and(|size| size < 0);
        if let Some(dim) = dims.iter().flatten().find(negative) {
            return invalid!("negative dim {}", dim.value);
        }
        self.record(index, |facts| facts.ty = Some(Ty::Tensor(dtype, dims)))
    }

    /// Sets the first result to a tensor whose dims are a function of the first operand's, if those are known.
    pub(crate) fn set_from<R: Into<Option<Vec<Dim>>>>(
        &self,
        dtype: DType,
        dims: impl FnOnce(Vec<Dim>) -> Inferred<R>,
    ) -> Inferred {
        let dims = self.dims(0).map(dims).transpose()?;
        self.set(0, dtype, dims.and_then(R::into))
    }

    /// Sets the type of a result.
    pub(crate) fn set_type(&self, index: usize, ty: Ty) -> Inferred {
        self.record(index, |facts| facts.ty = Some(ty))
    }

    /// Sets the elements of a result that is a shape.
    pub(crate) fn set_values(&self, index: usize, values: Vec<Dim>) -> Inferred {
        self.record(index, |facts| facts.values = Some(values))
    }

    /// Whether a result is a short list of integers without recorded elements.
    pub(super) fn may_be_shape(&self, index: usize) -> bool {
        let facts = self.facts.borrow();
        let Some(ResultFacts {
            ty: Some(Ty::Tensor(dtype, Some(dims))),
            values: None,
        }) = facts.get(index)
        else {
            return false;
        };
        let mut sizes = dims.iter().map(|&dim| dim.as_const());
        let count = sizes.try_fold(1_i64, |count, size| count.checked_mul(size?));
        matches!(*dtype, DType::I64 | DType::I32 | DType::BOOL)
            && count.is_some_and(|count| count <= MAX_VALUES as i64)
    }

    /// Records a fact. Facts of results that the op doesn't have are ignored.
    fn record(&self, index: usize, fact: impl FnOnce(&mut ResultFacts)) -> Inferred {
        if let Some(facts) = self.facts.borrow_mut().get_mut(index) {
            fact(facts);
        }
        Ok(())
    }
}
