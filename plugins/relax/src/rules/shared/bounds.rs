//! [`Bounds`]: the interval to which an op limits its operand.

use half::bf16;
use passdock_plugin_api::prelude::*;

use crate::shared::read::{is, is_float, with_constant};

/// The largest magnitude up to which all integers are exact as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A closed interval of numbers.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Bounds {
    pub(crate) fn new(low: f64, high: f64) -> Option<Bounds> {
        (low <= high).then_some(Bounds { low, high })
    }

    /// Returns the bounds that are equivalent to these bounds followed by `next`.
    pub(crate) fn then(self, next: Bounds) -> Bounds {
        Bounds {
            low: self.low.clamp(next.low, next.high),
            high: self.high.clamp(next.low, next.high),
        }
    }
}

/// Returns the range of a dtype. For floats it is finite: an absent bound of `Clip` means the largest finite number, so
/// `Clip` replaces infinities.
pub(crate) fn all(dtype: DType) -> Option<Bounds> {
    let (low, high) = match dtype {
        DType::F16 => (-65504.0, 65504.0),
        DType::F32 => (f64::from(f32::MIN), f64::from(f32::MAX)),
        DType::BF16 => (bf16::MIN.to_f64(), bf16::MAX.to_f64()),
        DType::F64 => (f64::MIN, f64::MAX),
        DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        DType::U8 => (0.0, f64::from(u8::MAX)),
        DType::U16 => (0.0, f64::from(u16::MAX)),
        DType::U32 => (0.0, f64::from(u32::MAX)),
        DType::I64 => (f64::NEG_INFINITY, f64::INFINITY),
        DType::U64 => (0.0, f64::INFINITY),
        _ => return None,
    };
    Bounds::new(low, high)
}

/// Reads a constant of one element that broadcasts to a value of this rank.
fn bound(r: &Rewriter<'_>, value: ValueId, rank: Option<usize>) -> Result<f64, EditError> {
    let f = r.function();
    let own = f.rank(value);
    let fits = own == Some(0) || own.is_some() && own <= rank;
    NoMatch::unless(fits && f.type_of(value).element_count() == Some(1))?;
    let number = r.number(value)?;
    let number = number.filter(|number| !number.is_nan()).ok_or(NoMatch)?;
    NoMatch::unless(f.dtype(value).is_some_and(is_float) || number.abs() <= EXACT)?;
    Ok(number)
}

/// Returns the value that a `Relu`, `Clip`, `Min` or `Max` limits, and its bounds.
pub(crate) fn bounds(r: &Rewriter<'_>, op: OpId) -> Result<(ValueId, Bounds), EditError> {
    let f = r.function();
    let operands: Vec<ValueId> = f.operands(op).collect();
    let all = f.dtype(f.result(op, 0)).and_then(all).ok_or(NoMatch)?;
    let (x, low, high) = if is(f, op, "onnx.Relu") {
        (operands[0], 0.0, f64::INFINITY)
    } else if is(f, op, "onnx.Clip") {
        let mut ends = [all.low, all.high];
        for (at, end) in ends.iter_mut().enumerate() {
            match operands.get(at + 1).and_then(|value| value.option()) {
                Some(value) => *end = bound(r, value, Some(0).max(f.rank(value)))?,
                None => match f.attr(op, ["min", "max"][at]) {
                    None | Some(Attr::Unset) => {}
                    Some(Attr::Float(given)) if !given.is_nan() => *end = f64::from(given),
                    Some(_) => return Err(NoMatch.into()),
                },
            }
        }
        (operands[0], ends[0], ends[1])
    } else {
        let (x, c) = with_constant(f, op).ok_or(NoMatch)?;
        NoMatch::unless(operands.len() == 2)?;
        let number = bound(r, c, f.rank(x))?;
        match is(f, op, "onnx.Min") {
            true => (x, f64::NEG_INFINITY, number),
            false => (x, number, f64::INFINITY),
        }
    };
    Ok((x, Bounds::new(low, high).ok_or(NoMatch)?))
}
