//! Cases of the passes that make functions of groups of ops. They are one program: each links the host and all operators.

mod defuse_ops;
mod fuse_ops;
mod fuse_ops_by_pattern;
mod fuse_ops_kinds;
mod fuse_ops_limits;
mod groups;
mod partition;
mod stand_ins;
#[path = "../../../tests/support/mod.rs"]
mod support;
mod tvm;
