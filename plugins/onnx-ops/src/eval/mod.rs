//! Evaluation of operators on constants.
//!
//! An evaluation answers an op's results or says why not. It is never wrong on purpose: where ONNX
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
pub(crate) mod einsum;
pub(crate) mod elementwise;
pub(crate) mod gather;
pub(crate) mod matrix;
pub(crate) mod minifloat;
pub(crate) mod normalize;
pub(crate) mod number;
pub(crate) mod quantize;
mod readers;
pub(crate) mod reduce;
mod refusal;
pub(crate) mod resize;
pub(crate) mod scan;
pub(crate) mod scatter;
pub(crate) mod shape;
pub(crate) mod sliding;
pub(crate) mod softmax;
pub(crate) mod strings;
mod tensor;
pub(crate) mod unary;

pub use attrs::{Attrs, EvalAttr};
pub use call::{Call, Evaluate, Evaluation, EvaluationOfAll, Folded, FoldedAll};
pub use refusal::NotFolded;
pub use tensor::{Elements, Tensor};

pub(crate) use call::{axes, axis, integers, listed_axes};
pub(crate) use refusal::{ensure, refuse};
pub(crate) use tensor::{element_count, in_shape, name_of};
