//! Softmax and LogSoftmax.

use ndarray::{ArrayViewMut1, Axis};

use super::call::axis;
use super::matrix::sums_are_defined;
use super::number::{doubles, rounded};
use super::tensor::in_order;
use super::{Call, Folded, NotFolded, in_shape};

/// Divides the exponentials of each row by their sum.
pub(crate) fn softmax<'a>(call: &Call<'a>) -> Folded<'a> {
    each_row(call, |mut row| {
        let top = row.fold(f64::NEG_INFINITY, |top, &x| top.max(x));
        row.mapv_inplace(|x| (x - top).exp());
        let sum = row.sum();
        row.mapv_inplace(|x| x / sum);
    })
}

/// Computes the logarithm of the softmax.
pub(crate) fn log_softmax<'a>(call: &Call<'a>) -> Folded<'a> {
    each_row(call, |mut row| {
        let top = row.fold(f64::NEG_INFINITY, |top, &x| top.max(x));
        let sum = row.fold(0.0, |sum, &x| sum + (x - top).exp());
        row.mapv_inplace(|x| x - top - sum.ln());
    })
}

/// Returns the shape for the computation, and its axis. Before opset 13, the dims from the axis on form one row; since
/// then, a row is along the axis.
pub(super) fn rows(call: &Call) -> Result<(Vec<usize>, usize), NotFolded> {
    let x = call.input(0)?;
    if call.version >= 13 {
        let at = axis(call.int_or("axis", -1)?, x.rank())?;
        return Ok((x.shape().to_vec(), at));
    }
    let at = axis(call.int_or("axis", 1)?, x.rank())?;
    let (outer, inner) = x.shape().split_at(at);
    Ok((vec![outer.iter().product(), inner.iter().product()], 1))
}

fn each_row<'a>(call: &Call<'a>, change: impl Fn(ArrayViewMut1<f64>)) -> Folded<'a> {
    let x = call.input(0)?;
    sums_are_defined(x)?;
    let (shape, at) = rows(call)?;
    let mut wide = in_shape(&shape, doubles(x)?.into())?.into_owned();
    wide.lanes_mut(Axis(at)).into_iter().for_each(change);
    rounded(x.dtype(), x.shape().to_vec(), in_order(wide))
}
