//! [`Mutator`]: a traversal that replaces ops.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use passdock_abi::{OpId, ValueId};

use crate::data::EditError;
use crate::ir::Function;
use crate::ir::Ops;

/// The replacement of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mutated {
    /// The op stays; the ops in its regions are mutated next.
    Same,
    /// Values that replace its results, one for each. The op is erased.
    Values(Vec<ValueId>),
}

/// The result of [`Mutator::mutate_op`].
pub type MutateResult = Result<Mutated, EditError>;

/// A traversal that replaces ops. It calls [`mutate_op`](Mutator::mutate_op) for each op, in program order.
///
/// The operands of an op are already replaced. Unchanged ops keep their ids, and if nothing changes, the function isn't
/// edited.
///
/// # Examples
///
/// Replace every `if` with its true branch:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// struct IfCollapser;
///
/// impl Mutator for IfCollapser {
///     fn mutate_op(&mut self, m: &mut Mutation, op: OpId) -> MutateResult {
///         match m.op_kind(op) {
///             OpKind::If => m.inline(op, "then_branch", &[]),
///             _ => Ok(Mutated::Same),
///         }
///     }
/// }
///
/// fn collapse_ifs(f: &mut Function, _cx: &PassContext) -> PassResult {
///     IfCollapser.mutate(f)?; // also the `if` inside of the true branch
///
///     let before = f.version();
///     assert!(!IfCollapser.mutate(f)?); // nothing left to do,
///     assert_eq!(f.version(), before); // so nothing is touched
///     Ok(())
/// }
/// ```
///
/// # Errors
/// If `mutate_op` returns an error, [`mutate`](Mutator::mutate) returns it; edits before it stay.
pub trait Mutator {
    /// Returns the replacement of an op. [`Function::op_kind`] distinguishes kinds of ops.
    ///
    /// A `return` or `yield` can only be edited, not replaced. A call that is ambiguous ([`Function::traits`]) may be
    /// an operator in a runtime.
    fn mutate_op(&mut self, m: &mut Mutation<'_>, op: OpId) -> MutateResult;

    /// Traverses the whole function. Returns whether anything changed.
    fn mutate(&mut self, f: &mut Function) -> Result<bool, EditError> {
        let before = f.version();
        let mut mutation = Mutation {
            function: f,
            memo: HashMap::new(),
            inlined: Vec::new(),
        };
        // Snapshots, innermost last: ops that the mutator erases itself are skipped.
        let mut pending = vec![mutation.ops_in(mutation.body())];
        let mut visited = 0;
        while let Some(ops) = pending.last_mut() {
            let op = match ops.next() {
                // Regions that a faulty plugin has written to may contain themselves.
                Some(op) if visited > mutation.raw.op_ids() as usize * 2 => {
                    return Err(cyclic_regions(op))
                }
                Some(op) => op,
                None => {
                    pending.pop();
                    continue;
                }
            };
            visited += 1;
            match self.mutate_op(&mut mutation, op)? {
                Mutated::Same if mutation.is_live(op) => {
                    let regions = mutation.regions(op).iter().rev();
                    pending.extend(regions.map(|region| mutation.ops_in(*region)));
                }
                Mutated::Same => {}
                Mutated::Values(values) => {
                    mutation.replace(op, &values)?;
                    let inlined = std::mem::take(&mut mutation.inlined);
                    pending.push(Ops::new(&mutation, inlined));
                }
            }
        }
        Ok(mutation.version() != before)
    }
}

/// Returns the error for a function with cyclic regions.
pub(super) fn cyclic_regions(op: OpId) -> EditError {
    let message = "the regions of the function are cyclic: a pass wrote to read-only data";
    EditError::new(passdock_abi::Status::INVALID, message.to_owned(), Some(op))
}

/// The function that is being mutated, and the replacements of its values.
pub struct Mutation<'f> {
    function: &'f mut Function,
    /// The replacements of erased values.
    memo: HashMap<ValueId, ValueId>,
    /// Ops that replace the one being mutated, and are mutated next.
    inlined: Vec<OpId>,
}

impl Deref for Mutation<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        self.function
    }
}

impl DerefMut for Mutation<'_> {
    fn deref_mut(&mut self) -> &mut Function {
        self.function
    }
}

impl Mutation<'_> {
    /// Returns the current replacement of a value, or the value itself if its op wasn't replaced. For values that the
    /// mutator stored earlier.
    pub fn mutated(&mut self, value: ValueId) -> ValueId {
        let mut last = value;
        while let Some(next) = self.memo.get(&last) {
            last = *next;
        }
        // Path compression: shortens the chain for later calls.
        let mut step = value;
        while let Some(next) = self.memo.get_mut(&step) {
            step = std::mem::replace(next, last);
        }
        last
    }

    /// Replaces an op with the ops of one of its regions, which are mutated next. `args` replace the region's
    /// arguments. Returns the replacement of the op. The ops are moved, so a region can be inlined only once.
    pub fn inline(&mut self, op: OpId, region: &str, args: &[ValueId]) -> MutateResult {
        let region = self.function.expect_region(op, region)?;
        let before = self.function.previous_op(op);
        let values = self.function.inline_region(region, args)?;
        let mut next = match before {
            Some(before) => self.function.next_op(before),
            None => self.function.first_op(self.function.parent_region(op)),
        };
        // A list that a faulty plugin has written to may be cyclic.
        let most = self.function.op_count();
        while let Some(copy) = next.filter(|next| *next != op && self.inlined.len() < most) {
            self.inlined.push(copy);
            next = self.function.next_op(copy);
        }
        Ok(Mutated::Values(values))
    }

    fn replace(&mut self, op: OpId, values: &[ValueId]) -> Result<(), EditError> {
        let results = self.function.results(op).to_vec();
        self.function.replace_op_with(op, values)?;
        for (old, new) in results.into_iter().zip(values) {
            if old != *new {
                self.memo.insert(old, *new);
            }
        }
        Ok(())
    }
}
