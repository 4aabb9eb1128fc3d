//! The instrument `numerics`: compares the module after each pass with the one before it.
//!
//! The module after a pass is the module before the next, so its results are reused. A pass that changed nothing isn't
//! compared, nor is a pass like a Sequential that only ran others. If ONNX Runtime rejects a module, the next accepted
//! one is compared with the last accepted one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use passdock_abi::DType;
use passdock_core::instrument::{Entries, option_error};
use passdock_core::sdk::Table;
use passdock_core::table;
use passdock_core::util;
use passdock_core::{
    Diagnostic, ErrorKind, Frame, InstrumentResult, InstrumentSetup, InstrumentSpec, PassCall,
    PassContext, PassError, PassInstrument, Severity,
};
use passdock_ir::Module;
use serde_json::{Value, json};

use super::compare::{CompareOptions, Reason, RunFailure};
use super::interface;
use super::options;
use super::ort::{self, ModelOutput, ModelPorts, Runtime};
use super::outputs;
use super::precision::introduced_dtype;
use super::row::{Row, RowResult};
use super::samples::{self, Sample};
use super::sessions::{Sessions, run_all};
use super::sizes;

const NAME: &str = "numerics";

passdock_core::sdk::options! {
    /// The instrument's fields, as a pipeline sets them.
    struct Fields {
        /// The library of ONNX Runtime. By default, `ORT_DYLIB_PATH` or the standard locations.
        library: String = "",
        /// Whether unchecked results are an error. They always are if the environment variable `CI` is true.
        required: bool = false,
        /// Sample inputs: a file `input_0.pb`, `input_0.npy` or `SAMPLE.npz`, a directory of such files, or a directory
        /// of such directories. By default, inputs are randomly generated.
        inputs: String = "",
        /// Sizes for unknown dims of the model's inputs: `{ batch = 2 }`.
        dims: Table<i64> = [],
        /// The number of runs with generated inputs.
        #[range(1..=64)]
        runs: i64 = 2,
        /// The relative tolerance. If negative, that of the element type.
        rtol: f64 = -1.0,
        /// The absolute tolerance. If negative, it depends on the element type and the largest element.
        atol: f64 = -1.0,
        /// Whether a difference is an error, or a warning after which the run continues.
        #[choices("error", "warn")]
        on_difference: String = "error",
    }
}

/// Returns the instrument `numerics`, for a registry. ONNX Runtime is loaded before the first pass.
pub fn instrument() -> InstrumentSpec {
    InstrumentSpec::new(
        NAME,
        "Runs the model in ONNX Runtime before and after each pass, and names the first pass that \
         changes the results.",
        |fields: Fields, setup| Ok(Arc::new(Numerics::new(fields, setup)?)),
    )
    .paths(["library", "inputs"])
}

/// Runs the model in ONNX Runtime around each pass and compares the results.
struct Numerics {
    options: CompareOptions,
    /// Whether the field `required` is set.
    required: bool,
    /// Whether a difference is a warning.
    warns: bool,
    state: Mutex<State>,
    entries: Entries,
}

#[derive(Default)]
struct State {
    /// ONNX Runtime, or the reason why it can't be loaded. Set when the first pass begins.
    runtime: Option<Result<Arc<Runtime>, Reason>>,
    chains: HashMap<ThreadId, Chain>,
    rows: Vec<Row>,
    /// The samples of the first model, and the reason if it isn't checked.
    samples: Vec<Sample>,
    not_checked: Option<String>,
}

/// The versions of one model on one thread.
struct Chain {
    /// The runner, or the reason why no version is checked.
    runner: Result<Runner, Reason>,
    first: Module,
    /// The module when a pass last began or ended.
    current: Module,
    /// The running passes, innermost last.
    running: Vec<String>,
    /// Whether the innermost pass ran no other pass.
    is_leaf: bool,
    /// The passes since the last version that ran in ONNX Runtime.
    pending: Vec<String>,
}

/// A runner of the versions of a model, with the same samples.
struct Runner {
    sessions: Sessions,
    samples: Vec<Sample>,
    ports: ModelPorts,
    original: Vec<Vec<ModelOutput>>,
    /// The results of the last version that ran in ONNX Runtime.
    last: Vec<Vec<ModelOutput>>,
}

impl Runner {
    fn new(
        runtime: Arc<Runtime>,
        module: &Module,
        options: &CompareOptions,
    ) -> Result<Runner, Reason> {
        let sessions = Sessions::new(runtime)?;
        let (ports, samples) = {
            let session = sessions.open(module)?;
            (
                session.ports.clone(),
                sizes::samples(&session, None, options)?,
            )
        };
        Ok(Runner {
            sessions,
            samples: samples.samples,
            ports,
            original: samples.results.clone(),
            last: samples.results,
        })
    }

    /// Runs a version on all samples.
    fn run(&self, module: &Module) -> Result<Vec<Vec<ModelOutput>>, RunFailure> {
        let session = self.sessions.open(module).map_err(RunFailure::rejected)?;
        let differences = interface::compare(&self.ports, &session.ports);
        let mut differences = differences.into_iter();
        match differences.find(|difference| matches!(difference.property, "name" | "order")) {
            Some(difference) => Err(RunFailure::rejected(difference.to_string())),
            None => run_all(&session, &self.samples).map_err(RunFailure::failed),
        }
    }
}

impl Chain {
    fn begin(&mut self, module: &Module, pass: &str) {
        if !self.current.is_same(module) {
            // The enclosing pass changed the module before this pass.
            self.pending.extend(self.running.last().cloned());
            self.current = module.clone();
        }
        self.running.push(pass.to_owned());
        self.is_leaf = true;
    }

    /// Ends the innermost pass. Returns `None` if only passes inside it changed something.
    fn end(&mut self, module: &Module, options: &CompareOptions) -> Option<Row> {
        let pass = self.running.pop()?;
        let is_leaf = std::mem::take(&mut self.is_leaf);
        let is_same = self.current.is_same(module);
        if is_same && !is_leaf {
            return None;
        }
        self.current = module.clone();
        let mut row = Row {
            pass,
            ..Row::default()
        };
        if !is_same {
            self.check(module, options, &mut row);
        }
        Some(row)
    }

    /// Compares a version with the last one that ran.
    fn check(&mut self, module: &Module, options: &CompareOptions, row: &mut Row) {
        let runner = match &mut self.runner {
            Ok(runner) => runner,
            Err(reason) => return row.set(RowResult::NotChecked, reason.text.clone()),
        };
        let after = match runner.run(module) {
            Ok(after) => after,
            Err(failure) => {
                if failure.loaded && self.pending.is_empty() {
                    row.error = Some(f64::INFINITY);
                    row.set(RowResult::Different, failure.difference());
                } else {
                    row.set(RowResult::NotChecked, failure.message);
                }
                self.pending.push(row.pass.clone());
                return;
            }
        };
        row.merged = std::mem::take(&mut self.pending);
        row.compute_dtype = introduced_dtype(&self.first, module);
        let overrides = options.overrides(row.compute_dtype);
        let opaque = |name: &str| {
            let mut outputs = after.iter().flatten();
            outputs.find(|output| output.name == name)?.value.opaque()
        };
        let compare = |base: &[Vec<ModelOutput>]| {
            let mut outputs = outputs::compare_results(base, &after, overrides);
            outputs.retain(|output| opaque(&output.name).is_none());
            let ratios = outputs.iter().map(|output| output.tolerance_ratio);
            (outputs::worst(&outputs), ratios.fold(0.0, f64::max))
        };
        let (difference, error) = compare(&runner.last);
        let total = compare(&runner.original).1;
        let mut names = after.iter().flatten().map(|output| &*output.name);
        let first_opaque = names.find_map(|name| Some((name, opaque(name)?)));
        row.result = RowResult::Same;
        match (difference, first_opaque) {
            (Some(difference), _) => row.set(RowResult::Different, difference),
            (None, None) => {}
            (None, Some((name, kind))) => row.set(
                RowResult::NotChecked,
                format!("output `{name}` is {kind}, which cannot be compared"),
            ),
        }
        if row.result != RowResult::NotChecked {
            (row.error, row.total) = (Some(error), Some(total));
        }
        runner.last = after;
    }
}

impl Numerics {
    fn new(fields: Fields, setup: &InstrumentSetup<'_>) -> Result<Numerics, PassError> {
        let paths = [&*fields.library, &fields.inputs];
        let tolerances = [fields.rtol, fields.atol];
        Ok(Numerics {
            options: CompareOptions {
                runs: usize::try_from(fields.runs).unwrap_or(1),
                sizes: 1,
                ..options::common(NAME, setup, paths, fields.dims, tolerances)?
            },
            required: fields.required,
            warns: fields.on_difference == "warn",
            state: Mutex::default(),
            entries: Entries::default(),
        })
    }

    /// Begins a pass. Returns an error if no version of this model can be checked.
    fn begin(&self, call: &PassCall<'_>) -> Option<PassError> {
        let mut state = util::lock(&self.state);
        let state = &mut *state;
        let (module, thread) = (call.module, thread::current().id());
        let mut not_checked = None;
        // If the module isn't the current one and no pass is running, it is another model.
        let is_new = |chain: &Chain| chain.running.is_empty() && !chain.current.is_same(module);
        if state.chains.get(&thread).is_none_or(is_new) {
            let library = self.options.library.as_deref();
            let load = || {
                let option = library.map(|_| "library");
                let runtime = ort::runtime(library).map(Arc::new);
                runtime.map_err(|text| Reason { text, option })
            };
            let runtime = state.runtime.get_or_insert_with(load);
            let runner = runtime
                .clone()
                .and_then(|runtime| Runner::new(runtime, module, &self.options));
            let help = match runtime {
                Err(_) => "set `ORT_DYLIB_PATH` or the option `library` to ONNX Runtime's library",
                Ok(_) => "set the options `inputs` and `dims` to inputs that the model runs with",
            };
            not_checked = runner.as_ref().err().map(|reason| match reason.option {
                Some(option) => option_error(NAME, option, reason.text.as_str()).into(),
                None => {
                    let message = format!("the model's results are not checked: {}", reason.text);
                    PassError::new(ErrorKind::NotChecked, message).help(help)
                }
            });
            if state.chains.is_empty() {
                match &runner {
                    Ok(runner) => state.samples.clone_from(&runner.samples),
                    Err(reason) => state.not_checked = Some(reason.text.clone()),
                }
            }
            let chain = Chain {
                runner,
                first: module.clone(),
                current: module.clone(),
                running: Vec::new(),
                is_leaf: false,
                pending: Vec::new(),
            };
            state.chains.insert(thread, chain);
        }
        if let Some(chain) = state.chains.get_mut(&thread) {
            chain.begin(module, &call.info.name);
        }
        not_checked
    }

    /// Ends a pass that failed, or that doesn't run.
    fn end_failed(&self) {
        let mut state = util::lock(&self.state);
        if let Some(chain) = state.chains.get_mut(&thread::current().id()) {
            chain.running.pop();
            chain.is_leaf = false;
        }
    }

    /// Reports a difference or an unchecked pass: as an error if the options say so, otherwise as a warning. Errors of
    /// other kinds are always returned.
    fn report(&self, error: PassError, call: Option<&PassCall<'_>>) -> InstrumentResult {
        let ci = std::env::var("CI").unwrap_or_default().to_ascii_lowercase();
        let is_ci = matches!(&*ci, "1" | "true" | "yes" | "on");
        let cause = match error.kind {
            ErrorKind::Numerics if self.warns => None,
            ErrorKind::NotChecked if self.required => Some("`required`"),
            ErrorKind::NotChecked if is_ci => Some("the environment variable `CI`"),
            ErrorKind::NotChecked => None,
            _ => return Err(error.into()),
        };
        if let Some(cause) = cause {
            let note = format!("unchecked results are errors because {cause} is set");
            return Err(error.note(note).into());
        }
        let error = match call {
            Some(call) => error.in_pass(&call.info.name, call.provider),
            None => error,
        };
        PassContext::current().emit(Diagnostic {
            severity: Severity::Warning,
            ..error.to_diagnostic()
        });
        Ok(())
    }
}

impl PassInstrument for Numerics {
    fn name(&self) -> &str {
        NAME
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter() {
            *util::lock(&self.state) = State::default();
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.exit() {
            *util::lock(&self.state) = State::default();
        }
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let Some(error) = self.begin(call) else {
            return Ok(());
        };
        // With an error, the pass doesn't run.
        self.report(error, None).inspect_err(|_| self.end_failed())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let failure = {
            let mut state = util::lock(&self.state);
            let State { chains, rows, .. } = &mut *state;
            let chain = chains.get_mut(&thread::current().id());
            let row = chain.and_then(|chain| {
                let row = chain.end(call.module, &self.options)?;
                Some((chain.runner.is_ok(), row))
            });
            row.and_then(|(is_checked, row)| {
                let failure = row.failure().filter(|_| is_checked);
                rows.push(row);
                failure
            })
        };
        failure.map_or(Ok(()), |failure| self.report(failure, Some(call)))
    }

    fn pass_failed(&self, _: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.end_failed();
        Ok(())
    }

    fn report(&self) -> Option<String> {
        util::lock(&self.state).text()
    }

    fn report_data(&self) -> Option<Value> {
        util::lock(&self.state).data()
    }
}

impl State {
    /// Renders a table with the columns: pass, result, largest error relative to the tolerance, and the same since the
    /// start. Returns `None` before the first pass.
    fn text(&self) -> Option<String> {
        let text = match (&self.not_checked, self.runtime.as_ref()?) {
            (Some(reason), _) => format!("not checked: {reason}\n"),
            (None, Err(_)) => String::new(),
            (None, Ok(runtime)) => {
                let count = self.samples.len();
                let s = if count == 1 { "" } else { "s" };
                let first = self.samples.first().into_iter().flatten();
                let types = first.map(|(name, tensor)| format!("{name}: {}", tensor.ty()));
                let types = types.collect::<Vec<_>>().join(", ");
                format!(
                    "ONNX Runtime {}, {count} sample{s} ({types})\n",
                    runtime.version
                )
            }
        };
        let columns = ["pass", "results", ">error/allowed", ">since the start", ""];
        let number = |error: Option<f64>| error.map_or(String::new(), |e| format!("{e:.4}"));
        let rows = self.rows.iter().map(|row| {
            // If nothing is checked, the reason is printed above the table.
            let reason = row.note().filter(|_| self.not_checked.is_none());
            let (error, total) = (number(row.error), number(row.total));
            let (pass, result) = (row.pass.clone(), row.result.name().to_owned());
            [pass, result, error, total, reason.unwrap_or_default()]
        });
        Some(text + &table::TextTable::from_rows(columns, rows).render())
    }

    /// Returns the table and the path of the library as an object.
    fn data(&self) -> Option<Value> {
        let runtime = self.runtime.as_ref()?.as_ref().ok();
        let row = |row: &Row| {
            json!({
                "pass": row.pass,
                "result": row.result.name().to_ascii_lowercase(),
                "error": row.error,
                "total": row.total,
                "compute_dtype": row.compute_dtype.and_then(DType::name),
                "reason": row.note(),
            })
        };
        Some(json!({
            "onnxruntime": runtime.map(|runtime| json!({
                "library": runtime.path,
                "version": runtime.version,
            })),
            "not_checked": self.not_checked,
            "samples": self.samples.iter().map(samples::types).collect::<Vec<_>>(),
            "passes": self.rows.iter().map(row).collect::<Vec<_>>(),
        }))
    }
}
