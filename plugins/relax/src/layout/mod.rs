//! The standard passes of the graph level that bring ops into other layouts.
//!
//! Both are one walk (`walk`), which asks op definitions what an op is in another layout, and keeps of each value the
//! forms that it has been made in (`forms`). They differ in whom they ask first: `convert_layout` the pipeline,
//! `alter_op_layout` the definitions. What isn't one op in its layout becomes a function of the module (`functions`).

pub mod alter_op_layout;
pub mod convert_layout;
mod forms;
mod functions;
mod walk;
