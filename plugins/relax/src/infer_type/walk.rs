//! The walk: op by op in program order, regions before what comes of them, calls before what follows.
//!
//! Its own stack of steps takes the place of recursion: regions nest, and functions call each other,
//! as deep as they like.

use std::collections::HashSet;

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;

use super::builtin;
use super::calls::{Call, Calls};
use super::declared::Declared;
use super::regions::{Inflow, inflows};
use super::report::{
    called_with, contradiction, first_narrowed, given_in, given_out, malformed, narrowed, wrong,
};
use super::sizes::{Fresh, Symbols};
use super::sort::{Sort, sorts};
use crate::shared::retype::retype;

/// The number of rounds for which the types of what goes round in a loop are tried before its sizes
/// are given up.
const MOST_ROUNDS: u32 = 3;
/// Loops in so many others give up their sizes at once: each try goes through all that is inside.
const MOST_TRIED: usize = 4;

/// The inference of a module.
pub(crate) struct Inference {
    calls: Calls,
    fresh: Fresh,
    frames: Vec<Frame>,
    /// The functions that calls lead into, each a frame.
    open: HashSet<SymbolId>,
}

/// A function, or the copy of one, that is being walked.
struct Frame {
    function: SymbolId,
    steps: Vec<Step>,
    /// Loops around, as long as their types are only tried.
    tried: usize,
    /// Types before they were set, while any loop's are only tried.
    journal: Vec<(ValueId, TypeId)>,
    said: Vec<Diagnostic>,
    /// Reports of declared types that have numbers for sizes that the inputs leave open.
    narrowed: Vec<Diagnostic>,
    /// Values whose types contradicted what is declared, which was said.
    contradicted: HashSet<ValueId>,
    /// The number of reports before this walk, if it is the second one, which says nothing.
    again: Option<usize>,
    symbols: Symbols,
    declared: Declared,
    /// The call that is asked about.
    asked: Option<Asked>,
}

/// A call that waits for a copy to be walked.
struct Asked {
    op: OpId,
    call: Call,
    results: Vec<ValueId>,
    /// The types that the function declares for its results, as far as they hold for each call.
    declared: Vec<Sort>,
}

enum Step {
    /// Infers an op and those that follow it in its region.
    Ops(OpId),
    /// Infers an op whose regions are done. What they made up has come since.
    Leave(OpId, usize),
    /// Sees whether the types of what a loop carries hold.
    Round(Round),
}

/// A try of a loop's types.
struct Round {
    op: OpId,
    carried: Vec<Inflow>,
    round: u32,
    /// The lengths of journal and diagnostics before.
    marks: [usize; 3],
    /// The mark before what regions made up.
    made_up: usize,
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
        if let Some(sorts) = self.calls.params(name).cloned() {
            let f = m.edit(name)?;
            for (param, sort) in f.params().to_vec().into_iter().zip(sorts) {
                let sort = sort.without(&invented(f));
                let known = Sort::from_value(f, param);
                // What the function declares stays where it may be so; calls that don't fit are told at the call.
                if known.narrows(&sort) && !known.contradicts(&sort) {
                    let sort = sort.over(&known, &invented(f));
                    sort.assign(f, param)?;
                } else {
                    let ty = sort.write(f)?;
                    let _ = f.set_type(param, ty);
                }
            }
        }
        self.function(m, cx, name)
    }

    /// Removes what was made for the inference.
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

    /// Goes into a copy of what is called.
    fn enter(&mut self, m: &mut Module<'_>, op: OpId, call: Call) -> Result<(), EditError> {
        let recursive = self.open.contains(&call.callee);
        let mut caller = SymbolId::NONE;
        let callee = m.snapshot(call.callee)?;
        if let Some(frame) = self.frames.last_mut() {
            caller = frame.function;
            // What is wrong inside of a copy is said of the function itself.
            if frame.asked.is_none() {
                called_with(m.edit(caller)?, op, &callee, &mut frame.said);
            }
        }
        self.calls.note(&call);
        let copied = match recursive {
            // Of what calls itself only the declared types are known.
            true => None,
            false => self.calls.copy(m, caller, op, &call)?,
        };
        let Some(copied) = copied else {
            if !recursive {
                self.calls.keep(call, Vec::new());
            }
            return Ok(());
        };
        let given = callee.ports(callee.body());
        let declared = given.map(|port| Sort::of_type(&callee, port.ty).without_symbols());
        self.open.insert(call.callee);
        let asked = Asked {
            op,
            call,
            results: copied.results,
            declared: declared.collect(),
        };
        let f = m.edit(copied.holder)?;
        self.frames
            .push(Frame::new(f, copied.holder, copied.first, Some(asked)));
        Ok(())
    }

    /// Ends a function: says what was found, or gives the results to the call.
    fn leave(&mut self, m: &mut Module<'_>, cx: &PassContext) -> Result<(), EditError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let Some(asked) = frame.asked else {
            if frame.again.is_none() && !frame.narrowed.is_empty() {
                let f = m.edit(frame.function)?;
                self.frames.push(frame.again(f));
                return Ok(());
            }
            let said = frame
                .said
                .into_iter()
                .take(frame.again.unwrap_or(usize::MAX));
            let said = said.chain(first_narrowed(frame.narrowed));
            said.for_each(|diagnostic| cx.emit(&diagnostic));
            return Ok(());
        };
        self.open.remove(&asked.call.callee);
        let f = m.edit(frame.function)?;
        let declared = asked
            .declared
            .iter()
            .chain(std::iter::repeat(&Sort::Unknown));
        let results = sorts(f, &asked.results).into_iter().zip(declared);
        let sorts: Vec<Sort> = results
            .map(|(found, declared)| found.or(declared))
            .collect();
        let Some(caller) = self.frames.last_mut() else {
            return Ok(());
        };
        let f = m.edit(caller.function)?;
        caller.give(f, &mut self.fresh, asked.op, &sorts, &HashSet::new())?;
        if let Some(first) = frame.said.first() {
            let callee = f.text(asked.call.callee);
            let place = Place::op(asked.op).within(f);
            let in_call =
                Diagnostic::warning(format!("In this call of @{callee}: {}", first.message));
            caller
                .said
                .push(in_call.at(place).code("relax::infer-type"));
        }
        self.calls.keep(asked.call, sorts);
        Ok(())
    }
}

impl Frame {
    fn new(f: &Function, function: SymbolId, first: Option<OpId>, asked: Option<Asked>) -> Frame {
        Frame {
            function,
            steps: first.into_iter().map(Step::Ops).collect(),
            tried: 0,
            journal: Vec::new(),
            said: Vec::new(),
            narrowed: Vec::new(),
            contradicted: HashSet::new(),
            again: None,
            symbols: Symbols::new(f),
            declared: Declared::new(f, false),
            asked,
        }
    }

    /// The walk once more, with nothing taken for sure that a `value_info` declares: one of them was wrong.
    fn again(self, f: &Function) -> Frame {
        Frame {
            again: Some(self.said.len()),
            said: self.said,
            narrowed: self.narrowed,
            declared: Declared::new(f, true),
            ..Frame::new(f, self.function, f.first_op(f.body()), None)
        }
    }

    /// Goes on until there is nothing left, or a function is called.
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
                    if self.asked.is_some() && Calls::is_end(f, op) {
                        continue;
                    }
                    self.steps.extend(f.next_op(op).map(Step::Ops));
                    if let Some(callee) = calls.callee(f, op) {
                        let call = Calls::call(f, op, callee);
                        match calls.results(&call) {
                            Some(sorts) => self.give(f, fresh, op, sorts, &HashSet::new())?,
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
                        given_out(f, region, &self.contradicted, &mut self.said)?;
                    }
                    let inner = self.symbols.since(mark);
                    self.infer(f, cx, fresh, op, &inner)?;
                }
                Step::Round(round) => self.end_round(f, round)?,
            }
        }
        if self.asked.is_none() {
            given_out(f, f.body(), &self.contradicted, &mut self.said)?;
        }
        Ok(Pause::Done)
    }

    /// Asks the definition of an op, or the IR if it is one of its own. What its regions made up,
    /// `inner`, doesn't go out.
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
            Some(Ok(sorts)) => return self.give(f, fresh, op, &sorts, inner),
            Some(Err(wrong)) => {
                let wrong = Diagnostic::warning(wrong).at(Place::op(op).within(f));
                self.said.push(wrong.code("relax::infer-type"));
                return Ok(());
            }
        }
        if !f.traits(op).is_defined() {
            return Ok(());
        }
        self.remember(f, f.results(op));
        // In a copy nothing is made up: its symbols are those of the call's operands.
        if self.asked.is_some() {
            self.ask(f, cx, op);
            return Ok(());
        }
        // Of a copy's ops the function's own say it.
        self.said.extend(malformed(f, cx, op));
        let results = f.results(op).to_vec();
        let concerns = self.declared.concerns(f, op);
        let declared = if concerns {
            sorts(f, &results)
        } else {
            Vec::new()
        };
        let kept = self.symbols.forget(f, &results)?;
        self.ask(f, cx, op);
        if concerns && let Some(sorts) = Declared::inferred(f, cx, op)? {
            self.declared.name(f, op, &sorts, &declared, inner)?;
        }
        self.symbols.name(f, fresh, &results, &kept, inner)
    }

    /// Asks the definition of an op. What it infers wins over what was known, which is reported.
    fn ask(&mut self, f: &mut Function, cx: &PassContext, op: OpId) {
        let known: Vec<TypeId> = f.results(op).iter().map(|&one| f.type_id(one)).collect();
        let inferred = cx.infer(f, op);
        let is_contradiction = self.compare(f, op, &known);
        if let (Err(error), false) = (inferred, is_contradiction) {
            self.said.push(wrong(f, op, error));
        }
    }

    /// Reports what the types of an op's results say otherwise than those that were known; returns whether that is a
    /// contradiction.
    fn compare(&mut self, f: &Function, op: OpId, known: &[TypeId]) -> bool {
        let Some((value, found)) = contradiction(f, op, known) else {
            if self.asked.is_none() {
                narrowed(f, op, known, &mut self.narrowed);
            }
            return false;
        };
        self.contradicted.insert(value);
        self.said.push(found);
        true
    }

    /// Gives a call its results.
    fn give(
        &mut self,
        f: &mut Function,
        fresh: &mut Fresh,
        op: OpId,
        sorts: &[Sort],
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        let results = f.results(op).to_vec();
        self.remember(f, &results);
        let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
        let declared = super::sort::sorts(f, &results);
        let kept = self.symbols.forget(f, &results)?;
        for (&value, sort) in results.iter().zip(sorts) {
            self.refine(f, value, sort)?;
        }
        self.compare(f, op, &known);
        if self.asked.is_some() {
            return Ok(());
        }
        self.declared.name(f, op, sorts, &declared, inner)?;
        self.symbols.name(f, fresh, &results, &kept, inner)
    }

    /// Gives a value the type that follows from what was inferred, which wins over what was known.
    fn refine(&mut self, f: &mut Function, value: ValueId, sort: &Sort) -> Result<(), EditError> {
        self.remember(f, &[value]);
        let known = Sort::from_value(f, value);
        let sort = sort.over(&known, &invented(f));
        match sort == known {
            true => Ok(()),
            false => sort.assign(f, value),
        }
    }

    /// Notes the types of values, which are put back if those of a loop don't hold.
    fn remember(&mut self, f: &Function, values: &[ValueId]) {
        if self.tried > 0 {
            let known = values.iter().map(|&value| (value, f.type_id(value)));
            self.journal.extend(known);
        }
    }

    /// Says the types of regions' arguments, and goes in.
    fn enter_regions(&mut self, f: &mut Function, op: OpId) -> Result<(), EditError> {
        let made_up = self.symbols.mark();
        let mut inflows = inflows(f, op);
        for inflow in &mut inflows {
            self.remember(f, &[inflow.arg]);
            self.symbols.forget(f, &[inflow.arg])?;
            inflow.declared = Sort::from_value(f, inflow.arg);
            given_in(
                f,
                op,
                inflow.operand,
                inflow.arg,
                &inflow.first,
                &mut self.said,
            );
        }
        let (carried, once): (Vec<_>, Vec<_>) = inflows
            .into_iter()
            .partition(|inflow| inflow.next.is_some());
        for inflow in once {
            // What the region declares stays.
            let _ = self.refine(f, inflow.arg, &inflow.first);
        }
        if carried.is_empty() {
            self.steps.push(Step::Leave(op, made_up));
            self.go_in(f, op);
            return Ok(());
        }
        let round = Round {
            op,
            carried,
            round: if self.tried < MOST_TRIED {
                0
            } else {
                MOST_ROUNDS
            },
            marks: [self.journal.len(), self.said.len(), self.narrowed.len()],
            made_up,
        };
        self.start_round(f, round)
    }

    fn go_in(&mut self, f: &Function, op: OpId) {
        let regions = f.regions(op).iter().rev();
        let first = regions.filter_map(|&region| f.first_op(region));
        self.steps.extend(first.map(Step::Ops));
    }

    fn start_round(&mut self, f: &mut Function, round: Round) -> Result<(), EditError> {
        let op = round.op;
        self.tried += 1;
        for inflow in &round.carried {
            let sort = match round.round {
                MOST_ROUNDS => inflow.first.without_sizes(),
                _ => inflow.first.clone(),
            };
            let _ = self.refine(f, inflow.arg, &sort);
        }
        self.steps.push(Step::Round(round));
        self.go_in(f, op);
        Ok(())
    }

    /// After the last op of a loop: is what comes out what was taken to go in?
    fn end_round(&mut self, f: &mut Function, mut round: Round) -> Result<(), EditError> {
        self.tried -= 1;
        let mut holds = true;
        for inflow in &mut round.carried {
            let given = inflow.next.and_then(|(region, index)| {
                let last = f.terminator(region)?;
                f.operand(last, index)
            });
            let taken = Sort::from_value(f, inflow.arg);
            let given = given.map_or(Sort::Unknown, |value| Sort::from_value(f, value));
            let both = taken.common(&given);
            holds &= both.over(&inflow.declared, &invented(f)) == taken;
            inflow.first = match round.round {
                0 => both,
                // It may take many rounds until none of what hands on a size says it any more.
                _ => both.without(&invented(f)),
            };
        }
        if holds || round.round >= MOST_ROUNDS {
            self.steps.push(Step::Leave(round.op, round.made_up));
            return Ok(());
        }
        self.take_back(f, round.marks)?;
        round.round += 1;
        self.start_round(f, round)
    }

    /// Forgets what was found since.
    fn take_back(&mut self, f: &mut Function, marks: [usize; 3]) -> Result<(), EditError> {
        for (value, ty) in self.journal.drain(marks[0]..).rev() {
            retype(f, value, ty)?;
        }
        self.said.truncate(marks[1]);
        self.narrowed.truncate(marks[2]);
        Ok(())
    }
}

/// Whether symbols were made up.
fn invented(f: &Function) -> impl Fn(i64) -> bool {
    |symbol| f.invented(SymbolId(symbol as u32)).is_some()
}
