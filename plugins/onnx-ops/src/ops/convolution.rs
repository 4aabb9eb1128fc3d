//! Convolutions, pools, and Resize: operators on windows of spatial dims.

use passdock_plugin_api::{DType, Dim, attrs};

use super::Operator;
use super::create::shape_in;
use crate::infer::{Answer, Infer, as_const, as_consts, sizes, wrong};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.AveragePool", 1, (1, 1))
        .infers(pool)
        .any_attrs(),
    Operator::new("onnx.AveragePool", 7, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", count_include_pad: int = 0, kernel_shape: required ints,
            pads: ints, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.AveragePool", 10, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0,
            kernel_shape: required ints, pads: ints, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.AveragePool", 19, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0,
            dilations: ints, kernel_shape: required ints, pads: ints, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.Conv", 1, (2, 3))
        .attrs(attrs![
            auto_pad: string = "NOTSET", dilations: ints, group: int = 1, kernel_shape: ints,
            pads: ints, strides: ints,
        ])
        .infers(conv),
    Operator::new("onnx.ConvInteger", 10, (2, 4))
        .attrs(attrs![
            auto_pad: string = "NOTSET", dilations: ints, group: int = 1, kernel_shape: ints,
            pads: ints, strides: ints,
        ])
        .infers(conv_integer),
    Operator::new("onnx.ConvTranspose", 1, (2, 3))
        .attrs(attrs![
            auto_pad: string = "NOTSET", dilations: ints, group: int = 1, kernel_shape: ints,
            output_padding: ints, output_shape: ints, pads: ints, strides: ints,
        ])
        .infers(conv_transpose),
    Operator::new("onnx.GlobalAveragePool", 1, (1, 1)).infers(global_pool),
    Operator::new("onnx.GlobalLpPool", 2, (1, 1))
        .attrs(attrs![p: int = 2])
        .infers(global_pool),
    Operator::new("onnx.GlobalMaxPool", 1, (1, 1)).infers(global_pool),
    Operator::new("onnx.LpPool", 2, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", kernel_shape: required ints, p: int = 2, pads: ints,
            strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.LpPool", 18, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", ceil_mode: int = 0, dilations: ints,
            kernel_shape: required ints, p: int = 2, pads: ints, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.MaxPool", 1, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", kernel_shape: required ints, pads: ints, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.MaxPool", 8, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", kernel_shape: required ints, pads: ints,
            storage_order: int = 0, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.MaxPool", 10, (1, 1))
        .attrs(attrs![
            auto_pad: string = "NOTSET", ceil_mode: int = 0, dilations: ints,
            kernel_shape: required ints, pads: ints, storage_order: int = 0, strides: ints,
        ])
        .infers(pool),
    Operator::new("onnx.QLinearConv", 10, (8, 9))
        .attrs(attrs![
            auto_pad: string = "NOTSET", dilations: ints, group: int = 1, kernel_shape: ints,
            pads: ints, strides: ints,
        ])
        .infers(qlinear_conv),
    Operator::new("onnx.Resize", 10, (2, 2))
        .attrs(attrs![mode: string = "nearest"])
        .infers(resize),
    Operator::new("onnx.Resize", 11, (3, 4))
        .attrs(attrs![
            coordinate_transformation_mode: string = "half_pixel", cubic_coeff_a: float = -0.75,
            exclude_outside: int = 0, extrapolation_value: float = 0.0, mode: string = "nearest",
            nearest_mode: string = "round_prefer_floor",
        ])
        .infers(resize),
    Operator::new("onnx.Resize", 13, (1, 4))
        .attrs(attrs![
            coordinate_transformation_mode: string = "half_pixel", cubic_coeff_a: float = -0.75,
            exclude_outside: int = 0, extrapolation_value: float = 0.0, mode: string = "nearest",
            nearest_mode: string = "round_prefer_floor",
        ])
        .infers(resize),
    Operator::new("onnx.Resize", 18, (1, 4))
        .attrs(attrs![
            antialias: int = 0, axes: ints, coordinate_transformation_mode: string = "half_pixel",
            cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
            extrapolation_value: float = 0.0, keep_aspect_ratio_policy: string = "stretch",
            mode: string = "nearest", nearest_mode: string = "round_prefer_floor",
        ])
        .infers(resize),
];

/// The windows that kernel, strides, dilations and pads cut out of the spatial dims.
fn windows(op: &Infer, spatial: &[Dim], kernel: Option<Vec<i64>>) -> Answer<Vec<Dim>> {
    let count = spatial.len();
    let strides = op.sizes_or("strides", 1, count)?;
    let dilations = op.sizes_or("dilations", 1, count)?;
    let pads = op.sizes_or("pads", 0, 2 * count)?;
    let auto = op.word("auto_pad", &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])?;
    let rounds_up = op.flag("ceil_mode", false)?;
    let Some(kernel) = kernel.filter(|kernel| kernel.len() == count) else {
        return Ok(vec![Dim::UNKNOWN; count]);
    };
    let window = |d: usize| {
        if auto.starts_with("SAME") {
            return op.windows(spatial[d], -1, strides[d]);
        }
        let padding = if auto == "VALID" {
            0
        } else {
            pads[d].saturating_add(pads[d + count])
        };
        let reach = kernel[d].saturating_sub(1).saturating_mul(dilations[d]);
        let extra = padding.saturating_sub(reach).saturating_sub(1);
        // Rounded up, the last window may lie in the padding, and whether it counts has changed.
        let exact = as_const(spatial[d])
            .is_some_and(|size| strides[d] > 0 && size.saturating_add(extra) % strides[d] == 0);
        if rounds_up && !exact && strides[d] != 1 {
            return Dim::UNKNOWN;
        }
        op.windows(spatial[d], extra, strides[d])
    };
    Ok((0..count).map(window).collect())
}

/// The two dims before the spatial ones, and these.
fn split_spatial(dims: &[Dim]) -> Answer<(Dim, Dim, &[Dim])> {
    match dims {
        [batch, channels, spatial @ ..] => Ok((*batch, *channels, spatial)),
        _ => wrong!("{} dims are too few for a batch and channels", dims.len()),
    }
}

/// The batch, the kernels, the windows.
fn conv_dims(op: &Infer, x: usize, w: usize) -> Answer<Option<Vec<Dim>>> {
    let weights = op.dims(w);
    let Some(dims) = op.dims(x) else {
        return Ok(weights.map(|weights| vec![Dim::UNKNOWN; weights.len()]));
    };
    let (batch, _, spatial) = split_spatial(&dims)?;
    let (kernels, shape) = match &weights {
        Some(weights) if weights.len() != dims.len() => {
            return wrong!(
                "its weights have {} dims, its input {}",
                weights.len(),
                dims.len()
            );
        }
        Some(weights) => (weights[0], as_consts(&weights[2..])),
        None => (Dim::UNKNOWN, None),
    };
    let kernel = op
        .ints("kernel_shape")?
        .map(|kernel| kernel.into_owned())
        .or(shape);
    let windows = windows(op, spatial, kernel)?;
    Ok(Some([&[batch, kernels], &*windows].concat()))
}

/// The batch, the kernels, the windows.
fn conv(op: &Infer) -> Answer {
    op.set(0, op.dtype_of_any([0, 1])?, conv_dims(op, 0, 1)?)
}

/// As [`conv`], of int32.
fn conv_integer(op: &Infer) -> Answer {
    op.set(0, DType::I32, conv_dims(op, 0, 1)?)
}

/// As [`conv`], of the result's zero point's type.
fn qlinear_conv(op: &Infer) -> Answer {
    op.set(0, op.dtype(7)?, conv_dims(op, 0, 3)?)
}

/// The batch, the kernels of all groups, and as much as the windows cover.
fn conv_transpose(op: &Infer) -> Answer {
    let dtype = op.dtype_of_any([0, 1])?;
    let Some(dims) = op.dims(0) else {
        return op.set(0, dtype, None);
    };
    let (batch, _, spatial) = split_spatial(&dims)?;
    let count = spatial.len();
    let weights = op.dims(1).filter(|weights| weights.len() == dims.len());
    let group = Dim::constant(op.int_or("group", 1)?);
    let kernels = weights
        .as_ref()
        .map_or(Dim::UNKNOWN, |weights| op.mul(weights[1], group));
    let shape = weights
        .as_ref()
        .and_then(|weights| as_consts(&weights[2..]));
    let kernel = op
        .ints("kernel_shape")?
        .map(|kernel| kernel.into_owned())
        .or(shape);
    let strides = op.sizes_or("strides", 1, count)?;
    let dilations = op.sizes_or("dilations", 1, count)?;
    let pads = op.sizes_or("pads", 0, 2 * count)?;
    let more = op.sizes_or("output_padding", 0, count)?;
    let auto = op.word("auto_pad", &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])?;
    let covered = match (op.ints("output_shape")?, kernel) {
        (Some(given), _) if given.len() == count => sizes(given.iter().copied()),
        (None, Some(kernel)) if auto == "NOTSET" && kernel.len() == count => {
            let cover = |d: usize| {
                let size = as_const(spatial[d])?;
                let steps = size.checked_sub(1)?.checked_mul(strides[d])?;
                let reach = kernel[d]
                    .checked_sub(1)?
                    .checked_mul(dilations[d])?
                    .checked_add(1)?;
                let reach = reach.checked_add(more[d])?;
                steps
                    .checked_add(reach)?
                    .checked_sub(pads[d])?
                    .checked_sub(pads[d + count])
            };
            (0..count)
                .map(|d| cover(d).map_or(Dim::UNKNOWN, Dim::constant))
                .collect()
        }
        _ => vec![Dim::UNKNOWN; count],
    };
    op.set(0, dtype, Some([&[batch, kernels], &*covered].concat()))
}

/// The batch, the channels, the windows; MaxPool's second result has their int64 places.
fn pool(op: &Infer) -> Answer {
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

/// One window of everything.
fn global_pool(op: &Infer) -> Answer {
    let dims = op.dims(0).map(|mut dims| {
        dims.iter_mut()
            .skip(2)
            .for_each(|dim| *dim = Dim::constant(1));
        dims
    });
    op.set(0, op.dtype(0)?, dims)
}

/// The sizes, or the dims times the scales, rounded down.
fn resize(op: &Infer) -> Answer {
    let dtype = op.dtype(0)?;
    let Some(dims) = op.dims(0) else {
        return op.set(0, dtype, None);
    };
    let unknown = vec![Dim::UNKNOWN; dims.len()];
    let stretched = op.word(
        "keep_aspect_ratio_policy",
        &["stretch", "not_larger", "not_smaller"],
    )? == "stretch";
    if !stretched || op.ints("axes")?.is_some() {
        return op.set(0, dtype, Some(unknown));
    }
    let (scales, given) = if op.version >= 11 {
        (2, op.has(3))
    } else {
        (1, false)
    };
    if given {
        let shape = shape_in(op, 3).filter(|shape| shape.len() == dims.len());
        return op.set(0, dtype, Some(shape.unwrap_or(unknown)));
    }
    let scales = op
        .host
        .operand(scales)
        .and_then(|value| op.host.constant_floats(value).ok()?);
    let Some(scales) = scales.filter(|scales| scales.len() == dims.len()) else {
        return op.set(0, dtype, Some(unknown));
    };
    let scaled = dims
        .iter()
        .zip(scales)
        .map(|(&dim, scale)| match as_const(dim) {
            _ if scale == 1.0 => dim,
            Some(size) => Dim::constant((size as f32 * scale).floor() as i64),
            // A whole factor is exact.
            None if scale.fract() == 0.0 && (1.0..65536.0).contains(&scale) => {
                op.mul(dim, Dim::constant(scale as i64))
            }
            None => Dim::UNKNOWN,
        });
    op.set(0, dtype, Some(scaled.collect()))
}
