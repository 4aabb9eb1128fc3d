//! Adapters of `Resize`: explicit coordinate transformation since version 11, and either sizes or scales since 13.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};
use crate::shared::read::add_tensor;

/// The version in which operands became optional.
const OPTIONAL: i64 = 13;

/// Sets the coordinate transformation of earlier versions: the index divided by the scale. The nearest element was the
/// lower one for axes that grow, and the upper one for axes that shrink.
pub(super) fn set_coordinate_mode(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let scales = site.f.operand(op, 1).and_then(ValueId::option);
    let scales = scales.ok_or("missing operand `scales`")?;
    let is_nearest = match site.f.attr(op, "mode") {
        None => true,
        Some(Attr::String(mode)) => mode == b"nearest",
        Some(_) => return Err("attribute `mode` is not a constant string".into()),
    };
    if is_nearest {
        let factors = site.f.constant_floats(scales)?;
        let factors = factors.ok_or(
            "the rounding to the nearest element depends on the scales, which are not constant",
        )?;
        let nearest = match (
            factors.iter().any(|&scale| scale < 1.0),
            factors.iter().any(|&scale| scale > 1.0),
        ) {
            (true, true) => {
                let why = "one axis shrinks and another one grows, which needs different rounding to the nearest \
                           element";
                return Err(why.into());
            }
            (true, false) => "ceil",
            (false, _) => "floor",
        };
        site.f.set_attr(op, "nearest_mode", nearest)?;
    }
    site.f
        .set_attr(op, "coordinate_transformation_mode", "asymmetric")?;
    let region = match site.to {
        OPTIONAL.. => ValueId::NONE,
        _ => add_tensor(site.f, DType::F32, &[0], &[])?,
    };
    site.f.set_operand(op, 1, region)?;
    site.set_operand(op, 2, scales)?;
    Ok(op)
}

/// Removes the scales if there are sizes. Earlier versions required empty scales in addition.
pub(super) fn sizes_or_scales(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if let Some(Attr::String(b"tf_half_pixel_for_nn")) =
        site.f.attr(op, "coordinate_transformation_mode")
    {
        return Err(
            "version 13 removed `tf_half_pixel_for_nn` from `coordinate_transformation_mode`"
                .into(),
        );
    }
    let existing = |index: usize| site.f.operand(op, index).filter(|value| value.is_some());
    if let (Some(scales), Some(_)) = (existing(2), existing(3)) {
        if site.f.shape(scales).as_deref() != Some(&[0]) {
            return Err("it has both scales and sizes".into());
        }
        site.f.set_operand(op, 2, ValueId::NONE)?;
    }
    Ok(op)
}
