//! [`Mutator`]: passes that go over a function and say what each op becomes.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use passdock_abi::{OpId, RegionId, ValueId};

use crate::data::EditError;
use crate::ir::Function;
use crate::ir::Ops;

/// The replacement of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mutated {
    /// Itself; what is in its regions is mutated next.
    Same,
    /// Values to stand for its results, one each; the op goes.
    Values(Vec<ValueId>),
}

/// The result of [`Mutator::mutate_op`].
pub type MutateResult = Result<Mutated, EditError>;

/// A traversal that replaces ops: it says of each, in program order, what it becomes.
///
/// An op's operands are already what earlier answers made of them. What nothing changed keeps its
/// id, and a function in which nothing changed isn't touched at all. To replace every `if` by its
/// true branch:
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
/// An error of `mutate_op` ends [`mutate`](Mutator::mutate), which answers it; edits before it stay.
pub trait Mutator {
    /// Returns what an op becomes; [`Function::op_kind`] tells the kinds apart. A `return` or `yield` can't be
    /// replaced, only edited. A call that [`Function::traits`] calls ambiguous may be an operator to its runtime.
    fn mutate_op(&mut self, m: &mut Mutation<'_>, op: OpId) -> MutateResult;

    /// Goes over the whole function; whether anything changed.
    fn mutate(&mut self, f: &mut Function) -> Result<bool, EditError> {
        let before = f.version();
        let mut mutation = Mutation {
            function: f,
            memo: HashMap::new(),
            inlined: Vec::new(),
        };
        // Snapshots, innermost last: what the mutator erases by itself is skipped.
        let mut pending = vec![mutation.ops_in(mutation.body())];
        let mut visited = 0;
        while let Some(ops) = pending.last_mut() {
            let op = match ops.next() {
                // Regions that somebody wrote into may be in themselves.
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

/// The error of a function in which one comes to an op again and again.
pub(super) fn cyclic_regions(op: OpId) -> EditError {
    let message =
        "the regions of the function are in themselves: a pass wrote where it may only read";
    EditError::new(passdock_abi::Status::INVALID, message.to_owned(), Some(op))
}

/// The function that is being mutated, and what its values became.
pub struct Mutation<'f> {
    function: &'f mut Function,
    /// Values that are gone, and what stands for them.
    memo: HashMap<ValueId, ValueId>,
    /// Ops that took the place of the one being mutated, and are mutated next.
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
    /// The value that stands for another now: itself, unless its op was replaced. For values that
    /// were noted before.
    pub fn mutated(&mut self, value: ValueId) -> ValueId {
        let mut last = value;
        while let Some(next) = self.memo.get(&last) {
            last = *next;
        }
        // The way there is walked once.
        let mut step = value;
        while let Some(next) = self.memo.get_mut(&step) {
            step = std::mem::replace(next, last);
        }
        last
    }

    /// Puts the ops of one of an op's regions in the op's place, `args` standing for the region's
    /// arguments; they are mutated next. The answer is what the op becomes. The ops are moved, so a
    /// region can be inlined once.
    pub fn inline(&mut self, op: OpId, region: &str, args: &[ValueId]) -> MutateResult {
        let region: RegionId = self.function.region(op, region).ok_or_else(|| {
            let name = self.function.name(op);
            let message = format!("`{}` has no region called `{}` to inline", name, region);
            EditError::new(passdock_abi::Status::NOT_FOUND, message, Some(op))
        })?;
        let before = self.function.previous_op(op);
        let values = self.function.inline_region(region, args)?;
        let mut next = match before {
            Some(before) => self.function.next_op(before),
            None => self.function.first_op(self.function.parent_region(op)),
        };
        // A list that somebody wrote into may have no end.
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
