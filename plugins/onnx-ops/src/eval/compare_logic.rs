//! Comparisons, logic, and selection by a condition.

use std::cmp::Ordering;
use std::collections::HashMap;

use ndarray::Zip;

use super::broadcast::{shape_of, spread, zip};
use super::cast::as_number;
use super::cells::{flat, rearrange};
use super::number::{Number, with_number};
use super::{Call, Folded, NotFolded, Tensor, name_of, reject};
use passdock_plugin_api::DType;

/// Compares two numeric tensors. NaN is unordered.
pub(crate) fn compare<'a>(call: &Call<'a>, test: impl Fn(Ordering) -> bool) -> Folded<'a> {
    let (a, b) = call.pair()?;
    with_number!(a.dtype(), T => {
        let test = |a: T, b: T| Some(a.partial_cmp(&b).is_some_and(&test));
        zip(call, DType::BOOL, a, b, "", test)
    })
}

/// Evaluates `A = B`.
pub(crate) fn equal<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = call.pair()?;
    match a.dtype() {
        DType::BOOL => truth(call, |a, b| a == b),
        DType::STRING => {
            // Strings are numbered and compared by number.
            let mut numbers = HashMap::new();
            let mut numbered = |tensor: &'a Tensor| {
                let number = |string| {
                    let next = numbers.len() as u64;
                    *numbers.entry(string).or_insert(next)
                };
                let numbers = tensor.strings()?.into_iter().map(number).collect();
                Ok(Tensor::from_vec(
                    DType::U64,
                    tensor.shape().to_vec(),
                    numbers,
                ))
            };
            let (a, b) = (numbered(a)?, numbered(b)?);
            let same = |a: u64, b: u64| Some(a == b);
            zip(call, DType::BOOL, &a, &b, "", same)
        }
        _ => compare(call, Ordering::is_eq),
    }
}

/// Combines two tensors of bools. Any byte but 0 is true.
pub(crate) fn truth<'a>(call: &Call<'a>, combine: impl Fn(bool, bool) -> bool) -> Folded<'a> {
    let (a, b) = call.pair()?;
    bools(a)?;
    let combine = |a: u8, b: u8| Some(combine(a != 0, b != 0));
    zip(call, DType::BOOL, a, b, "", combine)
}

/// Returns the bytes of a tensor of bools.
pub(crate) fn bools<'t>(tensor: &'t Tensor) -> Result<&'t [u8], NotFolded> {
    let dtype = tensor.dtype();
    if dtype != DType::BOOL {
        return reject!("expected element type bool, found {}", name_of(dtype));
    }
    Ok(tensor.bytes())
}

/// Negates bools.
pub(crate) fn not<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    bools(x)?;
    x.map(DType::BOOL, |x: u8| x == 0)
}

/// Selects elements of the second operand where the first is true, and of the third elsewhere.
pub(crate) fn choose<'a>(call: &Call<'a>) -> Folded<'a> {
    let (condition, x, y) = (call.input(0)?, call.input(1)?, call.input(2)?);
    bools(condition)?;
    let shape = shape_of(&[condition.shape(), x.shape(), y.shape()])?;
    call.room_for(x.dtype(), &shape)?;
    let condition = condition.array::<u8>()?;
    rearrange!(call, &[x, y], cells, T => {
        let (x, y) = (cells.array::<T>(0)?, cells.array::<T>(1)?);
        let chosen = Zip::from(spread(&condition.view(), &shape)?)
            .and(spread(&x.view(), &shape)?)
            .and(spread(&y.view(), &shape)?)
            .map_collect(|&condition, &x, &y| if condition != 0 { x } else { y });
        flat(chosen)
    })
}

/// Returns the indices of the nonzero elements, one column per element.
pub(crate) fn non_zero<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    if x.rank() == 0 {
        return reject!("runtimes disagree on `NonZero` of a scalar");
    }
    let number = as_number(x)?;
    let hits: Vec<usize> = with_number!(number.dtype(), T => {
        let elements = number.stored::<T>()?;
        Ok::<_, NotFolded>((0..x.len()).filter(|&at| elements[at] != T::ZERO).collect())
    })?;
    let shape = vec![x.rank(), hits.len()];
    call.room_for(DType::I64, &shape)?;
    let mut result = vec![0i64; x.rank() * hits.len()];
    for (column, mut position) in hits.iter().copied().enumerate() {
        for (row, &dim) in x.shape().iter().enumerate().rev() {
            result[row * hits.len() + column] = (position % dim) as i64;
            position /= dim;
        }
    }
    Ok(Tensor::from_vec(DType::I64, shape, result))
}
