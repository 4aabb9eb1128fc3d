//! Passes that rewrite by rules, out of the text of a `.rules` file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use passdock_abi::FunctionKind;
use passdock_diagnostic::{Snippet, suggest};
use passdock_loader::OpDefs;
use passdock_plugin_api as sdk;
use sdk::{Mention, RuleError, RuleInfo, Rules};

use super::{Pass, PassDeclaration, PassInfo, PassRef, Work};
use crate::boundary::{FunctionClosure, FunctionCode};
use crate::error::{ErrorKind, PassError};

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
    rules: Vec<RuleInfo>,
    compiled: Arc<Rules>,
}

/// A text with its name, for errors that show its lines.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn error(&self, at: Range<usize>, label: &str, message: impl Into<String>) -> PassError {
        let mut error = PassError::new(ErrorKind::Rules, message);
        let snippet = Snippet::new(self.name, self.text, at, label);
        error.location = Some(snippet.location());
        error.snippet = Some(Box::new(snippet));
        error
    }

    /// What the SDK says of a text, with the nearest word that could stand there.
    fn refused(&self, wrong: RuleError) -> PassError {
        let word = self.text.get(wrong.at.clone()).unwrap_or_default();
        let near = suggest::help(word, wrong.known.iter().map(String::as_str));
        let mut error = self.error(wrong.at, "", wrong.message);
        error.help = near.or(Some(wrong.help).filter(|help| !help.is_empty()));
        match wrong.rule.is_empty() {
            true => error,
            false => error.note(format!("in the rule `{}`", wrong.rule)),
        }
    }
}

impl RulesFile {
    /// Reads the text of a file; `name` is how errors call the file, and says what the pass is called.
    ///
    /// # Errors
    /// What is wrong with the text, with the place underlined.
    pub fn parse(name: &str, text: &str) -> Result<RulesFile, PassError> {
        let source = Source { name, text };
        let read = || {
            let compiled = Rules::parse(text)?;
            Ok((compiled.describe()?, compiled))
        };
        match read() {
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
            Err(wrong) => Err(source.refused(wrong)),
        }
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
    pub fn rules(&self) -> &[RuleInfo] {
        &self.rules
    }

    /// The name of the pass, unless it is given another: `rules.` and the file's name without its ending.
    pub fn pass_name(&self) -> String {
        let stem = Path::new(&self.name).file_stem().unwrap_or_default();
        format!("rules.{}", stem.to_string_lossy())
    }

    /// Refuses operators that can't be meant: one to make that has no definition, and one to look for in a
    /// namespace in which others have one.
    ///
    /// # Errors
    /// The first such operator, underlined, and the nearest name that has a definition.
    pub fn check(&self, ops: &OpDefs) -> Result<(), PassError> {
        // Without definitions nothing can be told.
        if ops.is_empty() {
            return Ok(());
        }
        for rule in &self.rules {
            for mention in &rule.operators {
                self.check_operator(ops, rule, mention)?;
            }
        }
        Ok(())
    }

    fn check_operator(
        &self,
        ops: &OpDefs,
        rule: &RuleInfo,
        mention: &Mention,
    ) -> Result<(), PassError> {
        let name = &mention.operator;
        if ops.knows(name, None) {
            return Ok(());
        }
        let namespace = |name: &str| name.rsplit_once('.').map(|(space, _)| space.to_owned());
        let own = namespace(name);
        if !mention.is_made && !ops.iter().any(|(known, ..)| namespace(known) == own) {
            return Ok(());
        }
        let message = format!("No plugin defines the operator `{name}`.");
        let source = Source {
            name: &self.name,
            text: &self.text,
        };
        let error = source.error(mention.at.clone(), "unknown operator", message);
        let error = error.note(format!("in the rule `{}`", rule.name));
        let near = ops
            .nearest(name)
            .map(|near| format!("Did you mean `{near}`?"));
        let list = || "`passdock list ops` shows what there is.".to_owned();
        Err(error.help(near.unwrap_or_else(list)))
    }

    /// The pass that applies the rules to each graph function until none applies. It runs at every level, on
    /// several functions at once, and requires `relax.transform.InferType`.
    pub fn into_pass(self, name: Option<&str>) -> PassRef {
        let name = name.map_or_else(|| self.pass_name(), str::to_owned);
        let mut declared = PassDeclaration::from(PassInfo::new(name).required([INFER_TYPE]));
        declared.changes_interface = false;
        let rules = self.compiled.clone();
        let body = move |f: &mut sdk::Function, cx: &sdk::PassContext| cx.rewrite(f, &[&rules]);
        Arc::new(RulesPass {
            declared,
            file: self,
            body: Box::new(body),
        })
    }
}

struct RulesPass {
    declared: PassDeclaration,
    file: RulesFile,
    body: Box<FunctionClosure>,
}

impl Pass for RulesPass {
    fn declaration(&self) -> &PassDeclaration {
        &self.declared
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        let code = FunctionCode::Closure(&*self.body);
        Ok(Work::Functions(FunctionKind::GRAPH, code))
    }

    fn rules(&self) -> Option<&RulesFile> {
        Some(&self.file)
    }
}
