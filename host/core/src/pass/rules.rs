//! Passes that apply rewrite rules from the text of a `.rules` file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use passdock_diagnostic::Snippet;
use passdock_loader::OpDefs;
use passdock_plugin_api as sdk;
use sdk::Rules;
use sdk::rewrite::{Rule, RuleError, Spanned};

use super::closure::create_rules_pass;
use super::{PassDeclaration, PassInfo, PassRef};
use crate::error::{ErrorKind, PassError};
use crate::rules;

/// The pass that infers types. Every rules pass requires it, since patterns may match types.
pub const INFER_TYPE: &str = "relax.transform.InferType";

/// A parsed file of rules. It can be turned into a pass without a compiler.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// # }
/// use passdock::RulesFile;
///
/// let text = "rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }";
/// let file = RulesFile::parse("double.rules", text)?;
/// assert_eq!(file.rules()[0].name, "neg_neg");
/// let pass = file.into_pass(None);
/// assert_eq!(pass.info().name, "rules.double");
/// # Ok::<(), passdock::PassError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RulesFile {
    name: String,
    text: Arc<str>,
    rules: Vec<Rule>,
    compiled: Arc<Rules>,
}

/// A named text, for errors that show its lines.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn error(&self, at: Range<usize>, label: &str, message: impl Into<String>) -> PassError {
        let snippet = Snippet::new(self.name, self.text, at, label);
        PassError::new(ErrorKind::Rules, message).snippet(snippet)
    }

    /// Converts an error of the SDK, and adds the nearest candidate as help.
    fn to_pass_error(&self, rule_error: RuleError, label: &str) -> PassError {
        let help = rules::help(&rule_error, self.text);
        let mut error = self.error(rule_error.at, label, rule_error.message);
        error.help = help;
        match rule_error.rule.is_empty() {
            true => error,
            false => error.note(format!("in rule `{}`", rule_error.rule)),
        }
    }

    /// Checks rules of the text against op definitions.
    fn check(&self, compiled: &Rules, ops: &OpDefs) -> Result<(), PassError> {
        rules::check(compiled, ops).map_err(|rule_error| {
            let rules = compiled.describe().unwrap_or_default();
            let nodes = rules.iter().flat_map(Rule::ops).map(|(node, _)| node);
            let is_unknown =
                |one: &Spanned<String>| one.at == rule_error.at && !ops.knows(&one.value, None);
            let label = match nodes.flat_map(|node| &node.operators).any(is_unknown) {
                true => "unknown operator",
                false => "",
            };
            self.to_pass_error(rule_error, label)
        })
    }
}

impl RulesFile {
    /// Parses the text of a rules file. `name` is the file's name in errors, and determines the pass's name.
    ///
    /// # Errors
    /// The first error in the text, with the location underlined.
    pub fn parse(name: &str, text: &str) -> Result<RulesFile, PassError> {
        let source = Source { name, text };
        match Rules::parse(text).and_then(|compiled| Ok((compiled.describe()?, compiled))) {
            Ok((rules, _)) if rules.is_empty() => {
                let error = source.error(0..0, "", "no rules in this file");
                Err(error.help("a rule has the form `rule NAME { pattern => replacement }`"))
            }
            Ok((rules, compiled)) => Ok(RulesFile {
                name: name.to_owned(),
                text: text.into(),
                rules,
                compiled: Arc::new(compiled),
            }),
            Err(rule_error) => Err(source.to_pass_error(rule_error, "")),
        }
    }

    /// Parses the patterns in a text: match-only rules, which may end before the arrow. Rejects a pattern that never
    /// matches according to the op definitions.
    ///
    /// # Errors
    /// The first error in the text, with the location underlined.
    pub fn patterns(name: &str, text: &str, ops: &OpDefs) -> Result<Vec<Rule>, PassError> {
        let source = Source { name, text };
        let to_pass_error = |rule_error| source.to_pass_error(rule_error, "");
        let patterns = Rules::parse_patterns(text).map_err(to_pass_error)?;
        if patterns.is_empty() {
            let error = source.error(0..0, "", "no rules in this file");
            return Err(error.help("a pattern has the form `rule NAME { pattern }`"));
        }
        let mut described = Vec::new();
        for pattern in patterns {
            source.check(&pattern, ops)?;
            described.extend(pattern.describe().map_err(to_pass_error)?);
        }
        Ok(described)
    }

    /// Returns the file's name, as passed to [`RulesFile::parse`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the rules, in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the default name of the pass: `rules.` and the file's name without its extension.
    pub fn pass_name(&self) -> String {
        let stem = Path::new(&self.name).file_stem().unwrap_or_default();
        format!("rules.{}", stem.to_string_lossy())
    }

    /// Rejects rules that never match according to the op definitions. Reasons are unknown operators, invalid operands
    /// or attributes, and versions before the operator existed. Loads the plugins that define the named operators.
    ///
    /// # Errors
    /// The first such location, underlined, with the nearest candidate.
    pub fn check(&self, ops: &OpDefs) -> Result<(), PassError> {
        let source = Source {
            name: &self.name,
            text: &self.text,
        };
        source.check(&self.compiled, ops)
    }

    /// Returns the pass that applies the rules to each graph function until none matches. It runs at every level and in
    /// parallel, and requires `relax.transform.InferType`.
    pub fn into_pass(self, name: Option<&str>) -> PassRef {
        let name = name.map_or_else(|| self.pass_name(), str::to_owned);
        let mut declared = PassDeclaration::from(PassInfo::new(name).required([INFER_TYPE]));
        declared.changes_interface = false;
        let rules = self.compiled.clone();
        let body = move |f: &mut sdk::Function, cx: &sdk::PassContext| cx.rewrite(f, &[&rules]);
        create_rules_pass(declared, self, Box::new(body))
    }
}
