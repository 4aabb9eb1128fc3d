//! The instrument: what passes meet, and what is said about them at once.
//!
//! The module after a pass is the module before the next, so its results are kept. A pass that
//! changed nothing isn't checked, nor is one that others ran inside and that added nothing to what
//! they made, such as a Sequential.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use passdock_ir::Module;

use super::chain::Chain;
use super::check::{Checker, Reason};
use super::compare::Compared;
use super::options::{CheckOptions, Fields};
use super::report::{self, Basis, Row};
use super::samples::Sample;
use passdock_core::instrument::wrong;
use passdock_core::util;
use passdock_core::{
    Diagnostic, ErrorKind, Frame, InstrumentResult, InstrumentSpec, PassCall, PassContext,
    PassError, PassInstrument, Severity, capitalized,
};

/// The instrument `numerics`, for a registry. Nothing is looked for or loaded before the first pass.
pub fn instrument() -> InstrumentSpec {
    InstrumentSpec::judging(
        "numerics",
        "Runs the model in ONNX Runtime before and after each pass, and names the first pass that \
         changes the results.",
        |fields: Fields, setup| {
            Ok(Arc::new(Numerics {
                options: Arc::new(CheckOptions::new(fields, setup)?),
                state: Mutex::default(),
            }))
        },
    )
    .paths(["library", "inputs"])
}

/// Runs the model in ONNX Runtime around each pass and compares the results.
struct Numerics {
    options: Arc<CheckOptions>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The checker, made when the first pass begins; otherwise why there is none.
    checker: Option<Result<Checker, Reason>>,
    chains: HashMap<ThreadId, Chain>,
    rows: Vec<Row>,
    /// The first model's inputs, and why it isn't checked: for the report.
    inputs: Vec<Sample>,
    not_checked: Option<String>,
}

/// A sentence about a pass.
#[derive(Default)]
struct Finding {
    message: String,
    help: Option<&'static str>,
    is_difference: bool,
    /// The option that is wrong, if one is: the user's mistake, whatever `required` says.
    option: Option<&'static str>,
}

impl Numerics {
    /// Says what was found: as an error if the options ask for one.
    fn say(&self, finding: Finding, pass: Option<&str>) -> InstrumentResult {
        if let Some(option) = finding.option {
            let error = wrong("numerics", option, finding.message);
            return Err(PassError::from(error).into());
        }
        let (fails, kind) = match finding.is_difference {
            true => (!self.options.warns, ErrorKind::Numerics),
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
            if let Some(plugin) = context.registry().plugin_of(pass) {
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

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        *util::lock(&self.state) = State::default();
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
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
            let Some(row) = chain.end(checker.as_ref().ok(), module, &info.name) else {
                return Ok(());
            };
            let finding = row.finding(chain.broken.is_some());
            state.rows.push(row);
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
        Some(report::text(&state.basis()?, &state.rows))
    }

    fn report_data(&self) -> Option<serde_json::Value> {
        let state = util::lock(&self.state);
        Some(report::data(&state.basis()?, &state.rows))
    }
}

impl State {
    /// `None` before the first pass.
    fn basis(&self) -> Option<Basis<'_>> {
        Some(Basis {
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
        if known.is_none_or(|chain| chain.is_new(module)) {
            let make = || Checker::new(self.options.clone());
            let checker = state.checker.get_or_insert_with(make);
            let chain = Chain::new(checker, module);
            finding = chain.broken.as_ref().map(|reason| Finding {
                message: match (reason.option, bare(&reason.text)) {
                    (None, text) => format!("The model's results aren't checked: {text}."),
                    (Some(_), _) => capitalized(&reason.text),
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
            chain.drop_frame();
        }
    }
}

/// A reason without the full stop that it may end with.
fn bare(reason: &str) -> &str {
    reason.trim_end_matches('.')
}

impl Row {
    /// The finding to tell of at once. Why nothing is checked was said before.
    fn finding(&self, broken: bool) -> Option<Finding> {
        match self.compared.as_ref()? {
            Compared::Same { .. } => None,
            Compared::NotChecked(_) if broken => None,
            Compared::NotChecked(reason) => Some(Finding {
                message: format!(
                    "What the pass does to the model's results isn't checked: {}.",
                    bare(reason)
                ),
                ..Finding::default()
            }),
            Compared::Different(difference) => {
                let who = match &self.together[..] {
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
                    ..Finding::default()
                })
            }
        }
    }
}
