//! One op to evaluate, and how an evaluation reads its operands.

use passdock_plugin_api::{AttrDef, DType};

use super::{Attrs, NotFolded, Tensor, element_count, ensure, name_of, refuse};

/// However much a caller allows, nothing larger than this is made.
const LIMIT: u64 = 1 << 31;

/// An op to evaluate.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The operator, with its domain: `onnx.Add`.
    pub name: &'a str,
    /// The version of its domain.
    pub version: i64,
    /// The operands; `None` is one left out.
    pub inputs: &'a [Option<Tensor<'a>>],
    /// The attributes that are given.
    pub attrs: &'a dyn Attrs,
    /// The attributes as the operator lists them; [`evaluate`](crate::evaluate) looks it up.
    pub attr_defs: &'static [AttrDef],
    /// The number of results that are wanted.
    pub outputs: usize,
    /// The most bytes that one result may take.
    pub max_bytes: u64,
}

/// The result of an op.
pub type Folded<'a> = Result<Tensor<'a>, NotFolded>;

/// All results of an op.
pub type FoldedAll<'a> = Result<Vec<Tensor<'a>>, NotFolded>;

/// The evaluation of an operator with one result.
pub type Evaluation = for<'a> fn(&Call<'a>) -> Folded<'a>;

/// The evaluation of an operator with several results.
pub type EvaluationOfAll = for<'a> fn(&Call<'a>) -> FoldedAll<'a>;

/// The evaluation of an operator.
#[derive(Clone, Copy)]
pub enum Evaluate {
    /// Computes the only result.
    One(Evaluation),
    /// Computes all results.
    All(EvaluationOfAll),
}

impl Evaluate {
    /// Computes the results of an op.
    pub fn results<'a>(self, call: &Call<'a>) -> FoldedAll<'a> {
        match self {
            Evaluate::One(evaluate) => Ok(vec![evaluate(call)?]),
            Evaluate::All(evaluate) => evaluate(call),
        }
    }
}

impl<'a> Call<'a> {
    /// An operand that must be there.
    pub fn input(&self, index: usize) -> Result<&'a Tensor<'a>, NotFolded> {
        match self.optional(index) {
            Some(tensor) => Ok(tensor),
            None => refuse!("operand {index} is missing"),
        }
    }

    /// An operand that may be left out.
    pub fn optional(&self, index: usize) -> Option<&'a Tensor<'a>> {
        self.inputs.get(index)?.as_ref()
    }

    /// All operands, none of them left out.
    pub fn all_inputs(&self) -> Result<Vec<&'a Tensor<'a>>, NotFolded> {
        (0..self.inputs.len())
            .map(|index| self.input(index))
            .collect()
    }

    /// The first two operands, of one element type.
    pub(crate) fn pair(&self) -> Result<(&'a Tensor<'a>, &'a Tensor<'a>), NotFolded> {
        let (a, b) = (self.input(0)?, self.input(1)?);
        one_type(&[a, b])?;
        Ok((a, b))
    }

    /// The integers in an operand of rank 0 or 1.
    pub fn ints_in(&self, index: usize) -> Result<Vec<i64>, NotFolded> {
        let tensor = self.input(index)?;
        if tensor.rank() > 1 {
            return refuse!("operand {index} must be a list of integers");
        }
        integers(tensor)
    }

    /// As [`Call::ints_in`], for an operand that may be left out.
    pub fn optional_ints_in(&self, index: usize) -> Result<Option<Vec<i64>>, NotFolded> {
        self.optional(index)
            .map(|_| self.ints_in(index))
            .transpose()
    }

    /// Integers that were an attribute before version `moved` of the domain and are an operand since.
    pub fn ints_since(
        &self,
        moved: i64,
        index: usize,
        attr: &str,
    ) -> Result<Option<Vec<i64>>, NotFolded> {
        if self.version >= moved {
            self.optional_ints_in(index)
        } else {
            Ok(self.ints(attr)?.map(|ints| ints.into_owned()))
        }
    }

    /// Whether a result of that type and shape is allowed; how many elements it has.
    pub fn room_for(&self, dtype: DType, shape: &[usize]) -> Result<usize, NotFolded> {
        let elements = element_count(shape)?;
        // A string takes its offset; what the strings themselves take is counted when they are copied.
        let bytes = if dtype == DType::STRING {
            (elements as u64).checked_mul(8)
        } else {
            dtype.byte_len(elements as u64)
        };
        self.room_for_bytes(bytes)?;
        Ok(elements)
    }

    /// Whether a result of so many bytes is allowed.
    pub fn room_for_bytes(&self, bytes: Option<u64>) -> Result<(), NotFolded> {
        match bytes {
            Some(bytes) if bytes <= self.max_bytes.min(LIMIT) => Ok(()),
            Some(bytes) => refuse!("its result would take {} bytes", grouped(bytes)),
            None => refuse!("the size of its result isn't known"),
        }
    }
}

/// A number as people read it: 1,000,000.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// The element type that all of some operands have.
pub(crate) fn one_type(operands: &[&Tensor]) -> Result<DType, NotFolded> {
    let Some(dtype) = operands.first().map(|first| first.dtype()) else {
        return refuse!("it has no operands");
    };
    match operands.iter().find(|operand| operand.dtype() != dtype) {
        Some(other) => refuse!(
            "its operands mix {} and {}",
            name_of(dtype),
            name_of(other.dtype())
        ),
        None => Ok(dtype),
    }
}

/// The elements of an int64 or int32 tensor.
pub(crate) fn integers(tensor: &Tensor) -> Result<Vec<i64>, NotFolded> {
    match tensor.dtype() {
        DType::I64 => Ok(tensor.stored::<i64>()?.into_owned()),
        DType::I32 => Ok(tensor
            .stored::<i32>()?
            .iter()
            .map(|&int| int.into())
            .collect()),
        other => refuse!("{} where integers are needed", name_of(other)),
    }
}

/// One of as many places, counted from the back if it is negative.
pub(crate) fn place(at: i64, count: usize) -> Option<usize> {
    let at = if at < 0 {
        at.checked_add(count as i64)?
    } else {
        at
    };
    usize::try_from(at).ok().filter(|&at| at < count)
}

/// An axis, counted from the back if it is negative.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, NotFolded> {
    let reason = || NotFolded::new(format!("axis {axis} is out of range for rank {rank}"));
    place(axis, rank).ok_or_else(reason)
}

/// The axes of a rank in a list, each at most once.
pub(crate) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, NotFolded> {
    let mut is_listed = vec![false; rank];
    let listed = |&entry: &i64| {
        let axis = axis(entry, rank)?;
        let twice = std::mem::replace(&mut is_listed[axis], true);
        ensure!(!twice, "axis {entry} is named twice");
        Ok(axis)
    };
    list.iter().map(listed).collect()
}

/// For each axis of a rank, whether it is in a list.
pub(crate) fn listed_axes(list: &[i64], rank: usize) -> Result<Vec<bool>, NotFolded> {
    let mut is_listed = vec![false; rank];
    axes(list, rank)?
        .into_iter()
        .for_each(|axis| is_listed[axis] = true);
    Ok(is_listed)
}
