//! Definitions of the ONNX operators: traits, type rules, evaluation.
//!
//! `ops` says what an operator is, one row each; `eval` computes with constants.

pub mod eval;
pub mod ops;

use passdock_abi::DType;
