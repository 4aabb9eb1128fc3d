//! [`Polynomial`]: what sums and products of a value and numbers come to, however they are written.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::is_about;

use super::checks::number_beside;
use crate::shared::read::{is_any, operand};

/// The powers of `x` that are told apart: up to its cube.
const POWERS: usize = 4;
/// Ops in one another that are read.
const DEPTH: usize = 6;

/// A polynomial of a value `x`, and of a value `g` up to its first power: the coefficient of `x^i g^j` is `[i][j]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Polynomial([[f64; 2]; POWERS]);

impl Polynomial {
    pub(crate) fn number(number: f64) -> Polynomial {
        Polynomial::term(0, 0, number)
    }

    /// `number * x^power * g^gate`.
    pub(crate) fn term(power: usize, gate: usize, number: f64) -> Polynomial {
        let mut all = [[0.0; 2]; POWERS];
        all[power][gate] = number;
        Polynomial(all)
    }

    /// What the gate of a GELU is of: `x/√2` of an `Erf`, a cubic polynomial of a `Tanh`.
    pub(crate) fn gelu_gate(is_erf: bool) -> Polynomial {
        if is_erf {
            return Polynomial::term(1, 0, std::f64::consts::FRAC_1_SQRT_2);
        }
        let factor = std::f64::consts::FRAC_2_PI.sqrt();
        let cube = Polynomial::term(3, 0, factor * 0.044715);
        Polynomial::term(1, 0, factor).plus(cube, 1.0)
    }

    /// `x/2 + x/2 g`.
    pub(crate) fn halves() -> Polynomial {
        Polynomial::term(1, 0, 0.5).plus(Polynomial::term(1, 1, 0.5), 1.0)
    }

    pub(crate) fn at(&self, power: usize, gate: usize) -> f64 {
        self.0[power][gate]
    }

    /// The sum with a multiple of another one.
    pub(crate) fn plus(mut self, other: Polynomial, times: f64) -> Polynomial {
        for (mine, other) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine += other * times;
        }
        self
    }

    /// The product, if its powers aren't too high.
    fn times(self, other: Polynomial) -> Option<Polynomial> {
        let mut all = [[0.0; 2]; POWERS];
        for (i, mine) in self.0.iter().enumerate() {
            for (k, others) in other.0.iter().enumerate() {
                for (j, l) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let product = mine[j] * others[l];
                    if product == 0.0 {
                        continue;
                    }
                    *all.get_mut(i + k)?.get_mut(j + l)? += product;
                }
            }
        }
        Some(Polynomial(all))
    }

    fn as_number(self) -> Option<f64> {
        let number = self.0[0][0];
        (self == Polynomial::number(number)).then_some(number)
    }

    /// Whether it is another one, as near as exporters' constants of a dtype come.
    pub(crate) fn is_about(&self, other: Polynomial, dtype: DType) -> bool {
        let mut both = self.0.iter().flatten().zip(other.0.iter().flatten());
        both.all(|(mine, other)| is_about(*mine, *other, dtype))
    }
}

/// What a value is as a polynomial of two others, if it is one and has the shape of the first.
pub(crate) fn polynomial(
    f: &Function,
    value: ValueId,
    x: ValueId,
    g: ValueId,
) -> Result<Polynomial, EditError> {
    read(f, value, x, g, DEPTH)
}

fn read(
    f: &Function,
    value: ValueId,
    x: ValueId,
    g: ValueId,
    depth: usize,
) -> Result<Polynomial, EditError> {
    if value == x {
        return Ok(Polynomial::term(1, 0, 1.0));
    }
    if value == g {
        return Ok(Polynomial::term(0, 1, 1.0));
    }
    if let Some(number) = number_beside(f, value, x)? {
        return Ok(Polynomial::number(number));
    }
    let depth = depth.checked_sub(1).ok_or(NoMatch)?;
    let op = arithmetic(f, value).ok_or(NoMatch)?;
    let read = |at| read(f, operand(f, op, at), x, g, depth);
    let a = read(0)?;
    if f.name(op) == "onnx.Neg" {
        return Ok(Polynomial::number(0.0).plus(a, -1.0));
    }
    let b = read(1)?;
    let result = match (f.name(op), b.as_number()) {
        ("onnx.Add", _) => Some(a.plus(b, 1.0)),
        ("onnx.Sub", _) => Some(a.plus(b, -1.0)),
        ("onnx.Mul", _) => a.times(b),
        ("onnx.Div", Some(number)) if number != 0.0 => {
            Some(Polynomial::number(0.0).plus(a, 1.0 / number))
        }
        ("onnx.Pow", Some(2.0)) => a.times(a),
        ("onnx.Pow", Some(3.0)) => a.times(a).and_then(|square| square.times(a)),
        _ => None,
    };
    Ok(result.ok_or(NoMatch)?)
}

/// The op that makes a value, if it is one of arithmetic.
fn arithmetic(f: &Function, value: ValueId) -> Option<OpId> {
    const NAMES: [&str; 6] = [
        "onnx.Add", "onnx.Sub", "onnx.Mul", "onnx.Div", "onnx.Pow", "onnx.Neg",
    ];
    let op = value.option().and_then(|value| f.defining_op(value))?;
    is_any(f, op, &NAMES).then_some(op)
}

/// The values that a value is made of by arithmetic, itself first, each once and not too many.
pub(crate) fn terms(f: &Function, value: ValueId) -> Vec<ValueId> {
    const MOST: usize = 16;
    let mut all = vec![value];
    let mut next = 0;
    while next < all.len() && all.len() < MOST {
        if let Some(op) = arithmetic(f, all[next]) {
            for operand in f.operands(op) {
                if f.constant(operand).is_none() && !operand.is_none() && !all.contains(&operand) {
                    all.push(operand);
                }
            }
        }
        next += 1;
    }
    all
}
