//! The graph-level standard passes that convert layouts.
//!
//! Both passes share a walk (`walk`). It queries op definitions for the form of an op in another layout, and records
//! the layouts in which each value is available (`forms`). They differ in the source of the requested layouts: the
//! pipeline (`convert_layout`) or the definitions (`alter_op_layout`). An op that becomes several ops is outlined into
//! a function (`functions`).

pub mod alter_op_layout;
pub mod convert_layout;
mod forms;
mod functions;
mod walk;
