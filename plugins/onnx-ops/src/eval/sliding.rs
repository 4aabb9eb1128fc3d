//! Convolutions and pools: functions of the elements under a sliding window.

use bytemuck::NoUninit;
use ndarray::{Dimension, IxDyn};

use super::data_movement::dims;
use super::matrix::{little_work, sums_are_defined};
use super::number::{Number, doubles, rounded_sums, with_float, with_number};
use super::reduce::total;
use super::{Call, Folded, FoldedAll, NotFolded, Tensor, ensure, reject};
use passdock_plugin_api::DType;

/// The windows along one spatial dim.
struct Axis {
    size: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
    /// The padding before the first element, and after the last.
    pads: [usize; 2],
    count: usize,
}

/// The indices of an element of the kernel and of the operand's element under it.
type Tap = (usize, usize);

impl Axis {
    /// Returns a single window that covers all elements.
    fn whole(size: usize) -> Axis {
        Axis {
            size,
            kernel: size,
            stride: 1,
            dilation: 1,
            pads: [0; 2],
            count: 1,
        }
    }

    /// Returns the extent of the dilated kernel.
    fn reach(&self) -> Option<usize> {
        let between = self.kernel.checked_sub(1)?.checked_mul(self.dilation)?;
        between.checked_add(1)
    }

    /// Computes the number of windows as ONNX Runtime does.
    fn slide(&mut self, auto_pad: &str, rounds_up: bool) -> Option<()> {
        let (reach, stride) = (self.reach()?, self.stride);
        if auto_pad.starts_with("SAME") {
            self.count = self.size.div_ceil(stride);
            let covered = self.count.checked_sub(1)?.checked_mul(stride)?;
            // If a window ends before the last element, ONNX Runtime's pads are negative.
            let more = covered.checked_add(reach)?.checked_sub(self.size)?;
            let [less, rest] = [more / 2, more - more / 2];
            self.pads = match auto_pad {
                "SAME_UPPER" => [less, rest],
                _ => [rest, less],
            };
            return Some(());
        }
        let before = self.size.checked_add(self.pads[0])?;
        let steps = before.checked_add(self.pads[1])?.checked_sub(reach)?;
        self.count = steps / stride + 1;
        // A window that starts after the last element doesn't count.
        if rounds_up && steps % stride > 0 && self.count.checked_mul(stride)? < before {
            self.count += 1;
        }
        Some(())
    }

    /// Whether the last window ends after the padding.
    fn overhangs(&self) -> bool {
        let padded = self.size + self.pads[0] + self.pads[1];
        (self.count - 1) * self.stride + (self.kernel - 1) * self.dilation >= padded
    }

    /// Iterates over the kernel's elements in a window that aren't over padding.
    fn taps(&self, window: usize) -> impl Iterator<Item = Tap> {
        (0..self.kernel).filter_map(move |at| {
            let index = window * self.stride + at * self.dilation;
            let index = index.checked_sub(self.pads[0])?;
            (index < self.size).then_some((at, index))
        })
    }
}

/// Returns the windows of a kernel along each spatial dim.
fn axes(call: &Call, spatial: &[usize], kernel: &[usize]) -> Result<Vec<Axis>, NotFolded> {
    let list = |name: &str, default: usize, count: usize| {
        let given = call.ints(name)?.map(|list| dims(&list)).transpose()?;
        let list = given.unwrap_or_else(|| vec![default; count]);
        let fits = list.len() == count && (default == 0 || !list.contains(&0));
        ensure!(
            fits,
            "invalid attribute `{name}`: expected {count} values of at least {default}, found {list:?}"
        );
        Ok(list)
    };
    let rank = spatial.len();
    let (strides, dilations) = (list("strides", 1, rank)?, list("dilations", 1, rank)?);
    let pads = list("pads", 0, 2 * rank)?;
    let modes = ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"];
    let auto = call.enum_value("auto_pad", &modes)?;
    let rounds_up = call.flag("ceil_mode", false)?;
    let fits = kernel.len() == rank && !kernel.contains(&0);
    ensure!(
        fits,
        "kernel shape {kernel:?} does not fit spatial dims {spatial:?}"
    );
    let is_padded_once = auto == "NOTSET" || pads.iter().all(|&pad| pad == 0);
    ensure!(
        is_padded_once,
        "attributes `pads` and `auto_pad` are both set"
    );
    let is_dilated = dilations.iter().any(|&dilation| dilation != 1);
    let is_defined = !auto.starts_with("SAME") || !is_dilated;
    if !is_defined {
        return reject!("runtimes disagree on `auto_pad` with a dilated kernel");
    }
    let axis = |d: usize| {
        let mut axis = Axis {
            stride: strides[d],
            dilation: dilations[d],
            pads: [pads[d], pads[d + rank]],
            kernel: kernel[d],
            ..Axis::whole(spatial[d])
        };
        match axis.slide(auto, rounds_up) {
            Some(()) => Ok(axis),
            None => reject!("kernel shape {kernel:?} does not fit spatial dims {spatial:?}"),
        }
    };
    (0..rank).map(axis).collect()
}

/// Calls `show` with each window and its taps.
fn each_window(
    axes: &[Axis],
    mut show: impl FnMut(usize, &[Tap]) -> Result<(), NotFolded>,
) -> Result<(), NotFolded> {
    let counts: Vec<usize> = axes.iter().map(|axis| axis.count).collect();
    for (window, at) in ndarray::indices(IxDyn(&counts)).into_iter().enumerate() {
        let mut taps = vec![(0, 0)];
        for (axis, &at) in axes.iter().zip(at.as_array_view()) {
            let within = |&(outer, index): &Tap| {
                let taps = axis.taps(at);
                taps.map(move |(k, x)| (outer * axis.kernel + k, index * axis.size + x))
            };
            taps = taps.iter().flat_map(within).collect();
        }
        show(window, &taps)?;
    }
    Ok(())
}

/// Returns the batch size, the channels and the spatial dims of a tensor that isn't empty.
fn split<'t>(x: &'t Tensor) -> Result<(usize, usize, &'t [usize]), NotFolded> {
    match x.shape() {
        [batch, channels, spatial @ ..] if !spatial.is_empty() && !x.is_empty() => {
            Ok((*batch, *channels, spatial))
        }
        shape => reject!("shape {shape:?} has no spatial dims or no elements"),
    }
}

fn volume(axes: &[Axis], extent: impl Fn(&Axis) -> usize) -> usize {
    axes.iter().map(extent).product()
}

/// Pools each window of each channel. `combine` gets the elements, their taps, and the start of the channel.
fn pool<'a, T: Number, R: NoUninit + Copy>(
    call: &Call,
    axes: &[Axis],
    (dtype, zero): (DType, R),
    combine: impl Fn(&[T], &[Tap], usize) -> Option<R>,
) -> Folded<'a> {
    let x = call.input(0)?;
    let (batch, channels, _) = split(x)?;
    let counts: Vec<usize> = axes.iter().map(|axis| axis.count).collect();
    let shape = [&[batch, channels], &counts[..]].concat();
    let kernel: Vec<usize> = axes.iter().map(|axis| axis.kernel).collect();
    little_work(&[&shape[..], &kernel].concat())?;
    let mut results = vec![zero; call.room_for(dtype, &shape)?];
    let windows = volume(axes, |axis| axis.count);
    let size = volume(axes, |axis| axis.size);
    let elements = x.stored::<T>()?;
    each_window(axes, |window, taps| {
        for (plane, elements) in elements.chunks_exact(size).enumerate() {
            let under: Vec<T> = taps.iter().map(|&(_, index)| elements[index]).collect();
            match combine(&under, taps, plane * size) {
                Some(result) if !under.is_empty() => results[plane * windows + window] = result,
                _ => {
                    return reject!(
                        "a window is empty, has an undefined order of elements, or its sum overflows"
                    );
                }
            }
        }
        Ok(())
    })?;
    Ok(Tensor::from_vec(dtype, shape, results))
}

/// Returns the windows of a pool. As runtimes require, its pads must be smaller than the kernel.
fn pool_axes(call: &Call) -> Result<Vec<Axis>, NotFolded> {
    let (_, _, spatial) = split(call.input(0)?)?;
    let Some(kernel) = call.ints("kernel_shape")? else {
        return reject!("missing attribute `kernel_shape`");
    };
    let axes = axes(call, spatial, &dims(&kernel)?)?;
    let is_narrow = |axis: &Axis| axis.pads.iter().all(|&pad| pad < axis.kernel);
    if !axes.iter().all(is_narrow) {
        return reject!("a pad is not smaller than the kernel");
    }
    Ok(axes)
}

/// Returns one window over all spatial elements.
fn global_axes(call: &Call) -> Result<Vec<Axis>, NotFolded> {
    let (_, _, spatial) = split(call.input(0)?)?;
    Ok(spatial.iter().map(|&size| Axis::whole(size)).collect())
}

/// Computes the maximum of each window, and optionally its index.
pub(crate) fn max_pool<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let axes = pool_axes(call)?;
    let mut results = vec![maxima(call, &axes)?];
    if call.outputs > 1 {
        let is_row_by_row = call.int_or("storage_order", 0)? == 0;
        ensure!(
            is_row_by_row,
            "column-major indices (`storage_order`) are unsupported"
        );
        results.push(maxima_indices(call, &axes)?);
    }
    Ok(results)
}

/// Computes the maximum of each channel.
pub(crate) fn global_max_pool<'a>(call: &Call<'a>) -> Folded<'a> {
    maxima(call, &global_axes(call)?)
}

fn maxima<'a>(call: &Call<'a>, axes: &[Axis]) -> Folded<'a> {
    let dtype = call.input(0)?.dtype();
    with_number!(dtype, T => {
        pool(call, axes, (dtype, T::ZERO), |under: &[T], _, _| greatest(under))
    })
}

fn maxima_indices<'a>(call: &Call<'a>, axes: &[Axis]) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        pool(call, axes, (DType::I64, 0), |under: &[T], taps, start| {
            let greatest = greatest(under)?;
            let at = under.iter().position(|&x| x == greatest)?;
            Some((start + taps[at].1) as i64)
        })
    })
}

/// Returns the maximum, or `None` if an element is NaN.
fn greatest<T: Number>(elements: &[T]) -> Option<T> {
    let greater = |so_far: T, &x: &T| if x.is_nan() { None } else { so_far.greatest(x) };
    elements.iter().try_fold(T::LOWEST, greater)
}

/// Computes the mean of each window, with or without the padding.
pub(crate) fn average_pool<'a>(call: &Call<'a>) -> Folded<'a> {
    let axes = pool_axes(call)?;
    let counts_pads = call.flag("count_include_pad", false)?;
    let is_defined = !counts_pads || !axes.iter().any(Axis::overhangs);
    if !is_defined {
        return reject!("mean of a window that ends after the padding is undefined");
    }
    let kernel = volume(&axes, |axis| axis.kernel);
    means(call, &axes, counts_pads.then_some(kernel))
}

/// Computes the mean of each channel.
pub(crate) fn global_average_pool<'a>(call: &Call<'a>) -> Folded<'a> {
    means(call, &global_axes(call)?, None)
}

fn means<'a>(call: &Call<'a>, axes: &[Axis], count: Option<usize>) -> Folded<'a> {
    sums(
        call,
        axes,
        |x| x,
        |sum, elements| sum / count.unwrap_or(elements) as f64,
    )
}

/// Computes the norm of each window.
pub(crate) fn lp_pool<'a>(call: &Call<'a>) -> Folded<'a> {
    norms(call, &pool_axes(call)?)
}

/// Computes the norm of each channel.
pub(crate) fn global_lp_pool<'a>(call: &Call<'a>) -> Folded<'a> {
    norms(call, &global_axes(call)?)
}

fn norms<'a>(call: &Call<'a>, axes: &[Axis]) -> Folded<'a> {
    match call.int_or("p", 2)? {
        1 => sums(call, axes, f64::abs, |sum, _| sum),
        2 => sums(call, axes, |x| x * x, |sum, _| sum.sqrt()),
        p @ 3..=64 => {
            let root = |sum: f64, _| sum.powf(1.0 / p as f64);
            sums(call, axes, |x| x.abs().powi(p as i32), root)
        }
        p => reject!("unsupported value {p} of attribute `p`"),
    }
}

/// Sums `each` of the elements in each window. `last` also gets their number.
fn sums<'a>(
    call: &Call<'a>,
    axes: &[Axis],
    each: impl Fn(f64) -> f64,
    last: impl Fn(f64, usize) -> f64,
) -> Folded<'a> {
    let x = call.input(0)?;
    sums_are_defined(x)?;
    with_float!(x.dtype(), T => {
        pool(call, axes, (x.dtype(), T::ZERO), |under, _, _| {
            total(under, &each, |_| None, |sum| last(sum, under.len()))
        })
    })
}

/// Computes the convolution: sums of products over the kernel and the channels of the group.
pub(crate) fn conv<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, w) = (call.input(0)?, call.input(1)?);
    sums_are_defined(x)?;
    let ((batch, channels, spatial), (kernels, deep, kernel)) = (split(x)?, split(w)?);
    let group = usize::try_from(call.int_or("group", 1)?).unwrap_or(0);
    let fits = group > 0 && deep.checked_mul(group) == Some(channels) && kernels % group == 0;
    if !fits {
        return reject!(
            "weight of shape {:?} in {group} groups does not fit input of shape {:?}",
            w.shape(),
            x.shape()
        );
    }
    if let Some(given) = call.ints("kernel_shape")?
        && dims(&given)? != kernel
    {
        return reject!(
            "attribute `kernel_shape` is {given:?}, but weight has kernel shape {kernel:?}"
        );
    }
    let bias = call.optional(2);
    let fits = |bias: &Tensor| bias.shape() == [kernels] && bias.dtype() == x.dtype();
    let fits = w.dtype() == x.dtype() && bias.is_none_or(fits);
    ensure!(
        fits,
        "weight or bias does not have the expected element type or shape"
    );
    let axes = axes(call, spatial, kernel)?;
    let counts: Vec<usize> = axes.iter().map(|axis| axis.count).collect();
    let shape = [&[batch, kernels], &counts[..]].concat();
    little_work(&[&shape[..], &[deep], kernel].concat())?;
    let mut results = vec![0.0; call.room_for(x.dtype(), &shape)?];
    let windows = volume(&axes, |axis| axis.count);
    let size = volume(&axes, |axis| axis.size);
    let volume = volume(&axes, |axis| axis.kernel);
    let (elements, weights) = (doubles(x)?, doubles(w)?);
    let bias = bias.map(doubles).transpose()?;
    each_window(&axes, |window, taps| {
        for (at, planes) in elements.chunks_exact(deep * size).enumerate() {
            let (sample, own) = (at / group, at % group);
            for kernel in own * (kernels / group)..(own + 1) * (kernels / group) {
                let weights = &weights[kernel * deep * volume..];
                let mut sum = bias.as_ref().map_or(0.0, |bias| bias[kernel]);
                for channel in 0..deep {
                    let (x, w) = (&planes[channel * size..], &weights[channel * volume..]);
                    sum += taps.iter().map(|&(k, index)| x[index] * w[k]).sum::<f64>();
                }
                results[(sample * kernels + kernel) * windows + window] = sum;
            }
        }
        Ok(())
    })?;
    rounded_sums(x.dtype(), shape, results)
}
