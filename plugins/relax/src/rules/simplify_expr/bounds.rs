//! What keeps numbers within bounds: several of it, of which one is enough, and what was within them already.

use half::bf16;
use passdock_plugin_api::prelude::*;

use crate::shared::read::{is, is_any, is_float, made_by, operator, with_constant};

pub(super) static RULES: Rules = rules! {
    rule bounds_at_once { %y = onnx.Clip|onnx.Relu|onnx.Min|onnx.Max(%xs...) } => at_once;
    rule min_of_mins { %y = onnx.Min|onnx.Max(%xs...) } => flatten;
    rule relu_of_positive {
        %y = onnx.Abs|onnx.Exp|onnx.Sqrt|onnx.Softplus|onnx.ReduceL1|onnx.ReduceL2|onnx.ReduceSumSquare(%x, %rest...)
        onnx.Relu(%y) => %y where float(%y)
    }
    rule abs_of_positive {
        %y = onnx.Exp|onnx.Sigmoid|onnx.Softmax|onnx.Softplus(%x)
        onnx.Abs(%y) => %y
    }
};

/// The most operands of a `Min` or a `Max` that takes those of others.
const MOST: usize = 32;

/// What keeps numbers within bounds that its operands say.
const BOUNDED: &[&str] = &["onnx.Clip", "onnx.Relu", "onnx.Min", "onnx.Max"];

/// Integers up to there are numbers of 64 bits, too.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What numbers are kept within.
#[derive(Clone, Copy, PartialEq)]
struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    fn new(low: f64, high: f64) -> Option<Bounds> {
        (low <= high).then_some(Bounds { low, high })
    }

    /// What becomes of numbers that are kept within these, then within others.
    fn then(self, next: Bounds) -> Bounds {
        Bounds {
            low: self.low.clamp(next.low, next.high),
            high: self.high.clamp(next.low, next.high),
        }
    }
}

/// The numbers that a dtype has. Of floats, `Clip` takes those for a bound that is left out: of infinities it makes
/// them.
fn all(dtype: DType) -> Option<Bounds> {
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

/// A constant of one number that a value of this rank meets without being stretched.
fn bound(r: &Rewriter<'_>, value: ValueId, rank: Option<usize>) -> Result<f64, EditError> {
    let f = r.function();
    let own = f.rank(value);
    let fits = own == Some(0) || own.is_some() && own <= rank;
    NoMatch::unless(fits && f.type_of(value).element_count() == Some(1))?;
    let number = r.number(value)?;
    let number = number.filter(|number| !number.is_nan()).ok_or(NoMatch)?;
    NoMatch::unless(is_float(f.dtype(value)) || number.abs() <= EXACT)?;
    Ok(number)
}

/// The value that an op keeps within bounds, and the bounds.
fn bounds(r: &Rewriter<'_>, op: OpId) -> Result<(ValueId, Bounds), EditError> {
    let f = r.function();
    let operands: Vec<ValueId> = f.operands(op).collect();
    let all = all(f.dtype(f.result(op, 0))).ok_or(NoMatch)?;
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

/// Whether a value of integers is kept within those that another dtype of integers has.
pub(super) fn fits(r: &Rewriter<'_>, value: ValueId, dtype: DType) -> Result<bool, EditError> {
    let f = r.function();
    let op = f.defining_op(value).ok_or(NoMatch)?;
    let room = all(dtype).ok_or(NoMatch)?;
    NoMatch::unless(!is_float(dtype) && !is_float(f.dtype(value)))?;
    NoMatch::unless(is_any(f, op, &["onnx.Clip", "onnx.Min", "onnx.Max"]))?;
    let (_, own) = bounds(r, op)?;
    // An end that isn't finite is that of 64 bits, with a sign or without.
    let is_finite = own.low.is_finite() && own.high.is_finite();
    Ok(is_finite && room.low <= own.low && own.high <= room.high)
}

/// What all results of an op are within, whatever it is given.
fn range(f: &Function, op: OpId) -> Option<Bounds> {
    let (low, high) = match operator(f, op) {
        "onnx.Sigmoid" | "onnx.Softmax" | "onnx.HardSigmoid" => (0.0, 1.0),
        "onnx.Tanh" | "onnx.Sin" | "onnx.Cos" | "onnx.Erf" | "onnx.Softsign" => (-1.0, 1.0),
        "onnx.Exp" | "onnx.Abs" | "onnx.Softplus" => (0.0, f64::INFINITY),
        _ => return None,
    };
    Bounds::new(low, high)
}

/// What two ops keep within bounds one after the other, one does; none, if it was within them before.
fn at_once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let y = m.root();
    let (value, outer) = bounds(r, y)?;
    let f = r.function();
    let dtype = f.dtype(f.result(y, 0));
    let all = all(dtype).ok_or(NoMatch)?;
    if !is_float(dtype) && outer.low <= all.low && outer.high >= all.high {
        return Ok(Some(vec![value]));
    }
    let inner = f.defining_op(value).ok_or(NoMatch)?;
    if let Some(range) = range(f, inner).filter(|_| is_float(dtype)) {
        let is_within = outer.low <= range.low && range.high <= outer.high;
        return Ok(is_within.then(|| vec![value]));
    }
    NoMatch::unless(is_any(f, inner, BOUNDED) && f.use_count(value) == 1)?;
    let (x, first) = bounds(r, inner)?;
    let both = first.then(outer);
    Ok(Some(vec![keep_within(r, x, dtype, both, all)?]))
}

/// Makes the op that keeps a value within bounds.
fn keep_within(
    r: &mut Rewriter<'_>,
    x: ValueId,
    dtype: DType,
    Bounds { low, high }: Bounds,
    all: Bounds,
) -> Result<ValueId, EditError> {
    let opset = r.function().opset("").unwrap_or(0);
    let (is_float, is_bf16) = (is_float(dtype), dtype == DType::BF16);
    // Of integers, a bound that all are within is none.
    let (keeps_low, keeps_high) = (is_float || low > all.low, is_float || high < all.high);
    let low = if keeps_low { low } else { f64::NEG_INFINITY };
    let high = if keeps_high { high } else { f64::INFINITY };
    NoMatch::unless((!is_bf16 || opset >= 13) && (is_float || opset >= 12))?;
    if is_float && (low, high) == (0.0, f64::INFINITY) {
        return r.op(OpBuilder::new("onnx.Relu").operand(x));
    }
    let one_side = match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
        (true, true) => return Ok(x),
        (true, false) => Some(("onnx.Min", high)),
        (false, true) => Some(("onnx.Max", low)),
        (false, false) => None,
    };
    if let Some((name, end)) = one_side {
        NoMatch::unless(opset >= 8)?;
        let end = r.scalar(dtype, end)?.ok_or(NoMatch)?;
        return r.op(OpBuilder::new(name).operands([x, end]));
    }
    let clip = OpBuilder::new("onnx.Clip").operand(x);
    if opset < 11 {
        let (from, to) = (low as f32, high as f32);
        let is_same = f64::from(from) == low && f64::from(to) == high;
        NoMatch::unless(opset >= 6 && is_same)?;
        return r.op(clip.attr("min", from).attr("max", to));
    }
    let mut operands = Vec::new();
    for (end, left_out) in [(low, all.low), (high, all.high)] {
        operands.push(match end == left_out {
            true => ValueId::NONE,
            false => r.scalar(dtype, end)?.ok_or(NoMatch)?,
        });
    }
    while operands.last().is_some_and(|last| last.is_none()) {
        operands.pop();
    }
    r.op(clip.operands(operands))
}

/// A `Min` takes what `Min`s give to it alone, each value once.
fn flatten(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (y, xs) = (m.root(), m.values("xs"));
    let name = f.name(y);
    NoMatch::unless(f.opset("") >= Some(8))?;
    let mut all = Vec::new();
    for &x in xs {
        match made_by(f, x, name).filter(|_| f.use_count(x) == 1) {
            Some(op) => all.extend(f.operands(op)),
            None => all.push(x),
        }
    }
    let mut seen = Vec::new();
    for &value in &all {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    NoMatch::unless(seen != xs && all.len() <= MOST)?;
    let made = OpBuilder::new(f.symbol(y)).operands(seen);
    Ok(Some(vec![r.op(made)?]))
}
