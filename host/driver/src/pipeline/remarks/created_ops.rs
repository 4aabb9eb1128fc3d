//! Warnings about ops that passes created and that match no op definition, for example because of a misspelled operator
//! or too many operands. They aren't errors, because a back end may support such ops.

use std::collections::{BTreeMap, BTreeSet};

use passdock_core::{Diagnostic, OpDefs, Recorder, Severity, suggest};
use passdock_ir::{Module, OpName};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{check_new_op, counts, graphs};

/// Maximum number of problems shown.
const SHOWN: usize = 8;

/// The operators of a module, with the operand counts of their ops.
#[derive(Debug, Default)]
pub struct UsedOperators(FxHashMap<String, FxHashSet<usize>>);

impl UsedOperators {
    /// Collects the operators of all graph functions.
    pub fn new(module: &Module) -> UsedOperators {
        let mut used = UsedOperators::default();
        for function in graphs(module) {
            for (name, operands) in counts(function).into_keys() {
                let name = function.text(name).to_owned();
                used.0.entry(name).or_default().insert(operands);
            }
        }
        used
    }

    /// Returns the problems of ops whose operator and operand count weren't used before. Each is a function name and a
    /// message.
    pub fn invalid_ops(&self, after: &Module, defs: &OpDefs) -> Vec<(String, String)> {
        let mut invalid = Vec::new();
        for function in graphs(after) {
            let opset = |domain: &str| function.opset(function.symbols().find(domain)?);
            let mut messages = BTreeMap::new();
            for ((name, operands), count) in counts(function) {
                let text = function.text(name);
                let is_of_ir = OpName::parse(text).is_none_or(|name| name.domain.is_none());
                // Without a definition, the valid operand counts are unknown.
                let was_used = self.0.get(text).is_some_and(|numbers| {
                    numbers.contains(&operands) || defs.first_version(text).is_none()
                });
                if is_of_ir || was_used || after.function(name).is_some() {
                    continue;
                }
                if let Err(error) = check_new_op(text, operands, opset, defs) {
                    let near = error.near.map(|near| format!("; did you mean `{near}`?"));
                    let message = error.message + &near.unwrap_or_default();
                    *messages.entry(message).or_insert(0) += count;
                }
            }
            let name = function.text(function.name());
            invalid.extend(messages.into_iter().map(|(message, count)| {
                let ops = if count == 1 { "op" } else { "ops" };
                (
                    name.to_owned(),
                    format!("{count} {ops} in @{name}: {message}"),
                )
            }));
        }
        invalid
    }

    /// Returns a warning about such ops, with the passes that changed their functions.
    pub(in crate::pipeline) fn warning(
        &self,
        after: &Module,
        defs: &OpDefs,
        recorder: &Recorder,
    ) -> Option<Diagnostic> {
        let invalid = self.invalid_ops(after, defs);
        if invalid.is_empty() {
            return None;
        }
        let message = "passes created ops that match no op definition";
        let mut diagnostic = Diagnostic::new(Severity::Warning, "undefined-ops", message);
        let shown = invalid.iter().take(SHOWN);
        let notes = shown.map(|(_, message)| message.clone());
        diagnostic.notes = notes.collect();
        if invalid.len() > SHOWN {
            let more = invalid.len() - SHOWN;
            diagnostic.notes.push(format!("{more} more"));
        }
        let functions: BTreeSet<&String> = invalid.iter().map(|(function, _)| function).collect();
        let mut passes = Vec::new();
        for name in functions {
            passes.extend(recorder.changing_function(name));
        }
        let mut seen = FxHashSet::default();
        passes.retain(|pass| seen.insert(pass.clone()));
        diagnostic.notes.push(format!(
            "passes that changed these functions: {}",
            suggest::listed(passes.iter().map(String::as_str))
        ));
        diagnostic.help = Some(
            "find the pass with `passdock blame`, and correct it or define the operators in its plugin; for \
             operators that only a back end supports, import an opset of its domain"
                .to_owned(),
        );
        Some(diagnostic)
    }
}
