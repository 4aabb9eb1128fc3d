//! The instrument: each module that a pass makes is run once, and compared with the one before.
//!
//! The module after a pass is the module before the next, so its results are kept. A pass that
//! changed nothing isn't checked, nor is one that others ran inside and that added nothing to what
//! they made, such as a Sequential.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use passdock_ir::Module;

use super::check::{Checker, NoResults, Outcome, Reason, Results, compare_results, fails};
use super::options::{OnDifference, Options};
use super::report::{self, Row, Verdict};
use super::samples::Sample;
use passdock_core::PassCall;
use passdock_core::PassContext;
use passdock_core::instrument::wrong;
use passdock_core::instrument::{InstrumentResult, PassInstrument};
use passdock_core::util;
use passdock_core::{Diagnostic, Severity};
use passdock_core::{ErrorKind, PassError, capitalized};

/// Runs the model in ONNX Runtime around each pass and compares the results.
pub struct Numerics {
    options: Options,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Made when the first pass begins; otherwise why there is none.
    checker: Option<Result<Checker, Reason>>,
    chains: HashMap<ThreadId, Chain>,
    rows: Vec<Row>,
    /// Of the first model, for the report: its inputs, and why it isn't checked.
    inputs: Vec<Sample>,
    not_checked: Option<String>,
}

/// Modules that came one from another, on one thread.
struct Chain {
    /// Why none of them is checked.
    broken: Option<Reason>,
    samples: Vec<Sample>,
    /// The results of the module that the chain began with.
    original: Option<Results>,
    /// The last module that ran, and its results.
    last: Option<(Module, Results)>,
    /// The last module that didn't, and why.
    unrunnable: Option<(Module, NoResults)>,
    /// The passes since the last module that ran.
    pending: Vec<String>,
    /// What the last pass made.
    seen: Module,
    frames: Vec<Frame>,
}

/// A pass that runs.
struct Frame {
    module: Module,
    /// The results of `module`, if they are known.
    results: Option<Results>,
    /// Whether another pass ran inside it.
    has_inner: bool,
}

/// What there is to say about a pass.
struct Finding {
    message: String,
    help: Option<&'static str>,
    is_difference: bool,
    /// The option that is wrong, if one is: the user's mistake, whatever `required` says.
    option: Option<&'static str>,
}

impl Numerics {
    /// Nothing is looked for or loaded before the first pass.
    pub fn new(options: Options) -> Numerics {
        Numerics {
            options,
            state: Mutex::default(),
        }
    }

    /// Says what was found: as an error if the options ask for one.
    fn say(&self, finding: Finding, pass: Option<&str>) -> InstrumentResult {
        if let Some(option) = finding.option {
            let error = wrong("numerics", option, finding.message);
            return Err(PassError::from(error).into());
        }
        let (fails, kind) = match finding.is_difference {
            true => (
                self.options.on_difference == OnDifference::Error,
                ErrorKind::Numerics,
            ),
            false => (self.options.is_required(), ErrorKind::NotChecked),
        };
        if fails {
            let mut error = PassError::new(kind, finding.message);
            error.help = finding.help.map(str::to_owned);
            if !finding.is_difference {
                let why = match self.options.required {
                    true => "`required` is set",
                    false => "the environment variable `CI` is set",
                };
                error = error.note(format!("{why}, so that what isn't checked is an error"));
            }
            return Err(error.into());
        }
        let context = PassContext::current();
        let mut warning = Diagnostic::new(Severity::Warning, kind.code(), finding.message);
        warning.help = finding.help.map(str::to_owned);
        if let Some(pass) = pass {
            if let Some((plugin, _)) = context.registry().pass_spec(pass) {
                let file = plugin.origin().path();
                warning.file = file.map(|file| file.display().to_string());
                warning.plugin = Some(plugin.name().to_owned());
            }
            warning.pass = Some(pass.to_owned());
        }
        context.emit(warning);
        Ok(())
    }
}

impl PassInstrument for Numerics {
    fn name(&self) -> &str {
        "numerics"
    }

    fn enter_pass_ctx(&self, _: &dyn passdock_core::Frame) -> InstrumentResult {
        *util::lock(&self.state) = State::default();
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn passdock_core::Frame) -> InstrumentResult {
        *util::lock(&self.state) = State::default();
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, .. } = *call;
        match self.begin(module) {
            None => Ok(()),
            // The pass isn't going to run if it is an error.
            Some(finding) => self.say(finding, None).inspect_err(|_| self.drop_frame()),
        }
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        let finding = {
            let mut state = util::lock(&self.state);
            let state = &mut *state;
            let chain = state.chains.get_mut(&thread::current().id());
            let (Some(chain), Some(checker)) = (chain, &state.checker) else {
                return Ok(());
            };
            let Some(verdict) = chain.end(checker.as_ref().ok(), module, &info.name) else {
                return Ok(());
            };
            let finding = verdict.finding(chain.broken.is_some());
            state.rows.push(Row {
                pass: info.name.clone(),
                verdict,
            });
            finding
        };
        match finding {
            Some(finding) => self.say(finding, Some(&info.name)),
            None => Ok(()),
        }
    }

    fn pass_failed(&self, _: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.drop_frame();
        Ok(())
    }

    fn report(&self) -> Option<String> {
        let state = util::lock(&self.state);
        Some(report::text(&state.setting()?, &state.rows))
    }

    fn report_data(&self) -> Option<serde_json::Value> {
        let state = util::lock(&self.state);
        Some(report::data(&state.setting()?, &state.rows))
    }
}

impl State {
    /// `None` before the first pass.
    fn setting(&self) -> Option<report::Setting<'_>> {
        Some(report::Setting {
            checker: self.checker.as_ref()?.as_ref().ok(),
            not_checked: self.not_checked.as_deref(),
            inputs: &self.inputs,
        })
    }
}

impl Numerics {
    /// Begins with a pass; what there is to say if nothing of this model can be checked.
    fn begin(&self, module: &Module) -> Option<Finding> {
        let mut state = util::lock(&self.state);
        let state = &mut *state;
        let thread = thread::current().id();
        let mut finding = None;
        let known = state.chains.get(&thread);
        if known.is_none_or(|chain| chain.frames.is_empty() && !chain.seen.is_same(module)) {
            let make = || Checker::new(self.options.clone());
            let checker = state.checker.get_or_insert_with(make);
            let chain = Chain::new(checker, module);
            finding = chain.broken.as_ref().map(|reason| Finding {
                message: match reason.option {
                    None => format!(
                        "The model's results aren't checked: {}.",
                        bare(&reason.text)
                    ),
                    Some(_) => capitalized(&reason.text),
                },
                option: reason.option,
                help: Some(match checker {
                    Err(_) => {
                        "`ORT_DYLIB_PATH` or the option `library` names ONNX Runtime's library."
                    }
                    Ok(_) => "The options `inputs` and `dims` say with which inputs a model runs.",
                }),
                is_difference: false,
            });
            if state.chains.is_empty() {
                state.inputs.clone_from(&chain.samples);
                state.not_checked = chain.broken.as_ref().map(|reason| reason.text.clone());
            }
            state.chains.insert(thread, chain);
        }
        if let Some(chain) = state.chains.get_mut(&thread) {
            chain.begin(module);
        }
        finding
    }

    fn drop_frame(&self) {
        let mut state = util::lock(&self.state);
        if let Some(chain) = state.chains.get_mut(&thread::current().id()) {
            chain.frames.pop();
        }
    }
}

impl Chain {
    fn new(checker: &Result<Checker, Reason>, module: &Module) -> Chain {
        let base = checker.as_ref().map_err(Reason::clone);
        let base = base.and_then(|checker| checker.baseline(module));
        let mut chain = Chain {
            broken: None,
            samples: Vec::new(),
            original: None,
            last: None,
            unrunnable: None,
            pending: Vec::new(),
            seen: module.clone(),
            frames: Vec::new(),
        };
        match base {
            Err(reason) => chain.broken = Some(reason),
            Ok(base) => {
                chain.samples = base.samples;
                chain.original = Some(base.results.clone());
                chain.last = Some((module.clone(), base.results));
            }
        }
        chain
    }

    fn begin(&mut self, module: &Module) {
        if let Some(outer) = self.frames.last_mut() {
            outer.has_inner = true;
        }
        let results = self
            .last
            .as_ref()
            .filter(|(known, _)| known.is_same(module));
        self.frames.push(Frame {
            module: module.clone(),
            results: results.map(|(_, results)| results.clone()),
            has_inner: false,
        });
    }

    /// What the innermost pass did; `None` if those inside it did it.
    fn end(&mut self, checker: Option<&Checker>, module: &Module, name: &str) -> Option<Verdict> {
        let frame = self.frames.pop()?;
        if frame.has_inner && module.is_same(&self.seen) {
            return None;
        }
        self.seen = module.clone();
        if module.is_same(&frame.module) {
            return Some(Verdict::Unchanged);
        }
        let (None, Some(checker)) = (&self.broken, checker) else {
            let reason = self.broken.as_ref().map(|reason| reason.text.clone());
            let reason = reason.unwrap_or_default();
            return Some(Verdict::NotChecked { reason });
        };
        let before = match frame.results {
            Some(results) => Ok(results),
            None => self.results(checker, &frame.module),
        };
        // Where it can't run, what ran last stands for it.
        let base = before
            .clone()
            .ok()
            .or_else(|| Some(self.last.as_ref()?.1.clone()));
        let after = self.results(checker, module);
        let together = match (&before, &after) {
            (Err(_), Ok(_)) => std::mem::take(&mut self.pending),
            _ => Vec::new(),
        };
        let outcome = match (base, &after) {
            (Some(base), Ok(after)) => compare_results(&base, after),
            (Some(_), Err(NoResults::Failed(error))) if before.is_ok() => {
                Outcome::Different(Box::new(fails(error.clone())))
            }
            (_, Err(NoResults::Refused(reason) | NoResults::Failed(reason))) => {
                Outcome::NotChecked(reason.clone())
            }
            (None, Ok(_)) => Outcome::NotChecked("nothing ran before it".to_owned()),
        };
        if after.is_err() {
            self.pending.push(name.to_owned());
        }
        let total = match (&self.original, &after) {
            (Some(original), Ok(after)) => match compare_results(original, after) {
                Outcome::Same { worst } => Some(worst),
                Outcome::Different(difference) => Some(difference.ratio()),
                Outcome::NotChecked(_) => None,
            },
            _ => None,
        };
        Some(match outcome {
            Outcome::NotChecked(reason) => Verdict::NotChecked { reason },
            Outcome::Same { worst } => Verdict::Same {
                worst,
                total,
                together,
            },
            Outcome::Different(difference) => Verdict::Different {
                difference,
                total,
                together,
            },
        })
    }

    /// The results of a module, which is run if they aren't known.
    fn results(&mut self, checker: &Checker, module: &Module) -> Result<Results, NoResults> {
        match (&self.last, &self.unrunnable) {
            (Some((known, results)), _) if known.is_same(module) => return Ok(results.clone()),
            (_, Some((known, reason))) if known.is_same(module) => return Err(reason.clone()),
            _ => {}
        }
        let results = checker.run(module, &self.samples);
        match &results {
            Ok(results) => self.last = Some((module.clone(), results.clone())),
            Err(reason) => self.unrunnable = Some((module.clone(), reason.clone())),
        }
        results
    }
}

/// Without the full stop that it may end with.
fn bare(reason: &str) -> &str {
    reason.trim_end_matches('.')
}

impl Verdict {
    /// What has to be said at once. Why nothing is checked was said before.
    fn finding(&self, broken: bool) -> Option<Finding> {
        match self {
            Verdict::NotChecked { .. } if broken => None,
            Verdict::NotChecked { reason } => Some(Finding {
                message: format!(
                    "What the pass does to the model's results isn't checked: {}.",
                    bare(reason)
                ),
                help: None,
                is_difference: false,
                option: None,
            }),
            Verdict::Different {
                difference,
                together,
                ..
            } => {
                let who = match &together[..] {
                    [] => "The pass changes".to_owned(),
                    others => format!(
                        "The pass, or what wasn't checked before it ({}), changes",
                        others.join(", ")
                    ),
                };
                Some(Finding {
                    message: format!(
                        "{who} the model's results: {}.",
                        bare(&difference.to_string())
                    ),
                    help: Some("`--print-changed` shows what it changed."),
                    is_difference: true,
                    option: None,
                })
            }
            Verdict::Same { .. } | Verdict::Unchanged => None,
        }
    }
}
