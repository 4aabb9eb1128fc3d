//! The boundary between Python and the host: values, errors, and objects that are borrowed for the duration of a call.

#[allow(
    unsafe_code,
    reason = "what a pass is given is followed by a pointer, as long as the pass runs"
)]
pub(crate) mod borrow;
pub(crate) mod code;
pub(crate) mod convert;
pub(crate) mod error;
#[allow(
    unsafe_code,
    reason = "Python's function is declared as one that may be unwound"
)]
pub(crate) mod gil;
pub(crate) mod streams;
pub(crate) mod terms;
