//! Convolutions and pools.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::create::shape_in;
use super::operator::Operator;
use crate::eval::{Evaluation, sliding};
use crate::infer::{Infer, Inferred, as_consts, check_length, invalid, sizes};

pub(super) const OPERATORS: &[Operator] = &[
    AVERAGE_POOL.any_attrs(),
    FOLDED_AVERAGE_POOL,
    FOLDED_AVERAGE_POOL.since(10).attrs(attrs![
        auto_pad: string = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0,
        kernel_shape: required ints, pads: ints, strides: ints,
    ]),
    FOLDED_AVERAGE_POOL.since(19).attrs(attrs![
        auto_pad: string = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0,
        dilations: ints, kernel_shape: required ints, pads: ints, strides: ints,
    ]),
    convolution("onnx.Conv", 1, (2, 3))
        .infers(|op| op.set(0, op.dtype_of_any([0, 1])?, conv_dims(op, 0, 1)?))
        .folds(sliding::conv),
    convolution("onnx.ConvInteger", 10, (2, 4))
        .infers(|op| op.set(0, DType::I32, conv_dims(op, 0, 1)?)),
    convolution("onnx.ConvTranspose", 1, (2, 3))
        .attrs(attrs![
            auto_pad: string = "NOTSET", dilations: ints, group: int = 1, kernel_shape: ints,
            output_padding: ints, output_shape: ints, pads: ints, strides: ints,
        ])
        .infers(conv_transpose),
    global("onnx.GlobalAveragePool", 1, sliding::global_average_pool),
    global("onnx.GlobalLpPool", 2, sliding::global_lp_pool).attrs(attrs![p: int = 2]),
    global("onnx.GlobalMaxPool", 1, sliding::global_max_pool),
    LP_POOL,
    LP_POOL.since(18).attrs(attrs![
        auto_pad: string = "NOTSET", ceil_mode: int = 0, dilations: ints,
        kernel_shape: required ints, p: int = 2, pads: ints, strides: ints,
    ]),
    MAX_POOL.results((1, 1)),
    MAX_POOL.since(8).attrs(attrs![
        auto_pad: string = "NOTSET", kernel_shape: required ints, pads: ints,
        storage_order: int = 0, strides: ints,
    ]),
    MAX_POOL.since(10).attrs(attrs![
        auto_pad: string = "NOTSET", ceil_mode: int = 0, dilations: ints,
        kernel_shape: required ints, pads: ints, storage_order: int = 0, strides: ints,
    ]),
    convolution("onnx.QLinearConv", 10, (8, 9))
        .infers(|op| op.set(0, op.dtype(7)?, conv_dims(op, 0, 3)?)),
];

const fn convolution(name: &'static str, since: i64, operands: (u32, u32)) -> Operator {
    Operator::new(name, since, operands)
        .with(OpTraits::OUT_FUSABLE)
        .attrs(attrs![
            auto_pad: string = "NOTSET", dilations: ints, group: int = 1, kernel_shape: ints,
            pads: ints, strides: ints,
        ])
}

/// A pool over all spatial elements.
const fn global(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (1, 1))
        .with(OpTraits::OUT_FUSABLE)
        .infers(global_pool)
        .folds(evaluate)
}

const AVERAGE_POOL: Operator = Operator::new("onnx.AveragePool", 1, (1, 1))
    .with(OpTraits::OUT_FUSABLE)
    .infers(pool);

const FOLDED_AVERAGE_POOL: Operator =
    AVERAGE_POOL
        .since(7)
        .folds(sliding::average_pool)
        .attrs(attrs![
            auto_pad: string = "NOTSET", count_include_pad: int = 0, kernel_shape: required ints,
            pads: ints, strides: ints,
        ]);

const LP_POOL: Operator = Operator::new("onnx.LpPool", 2, (1, 1))
    .with(OpTraits::OUT_FUSABLE)
    .attrs(attrs![
        auto_pad: string = "NOTSET", kernel_shape: required ints, p: int = 2, pads: ints,
        strides: ints,
    ])
    .infers(pool)
    .folds(sliding::lp_pool);

const MAX_POOL: Operator = Operator::new("onnx.MaxPool", 1, (1, 1))
    .results((1, 2))
    .with(OpTraits::OUT_FUSABLE)
    .attrs(attrs![
        auto_pad: string = "NOTSET", kernel_shape: required ints, pads: ints, strides: ints,
    ])
    .infers(pool)
    .folds_all(sliding::max_pool);

/// Returns the numbers of windows along the spatial dims. A number is unknown if ONNX Runtime computes another one than
/// ONNX's inference.
fn windows(op: &Infer, spatial: &[Dim], kernel: Option<Vec<i64>>) -> Inferred<Vec<Dim>> {
    let count = spatial.len();
    let strides = op.sizes_or("strides", 1, count)?;
    let dilations = op.sizes_or("dilations", 1, count)?;
    let pads = op.sizes_or("pads", 0, 2 * count)?;
    let auto = op.enum_value("auto_pad", &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])?;
    let rounds_up = op.flag("ceil_mode", false)?;
    let kernel = match kernel {
        Some(kernel) => {
            check_length("kernel_shape", kernel.len(), count)?;
            kernel
        }
        None => return Ok(vec![Dim::UNKNOWN; count]),
    };
    if pads_twice(op, auto)? {
        return Ok(vec![Dim::UNKNOWN; count]);
    }
    let window = |d: usize| {
        let (size, stride) = (spatial[d], strides[d]);
        let reach = reach(kernel[d], dilations[d]);
        if auto.starts_with("SAME") {
            // ONNX Runtime ignores dilations in a pool's automatic padding; ONNX's inference rounds up twice.
            let is_dilated = reach > kernel[d] && op.name.ends_with("Pool");
            let is_doubtful = rounds_up && reach < stride && size.as_const().is_some();
            return match is_dilated || is_doubtful {
                true => Dim::UNKNOWN,
                false => op.windows(size, -1, stride),
            };
        }
        let (begin, end) = match auto {
            "VALID" => (0, 0),
            _ => (pads[d], pads[d + count]),
        };
        let extra = begin.saturating_add(end).saturating_sub(reach);
        if !rounds_up {
            return op.windows(size, extra, stride);
        }
        let rounded = op.windows(size, extra.saturating_add(stride - 1), stride);
        if end.saturating_add(stride) <= reach {
            return rounded;
        }
        // The last window may start in the padding. It doesn't count, but ONNX specifies this only since opset 22.
        match (size.as_const(), rounded.as_const()) {
            (Some(size), Some(count)) => {
                let start = count.saturating_sub(1).saturating_mul(stride);
                match (start < size.saturating_add(begin), op.version >= 22) {
                    (true, _) => rounded,
                    (false, true) => Dim::constant(count - 1),
                    (false, false) => Dim::UNKNOWN,
                }
            }
            _ => Dim::UNKNOWN,
        }
    };
    Ok((0..count).map(window).collect())
}

/// Whether an op has both `pads` and an `auto_pad` that contradicts them, which ONNX forbids.
fn pads_twice(op: &Infer, auto: &str) -> Inferred<bool> {
    Ok(match op.ints("pads")? {
        Some(pads) if auto == "VALID" => pads.iter().any(|&pad| pad != 0),
        given => given.is_some() && auto != "NOTSET",
    })
}

/// Returns the extent of the dilated kernel.
fn reach(kernel: i64, dilation: i64) -> i64 {
    let between = kernel.saturating_sub(1).saturating_mul(dilation);
    between.saturating_add(1)
}

/// Splits dims into batch, channels and spatial dims.
fn split_spatial(dims: &[Dim]) -> Inferred<(Dim, Dim, &[Dim])> {
    match dims {
        [batch, channels, spatial @ ..] => Ok((*batch, *channels, spatial)),
        _ => invalid!("operand 0 has rank {}, expected at least 2", dims.len()),
    }
}

/// Returns the batch, the number of kernels, and the windows.
fn conv_dims(op: &Infer, x: usize, w: usize) -> Inferred<Option<Vec<Dim>>> {
    let weights = op.dims(w);
    let Some(dims) = op.dims(x) else {
        // The rank and the number of kernels follow from the weights.
        return Ok(weights.map(|weights| {
            let dim = |at| if at == 1 { weights[0] } else { Dim::UNKNOWN };
            (0..weights.len()).map(dim).collect()
        }));
    };
    let (batch, channels, spatial) = split_spatial(&dims)?;
    let (kernels, shape) = match &weights {
        Some(weights) if weights.len() != dims.len() => {
            let [weights, input] = [weights, &dims].map(Vec::len);
            return invalid!("weight has rank {weights}, but input has rank {input}");
        }
        Some(weights) => {
            let group = op.int_or("group", 1)?;
            op.agree(channels, op.mul(weights[1], Dim::constant(group)))?;
            op.parts(weights[0], group)?;
            (weights[0], as_consts(&weights[2..]))
        }
        None => (Dim::UNKNOWN, None),
    };
    let kernel = match (op.ints("kernel_shape")?, shape) {
        (Some(kernel), Some(shape)) if *kernel != *shape => {
            return invalid!(
                "attribute `kernel_shape` is {kernel:?}, but weight has kernel shape {shape:?}"
            );
        }
        (kernel, shape) => kernel.map(|kernel| kernel.into_owned()).or(shape),
    };
    let windows = windows(op, spatial, kernel)?;
    Ok(Some([&[batch, kernels], &*windows].concat()))
}

/// Infers the batch, the kernels of all groups, and the extent of the windows.
fn conv_transpose(op: &Infer) -> Inferred {
    op.set_from(op.dtype_of_any([0, 1])?, |dims| {
        let (batch, _, spatial) = split_spatial(&dims)?;
        let count = spatial.len();
        let weights = op.dims(1).filter(|weights| weights.len() == dims.len());
        let group = Dim::constant(op.int_or("group", 1)?);
        let kernels = |weights: &Vec<Dim>| op.mul(weights[1], group);
        let kernels = weights.as_ref().map_or(Dim::UNKNOWN, kernels);
        let kernel = match op.ints("kernel_shape")? {
            Some(kernel) => Some(sizes(kernel.iter().copied())),
            None => weights.map(|weights| weights[2..].to_vec()),
        };
        let strides = op.sizes_or("strides", 1, count)?;
        let dilations = op.sizes_or("dilations", 1, count)?;
        let pads = op.sizes_or("pads", 0, 2 * count)?;
        let more = op.sizes_or("output_padding", 0, count)?;
        let auto = op.enum_value("auto_pad", &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])?;
        let covered = match (op.ints("output_shape")?, kernel) {
            (Some(given), _) if given.len() == count => {
                let is_less =
                    |(&given, &dim): (&i64, &Dim)| dim.as_const().is_some_and(|dim| given < dim);
                if given.iter().zip(spatial).any(is_less) {
                    // ONNX's inference stops here, with a lower rank.
                    return Ok(None);
                }
                sizes(given.iter().copied())
            }
            (None, Some(kernel)) if kernel.len() == count && !pads_twice(op, auto)? => {
                let cover = |d: usize| {
                    let (stride, dilation) = (strides[d], Dim::constant(dilations[d]));
                    let reach = op.shift(
                        op.mul(kernel[d], dilation),
                        1i64.saturating_sub(dilations[d]),
                    );
                    let whole = op.shift(reach, more[d]);
                    let is_less = || whole.as_const().is_some_and(|whole| whole <= stride);
                    let (whole, padding) = match auto {
                        "VALID" => (whole, 0),
                        "NOTSET" => (whole, pads[d].saturating_add(pads[d + count])),
                        // The pads remove everything beyond one stride per element. ONNX's inference adds
                        // `output_padding` after that, ONNX Runtime before.
                        _ if more[d] != 0 && !is_less() => return Dim::UNKNOWN,
                        _ => (op.min(whole, Dim::constant(stride)), 0),
                    };
                    spread(op, spatial[d], stride, whole, padding)
                };
                (0..count).map(cover).collect()
            }
            _ => vec![Dim::UNKNOWN; count],
        };
        Ok(Some([&[batch, kernels], &*covered].concat()))
    })
}

/// Returns `(dim - 1) * stride + whole - padding`.
fn spread(op: &Infer, dim: Dim, stride: i64, whole: Dim, padding: i64) -> Dim {
    let steps = op.mul(dim, Dim::constant(stride));
    let less = stride.saturating_add(padding);
    op.shift(op.add(steps, whole), less.saturating_neg())
}

/// Like [`conv_dims`]. The offsets have the dims of the windows.
pub(super) fn deform_conv(op: &Infer) -> Inferred {
    let dims = conv_dims(op, 0, 1)?;
    let dims = match (dims, op.dims(2)) {
        (Some(dims), Some(offsets)) if dims.len() != offsets.len() => {
            let [offsets, input] = [offsets, dims].map(|dims| dims.len());
            return invalid!("offset has rank {offsets}, but input has rank {input}");
        }
        (Some(dims), Some(mut offsets)) => {
            // The offsets' channels depend on the kernel's elements.
            if let Some(channels) = offsets.get_mut(1) {
                *channels = Dim::UNKNOWN;
            }
            op.agree_all(Some(dims), Some(offsets))?
        }
        (dims, _) => dims,
    };
    op.set(0, op.dtype_of_any([0, 1])?, dims)
}

/// Infers `output_shape`, or the extent of the windows that the operand's elements come from.
pub(super) fn max_unpool(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    if let Some(shape) = shape_in(op, 2).filter(|_| op.has(2)) {
        return op.set(0, dtype, Some(shape));
    }
    let Some(dims) = op.dims(0) else {
        return op.set(0, dtype, None);
    };
    let (batch, channels, spatial) = split_spatial(&dims)?;
    let count = spatial.len();
    let Some(kernel) = op.ints("kernel_shape")? else {
        return invalid!("missing attribute `kernel_shape`");
    };
    check_length("kernel_shape", kernel.len(), count)?;
    if op.has(2) {
        return op.set(0, dtype, Some(vec![Dim::UNKNOWN; count + 2]));
    }
    let strides = op.sizes_or("strides", 1, count)?;
    let pads = op.sizes_or("pads", 0, 2 * count)?;
    let cover = |d: usize| {
        let padding = pads[d].saturating_add(pads[d + count]);
        spread(
            op,
            spatial[d],
            strides[d],
            Dim::constant(kernel[d]),
            padding,
        )
    };
    let covered: Vec<Dim> = (0..count).map(cover).collect();
    op.set(0, dtype, Some([&[batch, channels], &*covered].concat()))
}

/// Infers the batch, the channels and the windows. MaxPool's second result has int64 indices.
fn pool(op: &Infer) -> Inferred {
    let dims = match op.dims(0) {
        None => None,
        Some(dims) => {
            let (batch, channels, spatial) = split_spatial(&dims)?;
            let kernel = op.ints("kernel_shape")?.map(|kernel| kernel.into_owned());
            Some([&[batch, channels], &*windows(op, spatial, kernel)?].concat())
        }
    };
    op.set(1, DType::I64, dims.clone())?;
    op.set(0, op.dtype(0)?, dims)
}

/// Infers spatial dims of 1.
fn global_pool(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |mut dims| {
        dims.iter_mut()
            .skip(2)
            .for_each(|dim| *dim = Dim::constant(1));
        Ok(dims)
    })
}
