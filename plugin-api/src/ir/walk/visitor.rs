//! [`Visitor`]: analyses that look at every op and collect something.

use passdock_abi::{OpId, RegionId};

use crate::ir::Function;

/// The step after a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The op's regions come next, then the op after it.
    Into,
    /// The op after it comes next.
    Over,
    /// Nowhere: what was looked for is found.
    Stop,
}

/// Looks at a function's ops in program order: an op, then what is in its regions, then the op
/// after it. Nesting of any depth needs no stack of the thread's.
///
/// To do something at every op:
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
/// To find out whether there is a call, and to stop at the first:
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
///         return Err(PassError::new("There is a call, maybe deep inside."));
///     }
///     Ok(())
/// }
/// ```
pub trait Visitor {
    /// Visits an op; [`Function::op_kind`] tells the kinds apart.
    fn visit_op(&mut self, f: &Function, op: OpId) -> Visit;

    /// An op whose regions were visited is left.
    fn leave_op(&mut self, _f: &Function, _op: OpId) {}

    /// Visits the whole function; false if it was stopped.
    fn visit(&mut self, f: &Function) -> bool {
        self.visit_region(f, f.body())
    }

    /// Visits a region and what is in it; false if it was stopped.
    fn visit_region(&mut self, f: &Function, region: RegionId) -> bool {
        let mut pending = Vec::new();
        // A list that somebody wrote into may have no end.
        let mut left = f.op_count();
        pending.extend(f.first_op(region).map(Step::Visit));
        while let Some(step) = pending.pop() {
            let op = match step {
                Step::Visit(_) if left == 0 => return true,
                Step::Visit(op) => op,
                Step::Leave(op) => {
                    self.leave_op(f, op);
                    continue;
                }
            };
            left -= 1;
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
