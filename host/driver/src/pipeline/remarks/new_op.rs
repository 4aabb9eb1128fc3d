//! Validation of new ops against the op definitions. An undefined operator is assumed to be misspelled, unless the
//! caller permits it.

use passdock_core::{OpDefs, count_range, is_of_unknown_plugin, suggest};
use passdock_ir::OpName;

/// The reason why an op is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOperator {
    /// The error message.
    pub message: String,
    /// The most similar operator, if one is similar enough.
    pub near: Option<String>,
}

/// Checks that a new op's operator is defined in the imported version, and that the operand count is valid. Operators
/// of a domain without definitions are valid if the function imports the domain. `opset` returns the imported version
/// of a domain.
///
/// # Errors
/// If the op is invalid according to `ops`.
pub fn check_new_op(
    name: &str,
    operands: usize,
    opset: impl Fn(&str) -> Option<i64>,
    ops: &OpDefs,
) -> Result<(), InvalidOperator> {
    let reject = |message, near| Err(InvalidOperator { message, near });
    // Without definitions nothing can be checked.
    if ops.is_empty() {
        return Ok(());
    }
    let domain = OpName::parse(name).and_then(|name| name.domain);
    let version = domain.as_deref().and_then(opset);
    let Some(first) = ops.first_version(name) else {
        if is_of_unknown_plugin(name, ops) {
            let message = format!(
                "no plugin defines operator `{name}`, and the function imports no opset of its domain"
            );
            return version.map_or(reject(message, None), |_| Ok(()));
        }
        let message = format!("no plugin defines operator `{name}`");
        return reject(message, nearest(name, ops));
    };
    if let Some(version) = version.filter(|version| *version < first) {
        let suffix = match domain.as_deref() {
            None | Some("") => String::new(),
            Some(domain) => format!(" of `{domain}`"),
        };
        let message = format!(
            "`{name}` requires opset {first}{suffix}, but the function imports opset {version}"
        );
        return reject(message, None);
    }
    let Some(definition) = ops.find(name, version) else {
        return Ok(());
    };
    let (fewest, most) = (definition.entry.min_operands, definition.entry.max_operands);
    if (fewest as usize..=most as usize).contains(&operands) {
        return Ok(());
    }
    let expected = count_range("operand", fewest, most);
    let message = format!("`{name}` expects {expected}, found {operands}");
    reject(message, None)
}

/// Returns the operator most similar to an undefined one. An equal name in another domain comes first.
fn nearest(name: &str, ops: &OpDefs) -> Option<String> {
    let last = |name: &str| {
        name.rsplit_once('.')
            .map_or(name, |(_, last)| last)
            .to_owned()
    };
    let own = last(name);
    let onnx = format!("onnx.{own}");
    if ops.knows(&onnx, None) {
        return Some(onnx);
    }
    let elsewhere = ops.names().filter(|each| last(each) == own).min();
    let near = || ops.nearest(name).map(str::to_owned);
    let near = elsewhere.map(str::to_owned).or_else(near);
    // For a name without a domain, the missing domain doesn't count as a difference.
    let bare = || suggest::nearest(&onnx, ops.names()).map(str::to_owned);
    near.or_else(|| bare().filter(|_| !name.contains('.')))
}
