//! Operators by name, for passes that know what some of them mean.

use passdock_plugin_api::prelude::*;

/// Whether ops of a name are the operator's: if a function of the module has that name, a runtime may
/// mean it.
pub(crate) fn is_operator(cx: &PassContext, name: &str) -> bool {
    cx.module()
        .is_none_or(|module| module.function(name).is_none())
}
