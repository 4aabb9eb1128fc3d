//! Operators that write updates into a copy: ScatterElements, ScatterND.

use ndarray::ArrayD;

use super::call::axis;
use super::cells::{Cell, Movement, rearrange};
use super::gather::{element_positions, tuple_positions};
use super::number::{EXTREME, Number, with_number};
use super::{Call, Elements, Folded, NotFolded, Tensor, element_count, name_of, refuse};

/// The ways in which an update meets what is there.
const REDUCTIONS: &[&str] = &["none", "add", "mul", "min", "max"];

/// One update for each index, at its place along the axis.
pub(crate) fn scatter_elements<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let axis = axis(call.int_or("axis", 0)?, x.rank())?;
    let targets = element_positions(x.shape(), at, axis)?;
    if updates.shape() != at.shape() {
        return refuse!(
            "it has updates of {:?} for {:?}",
            updates.shape(),
            at.shape()
        );
    }
    write(call, x, updates, targets)
}

/// One slice of updates for each index tuple.
pub(crate) fn scatter_nd<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let Some((&width, outer)) = at.shape().split_last() else {
        return refuse!("its indices are a scalar");
    };
    if width > x.rank() || updates.shape() != [outer, &x.shape()[width..]].concat() {
        return refuse!("updates of {:?} don't fit {:?}", updates.shape(), x.shape());
    }
    let block = element_count(&x.shape()[width..])?;
    let targets = tuple_positions(x.shape(), at, width)?;
    let targets = targets
        .into_iter()
        .flat_map(|start| start..start + block)
        .collect();
    write(call, x, updates, targets)
}

/// Writes update after update. Without a reduction, two to one place leave open which one wins.
fn write<'a>(call: &Call, x: &Tensor, updates: &Tensor, targets: Vec<usize>) -> Folded<'a> {
    let reduction = call.word("reduction", REDUCTIONS)?;
    if reduction == "none" {
        let mut taken = vec![false; x.len()];
        if targets
            .iter()
            .any(|&target| std::mem::replace(&mut taken[target], true))
        {
            return refuse!("two updates of one element leave open which one wins");
        }
        return rearrange(call, &[x, updates], &Write(targets));
    }
    if x.dtype() != updates.dtype() {
        return refuse!("its updates aren't of type {}", name_of(x.dtype()));
    }
    with_number!(x.dtype(), T => {
        let combine = match reduction {
            "add" => |a: T, b: T| Some(a.plus(b)),
            "mul" => |a: T, b: T| Some(a.times(b)),
            "min" => |a: T, b: T| numbers(a, b)?.least(b),
            _ => |a: T, b: T| numbers(a, b)?.greatest(b),
        };
        let mut result = x.stored::<T>()?.into_owned();
        for (&target, &update) in targets.iter().zip(&*updates.stored::<T>()?) {
            match combine(result[target], update) {
                Some(combined) => result[target] = combined,
                None => return refuse!("{EXTREME}"),
            }
        }
        Ok(vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), result)])
    })
}

/// The first of two, if neither is NaN.
fn numbers<T: Number>(a: T, b: T) -> Option<T> {
    (!a.is_nan() && !b.is_nan()).then_some(a)
}

struct Write(Vec<usize>);

impl Movement for Write {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let mut result = inputs[0].to_owned();
        let Some(cells) = result.as_slice_mut() else {
            return refuse!("its elements don't lie side by side");
        };
        for (&target, &update) in self.0.iter().zip(inputs[1].iter()) {
            cells[target] = update;
        }
        Ok(vec![result])
    }
}
