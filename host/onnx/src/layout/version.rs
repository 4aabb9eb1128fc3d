//! The IR version that a module is written with.

use std::sync::Arc;

use passdock_abi::{Attr, OpId};
use passdock_ir::{Entity, Function, Module, OpName, name};

use crate::format::error::{OnnxError, Result};
use crate::format::header::{MAIN, ir_version};

/// Returns the `ir_version` that a module is written with.
pub(crate) fn final_version(module: &Module) -> i64 {
    raised_version(module).unwrap_or_else(|| ir_version(module))
}

/// Returns the IR version that is required by functions that passes added, if it is above the module's version.
/// Functions need 8; overloads, and metadata for functions' attributes, need 10. Functions from the file don't raise
/// the version.
pub(crate) fn raised_version(module: &Module) -> Option<i64> {
    let main = module.symbols().find(MAIN);
    let is_new = |f: &&Arc<Function>| Some(f.name()) != main && is_generated(f);
    let is_carried = |attr: &Attr| attr.flags & Attr::PARAM == 0;
    let needed = |f: &Arc<Function>| match function_name(f) {
        Ok(name) if !name.overload.is_empty() => 10,
        _ if f.attrs(OpId::NONE).iter().any(is_carried) => 10,
        _ => 8,
    };
    let needed = module.functions().filter(is_new).map(needed).max()?;
    (ir_version(module) < needed).then_some(needed)
}

/// Whether a pass created a function, so that neither the file nor IR text had it.
pub(crate) fn is_generated(f: &Function) -> bool {
    f.is_touched() && !f.origins().get(Entity::Function).is_some()
}

/// Parses a function's canonical name.
pub(crate) fn function_name(f: &Function) -> Result<OpName<'_>> {
    let text = f.text(f.name());
    name::check_canonical(text).map_err(OnnxError::new)?;
    OpName::parse(text)
        .filter(|name| name.domain.is_some())
        .ok_or_else(|| {
            let what = format!(
                "ONNX functions require a domain, but @{text} has none; rename it to `DOMAIN.{text}`"
            );
            OnnxError::new(what)
        })
}
