//! What a Pad puts around its operand.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::pads::pads;
use crate::shared::read::is_float;

/// A Pad of mode `constant` that only adds, and only to spatial axes.
pub(super) struct Padding {
    pub(super) x: ValueId,
    /// What is added at the start of each spatial axis, then at the end of each.
    pub(super) pads: Vec<i64>,
    pub(super) with: With,
}

/// The element that a Pad adds.
pub(super) enum With {
    /// The bytes of the element.
    Element(DType, Vec<u8>),
    Zero,
    Float(f32),
}

impl Padding {
    pub(super) fn from_op(f: &Function, op: OpId) -> Result<Padding, EditError> {
        let is_constant = match f.attr(op, "mode") {
            None => true,
            Some(Attr::String(mode)) => mode == b"constant",
            Some(_) => false,
        };
        let x = f.operand(op, 0).ok_or(NoMatch)?;
        let pads = pads(f, op)?;
        NoMatch::unless(is_constant)?;
        let rank = pads.len() / 2;
        let is_spatial = |at: usize| at % rank >= 2;
        let adds = |(at, &pad): (usize, &i64)| pad == 0 || pad > 0 && is_spatial(at);
        NoMatch::unless(rank >= 3 && pads.iter().enumerate().all(adds))?;
        let with = match f.opset("") {
            Some(version) if version < 11 => match f.attr(op, "value") {
                None => With::Zero,
                Some(Attr::Float(value)) => With::Float(value),
                Some(_) => return Err(NoMatch.into()),
            },
            _ => match f.operand(op, 2).filter(|value| value.is_some()) {
                None => With::Zero,
                Some(value) => match f.constant_data(value)? {
                    Some(element) => With::Element(f.dtype(value), element.to_vec()),
                    None => return Err(NoMatch.into()),
                },
            },
        };
        let pads = pads.iter().enumerate();
        let pads = pads.filter(|(at, _)| is_spatial(*at)).map(|(_, &pad)| pad);
        Ok(Padding {
            x,
            pads: pads.collect(),
            with,
        })
    }

    /// Whether it adds 0.0 or -0.0, or an integer 0.
    pub(super) fn is_zero(&self) -> bool {
        match &self.with {
            With::Zero => true,
            With::Float(value) => *value == 0.0,
            With::Element(dtype, element) => match (is_float(*dtype), element.split_last()) {
                (true, Some((sign, rest))) => {
                    sign & 0x7f == 0 && rest.iter().all(|&byte| byte == 0)
                }
                _ => element.iter().all(|&byte| byte == 0),
            },
        }
    }

    /// Whether it adds what is less than all numbers.
    pub(super) fn is_lowest(&self) -> bool {
        match &self.with {
            With::Zero => false,
            With::Float(value) => *value == f32::NEG_INFINITY,
            With::Element(dtype, element) => {
                let lowest: &[u8] = match *dtype {
                    DType::F16 => &[0x00, 0xfc],
                    DType::BF16 => &[0x80, 0xff],
                    DType::F32 => &[0x00, 0x00, 0x80, 0xff],
                    DType::F64 => &[0, 0, 0, 0, 0, 0, 0xf0, 0xff],
                    _ => return false,
                };
                element == lowest
            }
        }
    }

    /// Whether it adds a number that is a constant of one element, or 0 where there is none.
    pub(super) fn is(&self, f: &Function, number: Option<ValueId>) -> Result<bool, EditError> {
        let number = match number.filter(|number| number.is_some()) {
            None => return Ok(self.is_zero()),
            Some(number) if f.type_of(number).element_count() == Some(1) => {
                f.constant_data(number)?
            }
            Some(_) => None,
        };
        Ok(match (number, &self.with) {
            (Some(number), With::Element(_, element)) => number == element.as_slice(),
            (Some(number), _) => self.is_zero() && number.iter().all(|&byte| byte == 0),
            (None, _) => false,
        })
    }
}
