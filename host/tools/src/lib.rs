//! Tools around a run: what a model holds, what differs between two, and which pass is to blame.
//!
//! [`stats`](mod@stats) counts, [`diff`](mod@diff) compares two modules, [`bisect`](mod@bisect)
//! finds the pass that breaks a model, [`reduce`](mod@reduce) makes a failing model small,
//! [`extract`](mod@extract) takes a part out of one, [`blame`](mod@blame) says which passes made an op,
//! [`numerics`] is the instrument that runs modules in ONNX Runtime after each pass, and
//! [`plugin_check`] tries a plugin for its author.
//!
//! **Invariant:** `unsafe` is in `numerics/ort/` only, in calls to ONNX Runtime.

pub mod bisect;
pub mod blame;
pub mod diff;
mod elements;
pub mod extract;
pub mod numerics;
pub mod plugin_check;
mod queries;
pub mod reduce;
mod search;
pub mod stats;
