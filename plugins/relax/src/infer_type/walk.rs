//! The walk over a module: ops in program order, the regions of an op before its results, the callee of a call before
//! the next op.
//!
//! An explicit stack of steps replaces recursion, so regions and calls may nest arbitrarily deep.

use std::collections::HashSet;

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;

use super::builtin;
use super::calls::{Call, Calls};
use super::declared::Declared;
use super::portable_type::{PortableType, portable_types};
use super::regions::{Inflow, inflows};
use super::report::{
    called_with, check_inflow, check_yields, contradiction, first_narrowed, invalid_op, malformed,
    narrowed,
};
use super::sizes::{Fresh, Symbols};
use crate::shared::retype::retype;

/// The maximum number of rounds that try types of loop-carried values. After that, their sizes are unknown.
const MAX_ROUNDS: u32 = 3;
/// Loops from this nesting depth on aren't tried, because each try walks all inner loops.
const MAX_TRIED: usize = 4;

/// The inference of a module.
pub(crate) struct Inference {
    calls: Calls,
    fresh: Fresh,
    frames: Vec<Frame>,
    /// The callees that have a frame.
    open: HashSet<SymbolId>,
}

/// A function, or the copy of one, that is being walked.
struct Frame {
    function: SymbolId,
    steps: Vec<Step>,
    /// The number of enclosing loops whose types are being tried.
    tried: usize,
    /// The types that were overwritten while the types of a loop are tried.
    journal: Vec<(ValueId, TypeId)>,
    diagnostics: Vec<Diagnostic>,
    /// Diagnostics of declared types with constant sizes where the inputs leave them open.
    narrowed: Vec<Diagnostic>,
    /// The values whose declared types were reported as contradictions.
    contradicted: HashSet<ValueId>,
    /// For the second walk, which reports nothing, the number of diagnostics of the first one.
    restarted: Option<usize>,
    symbols: Symbols,
    declared: Declared,
    /// The call whose callee is walked.
    pending: Option<PendingCall>,
}

/// A call whose callee is being walked.
struct PendingCall {
    op: OpId,
    call: Call,
    results: Vec<ValueId>,
    /// The declared types of the callee's results, without symbols.
    declared: Vec<PortableType>,
}

enum Step {
    /// Infers an op and the ops after it in its region.
    Ops(OpId),
    /// Infers an op whose regions are done, with the mark of the symbols before them.
    Leave(OpId, usize),
    /// Checks the types of loop-carried values after a round.
    Round(Round),
}

/// A round in which the types of a loop are tried.
struct Round {
    op: OpId,
    carried: Vec<Inflow>,
    round: u32,
    /// The lengths of the journal and of the diagnostics before the round.
    marks: [usize; 3],
    /// The mark of the symbols before the regions.
    symbols: usize,
}

/// The reason why the walk of a function pauses.
enum Pause {
    Done,
    Call(OpId, Call),
}

impl Inference {
    pub(crate) fn new(m: &Module<'_>, graph: &CallGraph) -> Result<Inference, EditError> {
        Ok(Inference {
            calls: Calls::new(graph),
            fresh: Fresh::new(m, graph)?,
            frames: Vec::new(),
            open: HashSet::new(),
        })
    }

    /// Infers a function.
    pub(crate) fn function(
        &mut self,
        m: &mut Module<'_>,
        cx: &PassContext,
        name: SymbolId,
    ) -> Result<(), EditError> {
        let f = m.edit(name)?;
        self.frames
            .push(Frame::new(f, name, f.first_op(f.body()), None));
        self.run(m, cx)
    }

    /// Infers a function whose parameters have the types that all its calls have in common.
    pub(crate) fn called_function(
        &mut self,
        m: &mut Module<'_>,
        cx: &PassContext,
        name: SymbolId,
    ) -> Result<(), EditError> {
        if let Some(portable_types) = self.calls.params.get(&name).cloned() {
            let f = m.edit(name)?;
            for (param, portable) in f.params().to_vec().into_iter().zip(portable_types) {
                let portable = portable.without(&invented(f));
                let known = PortableType::from_value(f, param);
                // A declared type that may be right is kept; mismatches are reported at the calls.
                if known.narrows(&portable) && !known.contradicts(&portable) {
                    let portable = portable.over(&known, &invented(f));
                    portable.assign(f, param)?;
                } else {
                    let ty = portable.write(f)?;
                    let _ = f.set_type(param, ty);
                }
            }
        }
        self.function(m, cx, name)
    }

    /// Removes the copies of callees.
    pub(crate) fn finish(&mut self, m: &mut Module<'_>) -> Result<(), EditError> {
        self.calls.finish(m)
    }

    fn run(&mut self, m: &mut Module<'_>, cx: &PassContext) -> Result<(), EditError> {
        while let Some(frame) = self.frames.last_mut() {
            let f = m.edit(frame.function)?;
            match frame.advance(f, cx, &self.calls, &mut self.fresh)? {
                Pause::Call(op, call) => self.enter(m, op, call)?,
                Pause::Done => self.leave(m, cx)?,
            }
        }
        Ok(())
    }

    /// Starts a frame for a copy of the callee.
    fn enter(&mut self, m: &mut Module<'_>, op: OpId, call: Call) -> Result<(), EditError> {
        let recursive = self.open.contains(&call.callee);
        let mut caller = SymbolId::NONE;
        let callee = m.snapshot(call.callee)?;
        if let Some(frame) = self.frames.last_mut() {
            caller = frame.function;
            // Errors inside a copy are reported for the function itself.
            if frame.pending.is_none() {
                (frame.diagnostics).extend(called_with(m.edit(caller)?, op, &callee));
            }
        }
        self.calls.note(&call);
        let copied = match recursive {
            // A recursive call has the declared types.
            true => None,
            false => self.calls.copy(m, caller, op, &call)?,
        };
        let Some(copied) = copied else {
            if !recursive {
                self.calls.results.insert(call, Vec::new());
            }
            return Ok(());
        };
        let given = callee.ports(callee.body());
        let declared =
            given.map(|port| PortableType::from_type(&callee, port.ty).without_symbols());
        self.open.insert(call.callee);
        let pending = PendingCall {
            op,
            call,
            results: copied.results,
            declared: declared.collect(),
        };
        let f = m.edit(copied.holder)?;
        self.frames
            .push(Frame::new(f, copied.holder, copied.first, Some(pending)));
        Ok(())
    }

    /// Ends a frame: emits its diagnostics, or sets the results of the call.
    fn leave(&mut self, m: &mut Module<'_>, cx: &PassContext) -> Result<(), EditError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let Some(pending) = frame.pending else {
            if frame.restarted.is_none() && !frame.narrowed.is_empty() {
                let f = m.edit(frame.function)?;
                self.frames.push(frame.restarted(f));
                return Ok(());
            }
            let diagnostics = frame
                .diagnostics
                .into_iter()
                .take(frame.restarted.unwrap_or(usize::MAX));
            let diagnostics = diagnostics.chain(first_narrowed(frame.narrowed));
            diagnostics.for_each(|diagnostic| cx.emit(&diagnostic));
            return Ok(());
        };
        self.open.remove(&pending.call.callee);
        let f = m.edit(frame.function)?;
        let declared = pending
            .declared
            .iter()
            .chain(std::iter::repeat(&PortableType::Unknown));
        let results = portable_types(f, &pending.results)
            .into_iter()
            .zip(declared);
        let portable_types: Vec<PortableType> = results
            .map(|(found, declared)| found.or(declared))
            .collect();
        let Some(caller) = self.frames.last_mut() else {
            return Ok(());
        };
        let f = m.edit(caller.function)?;
        caller.set_results(
            f,
            &mut self.fresh,
            pending.op,
            &portable_types,
            &HashSet::new(),
        )?;
        if let Some(first) = frame.diagnostics.first() {
            let callee = f.text(pending.call.callee);
            let position = OpSpan::op(pending.op).within(f);
            let in_call = Diagnostic::warning(format!("in call of `@{callee}`: {}", first.message));
            caller
                .diagnostics
                .push(in_call.at(position).code("relax::infer-type"));
        }
        self.calls.results.insert(pending.call, portable_types);
        Ok(())
    }
}

impl Frame {
    fn new(
        f: &Function,
        function: SymbolId,
        first: Option<OpId>,
        pending: Option<PendingCall>,
    ) -> Frame {
        Frame {
            function,
            steps: first.into_iter().map(Step::Ops).collect(),
            tried: 0,
            journal: Vec::new(),
            diagnostics: Vec::new(),
            narrowed: Vec::new(),
            contradicted: HashSet::new(),
            restarted: None,
            symbols: Symbols::new(f),
            declared: Declared::new(f, false),
            pending,
        }
    }

    /// Returns the frame of a second walk that trusts no `value_info`, as one of them was wrong.
    fn restarted(self, f: &Function) -> Frame {
        Frame {
            restarted: Some(self.diagnostics.len()),
            diagnostics: self.diagnostics,
            narrowed: self.narrowed,
            declared: Declared::new(f, true),
            ..Frame::new(f, self.function, f.first_op(f.body()), None)
        }
    }

    /// Runs steps until none is left or a callee has to be walked.
    fn advance(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        calls: &Calls,
        fresh: &mut Fresh,
    ) -> Result<Pause, EditError> {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Ops(op) => {
                    if self.pending.is_some() && Calls::is_end(f, op) {
                        continue;
                    }
                    self.steps.extend(f.next_op(op).map(Step::Ops));
                    if let Some(callee) = calls.callee(f, op) {
                        let call = Calls::call(f, op, callee);
                        match calls.results.get(&call) {
                            Some(portable_types) => {
                                self.set_results(f, fresh, op, portable_types, &HashSet::new())?
                            }
                            None => return Ok(Pause::Call(op, call)),
                        }
                    } else if f.regions(op).is_empty() {
                        self.infer(f, cx, fresh, op, &HashSet::new())?;
                    } else {
                        self.enter_regions(f, op)?;
                    }
                }
                Step::Leave(op, mark) => {
                    for region in f.regions(op).to_vec() {
                        check_yields(f, region, &self.contradicted, &mut self.diagnostics)?;
                    }
                    let inner = self.symbols.since(mark);
                    self.infer(f, cx, fresh, op, &inner)?;
                }
                Step::Round(round) => self.end_round(f, round)?,
            }
        }
        if self.pending.is_none() {
            check_yields(f, f.body(), &self.contradicted, &mut self.diagnostics)?;
        }
        Ok(Pause::Done)
    }

    /// Infers the result types of an op, by its definition or as one of the IR's own ops. `inner` are symbols of its
    /// regions, which have no meaning outside.
    fn infer(
        &mut self,
        f: &mut Function,
        cx: &PassContext,
        fresh: &mut Fresh,
        op: OpId,
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        match builtin::results(f, op) {
            None => {}
            Some(Ok(portable_types)) => {
                return self.set_results(f, fresh, op, &portable_types, inner);
            }
            Some(Err(message)) => {
                self.diagnostics.push(invalid_op(f, op, message));
                return Ok(());
            }
        }
        if !f.traits(op).is_defined() {
            return Ok(());
        }
        self.record(f, f.results(op));
        // A copy invents no symbols: it has those of the call's operands.
        if self.pending.is_some() {
            self.infer_by_definition(f, cx, op);
            return Ok(());
        }
        // The ops of a copy are checked in the function itself.
        self.diagnostics.extend(malformed(f, cx, op));
        let results = f.results(op).to_vec();
        let concerns = self.declared.concerns(f, op);
        let declared = if concerns {
            portable_types(f, &results)
        } else {
            Vec::new()
        };
        let kept = self.symbols.forget(f, &results)?;
        self.infer_by_definition(f, cx, op);
        if concerns && let Some(portable_types) = Declared::inferred(f, cx, op)? {
            self.declared
                .name(f, op, &portable_types, &declared, inner)?;
        }
        self.symbols.name(f, fresh, &results, &kept, inner)
    }

    /// Infers the result types of an op by its definition. They override the known types; contradictions are reported.
    fn infer_by_definition(&mut self, f: &mut Function, cx: &PassContext, op: OpId) {
        let known: Vec<TypeId> = f.results(op).iter().map(|&one| f.type_id(one)).collect();
        let inferred = cx.infer(f, op);
        let is_contradiction = self.compare(f, op, &known);
        if let (Err(error), false) = (inferred, is_contradiction) {
            self.diagnostics.push(invalid_op(f, op, error.message));
        }
    }

    /// Reports differences between the types of an op's results and the known ones. Returns `true` for a contradiction.
    fn compare(&mut self, f: &Function, op: OpId, known: &[TypeId]) -> bool {
        let Some((value, found)) = contradiction(f, op, known) else {
            if self.pending.is_none() {
                narrowed(f, op, known, &mut self.narrowed);
            }
            return false;
        };
        self.contradicted.insert(value);
        self.diagnostics.push(found);
        true
    }

    /// Sets the result types of an op.
    fn set_results(
        &mut self,
        f: &mut Function,
        fresh: &mut Fresh,
        op: OpId,
        portable_types: &[PortableType],
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        let results = f.results(op).to_vec();
        self.record(f, &results);
        let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
        let declared = super::portable_type::portable_types(f, &results);
        let kept = self.symbols.forget(f, &results)?;
        for (&value, portable) in results.iter().zip(portable_types) {
            self.refine(f, value, portable)?;
        }
        self.compare(f, op, &known);
        if self.pending.is_some() {
            return Ok(());
        }
        self.declared
            .name(f, op, portable_types, &declared, inner)?;
        self.symbols.name(f, fresh, &results, &kept, inner)
    }

    /// Sets the type of a value: the inferred one, and the known one where nothing is inferred.
    fn refine(
        &mut self,
        f: &mut Function,
        value: ValueId,
        portable: &PortableType,
    ) -> Result<(), EditError> {
        self.record(f, &[value]);
        let known = PortableType::from_value(f, value);
        let portable = portable.over(&known, &invented(f));
        match portable == known {
            true => Ok(()),
            false => portable.assign(f, value),
        }
    }

    /// Records the types of values, to restore them if the round of a loop fails.
    fn record(&mut self, f: &Function, values: &[ValueId]) {
        if self.tried > 0 {
            let known = values.iter().map(|&value| (value, f.type_id(value)));
            self.journal.extend(known);
        }
    }

    /// Sets the types of region arguments, and enters the regions.
    fn enter_regions(&mut self, f: &mut Function, op: OpId) -> Result<(), EditError> {
        let symbols = self.symbols.mark();
        let mut inflows = inflows(f, op);
        for inflow in &mut inflows {
            self.record(f, &[inflow.arg]);
            self.symbols.forget(f, &[inflow.arg])?;
            inflow.declared = PortableType::from_value(f, inflow.arg);
            self.diagnostics.extend(check_inflow(f, op, inflow));
        }
        let (carried, once): (Vec<_>, Vec<_>) = inflows
            .into_iter()
            .partition(|inflow| inflow.next.is_some());
        for inflow in once {
            // A contradiction is reported, and the declared type is kept.
            let _ = self.refine(f, inflow.arg, &inflow.first);
        }
        if carried.is_empty() {
            self.steps.push(Step::Leave(op, symbols));
            self.enter_ops(f, op);
            return Ok(());
        }
        let round = Round {
            op,
            carried,
            round: if self.tried < MAX_TRIED {
                0
            } else {
                MAX_ROUNDS
            },
            marks: [
                self.journal.len(),
                self.diagnostics.len(),
                self.narrowed.len(),
            ],
            symbols,
        };
        self.start_round(f, round)
    }

    fn enter_ops(&mut self, f: &Function, op: OpId) {
        let regions = f.regions(op).iter().rev();
        let first = regions.filter_map(|&region| f.first_op(region));
        self.steps.extend(first.map(Step::Ops));
    }

    fn start_round(&mut self, f: &mut Function, round: Round) -> Result<(), EditError> {
        let op = round.op;
        self.tried += 1;
        for inflow in &round.carried {
            let portable = match round.round {
                MAX_ROUNDS => inflow.first.without_sizes(),
                _ => inflow.first.clone(),
            };
            let _ = self.refine(f, inflow.arg, &portable);
        }
        self.steps.push(Step::Round(round));
        self.enter_ops(f, op);
        Ok(())
    }

    /// Compares the types of loop-carried values after a round with those before it.
    fn end_round(&mut self, f: &mut Function, mut round: Round) -> Result<(), EditError> {
        self.tried -= 1;
        let mut holds = true;
        for inflow in &mut round.carried {
            let given = inflow.next.and_then(|(region, index)| {
                let last = f.terminator(region)?;
                f.operand(last, index)
            });
            let parameter = PortableType::from_value(f, inflow.arg);
            let given = given.map_or(PortableType::Unknown, |value| {
                PortableType::from_value(f, value)
            });
            let both = parameter.common(&given);
            holds &= both.over(&inflow.declared, &invented(f)) == parameter;
            inflow.first = match round.round {
                0 => both,
                // Invented symbols would take many rounds to disappear.
                _ => both.without(&invented(f)),
            };
        }
        if holds || round.round >= MAX_ROUNDS {
            self.steps.push(Step::Leave(round.op, round.symbols));
            return Ok(());
        }
        self.restore(f, round.marks)?;
        round.round += 1;
        self.start_round(f, round)
    }

    /// Restores types and diagnostics.
    fn restore(&mut self, f: &mut Function, marks: [usize; 3]) -> Result<(), EditError> {
        for (value, ty) in self.journal.drain(marks[0]..).rev() {
            retype(f, value, ty)?;
        }
        self.diagnostics.truncate(marks[1]);
        self.narrowed.truncate(marks[2]);
        Ok(())
    }
}

/// Returns whether a symbol was invented.
fn invented(f: &Function) -> impl Fn(i64) -> bool {
    |symbol| f.invented(SymbolId(symbol as u32)).is_some()
}
