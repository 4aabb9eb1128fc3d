//! Forward: what each op comes to, tried out beside the function.

use std::collections::BTreeMap;

use passdock_plugin_api::Evaluated;
use passdock_plugin_api::prelude::*;

use super::checker::{is_shape_data, may_fold};
use super::control::Decided;

/// What the ops of a function come to.
pub(super) struct Forward {
    /// What the checker said, per op id.
    flags: Vec<bool>,
    /// Per op id, whether its value can be of use.
    useful: Vec<bool>,
    /// Bytes that scratch constants may take.
    room: u64,
    /// Per value id, the scratch constant that it comes to.
    known: Vec<ValueId>,
    /// In program order.
    pub(super) folded: Vec<Folded>,
    /// Constants that ops which are gone used.
    pub(super) left: Vec<ConstId>,
    /// What isn't folded although its operands are constant: name and reason, how many, an example.
    pub(super) refused: BTreeMap<(String, String), (usize, OpId)>,
}

/// An op, and the scratch constants that its results come to.
pub(super) struct Folded {
    pub(super) op: OpId,
    pub(super) values: Vec<ValueId>,
}

impl Forward {
    pub(super) fn new(flags: Vec<bool>, useful: Vec<bool>, room: u64) -> Forward {
        Forward {
            flags,
            useful,
            room,
            known: Vec::new(),
            folded: Vec::new(),
            left: Vec::new(),
            refused: BTreeMap::new(),
        }
    }

    /// Goes over all ops in program order.
    pub(super) fn run(&mut self, f: &mut Function, cx: &PassContext) -> PassResult {
        let mut next = f.first_op(f.body());
        // Where to go on when a region is done.
        let mut after = Vec::new();
        loop {
            let Some(op) = next else {
                match after.pop() {
                    Some(op) => next = op,
                    None => return Ok(()),
                }
                continue;
            };
            next = f.next_op(op);
            // What is inlined on the way is new, and nothing is known of it yet.
            if self.flags.get(op.index()).is_none_or(|&flag| flag) {
                if let Decided::Gone(first) = self.decide(f, op, cx)? {
                    next = first;
                    continue;
                }
                self.evaluate(f, op, cx)?;
            }
            for &region in f.regions(op) {
                after.push(std::mem::replace(&mut next, f.first_op(region)));
            }
        }
    }

    /// The constant that a value is or comes to.
    pub(super) fn constant(&self, f: &Function, value: ValueId) -> Option<ValueId> {
        if f.constant(value).is_some() {
            return Some(value);
        }
        let known = self.known.get(value.index()).copied();
        known.filter(|known| known.is_some())
    }

    fn evaluate(&mut self, f: &mut Function, op: OpId, cx: &PassContext) -> PassResult {
        // What regions capture are operands, too.
        if f.operand_count(op) == 0 || !f.name(op).contains('.') || !f.regions(op).is_empty() {
            return Ok(());
        }
        let mut all_constant = true;
        let mut operands = Vec::with_capacity(f.operand_count(op));
        for value in f.operands(op) {
            let constant = match value.is_none() {
                true => Some(value),
                false => self.constant(f, value),
            };
            all_constant &= constant.is_some();
            operands.push(constant.unwrap_or(value));
        }
        let traits = f.traits(op);
        if traits.is_identity() && f.operand(op, 0).is_some_and(|v| f.constant(v).is_some()) {
            // It says that a region gives out a constant.
            return Ok(());
        }
        if !may_fold(f, op, traits) {
            if all_constant {
                self.refuse(f, op, why_not(traits));
            }
            return Ok(());
        }
        if !all_constant {
            // Inference, in program order, finds out. An op that is wrong is InferType's to report.
            if !(is_shape_data(f, op) && cx.infer(f, op).is_ok()) {
                return Ok(());
            }
        } else if self.useful.get(op.index()) == Some(&false) {
            self.refuse(f, op, GROWS);
            return Ok(());
        }
        match cx.evaluate_with(f, op, &operands, self.room)? {
            Evaluated::Constants(values) if is_forbidden_shape(f, op, &values)? => {
                self.left
                    .extend(values.iter().filter_map(|&v| f.constant(v)));
                self.refuse(
                    f,
                    op,
                    "no Reshape that takes zeros literally may have 0 and -1",
                );
            }
            Evaluated::Constants(values) => self.know(f, op, values),
            Evaluated::Refused(why) if all_constant => self.refuse(f, op, &why),
            Evaluated::Refused(_) => {}
        }
        Ok(())
    }

    fn know(&mut self, f: &Function, op: OpId, values: Vec<ValueId>) {
        for (&result, &value) in f.results(op).iter().zip(&values) {
            if self.known.len() <= result.index() {
                self.known.resize(result.index() + 1, ValueId::NONE);
            }
            self.known[result.index()] = value;
            self.room = self.room.saturating_sub(byte_len(f, value));
        }
        self.folded.push(Folded { op, values });
    }

    fn refuse(&mut self, f: &Function, op: OpId, why: &str) {
        let key = (f.name(op).to_owned(), why.to_owned());
        self.refused.entry(key).or_insert((0, op)).0 += 1;
    }
}

/// Why an op isn't folded whose value would be too large to be kept.
pub(super) const GROWS: &str = "would make the model larger";

fn why_not(traits: OpTraits) -> &'static str {
    if traits.is_random() {
        "it is random"
    } else if traits.is_ambiguous() {
        "a function of the module has its name"
    } else if !traits.is_defined() {
        "no plugin defines it"
    } else if traits.is_stateful() || !traits.is_pure() {
        "it does more than give a value"
    } else {
        "its definition has no evaluation"
    }
}

/// Whether an op gives a Reshape a shape that ONNX forbids: as a constant it makes the whole model
/// invalid, computed it is an error only when the op is run.
fn is_forbidden_shape(f: &Function, op: OpId, values: &[ValueId]) -> Result<bool, EditError> {
    for (&result, &value) in f.results(op).iter().zip(values) {
        let reshapes = |used: passdock_plugin_api::Use| {
            used.index == 1
                && f.name(used.op) == "onnx.Reshape"
                && f.int(used.op, "allowzero") == Some(1)
        };
        if f.iter_uses(result).any(reshapes) {
            let sizes = f.constant_ints(value)?;
            return Ok(sizes.is_some_and(|sizes| sizes.contains(&0) && sizes.contains(&-1)));
        }
    }
    Ok(false)
}

/// How many bytes a constant takes; 0 for what is none.
pub(super) fn byte_len(f: &Function, value: ValueId) -> u64 {
    let record = f.constant(value).and_then(|id| f.constant_record(id));
    record.map_or(0, |record| record.byte_len)
}
