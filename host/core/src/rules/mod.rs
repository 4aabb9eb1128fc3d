//! Rules, held to the op definitions that are here: `mod.rs` looks the operators up, `definitions.rs` asks whether an
//! op may be as a rule says.

mod definitions;

use passdock_diagnostic::suggest;
use passdock_loader::OpDefs;
use passdock_plugin_api as sdk;
use sdk::Rules;
use sdk::rewrite::{Node, Rule, RuleError, Spanned};

/// A place of a rule that names an operator.
#[derive(Clone, Copy)]
pub(crate) struct Mention<'r> {
    node: &'r Node,
    name: &'r Spanned<String>,
    /// Whether it is in the replacement, and not in the pattern.
    is_replacement: bool,
}

impl<'r> Mention<'r> {
    /// Returns the operators that each op of a rule may be of.
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

/// Rejects rules that never apply, as far as these definitions tell: those that create an undefined operator, that
/// match an operator whose namespace has others or is misspelt, or that match what the definitions exclude. Loads
/// the plugins that define the named operators.
///
/// # Errors
/// The first such rule: why, and where.
pub fn check(rules: &Rules, ops: &OpDefs) -> Result<(), RuleError> {
    // Without definitions nothing can be told.
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

/// What to do about what is wrong in a text: the nearest word that could stand there, or what the error says.
pub(crate) fn help(wrong: &RuleError, text: &str) -> Option<String> {
    let word = text.get(wrong.at.clone()).unwrap_or_default();
    let near = suggest::help(word, wrong.candidates.iter().map(String::as_str));
    near.or_else(|| Some(wrong.help.clone()).filter(|help| !help.is_empty()))
}

fn check_operator(ops: &OpDefs, mention: Mention<'_>) -> Result<(), RuleError> {
    let name = mention.operator();
    if ops.knows(name, None) {
        return Ok(());
    }
    if !mention.is_replacement && is_of_unknown_plugin(name, ops) {
        return Ok(());
    }
    let message = format!("No plugin defines the operator `{name}`.");
    Err(RuleError::new(mention.name.at.clone(), message)
        .help("`passdock list ops` shows what there is.")
        .candidates(ops.nearest(name)))
}

/// Whether an operator that nobody here defines is of a plugin that isn't here. A model may have ops of such; they
/// aren't misspelt.
pub fn is_of_unknown_plugin(name: &str, ops: &OpDefs) -> bool {
    let namespace = |name: &str| name.rsplit_once('.').map(|(space, _)| space.to_owned());
    let Some(own) = namespace(name) else {
        return false;
    };
    let known = ops
        .names()
        .filter_map(namespace)
        .collect::<std::collections::BTreeSet<_>>();
    let near = suggest::nearest(&own, known.iter().map(String::as_str));
    let last = &name[own.len()..];
    !known.contains(&own) && near.is_none_or(|near| !ops.knows(&format!("{near}{last}"), None))
}
