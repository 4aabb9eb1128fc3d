//! The check of rules against the available op definitions: `mod.rs` looks up the operators, `definitions.rs` checks
//! operands and attributes, and `versions.rs` their versions.

mod definitions;
mod versions;

use passdock_diagnostic::suggest;
use passdock_loader::OpDefs;
use passdock_plugin_api as sdk;
use sdk::Rules;
use sdk::rewrite::{Node, Rule, RuleError, Spanned};

/// An occurrence of an operator's name in a rule.
#[derive(Clone, Copy)]
pub(crate) struct Mention<'r> {
    node: &'r Node,
    name: &'r Spanned<String>,
    /// Whether it is in the replacement instead of the pattern.
    is_replacement: bool,
}

impl<'r> Mention<'r> {
    /// Returns the operators that each op of a rule may have.
    fn all(rule: &'r Rule) -> Vec<Vec<Mention<'r>>> {
        let of_op = |(node, is_replacement): (&'r Node, bool)| {
            let names = node.operators.iter();
            let mentions = names.map(|name| Mention {
                node,
                name,
                is_replacement,
            });
            mentions.collect()
        };
        rule.ops().into_iter().map(of_op).collect()
    }

    fn operator(self) -> &'r str {
        &self.name.value
    }
}

/// Rejects rules that never match according to the op definitions. Such a rule creates an undefined operator, matches
/// an operator that is misspelled or missing in its namespace, or matches operands and attributes that the definitions
/// exclude. Loads the plugins that define the named operators.
///
/// # Errors
/// The first such rule, with the reason and the location.
pub fn check(rules: &Rules, ops: &OpDefs) -> Result<(), RuleError> {
    // Without definitions nothing can be checked.
    if ops.is_empty() {
        return Ok(());
    }
    for rule in rules.describe()? {
        let mentions = Mention::all(&rule).into_iter().flatten();
        mentions
            .map(|mention| check_operator(ops, mention))
            .chain([definitions::check(&rule, ops)])
            .collect::<Result<(), RuleError>>()
            .map_err(|mut error| {
                error.rule.clone_from(&rule.name);
                error
            })?;
    }
    Ok(())
}

/// Returns the help for an error in a text: the nearest candidate, or else the error's own help.
pub(crate) fn help(rule_error: &RuleError, text: &str) -> Option<String> {
    let text_at = text.get(rule_error.at.clone()).unwrap_or_default();
    let near = suggest::help(text_at, rule_error.candidates.iter().map(String::as_str));
    near.or_else(|| Some(rule_error.help.clone()).filter(|help| !help.is_empty()))
}

fn check_operator(ops: &OpDefs, mention: Mention<'_>) -> Result<(), RuleError> {
    let name = mention.operator();
    if ops.knows(name, None) {
        return Ok(());
    }
    if !mention.is_replacement && is_of_unknown_plugin(name, ops) {
        return Ok(());
    }
    let message = format!("no plugin defines operator `{name}`");
    Err(RuleError::new(mention.name.at.clone(), message)
        .help("run `passdock list ops` to list the operators")
        .candidates(ops.nearest(name)))
}

/// Whether an undefined operator belongs to a plugin that isn't loaded. Models may have such ops, so the name isn't
/// considered misspelled.
pub fn is_of_unknown_plugin(name: &str, ops: &OpDefs) -> bool {
    let namespace = |name: &str| name.rsplit_once('.').map(|(space, _)| space.to_owned());
    let Some(own) = namespace(name) else {
        return false;
    };
    let namespaces = ops
        .names()
        .filter_map(namespace)
        .collect::<std::collections::BTreeSet<_>>();
    let near = suggest::nearest(&own, namespaces.iter().map(String::as_str));
    let last = &name[own.len()..];
    !namespaces.contains(&own) && near.is_none_or(|near| !ops.knows(&format!("{near}{last}"), None))
}
