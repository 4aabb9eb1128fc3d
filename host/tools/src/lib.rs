//! Tools for models and pipelines: statistics, comparison, bisection, reduction and more.
//!
//! [`stats`](mod@stats) counts the contents of a model, [`diff`](mod@diff) compares two modules, [`bisect`](mod@bisect)
//! finds the pass that breaks a model, [`reduce`](mod@reduce) shrinks a failing model, [`extract`](mod@extract)
//! extracts a part of a model, and [`blame`](mod@blame) lists the passes that created or changed an op. [`numerics`]
//! runs modules in ONNX Runtime, [`plugin_check`] checks a plugin for its author, and [`page`](mod@page) writes the
//! HTML report of a run.
//!
//! **Invariant:** `unsafe` is only in `numerics/ort/`, for calls to ONNX Runtime.

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
