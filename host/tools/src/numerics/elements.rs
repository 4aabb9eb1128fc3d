//! Two tensors of one type and shape, element by element.

use half::{bf16, f16};
use passdock_abi::DType;
use passdock_ir::constant::string_elements;

use super::compare::Differing;
use super::ort::Tensor;

/// What a user says of the distance between two numbers; the rest is the element type's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overrides {
    /// The part of an element, in place of `Tolerance::of_element`.
    pub(super) relative: Option<f64>,
    /// The distance of all elements, in place of what the largest of them allows.
    pub(super) absolute: Option<f64>,
    /// The type that is computed in, whose tolerance floats of a finer one have.
    pub(super) computed_in: Option<DType>,
}

/// The distance that is allowed between two elements: `max(tiny, of_largest · max|a|) + of_element · |a|`.
#[derive(Clone, Copy)]
struct Tolerance {
    tiny: f64,
    of_largest: f64,
    of_element: f64,
}

impl Tolerance {
    /// `None`: elements have to be equal.
    fn of(dtype: DType, overrides: Overrides) -> Option<Tolerance> {
        let own = Tolerance::of_type(dtype)?;
        let computed_in = overrides.computed_in.and_then(Tolerance::of_type);
        let (tiny, of_largest, of_element) = match computed_in {
            Some(coarser) if coarser.0 > own.0 => coarser,
            _ => own,
        };
        let (tiny, of_largest) = match overrides.absolute {
            Some(absolute) => (absolute, 0.0),
            None => (tiny, of_largest),
        };
        Some(Tolerance {
            tiny,
            of_largest,
            of_element: overrides.relative.unwrap_or(of_element),
        })
    }

    /// The three parts of a type's tolerance.
    fn of_type(dtype: DType) -> Option<(f64, f64, f64)> {
        match dtype {
            DType::F64 | DType::C128 => Some((1e-12, 1e-7, 1e-6)),
            DType::F32 | DType::C64 => Some((1e-7, 1e-5, 1e-4)),
            DType::F16 => Some((1e-4, 1e-2, 1e-2)),
            DType::BF16 => Some((1e-3, 2e-2, 2e-2)),
            _ => None,
        }
    }

    fn allowed(self, x: f64, largest: f64) -> f64 {
        let own = if x.is_finite() { x.abs() } else { 0.0 };
        self.tiny.max(self.of_largest * largest) + self.of_element * own
    }
}

/// An element, and how far apart it is.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    pub(super) index: Vec<u64>,
    pub(super) before: String,
    pub(super) after: String,
    /// The distance, absolute or as a part of the larger one; not a number where only equality counts.
    pub(super) by: f64,
}

/// How far apart two tensors are.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// The number of numbers, two for a complex element.
    pub(super) of: u64,
    /// The number of those that are further apart than is allowed.
    pub(super) beyond: u64,
    /// The largest distance, as a part of what is allowed.
    pub(super) ratio: f64,
    /// The element that is furthest beyond what is allowed, and what is allowed there.
    pub(super) worst: Option<(Apart, f64)>,
    /// The element of the largest distance; `None`: all are equal, or they are no numbers.
    pub(super) absolute: Option<Apart>,
    /// The element of the largest distance as a part of the larger of the two.
    pub(super) relative: Option<Apart>,
}

/// Compares tensors of one type and shape; the largest distance as a part of what is allowed.
pub(super) fn compare(a: &Tensor, b: &Tensor, overrides: Overrides) -> Result<f64, Differing> {
    let measured = measure(a, b, overrides);
    match measured.worst {
        Some((apart, allowed)) if measured.beyond > 0 => Err(Differing::Element {
            index: apart.index,
            before: apart.before,
            after: apart.after,
            error: apart.by,
            allowed,
            count: measured.beyond,
            of: measured.of,
        }),
        _ => Ok(measured.ratio),
    }
}

/// Measures how far apart tensors of one type and shape are.
pub(super) fn measure(a: &Tensor, b: &Tensor, overrides: Overrides) -> Measured {
    let of = Tensor::elements(&a.shape).unwrap_or(0);
    if a.data == b.data {
        return Measured {
            of,
            ..Measured::default()
        };
    }
    match Tolerance::of(a.dtype, overrides) {
        Some(tolerance) => rounded(a, b, tolerance),
        None if a.dtype == DType::STRING => strings(a, b, of),
        None => exact(a, b, of),
    }
}

/// The largest of what was seen, and where.
struct Largest {
    value: f64,
    at: Option<usize>,
}

impl Largest {
    fn see(&mut self, value: f64, at: usize) {
        if value > self.value {
            (self.value, self.at) = (value, Some(at));
        }
    }
}

const NOTHING: Largest = Largest {
    value: 0.0,
    at: None,
};

/// Measures tensors of numbers that are rounded.
fn rounded(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Measured {
    let (x, y) = (floats(a), floats(b));
    let finite = x.iter().filter(|x| x.is_finite());
    let largest = finite.fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let (mut worst, mut absolute, mut relative) = (NOTHING, NOTHING, NOTHING);
    let mut beyond = 0;
    for (at, (&x, &y)) in x.iter().zip(&y).enumerate() {
        let by = error(x, y);
        // 0 / 0: nothing is allowed, and nothing is wrong.
        let ratio = by / tolerance.allowed(x, largest);
        worst.see(ratio, at);
        absolute.see(by, at);
        relative.see(part(by, x, y), at);
        beyond += u64::from(ratio > 1.0);
    }
    // A complex element is two numbers.
    let parts = x.len() as u64 / Tensor::elements(&a.shape).unwrap_or(1).max(1);
    let apart = |at: usize, by: f64| Apart {
        index: index(&a.shape, at as u64 / parts.max(1)),
        before: number(x[at], a.dtype),
        after: number(y[at], a.dtype),
        by,
    };
    let found = |largest: &Largest| largest.at.map(|at| apart(at, largest.value));
    let furthest = worst.at.map(|at| {
        let by = error(x[at], y[at]);
        (apart(at, by), tolerance.allowed(x[at], largest))
    });
    Measured {
        of: x.len() as u64,
        beyond,
        ratio: worst.value,
        worst: furthest,
        absolute: found(&absolute),
        relative: found(&relative),
    }
}

/// A distance as a part of the larger of the two numbers.
fn part(by: f64, x: f64, y: f64) -> f64 {
    match x.abs().max(y.abs()) {
        larger if by.is_finite() && larger > 0.0 => by / larger,
        _ => by,
    }
}

/// The distance of two numbers. Two that aren't numbers are equal, as are infinities of one sign.
fn error(x: f64, y: f64) -> f64 {
    if x == y || (x.is_nan() && y.is_nan()) {
        0.0
    } else if x.is_finite() && y.is_finite() {
        (x - y).abs()
    } else {
        f64::INFINITY
    }
}

/// A number as its own type would print it, so that no digits show that it doesn't have.
fn number(x: f64, dtype: DType) -> String {
    match dtype {
        DType::F64 | DType::C128 => format!("{x}"),
        _ => format!("{}", x as f32),
    }
}

/// The elements of a tensor of floats; of complex ones, both parts.
fn floats(tensor: &Tensor) -> Vec<f64> {
    fn each<const N: usize>(data: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        data.as_chunks()
            .0
            .iter()
            .map(|&part| number(part))
            .collect()
    }
    let data = &tensor.data;
    match tensor.dtype {
        DType::F32 | DType::C64 => each(data, |part| f64::from(f32::from_le_bytes(part))),
        DType::F16 => each(data, |part| f16::from_le_bytes(part).to_f64()),
        DType::BF16 => each(data, |part| bf16::from_le_bytes(part).to_f64()),
        _ => each(data, f64::from_le_bytes),
    }
}

/// Measures tensors whose elements have to be equal.
fn exact(a: &Tensor, b: &Tensor, of: u64) -> Measured {
    // Bits behind the last element don't count.
    let differing = (0..of).filter(|&at| element(a, at) != element(b, at));
    let (mut beyond, mut first) = (0, None);
    let (mut absolute, mut relative) = (NOTHING, NOTHING);
    for at in differing {
        beyond += 1;
        first = first.or(Some(at));
        if let (Some(x), Some(y)) = (whole(a, at), whole(b, at)) {
            let by = x.abs_diff(y) as f64;
            absolute.see(by, at as usize);
            relative.see(part(by, x as f64, y as f64), at as usize);
        }
    }
    let apart = |at: u64, by: f64| Apart {
        index: index(&a.shape, at),
        before: integer(a, at),
        after: integer(b, at),
        by,
    };
    let found = |largest: &Largest| largest.at.map(|at| apart(at as u64, largest.value));
    Measured {
        of,
        beyond,
        ratio: if beyond > 0 { f64::INFINITY } else { 0.0 },
        worst: first.map(|at| (apart(at, f64::NAN), 0.0)),
        absolute: found(&absolute),
        relative: found(&relative),
    }
}

fn strings(a: &Tensor, b: &Tensor, of: u64) -> Measured {
    let strings = |tensor| string_elements(tensor, of).into_iter().flatten();
    let pairs = strings(&a.data).zip(strings(&b.data)).enumerate();
    let mut differing = pairs.filter(|(_, (x, y))| x != y);
    let quoted = |text: &[u8]| format!("{:?}", String::from_utf8_lossy(text));
    let first = differing.next().map(|(at, (x, y))| Apart {
        index: index(&a.shape, at as u64),
        before: quoted(x),
        after: quoted(y),
        by: f64::NAN,
    });
    let beyond = first.iter().len() as u64 + differing.count() as u64;
    Measured {
        of,
        beyond,
        ratio: if beyond > 0 { f64::INFINITY } else { 0.0 },
        worst: first.map(|apart| (apart, 0.0)),
        ..Measured::default()
    }
}

/// The bits of an element of at most 64.
fn element(tensor: &Tensor, at: u64) -> u64 {
    let bits = u64::from(tensor.dtype.bits());
    let (start, end) = (at * bits / 8, (at * bits + bits).div_ceil(8));
    let bytes = tensor
        .data
        .get(start as usize..end as usize)
        .unwrap_or_default();
    let all = bytes
        .iter()
        .rev()
        .fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let shifted = all >> (at * bits % 8);
    if bits < 64 {
        shifted & ((1 << bits) - 1)
    } else {
        shifted
    }
}

/// An integer's value.
fn whole(tensor: &Tensor, at: u64) -> Option<i128> {
    let (bits, code) = (tensor.dtype.bits(), element(tensor, at));
    match tensor.dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::I4 | DType::I2 => {
            let unused = 64 - bits;
            Some(((code << unused) as i64 >> unused).into())
        }
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::U4 | DType::U2 => {
            Some(code.into())
        }
        _ => None,
    }
}

fn integer(tensor: &Tensor, at: u64) -> String {
    let code = element(tensor, at);
    match (whole(tensor, at), tensor.dtype) {
        (Some(value), _) => value.to_string(),
        (None, DType::BOOL) => (code != 0).to_string(),
        // Its bits, of a float that is kept whole.
        (None, _) => format!("{code:#x}"),
    }
}

/// The index of an element in a shape, from its place.
fn index(shape: &[i64], mut at: u64) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (index, &dim) in index.iter_mut().zip(shape).rev() {
        let dim = dim.max(1) as u64;
        (*index, at) = (at % dim, at / dim);
    }
    index
}

/// Whether every element is NaN.
pub(super) fn is_all_nan(tensor: &Tensor) -> bool {
    Tolerance::of(tensor.dtype, Overrides::default()).is_some()
        && floats(tensor).iter().all(|x| x.is_nan())
}
