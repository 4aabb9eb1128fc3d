//! An op to evaluate, with access to its operands.

use passdock_plugin_api::{AttrDef, DType};

use super::{Attrs, NotFolded, Tensor, element_count, ensure, name_of, reject};

/// The maximum size of a result in bytes, whatever the caller allows.
const LIMIT: u64 = 1 << 31;

/// An op to evaluate.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The operator, with its domain: `onnx.Add`.
    pub name: &'a str,
    /// The version of its domain.
    pub version: i64,
    /// The operands; `None` for an absent one.
    pub inputs: &'a [Option<Tensor<'a>>],
    /// The attributes of the op.
    pub attrs: &'a dyn Attrs,
    /// The attributes that the operator defines. [`evaluate`](crate::evaluate) fills them in.
    pub attr_defs: &'static [AttrDef],
    /// The number of requested results.
    pub outputs: usize,
    /// The maximum size of one result in bytes.
    pub max_bytes: u64,
}

/// The result of an evaluation.
pub type Folded<'a> = Result<Tensor<'a>, NotFolded>;

/// All results of an evaluation.
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

    /// Computes the results of an op. Fails if there are fewer than the op has.
    pub(crate) fn all_results<'a>(self, call: &Call<'a>) -> FoldedAll<'a> {
        let results = self.results(call)?;
        let (count, expected) = (results.len(), call.outputs);
        ensure!(
            count >= expected,
            "evaluation computes {count} of {expected} results"
        );
        Ok(results)
    }
}

impl<'a> Call<'a> {
    /// Returns a required operand.
    pub fn input(&self, index: usize) -> Result<&'a Tensor<'a>, NotFolded> {
        match self.optional(index) {
            Some(tensor) => Ok(tensor),
            None => reject!("missing operand {index}"),
        }
    }

    /// Returns an optional operand.
    pub fn optional(&self, index: usize) -> Option<&'a Tensor<'a>> {
        self.inputs.get(index)?.as_ref()
    }

    /// Returns all operands, none of which may be absent.
    pub fn all_inputs(&self) -> Result<Vec<&'a Tensor<'a>>, NotFolded> {
        (0..self.inputs.len())
            .map(|index| self.input(index))
            .collect()
    }

    /// Returns the first two operands, which must have the same element type.
    pub(crate) fn pair(&self) -> Result<(&'a Tensor<'a>, &'a Tensor<'a>), NotFolded> {
        let (a, b) = (self.input(0)?, self.input(1)?);
        one_type(&[a, b])?;
        Ok((a, b))
    }

    /// Returns the integers in an operand of rank 0 or 1.
    pub fn ints_in(&self, index: usize) -> Result<Vec<i64>, NotFolded> {
        let tensor = self.input(index)?;
        if tensor.rank() > 1 {
            return reject!(
                "operand {index} has rank {}, expected at most 1",
                tensor.rank()
            );
        }
        integers(tensor)
    }

    /// Like [`Call::ints_in`], for an optional operand.
    pub fn optional_ints_in(&self, index: usize) -> Result<Option<Vec<i64>>, NotFolded> {
        self.optional(index)
            .map(|_| self.ints_in(index))
            .transpose()
    }

    /// Returns integers that were an attribute before version `moved` of the domain and are an operand since.
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

    /// Checks the size of a result of this type and shape against the limit. Returns its number of elements.
    pub fn room_for(&self, dtype: DType, shape: &[usize]) -> Result<usize, NotFolded> {
        let elements = element_count(shape)?;
        // Only the offset of a string counts here. Its bytes are counted when it is copied.
        let bytes = if dtype == DType::STRING {
            (elements as u64).checked_mul(8)
        } else {
            dtype.byte_len(elements as u64)
        };
        self.room_for_bytes(bytes)?;
        Ok(elements)
    }

    /// Checks the size of a result in bytes against the limit.
    pub fn room_for_bytes(&self, bytes: Option<u64>) -> Result<(), NotFolded> {
        let limit = self.max_bytes.min(LIMIT);
        match bytes {
            Some(bytes) if bytes <= limit => Ok(()),
            Some(bytes) => reject!(
                "result would take {} bytes, limit is {}",
                grouped(bytes),
                grouped(limit)
            ),
            None => reject!("size of the result is unknown or overflows"),
        }
    }
}

/// Formats a number with thousands separators: 1,000,000.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// Returns the element type of some operands, which must be the same for all.
pub(crate) fn one_type(operands: &[&Tensor]) -> Result<DType, NotFolded> {
    let Some(dtype) = operands.first().map(|first| first.dtype()) else {
        return reject!("missing operands");
    };
    match operands.iter().find(|operand| operand.dtype() != dtype) {
        Some(other) => reject!(
            "expected operands of one element type, found {} and {}",
            name_of(dtype),
            name_of(other.dtype())
        ),
        None => Ok(dtype),
    }
}

/// Returns the elements of an int64 or int32 tensor.
pub(crate) fn integers(tensor: &Tensor) -> Result<Vec<i64>, NotFolded> {
    match tensor.dtype() {
        DType::I64 => Ok(tensor.stored::<i64>()?.into_owned()),
        DType::I32 => Ok(tensor
            .stored::<i32>()?
            .iter()
            .map(|&int| int.into())
            .collect()),
        other => reject!("expected element type i64 or i32, found {}", name_of(other)),
    }
}

/// Returns an index counted from the front, or `None` if it is out of range.
pub(crate) fn normalized_index(at: i64, count: usize) -> Option<usize> {
    let at = if at < 0 {
        at.checked_add(count as i64)?
    } else {
        at
    };
    usize::try_from(at).ok().filter(|&at| at < count)
}

/// Returns an axis counted from the front.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, NotFolded> {
    let reason = || NotFolded::new(format!("axis {axis} is out of range for rank {rank}"));
    normalized_index(axis, rank).ok_or_else(reason)
}

/// Returns axes counted from the front. Each may be listed only once.
pub(crate) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, NotFolded> {
    let mut axes = Vec::with_capacity(list.len());
    for &entry in list {
        let axis = axis(entry, rank)?;
        ensure!(!axes.contains(&axis), "duplicate axis {entry}");
        axes.push(axis);
    }
    Ok(axes)
}

/// Returns, per axis of a rank, whether it is listed.
pub(crate) fn listed_axes(list: &[i64], rank: usize) -> Result<Vec<bool>, NotFolded> {
    let mut is_listed = vec![false; rank];
    axes(list, rank)?
        .into_iter()
        .for_each(|axis| is_listed[axis] = true);
    Ok(is_listed)
}
