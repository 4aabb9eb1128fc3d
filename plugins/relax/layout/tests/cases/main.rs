//! Cases of the passes that bring ops into other layouts, a file a subject. They are one program: each links the host and
//! all operators.

mod basics;
mod evaluated;
mod laid;
#[path = "../../../tests/support/mod.rs"]
mod support;
mod tvm;
mod vendor;
