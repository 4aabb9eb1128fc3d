//! Finding what rules look for, without doing anything to it.

use passdock_abi::OpId;

use super::condition;
use super::declared::Declared;
use super::driver::compiled;
use super::matching::{self, Match};
use super::operators::Operators;
use super::rules::{Compiled, Rules};
use crate::data::{PassError, PassResult};
use crate::ir::Function;
use crate::pass::PassContext;

/// The finding is beside the rewriting.
impl PassContext {
    /// Finds what rules look for: all ops in program order, and for each op as a root one rule after the other.
    /// `found` is called with each place, those that share ops with others included; what stands behind the rules' arrows says nothing.
    /// Rules that the user disabled find nothing. The function stays as it is.
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
        mut found: impl FnMut(&Function, &Match<'_>) -> PassResult,
    ) -> PassResult {
        let sets = compiled(rules)?;
        let rules: Vec<&Compiled> = sets.iter().flat_map(|set| set.iter()).collect();
        let mut operators = Operators::new(&rules);
        let roots: Vec<OpId> = function.ops().collect();
        for root in roots {
            let count = operators.of(function, root).rules.len();
            for at in 0..count {
                let rule = &rules[operators.of(function, root).rules[at]].rule;
                let place = matching::find(function, self, &mut operators, rule, root);
                let place = match place.map_err(|error| PassError::from(error).at(root))? {
                    Some(place) => place,
                    None => continue,
                };
                let declared = Declared::put_aside(function, self, &place)?;
                let holds = condition::hold(function, &place);
                declared.put_back(function)?;
                if holds? && self.may_rewrite(&rule.name) {
                    found(function, &place)?;
                }
            }
        }
        Ok(())
    }
}
