//! Two tensors of one type and shape, element by element.

use half::{bf16, f16};
use passdock_abi::DType;
use passdock_ir::constant::string_elements;

use super::compare::Differing;
use super::ort::Tensor;

/// The distance that is allowed between two elements: `of_largest · max|a| + of_element · |a|`.
#[derive(Clone, Copy)]
struct Tolerance {
    of_largest: f64,
    of_element: f64,
}

impl Tolerance {
    /// `None`: elements have to be equal.
    fn of(dtype: DType) -> Option<Tolerance> {
        let (of_largest, of_element) = match dtype {
            DType::F32 | DType::F64 | DType::C64 | DType::C128 => (1e-5, 1e-4),
            DType::F16 | DType::BF16 => (1e-2, 1e-2),
            _ => return None,
        };
        Some(Tolerance {
            of_largest,
            of_element,
        })
    }
}

/// Compares tensors of one type and shape.
pub(super) fn compare(a: &Tensor, b: &Tensor) -> Result<f64, Differing> {
    if a.data == b.data {
        return Ok(0.0);
    }
    let Some(tolerance) = Tolerance::of(a.dtype) else {
        return equal(a, b);
    };
    let (x, y) = (floats(a), floats(b));
    let finite = x.iter().filter(|x| x.is_finite());
    let largest = finite.fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let (mut worst, mut at, mut count) = (0.0_f64, 0, 0);
    for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
        let ratio = error(x, y) / (tolerance.allowed(x, largest));
        // 0 / 0: nothing is allowed, and nothing is wrong.
        if ratio > worst {
            (worst, at) = (ratio, i);
        }
        count += u64::from(ratio > 1.0);
    }
    if count == 0 {
        return Ok(worst);
    }
    // A complex element is two numbers.
    let parts = x.len() as u64 / Tensor::elements(&a.shape).unwrap_or(1).max(1);
    Err(Differing::Element {
        index: index(&a.shape, at as u64 / parts.max(1)),
        before: number(x[at], a.dtype),
        after: number(y[at], a.dtype),
        error: error(x[at], y[at]),
        allowed: tolerance.allowed(x[at], largest),
        count,
        of: x.len() as u64,
    })
}

impl Tolerance {
    fn allowed(self, x: f64, largest: f64) -> f64 {
        let own = if x.is_finite() { x.abs() } else { 0.0 };
        self.of_largest * largest + self.of_element * own
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

/// Compares tensors whose elements have to be equal, knowing that their data isn't.
fn equal(a: &Tensor, b: &Tensor) -> Result<f64, Differing> {
    let of = Tensor::elements(&a.shape).unwrap_or(0);
    if a.dtype == DType::STRING {
        return equal_strings(a, b, of);
    }
    let mut differing = (0..of).filter(|&at| element(a, at) != element(b, at));
    // Bits behind the last element don't count.
    let Some(first) = differing.next() else {
        return Ok(0.0);
    };
    let count = 1 + differing.count() as u64;
    Err(Differing::Element {
        index: index(&a.shape, first),
        before: integer(a, first),
        after: integer(b, first),
        error: f64::NAN,
        allowed: 0.0,
        count,
        of,
    })
}

fn equal_strings(a: &Tensor, b: &Tensor, of: u64) -> Result<f64, Differing> {
    let strings = |tensor| string_elements(tensor, of).into_iter().flatten();
    let pairs = strings(&a.data).zip(strings(&b.data)).enumerate();
    let mut differing = pairs.filter(|(_, (x, y))| x != y);
    let Some((first, (x, y))) = differing.next() else {
        return Ok(0.0);
    };
    let quoted = |text: &[u8]| format!("{:?}", String::from_utf8_lossy(text));
    Err(Differing::Element {
        index: index(&a.shape, first as u64),
        before: quoted(x),
        after: quoted(y),
        error: f64::NAN,
        allowed: 0.0,
        count: 1 + differing.count() as u64,
        of,
    })
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

fn integer(tensor: &Tensor, at: u64) -> String {
    let (bits, code) = (tensor.dtype.bits(), element(tensor, at));
    match tensor.dtype {
        DType::BOOL => (code != 0).to_string(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::I4 | DType::I2 => {
            let unused = 64 - bits;
            ((code << unused) as i64 >> unused).to_string()
        }
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::U4 | DType::U2 => {
            code.to_string()
        }
        // Its bits, of a float that is kept whole.
        _ => format!("{code:#x}"),
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
    Tolerance::of(tensor.dtype).is_some() && floats(tensor).iter().all(|x| x.is_nan())
}
