//! Type inference without a pipeline.

use passdock_core::{INFER_TYPE, PassContext, PassError, PassRef, Registry, run};
use passdock_ir::Module;

use super::rerun::Rerun;
use crate::prepare::Request;

/// Returns a module with the types that `relax.transform.InferType` infers. `plugins` has the directories and files of
/// plugins.
///
/// # Errors
/// If there is no such pass, a plugin can't be loaded, or the pass fails.
pub fn infer_types(
    registry: &Registry,
    plugins: &Request,
    module: &Module,
) -> Result<Module, PassError> {
    let request = Request {
        passes: vec![INFER_TYPE.to_owned()],
        ..plugins.clone()
    };
    let rerun = Rerun::new(registry, &request)?;
    rerun.run_recorded(module.clone()).0
}

/// Returns the pass, or an error if it isn't registered.
pub(super) fn find(context: &PassContext) -> Result<PassRef, PassError> {
    context.registry().get_pass(INFER_TYPE)
}

/// Infers types like [`infer_types`], under a given context.
pub(super) fn inferred(context: &PassContext, module: &Module) -> Result<Module, PassError> {
    let infer = find(context)?;
    run::call(&*infer, module, context, false)
}
