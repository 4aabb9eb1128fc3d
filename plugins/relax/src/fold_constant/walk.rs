//! The walk of [`Forward`]: visits ops in program order; each is decided, evaluated, or checked as a user.

use passdock_plugin_api::Evaluated;
use passdock_plugin_api::prelude::*;

use super::budget::static_len;
use super::checker::{is_shape_data, may_fold};
use super::control::Decided;
use super::forward::{Forward, GROWS, QUANTIZED, TOO_LARGE};
use crate::shared::accept;
use crate::shared::cursor::Cursor;

impl Forward<'_> {
    /// Visits all ops in program order.
    pub(super) fn run(&mut self, f: &mut Function) -> PassResult {
        let mut cursor = Cursor::new(f);
        while let Some(mut op) = cursor.advance(f) {
            // Inlined ops are new, so the checker has no flags for them yet.
            if self.flags.get(op.index()) {
                if let Decided::Replaced(first) = self.decide(f, op)? {
                    cursor.next = first;
                    continue;
                }
                op = self.evaluate(f, op)?;
            }
            self.take_one(f, op)?;
            self.check_operands(f, op);
            cursor.enter(f, op);
        }
        Ok(())
    }

    /// Checks whether an op that isn't folded accepts its operands as constants. Otherwise, the ops that define them
    /// stay.
    fn check_operands(&mut self, f: &mut Function, op: OpId) {
        let is_folded =
            |&value: &ValueId| f.constant(value).is_none() && self.known(value).is_some();
        let folded: Vec<OpId> = f
            .operands(op)
            .filter(is_folded)
            .filter_map(|v| f.defining_op(v))
            .collect();
        let mut results = f.results(op).iter();
        if folded.is_empty() || results.any(|&value| self.known(value).is_some()) {
            return;
        }
        let constant = |value| self.constant(f, value).unwrap_or(value);
        let operands: Vec<ValueId> = f.operands(op).map(constant).collect();
        let Some(why) = accept::rejection_reason(f, self.cx, op, &operands) else {
            return;
        };
        for giver in folded {
            if self.pinned.insert(giver) {
                self.reject(f, giver, &why);
            }
        }
    }

    /// Whether an op only dequantizes constants. Runtimes compute with the quantized constants, and their patterns
    /// match this op before its users.
    fn stays_quantized(&self, f: &Function, op: OpId) -> bool {
        let is_constant = |value: ValueId| value.is_none() || self.constant(f, value).is_some();
        let traits = f.traits(op);
        !self.may_grow
            && f.name(op) == "onnx.DequantizeLinear"
            && may_fold(f, op, traits)
            && f.operands(op).all(is_constant)
    }

    /// Evaluates an op if possible. Returns the op that computes its results now.
    fn evaluate(&mut self, f: &mut Function, op: OpId) -> Result<OpId, EditError> {
        // Captured values of regions are inputs as well, and they aren't checked here.
        if f.operand_count(op) == 0 || !f.name(op).contains('.') || !f.regions(op).is_empty() {
            return Ok(op);
        }
        let traits = f.traits(op);
        if traits.is_identity() && f.operand(op, 0).is_some_and(|v| f.constant(v).is_some()) {
            // The copy exists because a region yields a constant.
            return Ok(op);
        }
        if self.stays_quantized(f, op) {
            self.reject(f, op, QUANTIZED);
            return Ok(op);
        }
        let op = self.as_splat(f, op)?;
        let operands = self.constants(f, op)?;
        let is_constant = |value: &ValueId| value.is_none() || f.constant(*value).is_some();
        let all_constant = operands.iter().all(is_constant);
        if !may_fold(f, op, f.traits(op)) {
            if all_constant {
                self.reject(f, op, unfolded_reason(traits));
            }
            return Ok(op);
        }
        if !all_constant {
            // Type inference finds known elements. InferType reports invalid ops.
            if !(is_shape_data(f, op) && self.cx.infer(f, op).is_ok()) {
                return Ok(op);
            }
        } else if !self.useful.get(op.index()) {
            self.reject(f, op, GROWS);
            return Ok(op);
        }
        match self.cx.evaluate_with(f, op, &operands, self.room)? {
            Evaluated::Constants(values) => self.know(f, op, values),
            Evaluated::Rejected(why) if all_constant => {
                let is_large =
                    |&value: &ValueId| static_len(f, value).is_some_and(|bytes| bytes > self.room);
                match self.may_grow && f.results(op).iter().any(is_large) {
                    true => self.reject(f, op, TOO_LARGE),
                    false => self.reject(f, op, &why),
                }
            }
            _ => {}
        }
        Ok(op)
    }
}

fn unfolded_reason(traits: OpTraits) -> &'static str {
    if traits.is_random() {
        "the operator is random"
    } else if traits.is_ambiguous() {
        "a function of the module has the same name"
    } else if !traits.is_defined() {
        "no plugin defines the operator"
    } else if traits.is_stateful() || !traits.is_pure() {
        "the operator has side effects"
    } else {
        "the operator's definition has no evaluation function"
    }
}
