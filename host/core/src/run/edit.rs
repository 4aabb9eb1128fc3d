//! Editing modules outside of passes, with the SDK.

use passdock_ir::Module;
use passdock_plugin_api as sdk;

use super::leaf;
use crate::boundary;
use crate::context::{ContextFrame, PassContext};
use crate::error::PassError;
use crate::verify;

/// Builds a new module with a closure that uses the SDK.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub mod ir {
/// #         pub use passdock_core::build_module;
/// #     }
/// #     pub use passdock_plugin_api as sdk;
/// # }
/// use passdock::sdk::{DType, FunctionBuilder, FunctionKind, TypeSpec};
///
/// let module = passdock::ir::build_module(|m| {
///     let mut function = m.create("main", FunctionKind::GRAPH, None)?;
///     function.set_opset("", 17)?;
///     let pair = function.add_type(&TypeSpec::shaped(DType::F32, &[2]))?;
///     let mut body = FunctionBuilder::new(&mut function);
///     let x = body.param("x", pair)?;
///     let y = body.value("onnx.Relu", [x])?;
///     Ok(body.finish(&[y])?)
/// })?;
/// assert_eq!(module.op_count(), 1);
/// # Ok::<(), passdock::PassError>(())
/// ```
///
/// # Errors
/// See [`edit_module`].
pub fn build_module(
    body: impl FnOnce(&mut sdk::Module<'_>) -> sdk::PassResult,
) -> Result<Module, PassError> {
    edit_module(&Module::new(), body)
}

/// Edits a copy of a module with a closure that uses the SDK, as a module pass without a name and without instruments.
/// The given module doesn't change.
///
/// # Errors
/// If the closure fails or panics, or if the result is invalid IR and the current context verifies.
pub fn edit_module(
    module: &Module,
    body: impl FnOnce(&mut sdk::Module<'_>) -> sdk::PassResult,
) -> Result<Module, PassError> {
    let cx = PassContext::current();
    let edited = boundary::edit_module(module, &ContextFrame::watching(&cx), body);
    match edited.map_err(|failure| leaf::failure_error(*failure, None))? {
        Some(after) => {
            verify::changed(module, &after, cx.verify(), || cx.registry().op_defs())?;
            Ok(after)
        }
        None => Ok(module.clone()),
    }
}
