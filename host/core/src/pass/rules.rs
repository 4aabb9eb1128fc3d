//! Passes that rewrite by rules, out of the text of a `.rules` file.

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

/// The pass that every one of rules requires: a pattern is compared with what is known of types.
const INFER_TYPE: &str = "relax.transform.InferType";

/// A file of rules that was read: a pass that needs no compiler.
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

/// A text with its name, for errors that show its lines.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn error(&self, at: Range<usize>, label: &str, message: impl Into<String>) -> PassError {
        let snippet = Snippet::new(self.name, self.text, at, label);
        PassError::new(ErrorKind::Rules, message).snippet(snippet)
    }

    /// What the SDK says of a text, with the nearest word that could stand there.
    fn refused(&self, wrong: RuleError, label: &str) -> PassError {
        let help = rules::help(&wrong, self.text);
        let mut error = self.error(wrong.at, label, wrong.message);
        error.help = help;
        match wrong.rule.is_empty() {
            true => error,
            false => error.note(format!("in the rule `{}`", wrong.rule)),
        }
    }

    /// Holds rules of the text to definitions.
    fn check(&self, compiled: &Rules, ops: &OpDefs) -> Result<(), PassError> {
        rules::check(compiled, ops).map_err(|wrong| {
            let rules = compiled.describe().unwrap_or_default();
            let nodes = rules.iter().flat_map(Rule::ops).map(|(node, _)| node);
            let is_unknown =
                |one: &Spanned<String>| one.at == wrong.at && !ops.knows(&one.value, None);
            let label = match nodes.flat_map(|node| &node.operators).any(is_unknown) {
                true => "unknown operator",
                false => "",
            };
            self.refused(wrong, label)
        })
    }
}

impl RulesFile {
    /// Reads the text of a file; `name` is how errors call the file, and says what the pass is called.
    ///
    /// # Errors
    /// What is wrong with the text, with the place underlined.
    pub fn parse(name: &str, text: &str) -> Result<RulesFile, PassError> {
        let source = Source { name, text };
        match Rules::parse(text).and_then(|compiled| Ok((compiled.describe()?, compiled))) {
            Ok((rules, _)) if rules.is_empty() => {
                let error = source.error(0..0, "", "There is no rule in this file.");
                Err(error.help(
                    "A rule is `rule NAME { what is looked for => what stands in its place }`.",
                ))
            }
            Ok((rules, compiled)) => Ok(RulesFile {
                name: name.to_owned(),
                text: text.into(),
                rules,
                compiled: Arc::new(compiled),
            }),
            Err(wrong) => Err(source.refused(wrong, "")),
        }
    }

    /// Parses the patterns in a text: match-only rules, which may end before the arrow. Rejects a pattern that
    /// never matches, as far as these definitions tell.
    ///
    /// # Errors
    /// What is wrong with the text, with the place underlined.
    pub fn patterns(name: &str, text: &str, ops: &OpDefs) -> Result<Vec<Rule>, PassError> {
        let source = Source { name, text };
        let refused = |wrong| source.refused(wrong, "");
        let patterns = Rules::parse_patterns(text).map_err(refused)?;
        if patterns.is_empty() {
            let error = source.error(0..0, "", "There is no rule in this file.");
            return Err(error.help("A pattern is `rule NAME { what is looked for }`."));
        }
        let mut described = Vec::new();
        for pattern in patterns {
            source.check(&pattern, ops)?;
            described.extend(pattern.describe().map_err(refused)?);
        }
        Ok(described)
    }

    /// The name that the file was read by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The rules, in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The name of the pass, unless it is given another: `rules.` and the file's name without its ending.
    pub fn pass_name(&self) -> String {
        let stem = Path::new(&self.name).file_stem().unwrap_or_default();
        format!("rules.{}", stem.to_string_lossy())
    }

    /// Refuses rules that never apply, as far as these definitions tell: operators that can't be meant, operands and
    /// attributes that no op of one has, versions that it isn't there in. Loads the plugins that define what is named.
    ///
    /// # Errors
    /// The first such place, underlined, and the nearest word that could stand there.
    pub fn check(&self, ops: &OpDefs) -> Result<(), PassError> {
        let source = Source {
            name: &self.name,
            text: &self.text,
        };
        source.check(&self.compiled, ops)
    }

    /// The pass that applies the rules to each graph function until none applies. It runs at every level, on
    /// several functions at once, and requires `relax.transform.InferType`.
    pub fn into_pass(self, name: Option<&str>) -> PassRef {
        let name = name.map_or_else(|| self.pass_name(), str::to_owned);
        let mut declared = PassDeclaration::from(PassInfo::new(name).required([INFER_TYPE]));
        declared.changes_interface = false;
        let rules = self.compiled.clone();
        let body = move |f: &mut sdk::Function, cx: &sdk::PassContext| cx.rewrite(f, &[&rules]);
        create_rules_pass(declared, self, Box::new(body))
    }
}
