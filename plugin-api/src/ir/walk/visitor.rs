//! [`Visitor`]: analyses that look at every op and collect something.

use passdock_abi::{OpId, RegionId};

use super::kind::OpKind;
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
/// [`Visitor::visit_op`] is called for every op and routes it to the method of its kind; override
/// whichever says best what is looked for. To do something before every op:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// struct PrintVisitor {
///     out: String,
/// }
///
/// impl Visitor for PrintVisitor {
///     fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
///         self.out += "Here\n";
///         self.route(f, op)
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
///     fn visit_call(&mut self, _f: &Function, _op: OpId) -> Visit {
///         self.result = true;
///         Visit::Stop
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
    /// Every op comes here first.
    fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
        self.route(f, op)
    }

    /// Calls the method of the op's kind; for `visit_op`s that do something before.
    fn route(&mut self, f: &Function, op: OpId) -> Visit {
        match OpKind::of(f, op) {
            OpKind::Call => self.visit_call(f, op),
            OpKind::If => self.visit_if(f, op),
            OpKind::For => self.visit_for(f, op),
            OpKind::While => self.visit_while(f, op),
            OpKind::Loop => self.visit_loop(f, op),
            OpKind::Scan => self.visit_scan(f, op),
            OpKind::Tuple => self.visit_tuple(f, op),
            OpKind::TupleGet => self.visit_tuple_get(f, op),
            OpKind::Terminator => self.visit_terminator(f, op),
            OpKind::Other => self.visit_other(f, op),
        }
    }

    /// Visits a call of a function of the module: a `call`, or an op of the function's name, as ONNX has
    /// it. [`Function::callee`] says which function.
    fn visit_call(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits an `if` or an `onnx.If`.
    fn visit_if(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits a `for`.
    fn visit_for(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits a `while`.
    fn visit_while(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits an `onnx.Loop`: a `for` and a `while` in one.
    fn visit_loop(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits an `onnx.Scan`.
    fn visit_scan(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits a `tuple`.
    fn visit_tuple(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits a `tuple_get`.
    fn visit_tuple_get(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// `return` and `yield`.
    fn visit_terminator(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

    /// Visits any op that the IR itself doesn't know: `onnx.Relu`.
    fn visit_other(&mut self, _f: &Function, _op: OpId) -> Visit {
        Visit::Into
    }

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
