//! [`Infer`]: the op that a rule is asked about, and what the rule says of its results.

use std::cell::RefCell;
use std::ops::Deref;

use passdock_plugin_api::{DType, Dim, OpCall, TypeSpec};

use super::dims::{as_const, as_consts, plain};
use crate::eval::{Call, NotFolded, axes as axes_of, axis as axis_of, listed_axes};

/// No shape has more elements.
pub(super) const MOST: usize = 256;

/// The rule of one operator.
pub(crate) type Rule = fn(&Infer) -> Answer;

/// The answer of a rule: it has said what it knows, or stops.
pub(crate) type Answer<T = ()> = Result<T, Stop>;

/// The reason why a rule stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Too little is known, which is nobody's mistake.
    Unknown,
    /// The op can't be right.
    Wrong(String),
}

impl From<NotFolded> for Stop {
    /// An attribute that can't be read: mostly a reference to a parameter of the function.
    fn from(_: NotFolded) -> Stop {
        Stop::Unknown
    }
}

/// Answers [`Stop::Wrong`] with a formatted reason.
macro_rules! wrong {
    ($($text:tt)*) => { Err($crate::infer::Stop::Wrong(format!($($text)*))) };
}
pub(crate) use wrong;

/// A result as a rule says it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResultFacts {
    /// The result's type.
    pub ty: Option<Ty>,
    /// The result's elements.
    pub values: Option<Vec<Dim>>,
}

/// The type of a result.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    /// A tensor, of unknown rank if there are no dims.
    Tensor(DType, Option<Vec<Dim>>),
    /// Anything else.
    Other(TypeSpec),
}

impl Ty {
    /// The description that the host takes.
    pub(crate) fn spec(&self) -> TypeSpec {
        match self {
            Ty::Tensor(dtype, Some(dims)) => TypeSpec::tensor(*dtype, dims.iter().copied()),
            Ty::Tensor(dtype, None) => TypeSpec::unranked(*dtype),
            Ty::Other(spec) => spec.clone(),
        }
    }
}

/// An op whose results' types are asked for. Its attributes are read as in an evaluation.
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

    /// The results as they were said, one entry each.
    pub(crate) fn finish(self) -> Vec<ResultFacts> {
        self.facts.into_inner()
    }

    /// Whether an operand is there.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.host.operand(index).is_some()
    }

    /// The element type of a tensor operand.
    pub(crate) fn dtype(&self, index: usize) -> Answer<DType> {
        let ty = self.host.operand_type(index);
        if ty.is_tensor() && ty.dtype() != DType::NONE {
            Ok(ty.dtype())
        } else {
            Err(Stop::Unknown)
        }
    }

    /// The element type of the first of these operands of which it is known.
    pub(crate) fn dtype_of_any(&self, operands: impl IntoIterator<Item = usize>) -> Answer<DType> {
        operands
            .into_iter()
            .find_map(|index| self.dtype(index).ok())
            .ok_or(Stop::Unknown)
    }

    /// The dims of a tensor operand, if their number is known.
    pub(crate) fn dims(&self, index: usize) -> Option<Vec<Dim>> {
        let ty = self.host.operand_type(index);
        let dims = ty.dims().filter(|_| ty.is_tensor())?;
        Some(dims.map(plain).collect())
    }

    /// As [`Infer::dims`], where nothing can be said without them.
    pub(crate) fn shape(&self, index: usize) -> Answer<Vec<Dim>> {
        self.dims(index).ok_or(Stop::Unknown)
    }

    /// The elements of an operand that is a shape, as far as they are known.
    pub(crate) fn values(&self, index: usize) -> Option<Vec<Dim>> {
        let dims = self.host.operand_dims(index).ok().flatten()?;
        Some(dims.into_iter().map(plain).collect())
    }

    /// The elements of an operand of integers, if all are known.
    pub(crate) fn known_ints(&self, index: usize) -> Option<Vec<i64>> {
        as_consts(&self.values(index)?)
    }

    /// The integers of an operand that may be left out: `None` if it is.
    pub(crate) fn ints_if_given(&self, index: usize) -> Answer<Option<Vec<i64>>> {
        if self.has(index) {
            self.known_ints(index).map(Some).ok_or(Stop::Unknown)
        } else {
            Ok(None)
        }
    }

    /// Integers that were an attribute before version `moved` and are an operand since.
    pub(crate) fn ints_since(
        &self,
        moved: i64,
        index: usize,
        attr: &str,
    ) -> Answer<Option<Vec<i64>>> {
        if self.version >= moved {
            self.ints_if_given(index)
        } else {
            Ok(self.call.ints(attr)?.map(|ints| ints.into_owned()))
        }
    }

    /// An attribute of sizes, or as many as there are spatial dims of this.
    pub(crate) fn sizes_or(&self, name: &str, default: i64, count: usize) -> Answer<Vec<i64>> {
        let Some(given) = self.call.ints(name)? else {
            return Ok(vec![default; count]);
        };
        if given.len() == count {
            Ok(given.into_owned())
        } else {
            wrong!("{} `{name}` for {count} dims", given.len())
        }
    }

    /// An axis, counted from the back if it is negative.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Answer<usize> {
        axis_of(axis, rank).map_err(|error| Stop::Wrong(error.to_string()))
    }

    /// The axes of a rank in a list.
    pub(crate) fn axes(&self, axes: &[i64], rank: usize) -> Answer<Vec<usize>> {
        axes_of(axes, rank).map_err(|error| Stop::Wrong(error.to_string()))
    }

    /// For each axis of a rank, whether it is in a list.
    pub(crate) fn listed_axes(&self, axes: &[i64], rank: usize) -> Answer<Vec<bool>> {
        listed_axes(axes, rank).map_err(|error| Stop::Wrong(error.to_string()))
    }

    /// A result is a tensor; without dims, of unknown rank.
    pub(crate) fn set(&self, index: usize, dtype: DType, dims: Option<Vec<Dim>>) -> Answer {
        let negative = |dim: &&Dim| as_const(**dim).is_some_and(|size| size < 0);
        if let Some(dim) = dims.iter().flatten().find(negative) {
            return wrong!("{} isn't a size", dim.value);
        }
        self.record(index, |facts| facts.ty = Some(Ty::Tensor(dtype, dims)))
    }

    /// The first result is a tensor whose dims follow from the first operand's, if these are known.
    pub(crate) fn set_from<R: Into<Option<Vec<Dim>>>>(
        &self,
        dtype: DType,
        dims: impl FnOnce(Vec<Dim>) -> Answer<R>,
    ) -> Answer {
        let dims = self.dims(0).map(dims).transpose()?;
        self.set(0, dtype, dims.and_then(R::into))
    }

    /// A result has another type.
    pub(crate) fn set_type(&self, index: usize, ty: Ty) -> Answer {
        self.record(index, |facts| facts.ty = Some(ty))
    }

    /// A result has the elements of a shape.
    pub(crate) fn set_values(&self, index: usize, values: Vec<Dim>) -> Answer {
        self.record(index, |facts| facts.values = Some(values))
    }

    /// Whether a result is a short list of integers of which nothing is said yet.
    pub(super) fn may_be_shape(&self, index: usize) -> bool {
        let facts = self.facts.borrow();
        let Some(ResultFacts {
            ty: Some(Ty::Tensor(dtype, Some(dims))),
            values: None,
        }) = facts.get(index)
        else {
            return false;
        };
        let mut sizes = dims.iter().map(|&dim| as_const(dim));
        let count = sizes.try_fold(1_i64, |count, size| count.checked_mul(size?));
        matches!(*dtype, DType::I64 | DType::I32 | DType::BOOL)
            && count.is_some_and(|count| count <= MOST as i64)
    }

    /// A result that the op doesn't have is no mistake: it just isn't wanted.
    fn record(&self, index: usize, fact: impl FnOnce(&mut ResultFacts)) -> Answer {
        if let Some(facts) = self.facts.borrow_mut().get_mut(index) {
            fact(facts);
        }
        Ok(())
    }
}
