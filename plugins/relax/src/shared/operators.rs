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

/// Returns a text as letters, digits and `_`.
pub(crate) fn identifier(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(plain).collect()
}

/// `onnx.BatchNormalization` as `batch_normalization`, `onnx.LpPool` as `lp_pool`, `onnx.LRN` as `lrn`.
pub(crate) fn snake_case(operator: &str) -> String {
    let name = operator.rsplit('.').next().unwrap_or(operator);
    let letters: Vec<char> = name.chars().collect();
    let mut snake_case = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let is_start = letter.is_ascii_uppercase()
            && at > 0
            && (letters[at - 1].is_ascii_lowercase()
                || (letters.get(at + 1)).is_some_and(|next| next.is_ascii_lowercase()));
        if is_start && !snake_case.ends_with('_') {
            snake_case.push('_');
        }
        match letter.is_ascii_alphanumeric() {
            true => snake_case.push(letter.to_ascii_lowercase()),
            false => snake_case.push('_'),
        }
    }
    snake_case
}
