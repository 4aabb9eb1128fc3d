//! The run loop: what happens around each pass, and in which order.
//!
//! enabled? → required → should_run → before → call → verify what changed → after, or failed.
//!
//! [`crate::resolve`] has decided the first two before anything runs; [`crate::leaf`] calls the
//! pass; [`crate::verify`] looks at what it changed. Nothing here keeps a module but the one that
//! is worked on and the one before it, so a pass that fails leaves the module as it was.

use std::collections::HashMap;
use std::sync::Arc;

use passdock_abi::SymbolId;
use passdock_ir::{Function, Module};

use crate::context::callbacks::{self, Told};
use crate::context::{PassContext, Verify};
use crate::error::{ErrorKind, PassError};
use crate::instrument::InstrumentRef;
use crate::leaf;
use crate::pass::{Pass, PassRef};
use crate::record::{PassRecord, Start, Status};
use crate::registry::solo;
use crate::resolve::{self, Plan, Step};
use crate::sequential::Sequential;
use crate::site;
use crate::states::{self, Held};
use crate::suggest;
use crate::verify::{self, Input};

/// Runs a pass from outside: whatever its level, without what it requires.
pub fn call(
    pass: &dyn Pass,
    module: &Module,
    cx: &PassContext,
    watched: bool,
) -> Result<Module, PassError> {
    pass.info().check()?;
    cx.meet(&pass.info().name);
    let sequential = pass.as_sequential();
    let plan = sequential.map(|s| resolve::resolve(s, cx)).transpose()?;
    if let Some(plan) = &plan {
        plan.load()?;
        states::of_model(&plan.of_model, module, cx.registry())?;
    }
    if cx.verify() == Verify::All {
        verify::all(module).map_err(|error| error.note("before any pass ran"))?;
    }
    let forced = cx.is_forced(&pass.info().name);
    let mut run = Run::new(cx, watched);
    if let (true, Some(plan)) = (cx.resumes(), &plan) {
        run.resume(plan);
    }
    let outcome = run.pass(pass, plan.as_ref(), forced, module);
    match outcome.map_err(|error| site::around(error, sequential, module, cx))? {
        Outcome::Ran(after) => Ok(after),
        Outcome::Vetoed(_) => Ok(module.clone()),
    }
}

/// Finds out whether a Sequential can run: resolves it, loads the plugins that it and the context's
/// instruments need, and makes those. States that the module has to bring along are left.
pub fn prepare(sequential: &Sequential, cx: &PassContext) -> Result<Plan, PassError> {
    let plan = resolve::resolve(sequential, cx)?;
    plan.load()?;
    callbacks::make(&cx.instrument_list(), cx)?;
    Ok(plan)
}

/// What came of a pass that didn't fail.
enum Outcome {
    /// It ran.
    Ran(Module),
    /// Instruments kept it from running; why, for reports.
    Vetoed(String),
}

/// What is kept from one pass to the next of one call.
struct Run<'c> {
    cx: &'c PassContext,
    /// Whether instruments are called.
    watched: bool,
    /// Counts the states of the module.
    state: u64,
    /// The passes that ran, and the state that each left behind when it last did.
    ran: HashMap<String, (PassRef, u64)>,
    held: Held,
    /// The Sequentials around, the outermost left out.
    parents: Vec<String>,
    depth: u32,
}

impl<'c> Run<'c> {
    fn new(cx: &'c PassContext, watched: bool) -> Run<'c> {
        Run {
            cx,
            watched,
            state: 0,
            ran: HashMap::new(),
            held: Held::default(),
            parents: Vec::new(),
            depth: 0,
        }
    }

    /// Takes what the first pass requires for done: the module is as it was right before that pass.
    fn resume(&mut self, plan: &Plan) {
        if let Some(first) = plan.children.iter().find(|child| child.skipped.is_none()) {
            first.required.iter().for_each(|step| self.remember(step));
        }
    }

    /// Keeps that a pass ran, and left the module in the state that it is in.
    fn remember(&mut self, step: &Step) {
        let name = step.pass.info().name.clone();
        self.ran.insert(name, (step.pass.clone(), self.state));
    }

    /// Whether a pass that is required ran, with the options that it would run with, and nothing
    /// changed since.
    fn is_done(&self, step: &Step) -> bool {
        let options = |pass: &PassRef| pass.options(self.cx).ok();
        self.ran
            .get(&step.pass.info().name)
            .is_some_and(|(last, state)| {
                *state == self.state && options(last) == options(&step.pass)
            })
    }

    /// The children of a Sequential, each after what it requires.
    fn sequence(&mut self, plan: &Plan, module: &Module) -> Result<Module, PassError> {
        let mut module = module.clone();
        for (at, child) in plan.children.iter().enumerate() {
            if let Some(reason) = &child.skipped {
                self.record_skip(&child.step, reason, &module);
                continue;
            }
            for step in &child.required {
                if self.is_done(step) {
                    self.record_skip(step, "it ran and nothing changed since", &module);
                } else {
                    self.step(step, &mut module)
                        .map_err(|error| site::followed_by(error, &plan.children[at..]))?;
                }
            }
            self.step(&child.step, &mut module)
                .map_err(|error| site::followed_by(error, &plan.children[at + 1..]))?;
        }
        Ok(module)
    }

    fn step(&mut self, step: &Step, module: &mut Module) -> Result<(), PassError> {
        let record = self.record_start(step, module);
        let result = self.pass(&*step.pass, step.plan.as_ref(), step.forced, module);
        self.record_end(record, module, &result);
        let outcome = result.map_err(|error| site::at(error, step, module, self.cx))?;
        if let Outcome::Ran(after) = outcome {
            self.remember(step);
            if let (Some(recorder), None) = (self.cx.recorder(), &step.plan) {
                recorder.keep(step, module, &after);
            }
            *module = after;
        }
        Ok(())
    }

    /// One pass, from `should_run` on.
    fn pass(
        &mut self,
        pass: &dyn Pass,
        plan: Option<&Plan>,
        forced: bool,
        module: &Module,
    ) -> Result<Outcome, PassError> {
        let info = pass.info();
        let name = |error: PassError| error.in_pass(&info.name, pass.provider());
        // The list that it starts with is the list that it ends with.
        let watching: Option<Arc<[InstrumentRef]>> =
            self.watched.then(|| self.cx.instrument_list());
        let watching = watching.as_deref().unwrap_or_default();
        let told = Told {
            cx: self.cx,
            pass,
            module,
        };
        if !forced {
            let asked = || callbacks::vetoes(watching, told);
            let vetoes = self.watching(watching, asked).map_err(name)?;
            if !vetoes.is_empty() {
                self.cx.meet_unrun(pass);
                let by = suggest::listed(vetoes);
                self.held.vetoed(pass, plan, &by);
                return Ok(Outcome::Vetoed(format!("vetoed by the instrument {by}")));
            }
        }
        self.held.check(pass, module).map_err(name)?;
        let before = || callbacks::before(watching, told);
        self.watching(watching, before).map_err(name)?;
        let result = match plan {
            Some(plan) => self.nested(info.name.as_str(), plan, module),
            None => self.leaf(pass, module),
        };
        match result.map_err(name) {
            Ok(after) => {
                self.held.ran(pass);
                let told = || callbacks::after(watching, told, &after);
                self.watching(watching, told).map_err(name)?;
                Ok(Outcome::Ran(after))
            }
            Err(error) => {
                let told = || callbacks::failed(watching, told, error);
                Err(self.watching(watching, told))
            }
        }
    }

    /// Calls instruments, if there are any; their time isn't the pass's.
    fn watching<T>(&self, list: &[InstrumentRef], callbacks: impl FnOnce() -> T) -> T {
        match self.cx.recorder() {
            Some(recorder) if !list.is_empty() => recorder.watching(callbacks),
            _ => callbacks(),
        }
    }

    fn nested(&mut self, name: &str, plan: &Plan, module: &Module) -> Result<Module, PassError> {
        self.depth += 1;
        if self.depth > 1 {
            self.parents.push(name.to_owned());
        }
        let result = self.sequence(plan, module);
        if self.depth > 1 {
            self.parents.pop();
        }
        self.depth -= 1;
        result
    }

    /// A pass that isn't a Sequential: the call itself, and the verifier.
    fn leaf(&mut self, pass: &dyn Pass, module: &Module) -> Result<Module, PassError> {
        let mut after = {
            let _alone = pass.runs_alone().then(solo::enter);
            let input = Input::watched(module, self.cx);
            let after = leaf::call(pass, pass.work()?, module, self.cx, self.watched)?;
            input.check(module, pass)?;
            after
        };
        if after.is_same(module) {
            verify::unchanged(&after, self.cx.verify())?;
        } else {
            self.state += 1;
            verify::changed(module, &after, self.cx.verify())?;
            compact(module, &mut after);
        }
        Ok(after)
    }

    fn record_start(&self, step: &Step, module: &Module) -> Option<(usize, Start)> {
        let recorder = self.cx.recorder()?;
        let mut record = self.record(step);
        record.ops_before = module.op_count();
        record.ops_after = record.ops_before;
        Some((recorder.start(record), recorder.now()))
    }

    fn record_end(
        &self,
        record: Option<(usize, Start)>,
        before: &Module,
        result: &Result<Outcome, PassError>,
    ) {
        let (Some((at, start)), Some(recorder)) = (record, self.cx.recorder()) else {
            return;
        };
        let seconds = recorder.seconds_since(start);
        let ops_after = match result {
            Ok(Outcome::Ran(after)) if !after.is_same(before) => Some(after.op_count()),
            _ => None,
        };
        recorder.update(at, |record| {
            record.seconds = seconds;
            record.ops_after = ops_after.unwrap_or(record.ops_before);
            (record.status, record.reason) = match (result, ops_after) {
                (Err(error), _) if error.kind == ErrorKind::Diagnostics => {
                    (Status::Failed, "it emitted errors".to_owned())
                }
                (Err(error), _) => (Status::Failed, error.message.clone()),
                (Ok(Outcome::Ran(_)), Some(_)) => (Status::Changed, String::new()),
                (Ok(Outcome::Ran(_)), None) => (Status::Unchanged, String::new()),
                (Ok(Outcome::Vetoed(by)), _) => (Status::Skipped, by.clone()),
            };
        });
    }

    fn record_skip(&self, step: &Step, reason: &str, module: &Module) {
        if let Some(recorder) = self.cx.recorder() {
            let mut record = self.record(step);
            record.reason = reason.to_owned();
            record.ops_before = module.op_count();
            record.ops_after = record.ops_before;
            recorder.start(record);
        }
    }

    fn record(&self, step: &Step) -> PassRecord {
        let parent = self.parents.last().map(String::as_str);
        PassRecord::new(&*step.pass, parent, step.requested_by.as_deref())
    }
}

/// Frees what the pass erased of the functions that it changed, where that is most of one; where it
/// brought regions up, says how deep they are now.
fn compact(before: &Module, after: &mut Module) {
    let is_new = |function: &&Arc<Function>| {
        let known = before.function(function.name());
        known.is_none_or(|known| !Arc::ptr_eq(known, function))
    };
    let names: Vec<SymbolId> = after
        .functions()
        .filter(is_new)
        .filter(|function| function.needs_compaction() || function.has_loose_depths())
        .map(|function| function.name())
        .collect();
    for name in names {
        if let Some(function) = after.function_mut(name) {
            match function.needs_compaction() {
                true => function.compact(),
                false => function.settle_depths(),
            }
        }
    }
}
