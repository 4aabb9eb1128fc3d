//! The attributes that mark functions as groups.

use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::optimized_functions;
use crate::shared::operators::DOMAIN_PREFIX;

/// The attribute of a function that is one kernel.
pub(crate) const PRIMITIVE: &str = "Primitive";

/// The attribute of a function that was created for a pattern: the pattern's name.
pub(crate) const COMPOSITE: &str = "Composite";

/// The attribute of a function that is annotated with a target: the target's name.
pub(crate) const TARGET: &str = "Target";

/// The attribute of a partition: the name of its code generator.
pub(crate) const CODEGEN: &str = "Codegen";

/// The attribute of a partition: its name outside the model.
pub(crate) const GLOBAL_SYMBOL: &str = "global_symbol";

/// Whether a function is a kernel.
pub(crate) fn is_primitive(f: &Function) -> bool {
    let attr = f.function_attr(PRIMITIVE);
    attr.is_some_and(|attr| !matches!(attr, Attr::Int(0)))
}

/// Whether a function is a group.
pub(crate) fn is_group(f: &Function) -> bool {
    let groups = [TARGET, CODEGEN, COMPOSITE];
    groups.iter().any(|name| f.function_attr(*name).is_some()) || is_primitive(f)
}

/// Returns a function attribute that is a string.
pub(crate) fn string_attr(f: &Function, name: &str) -> Option<String> {
    match f.function_attr(name)? {
        Attr::String(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}

/// Returns the graph functions that are optimized, except groups and functions in passdock domains.
pub(crate) fn open_functions(m: &Module<'_>) -> Result<Vec<SymbolId>, EditError> {
    let mut open = Vec::new();
    for name in optimized_functions(m)? {
        let f = m.snapshot(name)?;
        if !is_group(&f) && !f.function_name().starts_with(DOMAIN_PREFIX) {
            open.push(name);
        }
    }
    Ok(open)
}
