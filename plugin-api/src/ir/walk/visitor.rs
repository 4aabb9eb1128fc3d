//! [`Visitor`]: a traversal that only reads.

use passdock_abi::{OpId, RegionId};

use crate::ir::Function;

/// The next step of a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Visit the op's regions, then the next op.
    Into,
    /// Skip the op's regions and visit the next op.
    Over,
    /// End the traversal.
    Stop,
}

/// A read-only traversal of a function's ops in program order: an op, then the ops in its regions, then the next op. It
/// doesn't recurse, so regions may be nested to any depth.
///
/// # Examples
///
/// Run code for each op:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// struct PrintVisitor {
///     out: String,
/// }
///
/// impl Visitor for PrintVisitor {
///     fn visit_op(&mut self, _f: &Function, _op: OpId) -> Visit {
///         self.out += "Here\n";
///         Visit::Into
///     }
/// }
///
/// fn print(f: &mut Function, _cx: &PassContext) -> PassResult {
///     let mut printer = PrintVisitor { out: String::new() };
///     printer.visit(f);
///     assert_eq!(printer.out, "Here\nHere\n"); // `onnx.Relu` and `return`
///     Ok(())
/// }
/// ```
///
/// Check whether there is a call, and stop at the first one:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// struct CallChecker {
///     result: bool,
/// }
///
/// impl Visitor for CallChecker {
///     fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
///         match f.op_kind(op) {
///             OpKind::Call => {
///                 self.result = true;
///                 Visit::Stop
///             }
///             _ => Visit::Into,
///         }
///     }
/// }
///
/// impl CallChecker {
///     fn check(f: &Function) -> bool {
///         let mut checker = CallChecker { result: false };
///         checker.visit(f);
///         checker.result
///     }
/// }
///
/// fn forbid_calls(f: &mut Function, _cx: &PassContext) -> PassResult {
///     if CallChecker::check(f) {
///         return Err(PassError::new("the function contains a call"));
///     }
///     Ok(())
/// }
/// ```
pub trait Visitor {
    /// Visits an op. [`Function::op_kind`] distinguishes kinds of ops.
    fn visit_op(&mut self, f: &Function, op: OpId) -> Visit;

    /// Called after the regions of an op were visited.
    fn leave_op(&mut self, _f: &Function, _op: OpId) {}

    /// Visits the whole function. Returns `false` if the traversal was stopped.
    fn visit(&mut self, f: &Function) -> bool {
        self.visit_region(f, f.body())
    }

    /// Visits a region and its nested regions. Returns `false` if the traversal was stopped.
    fn visit_region(&mut self, f: &Function, region: RegionId) -> bool {
        let mut pending = Vec::new();
        // A list that a faulty plugin has written to may be cyclic.
        let mut remaining = f.op_count();
        pending.extend(f.first_op(region).map(Step::Visit));
        while let Some(step) = pending.pop() {
            let op = match step {
                Step::Visit(_) if remaining == 0 => return true,
                Step::Visit(op) => op,
                Step::Leave(op) => {
                    self.leave_op(f, op);
                    continue;
                }
            };
            remaining -= 1;
            let visit = self.visit_op(f, op);
            if visit == Visit::Stop {
                return false;
            }
            pending.extend(f.next_op(op).map(Step::Visit));
            let regions = f.regions(op);
            if visit == Visit::Into && !regions.is_empty() {
                pending.push(Step::Leave(op));
                let firsts = regions
                    .iter()
                    .rev()
                    .filter_map(|region| f.first_op(*region));
                pending.extend(firsts.map(Step::Visit));
            }
        }
        true
    }
}

enum Step {
    Visit(OpId),
    Leave(OpId),
}
