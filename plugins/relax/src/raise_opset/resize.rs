//! Adapters of `Resize`: explicit coordinate transformation since version 11, and either sizes or scales since 13.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};
use crate::shared::read::add_tensor;

/// The version in which operands became optional.
const OPTIONAL: i64 = 13;

/// Sets the coordinate transformation of earlier versions: the index divided by the scale. The nearest element was the
/// lower one for axes that grow, and the upper one for axes that shrink.
pub(super) fn say_places(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let scales = site.f.operand(op, 1).and_then(ValueId::option);
    let scales = scales.ok_or("it has no scales")?;
    let is_nearest = match site.f.attr(op, "mode") {
        None => true,
        Some(Attr::String(mode)) => mode == b"nearest",
        Some(_) => return Err("its attribute `mode` isn't a text of its own".into()),
    };
    if is_nearest {
        let factors = site.f.constant_floats(scales)?;
        let factors = factors.ok_or(
            "which element is the nearest depends on its scales, and these aren't constant",
        )?;
        let nearest = match (
            factors.iter().any(|&scale| scale < 1.0),
            factors.iter().any(|&scale| scale > 1.0),
        ) {
            (true, true) => {
                let why = "one axis gets shorter and another one longer, which find the nearest element in \
                           different ways";
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
        return Err("its `coordinate_transformation_mode` is gone from version 13 on".into());
    }
    let there = |index: usize| site.f.operand(op, index).filter(|value| value.is_some());
    if let (Some(scales), Some(_)) = (there(2), there(3)) {
        if site.f.shape(scales).as_deref() != Some(&[0]) {
            return Err("it has scales and sizes, of which only one counts".into());
        }
        site.f.set_operand(op, 2, ValueId::NONE)?;
    }
    Ok(op)
}
