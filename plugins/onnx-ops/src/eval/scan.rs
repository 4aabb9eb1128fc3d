//! Cumulative sums and products along an axis.

use ndarray::Axis;

use super::call::{axis, integers};
use super::number::{Number, with_number};
use super::{Call, Folded, Tensor, ensure};

/// Computes the cumulative sum.
pub(crate) fn cum_sum<'a>(call: &Call<'a>) -> Folded<'a> {
    running(call, false)
}

/// Computes the cumulative product.
pub(crate) fn cum_prod<'a>(call: &Call<'a>) -> Folded<'a> {
    running(call, true)
}

fn running<'a>(call: &Call<'a>, product: bool) -> Folded<'a> {
    let (x, along) = (call.input(0)?, call.input(1)?);
    let count = along.len();
    ensure!(count == 1, "axis has {count} elements, expected 1");
    let along = axis(integers(along)?[0], x.rank())?;
    let (exclusive, reverse) = (call.flag("exclusive", false)?, call.flag("reverse", false)?);
    with_number!(x.dtype(), T => {
        let (start, combine) =
            if product { (T::ONE, T::times as fn(T, T) -> T) } else { (T::ZERO, T::plus as _) };
        let mut result = x.array::<T>()?.into_owned();
        for mut lane in result.lanes_mut(Axis(along)) {
            if reverse {
                lane.invert_axis(Axis(0));
            }
            let mut so_far = start;
            for slot in &mut lane {
                let before = so_far;
                so_far = combine(so_far, *slot);
                *slot = if exclusive { before } else { so_far };
            }
        }
        Ok(Tensor::from_array(x.dtype(), result))
    })
}
