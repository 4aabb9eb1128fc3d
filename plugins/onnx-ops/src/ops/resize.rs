//! Resize, and its predecessor Upsample.

use passdock_plugin_api::{Dim, OpTraits, attrs};

use super::create::shape_in;
use super::operator::Operator;
use crate::eval;
use crate::infer::{Infer, Inferred, as_consts, check_length, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    RESIZE,
    RESIZE_11,
    RESIZE_11.since(13).operands((1, 4)),
    RESIZE.since(18).operands((1, 4)).attrs(attrs![
        antialias: int = 0, axes: ints, coordinate_transformation_mode: string = "half_pixel",
        cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
        extrapolation_value: float = 0.0, keep_aspect_ratio_policy: string = "stretch",
        mode: string = "nearest", nearest_mode: string = "round_prefer_floor",
    ]),
    UPSAMPLE,
    UPSAMPLE
        .since(7)
        .folds(eval::resize::resize)
        .operands((1, 1))
        .attrs(attrs![mode: string = "nearest", scales: required floats]),
    UPSAMPLE
        .since(9)
        .folds(eval::resize::resize)
        .operands((2, 2))
        .attrs(attrs![mode: string = "nearest"]),
];

const RESIZE: Operator = Operator::new("onnx.Resize", 10, (2, 2))
    .with(OpTraits::INJECTIVE)
    .attrs(attrs![mode: string = "nearest"])
    .infers(resize)
    .folds(eval::resize::resize);

const RESIZE_11: Operator = RESIZE.since(11).operands((3, 4)).attrs(attrs![
    coordinate_transformation_mode: string = "half_pixel", cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0, extrapolation_value: float = 0.0, mode: string = "nearest",
    nearest_mode: string = "round_prefer_floor",
]);

const UPSAMPLE: Operator = Operator::new("onnx.Upsample", 1, (1, 2))
    .with(OpTraits::GROWS.with(OpTraits::INJECTIVE))
    .infers(upsample)
    .any_attrs();

/// Infers the dims, with those of `axes` (all by default) replaced by the sizes, or multiplied by the scales and
/// rounded down.
fn resize(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |mut dims| {
        let axes = match op.ints("axes")? {
            Some(axes) => op.axes(&axes, dims.len())?,
            None => (0..dims.len()).collect(),
        };
        // With a policy other than `stretch`, ONNX Runtime keeps the size of an axis with a negative index.
        let has_negative = op
            .ints("axes")?
            .is_some_and(|axes| axes.iter().any(|&axis| axis < 0));
        let old: Vec<Dim> = axes.iter().map(|&axis| dims[axis]).collect();
        let new = if op.version >= 11 && op.has(3) {
            let policies = ["stretch", "not_larger", "not_smaller"];
            let policy = op.enum_value("keep_aspect_ratio_policy", &policies)?;
            match shape_in(op, 3) {
                Some(sizes) if sizes.len() != old.len() => {
                    return invalid!("`sizes` has length {}, expected {}", sizes.len(), old.len());
                }
                Some(sizes) if policy == "stretch" => Some(sizes),
                Some(_) if has_negative => None,
                Some(sizes) => in_proportion(&old, &sizes, policy == "not_larger"),
                None => None,
            }
        } else {
            let scales = op.numbers(if op.version >= 11 { 2 } else { 1 });
            scaled(op, &old, scales.as_deref())?
        };
        let new = new.unwrap_or_else(|| vec![Dim::UNKNOWN; axes.len()]);
        for (axis, size) in axes.into_iter().zip(new) {
            dims[axis] = size;
        }
        Ok(dims)
    })
}

/// Infers the dims multiplied by the scales, which are an attribute before opset 9 and an operand since.
fn upsample(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |dims| {
        let scales = match op.version >= 9 {
            true => op.numbers(1),
            false => op
                .floats("scales")?
                .map(|scales| scales.iter().map(|&scale| scale.into()).collect()),
        };
        let new = scaled(op, &dims, scales.as_deref())?;
        Ok(new.unwrap_or_else(|| vec![Dim::UNKNOWN; dims.len()]))
    })
}

/// Returns each dim multiplied by its scale, rounded down.
fn scaled(op: &Infer, dims: &[Dim], scales: Option<&[f64]>) -> Inferred<Option<Vec<Dim>>> {
    let Some(scales) = scales else {
        return Ok(None);
    };
    check_length("scales", scales.len(), dims.len())?;
    // Upsample rejects scales below 1.
    let is_upsample = op.name == "onnx.Upsample";
    let is_scale = |scale: f64| {
        if is_upsample {
            scale >= 1.0
        } else {
            scale > 0.0
        }
    };
    if let Some(scale) = scales.iter().find(|&&scale| !is_scale(scale)) {
        let expected = if is_upsample {
            "at least 1"
        } else {
            "greater than 0"
        };
        return invalid!("invalid scale {scale}: expected {expected}");
    }
    let one = |(&dim, &scale): (&Dim, &f64)| match dim.as_const() {
        _ if scale == 1.0 => dim,
        Some(size) => Dim::constant((size as f32 * scale as f32).floor() as i64),
        None => match fraction(scale) {
            Some((times, by)) => op.div(op.mul(dim, Dim::constant(times)), by),
            None => Dim::UNKNOWN,
        },
    };
    Ok(Some(dims.iter().zip(scales).map(one).collect()))
}

/// Returns a factor as `times / by`, if it is an exact binary fraction.
fn fraction(scale: f64) -> Option<(i64, i64)> {
    let exact = |by: &i64| (scale * *by as f64).fract() == 0.0;
    let by = (0..8).map(|power| 1i64 << power).find(exact)?;
    let times = scale * by as f64;
    (1.0..4096.0).contains(&times).then_some((times as i64, by))
}

/// Scales all dims by the smallest or the largest factor between a dim and its size.
fn in_proportion(dims: &[Dim], sizes: &[Dim], not_larger: bool) -> Option<Vec<Dim>> {
    let (dims, sizes) = (as_consts(dims)?, as_consts(sizes)?);
    let factors = dims
        .iter()
        .zip(&sizes)
        .map(|(&dim, &size)| size as f64 / dim as f64);
    let factor = match not_larger {
        true => factors.fold(f64::INFINITY, f64::min),
        false => factors.fold(f64::NEG_INFINITY, f64::max),
    };
    let one = |&dim: &i64| {
        let size = eval::resize::in_proportion(usize::try_from(dim).ok()?, factor);
        size.filter(|&size| size < 1_000_000_000)
            .map(|size| Dim::constant(size as i64))
    };
    let one = |dim| one(dim).unwrap_or(Dim::UNKNOWN);
    Some(dims.iter().map(one).collect())
}
