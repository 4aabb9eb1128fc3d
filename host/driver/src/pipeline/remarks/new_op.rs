//! Ops that code makes, held to the op definitions: an operator that nobody defines is a misspelt one, unless it is
//! said to be meant.

use passdock_core::{OpDefs, is_of_unknown_plugin, suggest, takes};
use passdock_ir::OpName;

/// Why an op isn't made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedOperator {
    /// What is wrong, as a sentence.
    pub message: String,
    /// The operator that it is taken for, if one is near enough.
    pub near: Option<String>,
}

/// Refuses an op whose operator nobody defines, or not in this version, or that has another number of operands. One of
/// a domain that nobody here defines is right if the function has an opset of it.
/// `opset` answers the function's.
///
/// # Errors
/// As far as these definitions tell, the op is a mistake.
pub fn check_new_op(
    name: &str,
    operands: usize,
    opset: impl Fn(&str) -> Option<i64>,
    ops: &OpDefs,
) -> Result<(), RefusedOperator> {
    let refused = |message, near| Err(RefusedOperator { message, near });
    // Without definitions nothing can be told.
    if ops.is_empty() {
        return Ok(());
    }
    let domain = OpName::parse(name).and_then(|name| name.domain);
    let version = domain.as_deref().and_then(opset);
    let Some(first) = ops.first_version(name) else {
        if is_of_unknown_plugin(name, ops) {
            let message = format!(
                "No plugin defines the operator `{name}`, and the function has no opset of its domain."
            );
            return version.map_or(refused(message, None), |_| Ok(()));
        }
        let message = format!("No plugin defines the operator `{name}`.");
        return refused(message, nearest(name, ops));
    };
    if let Some(version) = version.filter(|version| *version < first) {
        let of = match domain.as_deref() {
            None | Some("") => String::new(),
            Some(domain) => format!(" of `{domain}`"),
        };
        let message = format!(
            "`{name}` is there from version {first} on, and the function's opset{of} is {version}."
        );
        return refused(message, None);
    }
    let Some(definition) = ops.find(name, version) else {
        return Ok(());
    };
    let (fewest, most) = (definition.entry.min_operands, definition.entry.max_operands);
    if (fewest as usize..=most as usize).contains(&operands) {
        return Ok(());
    }
    let message = format!(
        "`{name}` takes {}, and not {}.",
        takes(fewest, most),
        operands
    );
    refused(message, None)
}

/// The operator that is most like one that there isn't: also one that is called so in another domain.
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
    // Of a bare name the domain is no mistake of spelling.
    let bare = || suggest::nearest(&onnx, ops.names()).map(str::to_owned);
    near.or_else(|| bare().filter(|_| !name.contains('.')))
}
