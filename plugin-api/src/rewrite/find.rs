//! Finding matches of rules without rewriting.

use passdock_abi::OpId;

use super::driver::{all_of, compiled};
use super::matching::Match;
use super::operators::Operators;
use super::rules::Rules;
use super::search;
use crate::data::{PassError, PassResult};
use crate::ir::Function;
use crate::pass::PassContext;

/// In a module separate from the rest of the context, because rules use the context.
impl PassContext {
    /// Finds all matches of rules: for each op in program order as the root, of each rule in order. Calls `on_match`
    /// for each match, even if it shares ops with others. Replacements of rules are ignored, and the function doesn't
    /// change.
    ///
    /// A match is skipped if its rule [may not rewrite](PassContext::may_rewrite): the user disabled the rule, or the
    /// limit of rewrites is reached, since the host can't know whether the pass will rewrite the match. A pass that
    /// rewrites matches must call `may_rewrite` before each rewrite, because the limit may be reached in between. A
    /// call doesn't count as a rewrite; if there is a limit, the host records the rule as the last one that started a
    /// rewrite.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// static KERNELS: Rules = rules! {
    ///     rule conv_relu { onnx.Relu(onnx.Conv(%x, %w)) => acme.ConvRelu(%x, %w) }
    /// };
    ///
    /// /// Counts the convolutions that are followed by a `Relu`.
    /// fn count(f: &mut Function, cx: &PassContext) -> Result<usize, PassError> {
    ///     let mut count = 0;
    ///     cx.find(f, &[&KERNELS], |_, found| {
    ///         count += found.ops().len() / 2;
    ///         Ok(())
    ///     })?;
    ///     Ok(count)
    /// }
    /// ```
    ///
    /// # Errors
    /// If the text of a rule is invalid, or `on_match` fails.
    pub fn find(
        &self,
        function: &mut Function,
        rules: &[&Rules],
        mut on_match: impl FnMut(&Function, &Match<'_>) -> PassResult,
    ) -> PassResult {
        let sets = compiled(rules)?;
        let rules = all_of(&sets);
        let mut operators = Operators::new(&sets);
        let roots: Vec<OpId> = function.ops().collect();
        for root in roots {
            let count = operators.get(function, root).rules.len();
            for at in 0..count {
                let index = operators.get(function, root).rules[at];
                let rule = (index, &rules[index].rule);
                for last in search::roots_from(function, &mut operators, rule, root) {
                    let found = search::find(function, self, &mut operators, rule, last, root);
                    if let Some((matched, declared)) =
                        found.map_err(|error| PassError::from(error).at(root))?
                    {
                        declared.put_back(function)?;
                        // Otherwise, it is a part of a match with a later root.
                        if last == root && self.may_rewrite(matched.rule()) {
                            on_match(function, &matched)?;
                        }
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
