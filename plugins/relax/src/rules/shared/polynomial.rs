//! [`Polynomial`]: a canonical form for sums and products of values and constants.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::is_about;

use super::checks::broadcast_number;
use crate::shared::read::{is_any, operand};

/// The number of powers of `x`: the degree is at most 3.
const POWERS: usize = 4;
/// The maximum depth of nested ops.
const DEPTH: usize = 6;

/// A polynomial in `x` and `g`, linear in `g`. The coefficient of `x^i g^j` is `[i][j]`.
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

    /// Returns the argument of a GELU's gate: `x/√2` for `Erf`, a cubic polynomial for `Tanh`.
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

    /// Returns `self + other * times`.
    pub(crate) fn plus(mut self, other: Polynomial, times: f64) -> Polynomial {
        for (mine, other) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine += other * times;
        }
        self
    }

    /// Returns the product, or `None` if its degree is too high.
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

    /// Whether the coefficients are equal up to the rounding of exporters' constants of a dtype.
    pub(crate) fn is_about(&self, other: Polynomial, dtype: DType) -> bool {
        let mut both = self.0.iter().flatten().zip(other.0.iter().flatten());
        both.all(|(mine, other)| is_about(*mine, *other, dtype))
    }
}

/// Returns a value as a polynomial in `x` and `g`, if it is one and has the shape of `x`.
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
    if let Some(number) = broadcast_number(f, value, x)? {
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
    let constant = b.0[0][0];
    let number = (b == Polynomial::number(constant)).then_some(constant);
    let result = match (f.name(op), number) {
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

/// Returns the arithmetic op that defines a value.
fn arithmetic(f: &Function, value: ValueId) -> Option<OpId> {
    const NAMES: [&str; 6] = [
        "onnx.Add", "onnx.Sub", "onnx.Mul", "onnx.Div", "onnx.Pow", "onnx.Neg",
    ];
    let op = value.option().and_then(|value| f.defining_op(value))?;
    is_any(f, op, &NAMES).then_some(op)
}

/// Returns the non-constant values from which arithmetic ops compute a value: the value first, without duplicates, up
/// to a limit.
pub(crate) fn terms(f: &Function, value: ValueId) -> Vec<ValueId> {
    const MAX_OPS: usize = 16;
    let mut all = vec![value];
    let mut next = 0;
    while next < all.len() && all.len() < MAX_OPS {
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
