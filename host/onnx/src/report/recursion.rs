//! Recursive functions, which ONNX forbids.

use passdock_ir::Module;

use crate::write::imports::{Domains, calls};

/// Describes a cycle of functions that call each other, such as `@acme.A calls @acme.B calls @acme.A`. `None` if there
/// is none.
pub fn recursion(module: &Module) -> Option<String> {
    // The main graph can't be called.
    if module.len() < 2 {
        return None;
    }
    let circle = Domains::new(module).circle(module, |_| true)?;
    Some(calls(module, &circle))
}
