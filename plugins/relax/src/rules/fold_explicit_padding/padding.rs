//! The padding that a `Pad` adds to its operand.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::pads::{Fill, pads};
use crate::shared::read::operand;

/// A `Pad` of mode `constant` with non-negative amounts, on spatial axes only.
pub(super) struct Padding {
    pub(super) x: ValueId,
    /// The amounts at the start of each spatial axis, then at the end of each.
    pub(super) pads: Vec<i64>,
    pub(super) fill: Fill,
}

impl Padding {
    pub(super) fn from_op(f: &Function, op: OpId) -> Result<Padding, EditError> {
        let fill = Fill::from_op(f, op)?;
        NoMatch::unless(matches!(fill, Fill::Zero | Fill::Element(..)))?;
        let pads = pads(f, op)?;
        let rank = pads.len() / 2;
        let is_spatial = |at: usize| at % rank >= 2;
        let adds = |(at, &pad): (usize, &i64)| pad == 0 || pad > 0 && is_spatial(at);
        NoMatch::unless(rank >= 3 && pads.iter().enumerate().all(adds))?;
        let pads = pads.iter().enumerate();
        let pads = pads.filter(|(at, _)| is_spatial(*at)).map(|(_, &pad)| pad);
        Ok(Padding {
            x: operand(f, op, 0),
            pads: pads.collect(),
            fill,
        })
    }

    /// Whether the fill is equal to a constant of one element, or to 0 if `number` is absent.
    pub(super) fn is(&self, f: &Function, number: ValueId) -> Result<bool, EditError> {
        if number.is_none() {
            return Ok(self.fill.is_zero());
        }
        let is_one = f.type_of(number).element_count() == Some(1);
        let number = f.constant_data(number)?.filter(|_| is_one);
        Ok(number.is_some_and(|number| match &self.fill {
            Fill::Element(_, element) => number == element.as_slice(),
            fill => fill.is_zero() && number.iter().all(|&byte| byte == 0),
        }))
    }
}
