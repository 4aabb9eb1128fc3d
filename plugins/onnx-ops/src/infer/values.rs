//! The elements of shapes: small integer tensors whose elements are dims, in row-major order.
//!
//! An operator that only moves elements is evaluated on the positions of its elements. So one function carries symbols
//! through Gather, Slice, Concat and all others of this kind.

use passdock_plugin_api::{DType, Dim, ExprKind};

use super::dims::{as_consts, sizes};
use super::rule::{Infer, MAX_VALUES};
use crate::eval::{Call, Evaluate, Tensor, integers};

/// The operands whose elements an operator moves without computing with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// No operand.
    Nothing,
    /// All operands.
    All,
    /// The operands with these indices.
    These(&'static [usize]),
}

impl Moves {
    /// Whether this is one of the operands.
    pub(crate) fn has(self, index: usize) -> bool {
        match self {
            Moves::Nothing => false,
            Moves::All => true,
            Moves::These(list) => list.contains(&index),
        }
    }
}

/// Sets the elements of the results of an operator that moves the operands in `moves`, if the other operands are known.
pub(crate) fn carry(op: &Infer, moves: Moves, evaluate: Evaluate) -> Option<()> {
    let mut pool = Vec::new();
    let inputs = operands(op, moves, &mut pool)?;
    let call = Call {
        inputs: &inputs,
        outputs: op.host.result_count(),
        max_bytes: 8192,
        ..**op
    };
    for (index, result) in evaluate.results(&call).ok()?.iter().enumerate() {
        if result.dtype() == DType::I64 {
            let positions = result.stored::<i64>().ok()?;
            let values = positions.iter().map(|&at| pool.get(at as usize).copied());
            op.set_values(index, values.collect::<Option<_>>()?).ok()?;
        }
    }
    Some(())
}

/// Returns the operands of a call if everything that it needs of them is known.
fn operands<'a>(
    op: &Infer<'a>,
    moves: Moves,
    pool: &mut Vec<Dim>,
) -> Option<Vec<Option<Tensor<'a>>>> {
    let mut operand = |index| match op.has(index) {
        true => operand(op, index, moves, pool).map(Some),
        false => Some(None),
    };
    (0..op.host.operand_count()).map(&mut operand).collect()
}

/// Returns an operand of the call: the positions of its elements in the pool, or the elements themselves.
fn operand<'a>(
    op: &Infer<'a>,
    index: usize,
    moves: Moves,
    pool: &mut Vec<Dim>,
) -> Option<Tensor<'a>> {
    let dtype = op.dtype(index).ok()?;
    if moves.has(index) && !matches!(dtype, DType::I64 | DType::I32) {
        return None;
    }
    let shape: Option<Vec<usize>> = op
        .dims(index)?
        .into_iter()
        .map(|dim| usize::try_from(dim.as_const()?).ok())
        .collect();
    let shape = shape?;
    let constant = || -> Option<Tensor<'a>> {
        let bytes = op.host.operand_data(index).ok()??;
        Tensor::from_bytes(dtype, shape.clone(), bytes)
            .ok()
            .filter(|tensor| tensor.len() <= MAX_VALUES)
    };
    if !moves.has(index)
        && let Some(tensor) = constant()
    {
        return Some(tensor);
    }
    let values = match op.values(index) {
        Some(values) => values,
        None => sizes(integers(&constant()?).ok()?),
    };
    if values.len() > MAX_VALUES || shape.iter().product::<usize>() != values.len() {
        return None;
    }
    if moves.has(index) {
        let start = pool.len() as i64;
        pool.extend(values);
        let positions: Vec<i64> = (start..pool.len() as i64).collect();
        return Some(Tensor::from_vec(DType::I64, shape, positions));
    }
    integer_tensor(dtype, shape, as_consts(&values)?)
}

/// Builds a tensor of integers or bools, if the dtype can represent them.
pub(crate) fn integer_tensor(
    dtype: DType,
    shape: Vec<usize>,
    ints: Vec<i64>,
) -> Option<Tensor<'static>> {
    Some(match dtype {
        DType::BOOL => {
            let bools: Vec<bool> = ints.iter().map(|&int| int != 0).collect();
            Tensor::from_vec(dtype, shape, bools)
        }
        DType::I32 => {
            let ints: Result<Vec<i32>, _> = ints.into_iter().map(i32::try_from).collect();
            Tensor::from_vec(dtype, shape, ints.ok()?)
        }
        DType::I64 => Tensor::from_vec(dtype, shape, ints),
        _ => return None,
    })
}

/// Sets the elements of the result of any other operator with known operands, if it is a short list of integers. An
/// example is a `CastLike` or `Floor` in the computation of a shape.
pub(crate) fn compute_known(op: &Infer, evaluate: Evaluate) -> Option<()> {
    if op.host.result_count() != 1 || !op.may_be_shape(0) {
        return None;
    }
    let inputs = operands(op, Moves::Nothing, &mut Vec::new())?;
    let call = Call {
        inputs: &inputs,
        outputs: 1,
        max_bytes: 8192,
        ..**op
    };
    let results = evaluate.results(&call).ok()?;
    let values = match results.first()? {
        truth if truth.dtype() == DType::BOOL => {
            let truth = truth.stored::<u8>().ok()?;
            truth.iter().map(|&truth| i64::from(truth != 0)).collect()
        }
        numbers => integers(numbers).ok()?,
    };
    op.set_values(0, sizes(values)).ok()
}

/// An elementwise operation on dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient, truncated.
    Div,
    /// The remainder with the divisor's sign.
    Mod,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// Whether the dims are equal, as 0 or 1.
    Equal,
    /// Whether the first dim is less, as 0 or 1.
    Less,
    /// Whether the first dim is greater, as 0 or 1.
    Greater,
}

impl Infer<'_> {
    /// Sets the elements of arithmetic on two shapes, one of which may be a scalar.
    pub(crate) fn compute(&self, what: Arithmetic) -> Option<()> {
        let (a, b) = (self.integers(0)?, self.integers(1)?);
        let count = match (a.len(), b.len()) {
            (a, b) if a == b => a,
            (1, count) | (count, 1) => count,
            _ => return None,
        };
        let pick = |list: &[Dim], at: usize| if list.len() == 1 { list[0] } else { list[at] };
        let results: Vec<Dim> = (0..count)
            .map(|at| self.one(what, pick(&a, at), pick(&b, at)))
            .collect();
        if results.iter().any(|&result| result.is_known()) {
            self.set_values(0, results).ok()?;
        }
        Some(())
    }

    /// Returns the elements of an integer operand of rank 0 or 1.
    fn integers(&self, index: usize) -> Option<Vec<Dim>> {
        let ty = self.host.operand_type(index);
        let is_list = ty.rank().is_some_and(|rank| rank <= 1);
        if !is_list || !matches!(self.dtype(index), Ok(DType::I64 | DType::I32)) {
            return None;
        }
        self.values(index)
            .filter(|values| values.len() <= MAX_VALUES)
    }

    /// Computes one element. Symbols and expressions are sizes and so never negative.
    fn one(&self, what: Arithmetic, a: Dim, b: Dim) -> Dim {
        use Arithmetic::{Add, Div, Equal, Greater, Less, Max, Min, Mod, Mul, Sub};
        let truth = |truth: bool| Dim::constant(truth.into());
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            let result = match what {
                Add => a.checked_add(b),
                Sub => a.checked_sub(b),
                Mul => a.checked_mul(b),
                Div => a.checked_div(b),
                Mod => a.checked_rem_euclid(b).filter(|_| b > 0),
                Min => Some(a.min(b)),
                Max => Some(a.max(b)),
                Equal => Some((a == b).into()),
                Less => Some((a < b).into()),
                Greater => Some((a > b).into()),
            };
            return result.map_or(Dim::UNKNOWN, Dim::constant);
        }
        if !a.is_known() || !b.is_known() {
            return Dim::UNKNOWN;
        }
        let negative = |dim: Dim| dim.as_const().is_some_and(|size| size < 0);
        match what {
            Add => self.add(a, b),
            Sub => self.sub(a, b),
            Mul => self.mul(a, b),
            Div => match b.as_const() {
                Some(by) => self.div(a, by),
                // The divisor isn't 0 in a valid op.
                None if a.as_const().is_none_or(|a| a >= 0) => self.expr(ExprKind::FLOORDIV, a, b),
                None => Dim::UNKNOWN,
            },
            Mod if b.as_const() == Some(1) => Dim::constant(0),
            Mod if b.as_const().is_some_and(|by| by > 0) => self.expr(ExprKind::MOD, a, b),
            Min | Max if a.is_same(b) => a,
            Min if negative(a) => a,
            Min if negative(b) => b,
            Max if negative(a) => b,
            Max if negative(b) => a,
            Min => self.expr(ExprKind::MIN, a, b),
            Max => self.expr(ExprKind::MAX, a, b),
            Equal if a.is_same(b) => truth(true),
            Equal if negative(a) || negative(b) => truth(false),
            Less | Greater if a.is_same(b) => truth(false),
            Less if negative(a) => truth(true),
            Less if negative(b) => truth(false),
            Greater if negative(b) => truth(true),
            Greater if negative(a) => truth(false),
            _ => Dim::UNKNOWN,
        }
    }
}
