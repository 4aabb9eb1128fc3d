//! Evaluation of operators on constants.
//!
//! [`evaluate`] answers an op's results or says why not. It is never wrong on purpose: where ONNX
//! leaves a result open (an integer divided by zero, a float cast out of range, an attribute that
//! isn't known here), the op is left alone. It never panics, and it makes nothing larger than the
//! caller allows.
//!
//! One file a family of operators; `cells` moves elements of any type, `number` computes with them.

pub(crate) mod activation;
mod attrs;
pub(crate) mod bits;
pub(crate) mod broadcast;
mod call;
pub(crate) mod cast;
pub(crate) mod cells;
pub(crate) mod choose;
pub(crate) mod compare_logic;
pub(crate) mod create;
pub(crate) mod data_movement;
pub(crate) mod elementwise;
pub(crate) mod gather;
pub(crate) mod matrix;
pub(crate) mod minifloat;
pub(crate) mod number;
pub(crate) mod quantize;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod scatter;
pub(crate) mod shape;
pub(crate) mod softmax;
pub(crate) mod strings;
mod tensor;
pub(crate) mod unary;

use std::borrow::Cow;
use std::fmt;

pub use attrs::{Attr, Attrs};
pub use call::Call;
pub use tensor::{Elements, Tensor};

pub(crate) use call::{axes, axis, integers};
pub(crate) use tensor::{element_count, in_shape, name_of};

/// Why an op stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFolded(Cow<'static, str>);

impl NotFolded {
    /// With this reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> NotFolded {
        NotFolded(reason.into())
    }

    /// The reason, in words.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NotFolded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFolded {}

/// Answers [`NotFolded`] with a formatted reason.
macro_rules! refuse {
    ($($text:tt)*) => { Err($crate::eval::NotFolded::new(format!($($text)*))) };
}
pub(crate) use refuse;

/// What an evaluation answers.
pub type Folded<'a> = Result<Vec<Tensor<'a>>, NotFolded>;

/// The evaluation of one operator.
pub type Evaluate = for<'a> fn(&Call<'a>) -> Folded<'a>;

/// Evaluates an op of ONNX's own domain.
pub fn evaluate<'a>(call: &Call<'a>) -> Folded<'a> {
    let Some(operator) = crate::ops::find(call.name, call.version) else {
        return refuse!("no definition of {} is known", call.name);
    };
    operator.check(call)?;
    operator.check_operands(call.inputs.len())?;
    let Some(evaluate) = operator.evaluate else {
        return refuse!("there is no evaluation of {}", call.name);
    };
    let results = evaluate(call)?;
    if results.len() < call.outputs {
        return refuse!(
            "only {} of {} results are computed",
            results.len(),
            call.outputs
        );
    }
    Ok(results)
}
