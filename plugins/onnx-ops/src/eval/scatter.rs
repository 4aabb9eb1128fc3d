//! Operators that write updates into a copy of the data: ScatterElements, ScatterND.

use super::call::{axis, one_type};
use super::cells::rearrange;
use super::gather::{element_positions, tuple_positions};
use super::number::{EXTREME, Number, with_number};
use super::{Call, Folded, Tensor, element_count, ensure, reject};

/// The values of `reduction`.
const REDUCTIONS: &[&str] = &["none", "add", "mul", "min", "max"];

/// Writes one update per index, at the index along the axis.
pub(crate) fn scatter_elements<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let axis = axis(call.int_or("axis", 0)?, x.rank())?;
    let targets = element_positions(x.shape(), at, axis)?;
    let (indices, updated) = (at.shape(), updates.shape());
    if updated != indices {
        return reject!("updates have shape {updated:?}, but indices have shape {indices:?}");
    }
    write(call, x, updates, &targets)
}

/// Writes one slice of updates per index tuple.
pub(crate) fn scatter_nd<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let Some((&width, outer)) = at.shape().split_last() else {
        return reject!("indices have rank 0, expected at least 1");
    };
    let (dims, updated) = (x.shape(), updates.shape());
    let fits = width <= dims.len() && updated == [outer, &dims[width..]].concat();
    ensure!(
        fits,
        "updates of shape {updated:?} do not fit data of shape {dims:?}"
    );
    let block = element_count(&dims[width..])?;
    let starts = tuple_positions(dims, at, width)?.into_iter();
    let targets: Vec<usize> = starts.flat_map(|start| start..start + block).collect();
    write(call, x, updates, &targets)
}

/// Writes the updates in order. Without a reduction, two updates of one element are undefined.
fn write<'a>(call: &Call, x: &Tensor, updates: &Tensor, targets: &[usize]) -> Folded<'a> {
    let reduction = call.enum_value("reduction", REDUCTIONS)?;
    let shape = x.shape().to_vec();
    one_type(&[x, updates])?;
    if reduction == "none" {
        let mut taken = vec![false; x.len()];
        let is_taken = |&target: &usize| std::mem::replace(&mut taken[target], true);
        let is_twice = targets.iter().any(is_taken);
        if is_twice {
            return reject!("result of duplicate indices is undefined");
        }
        return rearrange!(call, &[x, updates], cells, T => {
            let mut result = cells.row::<T>(0)?.into_owned();
            for (&target, &update) in targets.iter().zip(&*cells.row::<T>(1)?) {
                result[target] = update;
            }
            (shape, result)
        });
    }
    with_number!(x.dtype(), T => {
        let combine = match reduction {
            "add" => |a: T, b: T| Some(a.plus(b)),
            "mul" => |a: T, b: T| Some(a.times(b)),
            "min" => |a: T, b: T| number(a, b)?.least(b),
            _ => |a: T, b: T| number(a, b)?.greatest(b),
        };
        let mut result = x.stored::<T>()?.into_owned();
        for (&target, &update) in targets.iter().zip(&*updates.stored::<T>()?) {
            match combine(result[target], update) {
                Some(combined) => result[target] = combined,
                None => return reject!("{EXTREME}"),
            }
        }
        Ok(Tensor::from_vec(x.dtype(), shape, result))
    })
}

/// Returns `a` if neither number is NaN.
fn number<T: Number>(a: T, b: T) -> Option<T> {
    (!a.is_nan() && !b.is_nan()).then_some(a)
}
