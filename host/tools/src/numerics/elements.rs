//! The comparison of two tensors of one type and shape, element by element.

use half::{bf16, f16};
use passdock_abi::DType;
use passdock_ir::constant::string_elements;
use serde::Serialize;

use super::ort::Tensor;

/// The user's tolerances, and the type that a model computes in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overrides {
    /// The allowed part of an element, instead of `Tolerance::of_element`.
    pub(super) relative: Option<f64>,
    /// The allowed distance of all elements, instead of what the largest of them allows.
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
    /// Returns the tolerance of a type; `None` if elements have to be equal.
    fn new(dtype: DType, overrides: Overrides) -> Option<Tolerance> {
        let mut tolerance = Tolerance::of_type(dtype)?;
        match overrides.computed_in.and_then(Tolerance::of_type) {
            Some(coarser) if coarser.tiny > tolerance.tiny => tolerance = coarser,
            _ => {}
        }
        if let Some(absolute) = overrides.absolute {
            (tolerance.tiny, tolerance.of_largest) = (absolute, 0.0);
        }
        let of_element = overrides.relative.unwrap_or(tolerance.of_element);
        Some(Tolerance {
            of_element,
            ..tolerance
        })
    }

    fn of_type(dtype: DType) -> Option<Tolerance> {
        let (tiny, of_largest, of_element) = match dtype {
            DType::F64 | DType::C128 => (1e-12, 1e-7, 1e-6),
            DType::F32 | DType::C64 => (1e-7, 1e-5, 1e-4),
            DType::F16 => (1e-4, 1e-2, 1e-2),
            DType::BF16 => (1e-3, 2e-2, 2e-2),
            _ => return None,
        };
        Some(Tolerance {
            tiny,
            of_largest,
            of_element,
        })
    }

    fn allowed(self, element: Element<'_>, largest: f64) -> f64 {
        let own = element.finite().unwrap_or(0.0);
        self.tiny.max(self.of_largest * largest) + self.of_element * own
    }
}

/// Two elements of two tensors, and their distance.
#[derive(Clone, Debug, Serialize)]
pub struct ElementDifference {
    /// The distance; `null` in JSON: an infinite one, or only equality counts.
    pub value: f64,
    /// The run, from 0.
    pub run: usize,
    /// The index of the element.
    pub index: Vec<u64>,
    /// The element before.
    pub before: String,
    /// The element after.
    pub after: String,
}

/// The distances of two tensors.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// The number of numbers, two for a complex element.
    pub(super) elements: u64,
    /// The number of those that are further apart than is allowed.
    pub(super) beyond: u64,
    /// The largest distance, as a part of what is allowed.
    pub(super) ratio: f64,
    /// The element of that distance.
    pub(super) worst: Option<ElementDifference>,
    /// The element of the largest distance; `None`: all are equal, or they are no numbers.
    pub(super) absolute: Option<ElementDifference>,
    /// The element of the largest distance as a part of the larger of the two.
    pub(super) relative: Option<ElementDifference>,
}

/// The largest distance so far, and its elements.
#[derive(Default)]
struct Peak<'t> {
    value: f64,
    elements: Option<(u64, Element<'t>, Element<'t>)>,
}

impl<'t> Peak<'t> {
    fn update(&mut self, value: f64, elements: (u64, Element<'t>, Element<'t>)) {
        if value > self.value {
            (self.value, self.elements) = (value, Some(elements));
        }
    }
}

/// Measures the distances of two tensors of one type and shape in a run of a number.
pub(super) fn measure(a: &Tensor, b: &Tensor, run: usize, overrides: Overrides) -> Measured {
    let parts = if matches!(a.dtype, DType::C64 | DType::C128) {
        2
    } else {
        1
    };
    let elements_in_all = parts * Tensor::elements(&a.shape).unwrap_or(0);
    if a.data == b.data {
        return Measured {
            elements: elements_in_all,
            ..Measured::default()
        };
    }
    let tolerance = Tolerance::new(a.dtype, overrides);
    let largest = match tolerance {
        Some(_) => elements(a).filter_map(Element::finite).fold(0.0, f64::max),
        None => 0.0,
    };
    let (mut worst, mut absolute, mut relative) =
        (Peak::default(), Peak::default(), Peak::default());
    let mut beyond = 0;
    for (at, (x, y)) in (0_u64..).zip(elements(a).zip(elements(b))) {
        let distance = x.distance(y);
        let ratio = match tolerance {
            // 0 / 0: nothing is allowed, and nothing is wrong.
            Some(tolerance) => distance / tolerance.allowed(x, largest),
            None if x == y => 0.0,
            None => f64::INFINITY,
        };
        beyond += u64::from(ratio > 1.0);
        worst.update(ratio, (at, x, y));
        absolute.update(distance, (at, x, y));
        relative.update(x.part(y, distance), (at, x, y));
    }
    let difference = |peak: &Peak<'_>, value: Option<f64>| {
        let (at, x, y) = peak.elements?;
        Some(ElementDifference {
            value: value.unwrap_or(peak.value),
            run,
            index: index(&a.shape, at / parts),
            before: x.text(a.dtype),
            after: y.text(a.dtype),
        })
    };
    let distance = worst.elements.map(|(_, x, y)| match tolerance {
        Some(_) => x.distance(y),
        None => f64::NAN,
    });
    Measured {
        elements: elements_in_all,
        beyond,
        ratio: worst.value,
        worst: difference(&worst, distance),
        absolute: difference(&absolute, None),
        relative: difference(&relative, None),
    }
}

/// An element of a tensor; of a complex one, a part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Element<'t> {
    Float(f64),
    Integer(i128),
    /// The bits of a bool, or of a float that is kept whole.
    Bits(u64),
    Text(&'t [u8]),
}

impl Element<'_> {
    /// The absolute value of a finite float.
    fn finite(self) -> Option<f64> {
        match self {
            Element::Float(x) if x.is_finite() => Some(x.abs()),
            _ => None,
        }
    }

    /// The distance of two numbers; NaN if they are none. Two NaNs are equal, as are infinities of one sign.
    fn distance(self, other: Self) -> f64 {
        match (self, other) {
            (Element::Float(x), Element::Float(y)) if x == y || (x.is_nan() && y.is_nan()) => 0.0,
            (Element::Float(x), Element::Float(y)) if x.is_finite() && y.is_finite() => {
                (x - y).abs()
            }
            (Element::Float(_), Element::Float(_)) => f64::INFINITY,
            (Element::Integer(x), Element::Integer(y)) => x.abs_diff(y) as f64,
            _ => f64::NAN,
        }
    }

    /// A distance as a part of the larger of two numbers.
    fn part(self, other: Self, distance: f64) -> f64 {
        let size = |element| match element {
            Element::Float(x) => x.abs(),
            Element::Integer(x) => x.unsigned_abs() as f64,
            _ => 0.0,
        };
        match size(self).max(size(other)) {
            larger if distance.is_finite() && larger > 0.0 => distance / larger,
            _ => distance,
        }
    }

    /// The element as its own type prints it, so that no digits show that it doesn't have.
    fn text(self, dtype: DType) -> String {
        match self {
            Element::Float(x) if matches!(dtype, DType::F64 | DType::C128) => x.to_string(),
            Element::Float(x) => (x as f32).to_string(),
            Element::Integer(x) => x.to_string(),
            Element::Bits(bits) if dtype == DType::BOOL => (bits != 0).to_string(),
            Element::Bits(bits) => format!("{bits:#x}"),
            Element::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        }
    }
}

/// An iterator over elements.
type Elements<'t> = Box<dyn Iterator<Item = Element<'t>> + 't>;

/// The elements of a tensor; of complex ones, both parts.
fn elements(tensor: &Tensor) -> Elements<'_> {
    fn floats<'t, const N: usize>(
        data: &'t [u8],
        number: impl Fn([u8; N]) -> f64 + 't,
    ) -> Elements<'t> {
        let parts = data.as_chunks().0.iter();
        Box::new(parts.map(move |&part| Element::Float(number(part))))
    }
    let (dtype, data) = (tensor.dtype, &*tensor.data);
    let count = Tensor::elements(&tensor.shape).unwrap_or(0);
    match dtype {
        DType::F32 | DType::C64 => floats(data, |part| f64::from(f32::from_le_bytes(part))),
        DType::F16 => floats(data, |part| f16::from_le_bytes(part).to_f64()),
        DType::BF16 => floats(data, |part| bf16::from_le_bytes(part).to_f64()),
        DType::F64 | DType::C128 => floats(data, f64::from_le_bytes),
        DType::STRING => Box::new(
            string_elements(data, count)
                .into_iter()
                .flatten()
                .map(Element::Text),
        ),
        _ => Box::new((0..count).map(move |at| integer(tensor, at))),
    }
}

/// An element of at most 64 bits. Bits after the last element don't count.
fn integer(tensor: &Tensor, at: u64) -> Element<'_> {
    let bits = u64::from(tensor.dtype.bits()).clamp(1, 64);
    let (start, end) = (at * bits / 8, (at * bits + bits).div_ceil(8));
    let bytes = tensor
        .data
        .get(start as usize..end as usize)
        .unwrap_or_default();
    let whole = bytes
        .iter()
        .rev()
        .fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let unused = 64 - bits;
    let code = whole >> (at * bits % 8) << unused;
    match tensor.dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::I4 | DType::I2 => {
            Element::Integer((code as i64 >> unused).into())
        }
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::U4 | DType::U2 => {
            Element::Integer((code >> unused).into())
        }
        _ => Element::Bits(code >> unused),
    }
}

/// The index of an element in a shape, from its position.
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
    elements(tensor).all(|element| matches!(element, Element::Float(x) if x.is_nan()))
}
