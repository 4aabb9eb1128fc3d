//! The types of a module's values, found out without a pipeline.

use passdock_core::{PassContext, PassError, PassRef, Registry, run};
use passdock_ir::Module;

use super::rerun::Rerun;
use crate::prepare::Request;

/// The pass that finds them.
pub(crate) const INFER_TYPE: &str = "relax.transform.InferType";

/// The module with the types that `relax.transform.InferType` finds; `plugins` says where plugins are.
///
/// # Errors
/// If there is no such pass, or a plugin can't be loaded, or the pass fails.
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
    rerun.run_kept(module.clone()).0
}

/// The pass, which has to be there.
pub(super) fn find(context: &PassContext) -> Result<PassRef, PassError> {
    context.registry().get_pass(INFER_TYPE)
}

/// As [`infer_types`], under a context.
pub(super) fn inferred(context: &PassContext, module: &Module) -> Result<Module, PassError> {
    let infer = find(context)?;
    run::call(&*infer, module, context, false)
}
