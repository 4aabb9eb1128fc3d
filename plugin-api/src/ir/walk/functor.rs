//! [`Functor`]: analyses that compute a result for each op from those of its operands.

use std::collections::{HashMap, HashSet};

use passdock_abi::{OpId, ValueId};

use super::mutator::cyclic_regions;
use crate::data::EditError;
use crate::ir::Function;

/// The results of a [`Functor`], each computed once. They become invalid when the function is edited.
#[derive(Clone, Debug, PartialEq)]
pub struct Results<T> {
    of_ops: HashMap<OpId, T>,
    /// The results of parameters, arguments and constants.
    of_values: HashMap<ValueId, T>,
}

impl<T> Default for Results<T> {
    fn default() -> Results<T> {
        Results {
            of_ops: HashMap::new(),
            of_values: HashMap::new(),
        }
    }
}

impl<T> Results<T> {
    /// Returns the result of a value; for an op's result, that of the op. `None` if it wasn't computed.
    pub fn get(&self, f: &Function, value: ValueId) -> Option<&T> {
        match f.defining_op(value) {
            Some(op) => self.of_ops.get(&op),
            None => self.of_values.get(&value),
        }
    }

    /// Returns the result of an op.
    pub fn of_op(&self, op: OpId) -> Option<&T> {
        self.of_ops.get(&op)
    }
}

/// Computes a result for an op or value, after those of everything that it depends on. Each is computed once. The
/// traversal doesn't recurse, so chains and nesting may be of any depth.
///
/// # Examples
///
/// A value is constant if it is a constant, or a tuple of constants:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// struct ConstantChecker;
///
/// impl Functor for ConstantChecker {
///     type Output = bool;
///
///     fn visit_constant(&mut self, _f: &Function, _value: ValueId) -> bool {
///         true
///     }
///
///     fn visit_param(&mut self, _f: &Function, _value: ValueId) -> bool {
///         false
///     }
///
///     fn visit_op(&mut self, f: &Function, op: OpId, known: &Results<bool>) -> bool {
///         let mut fields = f.operands(op);
///         f.op_kind(op) == OpKind::Tuple && fields.all(|field| known.get(f, field) == Some(&true))
///     }
/// }
///
/// fn mark_constant(f: &mut Function, _cx: &PassContext) -> PassResult {
///     let end = f.terminator(f.body()).ok_or("the function has no end")?;
///     let mut known = Results::default();
///     let mut constant = 0;
///     for value in f.operands(end) {
///         let is_constant = ConstantChecker.visit(f, value, &mut known)?;
///         constant += i64::from(is_constant == Some(&true));
///     }
///     Ok(f.set_function_attr("constant_results", constant)?)
/// }
/// ```
pub trait Functor {
    /// The result of an op or a value.
    type Output;

    /// Computes the result of a parameter of the function, or an argument of a region.
    fn visit_param(&mut self, f: &Function, value: ValueId) -> Self::Output;

    /// Computes the result of a constant.
    fn visit_constant(&mut self, f: &Function, value: ValueId) -> Self::Output;

    /// Computes the result of an op. [`Function::op_kind`] distinguishes kinds of ops.
    fn visit_op(&mut self, f: &Function, op: OpId, known: &Results<Self::Output>) -> Self::Output;

    /// Returns the values whose results are computed before the op is visited. The default is its operands and the
    /// values that its regions yield. Return fewer to compute fewer.
    fn needs(&self, f: &Function, op: OpId) -> Vec<ValueId> {
        let mut needed: Vec<ValueId> = f.operands(op).collect();
        for region in f.regions(op) {
            needed.extend(
                f.terminator(*region)
                    .into_iter()
                    .flat_map(|end| f.operands(end)),
            );
        }
        needed
    }

    /// Computes the result of a value, after those of everything that it depends on.
    ///
    /// # Errors
    /// If an op depends on itself.
    fn visit<'r>(
        &mut self,
        f: &Function,
        value: ValueId,
        results: &'r mut Results<Self::Output>,
    ) -> Result<Option<&'r Self::Output>, EditError> {
        let mut pending = vec![value];
        let mut opened = HashSet::new();
        while let Some(&at) = pending.last() {
            if at.is_none() || results.get(f, at).is_some() {
                pending.pop();
                continue;
            }
            let op = match f.defining_op(at) {
                Some(op) => op,
                None => {
                    let result = match f.constant(at) {
                        Some(_) => self.visit_constant(f, at),
                        None => self.visit_param(f, at),
                    };
                    results.of_values.insert(at, result);
                    continue;
                }
            };
            let needed = self.needs(f, op).into_iter();
            let missing = needed.filter(|need| need.is_some() && results.get(f, *need).is_none());
            let missing: Vec<ValueId> = missing.collect();
            if missing.is_empty() {
                let result = self.visit_op(f, op, results);
                results.of_ops.insert(op, result);
            } else if opened.insert(op) {
                pending.extend(missing.into_iter().rev());
            } else {
                return Err(cyclic_regions(op));
            }
        }
        Ok(results.get(f, value))
    }
}
