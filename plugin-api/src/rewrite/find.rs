//! Finding what rules look for, without doing anything to it.

use passdock_abi::OpId;

use super::condition;
use super::declared::Declared;
use super::driver::{all_of, compiled};
use super::matching::{self, Match};
use super::operators::Operators;
use super::rules::Rules;
use crate::data::{PassError, PassResult};
use crate::ir::Function;
use crate::pass::PassContext;

/// The finding is beside the rewriting.
impl PassContext {
    /// Finds what rules look for: all ops in program order, and for each op as a root one rule after the other.
    /// `found` is called with each place, those that share ops with others included; what stands behind the rules'
    /// arrows says nothing. The function stays as it is.
    ///
    /// A place is left out if its rule [may not rewrite](PassContext::may_rewrite): if the user disabled it, and once
    /// there were as many rewrites in this call as the user wants at most, whether or not the pass means to rewrite
    /// anything: the host doesn't tell one from the other. A pass that rewrites what was found asks again before each
    /// rewrite, as the limit may be reached meanwhile. To ask counts no rewrite; where there is a limit, the host
    /// notes the rule as the last one to begin with one.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// static KERNELS: Rules = rules! {
    ///     rule conv_relu { onnx.Relu(onnx.Conv(%x, %w)) => acme.ConvRelu(%x, %w) }
    /// };
    ///
    /// /// How many convolutions have a `Relu` behind them.
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
    /// If the text of a rule is wrong, or `found` fails.
    pub fn find(
        &self,
        function: &mut Function,
        rules: &[&Rules],
        mut matched: impl FnMut(&Function, &Match<'_>) -> PassResult,
    ) -> PassResult {
        let sets = compiled(rules)?;
        let rules = all_of(&sets);
        let mut operators = Operators::new(&sets);
        let roots: Vec<OpId> = function.ops().collect();
        for root in roots {
            let count = operators.get(function, root).rules.len();
            for at in 0..count {
                let index = operators.get(function, root).rules[at];
                let rule = &rules[index].rule;
                let place = matching::find(function, self, &mut operators, (index, rule), root);
                let place = match place.map_err(|error| PassError::from(error).at(root))? {
                    Some(place) => place,
                    None => continue,
                };
                let declared = Declared::put_aside(function, self, &place)?;
                let holds = condition::hold(function, &place);
                declared.put_back(function)?;
                if holds? && self.may_rewrite(&rule.name) {
                    matched(function, &place)?;
                }
            }
        }
        Ok(())
    }
}
