//! Whether ops may move to a function of other opset versions.

/// Why a function's ops can't stand in one that calls it, if a domain is of another version there.
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
