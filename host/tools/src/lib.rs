//! Tools around a run: the content of a model, the differences of two, and the pass that breaks one.
//!
//! [`stats`](mod@stats) counts, [`diff`](mod@diff) compares two modules, [`bisect`](mod@bisect)
//! finds the pass that breaks a model, [`reduce`](mod@reduce) shrinks a failing model,
//! [`extract`](mod@extract) cuts a part out of one, [`blame`](mod@blame) lists the passes that made or changed an op,
//! [`numerics`] runs modules in ONNX Runtime, [`plugin_check`] checks a plugin for its
//! author, and [`page`](mod@page) is the page of a run.
//!
//! **Invariant:** `unsafe` is in `numerics/ort/` only, in calls to ONNX Runtime.

pub mod bisect;
pub mod blame;
pub mod diff;
mod elements;
pub mod extract;
pub mod numerics;
pub mod page;
pub mod plugin_check;
mod queries;
pub mod reduce;
mod search;
pub mod stats;
