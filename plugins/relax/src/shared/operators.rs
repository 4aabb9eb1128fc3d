//! Operators by name and version, for passes that know what some of them mean.

use passdock_plugin_api::prelude::*;

/// Whether ops of a name are the operator's: if a function of the module has that name, a runtime may
/// mean it.
pub(crate) fn is_operator(cx: &PassContext, name: &str) -> bool {
    cx.module()
        .is_none_or(|module| module.function(name).is_none())
}

/// Says why a function's ops can't stand in one that calls it: a domain is of another version there.
pub(crate) fn check_opsets<'f>(
    opsets: impl IntoIterator<Item = (&'f str, i64)>,
    caller: impl Fn(&str) -> Option<i64>,
) -> Result<(), String> {
    for (domain, version) in opsets {
        if let Some(own) = caller(domain).filter(|own| *own != version) {
            let domain = if domain.is_empty() { "onnx" } else { domain };
            return Err(format!(
                "the function is of version {version} of `{domain}`, its caller of {own}"
            ));
        }
    }
    Ok(())
}
