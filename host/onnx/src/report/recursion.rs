//! Functions that call themselves, which ONNX forbids.

use passdock_ir::Module;

use crate::write::imports::{Domains, calls};

/// The functions of a module that call each other in a circle, as in `@acme.A calls @acme.B calls @acme.A`; `None`:
/// there are none.
pub fn recursion(module: &Module) -> Option<String> {
    // The main graph alone can't be called.
    if module.len() < 2 {
        return None;
    }
    let circle = Domains::new(module).circle(module, |_| true)?;
    Some(calls(module, &circle))
}
