//! Operators by name and version, for passes that rely on their semantics.

use passdock_plugin_api::prelude::*;

/// The prefix of domains that passes create. All other domains belong to the model or the user.
pub(crate) const DOMAIN_PREFIX: &str = "passdock.";

/// Whether ops of a name are the operator. If the module has a function of that name, a runtime may call it instead.
pub(crate) fn is_operator(cx: &PassContext, name: &str) -> bool {
    cx.module()
        .is_none_or(|module| module.function(name).is_none())
}

/// Returns an error if the caller imports another version of a domain than the callee. The text completes a sentence.
pub(crate) fn check_opsets<'f>(
    opsets: impl IntoIterator<Item = (&'f str, i64)>,
    caller: impl Fn(&str) -> Option<i64>,
) -> Result<(), String> {
    for (domain, version) in opsets {
        if let Some(own) = caller(domain).filter(|own| *own != version) {
            let domain = if domain.is_empty() { "onnx" } else { domain };
            return Err(format!(
                "the function imports version {version} of `{domain}`, but its caller imports version {own}"
            ));
        }
    }
    Ok(())
}

/// Replaces characters other than ASCII letters and digits with `_`.
pub(crate) fn identifier(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(plain).collect()
}

/// Formats a number of ops: `1 op`, `2 ops`.
pub(crate) fn op_count(count: usize) -> String {
    format!("{count} {}", if count == 1 { "op" } else { "ops" })
}

/// Converts a name to snake case: `onnx.BatchNormalization` to `batch_normalization`, `onnx.LpPool` to `lp_pool`,
/// `onnx.LRN` to `lrn`.
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
