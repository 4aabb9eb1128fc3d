//! The approximations, as IR text.
//!
//! Coefficients are those of TVM's `topi`, which has them from Cephes and Eigen.

use std::collections::HashMap;
use std::fmt::Write;

/// Of the polynomial for e^f - 1 - f, |f| ≤ ln 2 / 2, behind f²; the highest first.
const EXP: [f32; 6] = [
    1.987_569_1e-4,
    1.398_199_9e-3,
    8.333_452e-3,
    4.166_579_6e-2,
    1.666_666_5e-1,
    0.5,
];

/// Of the quotient for tanh x, |x| ≤ 9: in x², above (and times x) and below.
const TANH: [&[f32]; 2] = [
    &[
        -2.760_768_4e-16,
        2.000_188e-13,
        -8.604_672e-11,
        5.122_297_1e-8,
        1.485_722_36e-5,
        6.372_619_3e-4,
        4.893_524_6e-3,
    ],
    &[1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_7e-3, 4.893_525e-3],
];

/// As [`TANH`], for erf x, |x| ≤ 4.
const ERF: [&[f32]; 2] = [
    &[
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ],
    &[
        -1.456_607_18e-5,
        -2.133_740_5e-4,
        -1.682_827e-3,
        -7.373_329_2e-3,
        -1.426_473_9e-2,
    ],
];

/// ln 2 in two parts: multiples of the first by small integers are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// e^x = 2^n · e^f, where n is the integer next to x / ln 2.
pub(super) fn exp() -> String {
    let mut body = Body::new();
    // Below the first 2^n is 0, above the second it is infinite: as e^x is.
    let x = body.clamped(-104.0, 89.0);
    let scale = body.constant(std::f32::consts::LOG2_E);
    let scaled = body.op("Mul", &[&x, &scale]);
    let half = body.constant(0.5);
    let shifted = body.op("Add", &[&scaled, &half]);
    let n = body.op("Floor", &[&shifted]);
    let mut f = x;
    for part in LN_2 {
        let part = body.constant(part);
        let off = body.op("Mul", &[&n, &part]);
        f = body.op("Sub", &[&f, &off]);
    }
    let sum = body.polynomial(&f, &EXP);
    let square = body.op("Mul", &[&f, &f]);
    let high = body.op("Mul", &[&sum, &square]);
    let low = body.op("Add", &[&high, &f]);
    let one = body.constant(1.0);
    let of_f = body.op("Add", &[&low, &one]);
    // 2^128 alone would be infinite, and 2^-149 times what is below 1 be rounded twice.
    let two = body.constant(2.0);
    let halved = body.op("Mul", &[&n, &half]);
    let first = body.op("Floor", &[&halved]);
    let second = body.op("Sub", &[&n, &first]);
    let mut y = of_f;
    for part in [first, second] {
        let power = body.op("Pow", &[&two, &part]);
        y = body.op("Mul", &[&y, &power]);
    }
    body.end(&y)
}

pub(super) fn tanh() -> String {
    quotient(9.0, TANH)
}

pub(super) fn erf() -> String {
    quotient(4.0, ERF)
}

/// x · P(x²) / Q(x²), where |x| is at most so large.
fn quotient(most: f32, [above, below]: [&[f32]; 2]) -> String {
    let mut body = Body::new();
    let x = body.clamped(-most, most);
    let square = body.op("Mul", &[&x, &x]);
    let above = body.polynomial(&square, above);
    let above = body.op("Mul", &[&x, &above]);
    let below = body.polynomial(&square, below);
    let y = body.op("Div", &[&above, &below]);
    body.end(&y)
}

/// A function of `%x` that is being written.
struct Body {
    constants: String,
    ops: String,
    count: usize,
    /// The constants' names, by their bits.
    known: HashMap<u32, String>,
}

impl Body {
    fn new() -> Body {
        Body {
            constants: String::new(),
            ops: String::new(),
            count: 0,
            known: HashMap::new(),
        }
    }

    fn name(&mut self) -> String {
        self.count += 1;
        format!("%t{}", self.count)
    }

    fn constant(&mut self, value: f32) -> String {
        if let Some(known) = self.known.get(&value.to_bits()) {
            return known.clone();
        }
        let name = self.name();
        let _ = writeln!(self.constants, "{name} = const f32[] {value:?}");
        self.known.insert(value.to_bits(), name.clone());
        name
    }

    fn op(&mut self, operator: &str, operands: &[&str]) -> String {
        let name = self.name();
        let _ = writeln!(
            self.ops,
            "{name} = onnx.{operator}({})",
            operands.join(", ")
        );
        name
    }

    /// `%x`, between two numbers.
    fn clamped(&mut self, least: f32, most: f32) -> String {
        let (least, most) = (self.constant(least), self.constant(most));
        let below = self.op("Min", &["%x", &most]);
        self.op("Max", &[&below, &least])
    }

    /// A polynomial, by Horner's rule; the highest coefficient first.
    fn polynomial(&mut self, x: &str, coefficients: &[f32]) -> String {
        let mut coefficients = coefficients.iter();
        let first = coefficients.next().copied().unwrap_or_default();
        let mut sum = self.constant(first);
        for &coefficient in coefficients {
            let coefficient = self.constant(coefficient);
            let product = self.op("Mul", &[&sum, x]);
            sum = self.op("Add", &[&product, &coefficient]);
        }
        sum
    }

    fn end(self, result: &str) -> String {
        let Body { constants, ops, .. } = self;
        format!("fn @body(%x) {{\n{constants}{ops}return {result}\n}}")
    }
}
