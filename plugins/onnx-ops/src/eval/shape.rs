//! Operators that only read or change shapes, without moving elements.

use super::call::{axis, listed_axes};
use super::{Call, Folded, NotFolded, Tensor, element_count, ensure, reject};
use passdock_plugin_api::DType;

/// Returns the operand.
pub(crate) fn identity<'a>(call: &Call<'a>) -> Folded<'a> {
    Ok(call.input(0)?.clone())
}

/// Returns the dims from `start` to `end`.
pub(crate) fn shape<'a>(call: &Call<'a>) -> Folded<'a> {
    let dims = call.input(0)?.shape();
    let range = shape_range(dims.len(), call.int_or("start", 0)?, call.int("end")?);
    let result: Vec<i64> = dims[range].iter().map(|&dim| dim as i64).collect();
    Ok(Tensor::from_vec(DType::I64, vec![result.len()], result))
}

/// Returns the range of dims that Shape returns. Negative ends count from the last dim; both ends are clamped.
pub(crate) fn shape_range(rank: usize, start: i64, end: Option<i64>) -> std::ops::Range<usize> {
    let bound = |at: i64| {
        let at = if at < 0 {
            at.saturating_add(rank as i64)
        } else {
            at
        };
        at.clamp(0, rank as i64) as usize
    };
    let (start, end) = (bound(start), end.map_or(rank, bound));
    start..end.max(start)
}

/// Returns the number of elements.
pub(crate) fn size<'a>(call: &Call<'a>) -> Folded<'a> {
    let count = call.input(0)?.len() as i64;
    Ok(Tensor::from_vec(DType::I64, vec![], vec![count]))
}

/// Reshapes: 0 keeps a dim (unless `allowzero`), and one -1 is inferred.
pub(crate) fn reshape<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let shape = reshaped(x.shape(), &call.ints_in(1)?, call.flag("allowzero", false)?)?;
    x.reshaped(shape)
}

fn reshaped(old: &[usize], requested: &[i64], allow_zero: bool) -> Result<Vec<usize>, NotFolded> {
    let mut shape = Vec::with_capacity(requested.len());
    let mut open = None;
    for (at, &dim) in requested.iter().enumerate() {
        shape.push(match dim {
            0 if allow_zero => 0,
            0 => match old.get(at) {
                Some(&dim_size) => dim_size,
                None => {
                    return reject!("dim {at} of the shape is 0, but the operand has no dim {at}");
                }
            },
            -1 if open.is_none() => {
                open = Some(at);
                1
            }
            _ => match usize::try_from(dim) {
                Ok(dim) => dim,
                Err(_) => return reject!("invalid shape {requested:?}"),
            },
        });
    }
    if let Some(at) = open {
        let (all, known) = (element_count(old)?, element_count(&shape)?);
        let fits = known != 0 && all % known == 0;
        ensure!(fits, "cannot reshape {all} elements to {requested:?}");
        shape[at] = all / known;
    }
    Ok(shape)
}

/// Removes the dims of 1 at `axes`, or all of them.
pub(crate) fn squeeze<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let removed = match call.ints_since(13, 1, "axes")? {
        Some(list) => listed_axes(&list, x.rank())?,
        None => x.shape().iter().map(|&dim| dim == 1).collect(),
    };
    let mut shape = Vec::new();
    for (&dim, removed) in x.shape().iter().zip(removed) {
        ensure!(!removed || dim == 1, "cannot squeeze a dim of {dim}");
        shape.extend((!removed).then_some(dim));
    }
    x.reshaped(shape)
}

/// Inserts dims of 1 at `axes` of the result.
pub(crate) fn unsqueeze<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let Some(list) = call.ints_since(13, 1, "axes")? else {
        return reject!("missing `axes`");
    };
    let new = listed_axes(&list, x.rank() + list.len())?;
    let mut old = x.shape().iter().copied();
    let dim = |new| if new { 1 } else { old.next().unwrap_or(1) };
    x.reshaped(new.into_iter().map(dim).collect())
}

/// Flattens to a matrix: the dims before `axis` become the rows, and the other dims the columns.
pub(crate) fn flatten<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let at = call.int_or("axis", 1)?;
    // The rank itself is a valid axis here.
    let at = if at == x.rank() as i64 {
        x.rank()
    } else {
        axis(at, x.rank())?
    };
    let (rows, columns) = x.shape().split_at(at);
    let shape = vec![rows.iter().product(), columns.iter().product()];
    x.reshaped(shape)
}
