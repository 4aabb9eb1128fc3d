//! Evaluation of operators on constants.
//!
//! An evaluation returns an op's results, or the reason why it can't. If ONNX leaves a result undefined, the op isn't
//! folded. Examples are an integer divided by zero, a float cast out of range, and an unknown attribute. An evaluation
//! never panics, and allocates no result larger than the caller's limit.
//!
//! Each file has a family of operators. `cells` moves elements of any type, `number` has the arithmetic.

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
mod not_folded;
pub(crate) mod number;
pub(crate) mod quantize;
mod readers;
pub(crate) mod reduce;
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
pub use not_folded::NotFolded;
pub use tensor::{Elements, Tensor};

pub(crate) use call::{axes, axis, integers, listed_axes};
pub(crate) use not_folded::{ensure, reject};
pub(crate) use tensor::{element_count, in_shape, name_of};
