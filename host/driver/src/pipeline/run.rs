//! `run`: a function from a request to a report.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use passdock_crash::{Panic, caught};
use passdock_ir::Module;
use passdock_onnx::OnnxError;

use super::remarks::{self, UsedOperators};
use super::report::{self, ModelReport, PipelineReport, Report};
use super::watch::Watch;
use super::{reproduce, types};
use crate::model_file::{Format, Output, StagedModel, WriteOptions, data_files_of};
use crate::prepare::{Prepared, Request, Watched, blame};
use passdock_core::{
    Diagnostic, Endings, ErrorKind, InstrumentReport, PassContext, PassError, Recorder, Registry,
    Severity, Verify, capitalized, check_interrupt, get_renderer, suggest, util, verify,
};

/// A run that came to its end, but for the output: that is written, and not in its place yet.
pub struct Finished {
    /// The report, in which the output is in its place.
    pub report: Report,
    /// The module that the passes made, or the error: of a pass that emitted errors, the report has those alone.
    pub made: Result<Module, PassError>,
    /// The output, if the request asks for one.
    pub output: Option<StagedModel>,
}

impl Finished {
    /// Puts the output in its place, unless the run has failed. If that can't be done, it has.
    pub fn place(mut self) -> (Report, Result<Module, PassError>) {
        if let Err(error) = place(&mut self.report, self.output.take()) {
            self.made = Err(error);
        }
        (self.report, self.made)
    }
}

/// Puts the output of a run in its place, unless the run has failed. If that can't be done, the report says so.
///
/// # Errors
/// What the system says.
pub fn place(report: &mut Report, output: Option<StagedModel>) -> Result<(), PassError> {
    let Some(output) = output.filter(|_| report.ok) else {
        return Ok(());
    };
    output.commit().inspect_err(|error| {
        report.ok = false;
        report.exit_status = error.exit_status();
        report.model.output = None;
        report.model.bytes_after = None;
        report.diagnostics.push(error.to_diagnostic());
    })
}

/// Runs a request from the pipeline's text to the written model. The plugins of the request's
/// directories come to the registry. Whatever goes wrong is in the
/// report, and then nothing was written; the error itself comes with it.
pub fn run(
    registry: &Registry,
    request: &Request,
    watch: Watch,
) -> (Report, Result<(), PassError>) {
    let (mut report, made) = run_to_module(registry, request, watch);
    let end = Instant::now();
    let made = made.map(drop);
    report.seconds += end.elapsed().as_secs_f64();
    (report, made)
}

/// As [`run`]; the module that the passes made comes with the report. What it takes to free the module isn't in the
/// report's seconds.
pub fn run_to_module(
    registry: &Registry,
    request: &Request,
    watch: Watch,
) -> (Report, Result<Module, PassError>) {
    run_staged(registry, request, None, watch).place()
}

/// As [`run_to_module`], on a module that is there already: the request's model is its name in the report.
pub fn run_on(
    registry: &Registry,
    request: &Request,
    module: Module,
    watch: Watch,
) -> (Report, Result<Module, PassError>) {
    run_staged(registry, request, Some(module), watch).place()
}

/// As [`run_to_module`], up to the moment in which the output is put in its place: for who has to do something else
/// first that may fail. `given` is a module that is there already.
pub fn run_staged(
    registry: &Registry,
    request: &Request,
    given: Option<Module>,
    watch: Watch,
) -> Finished {
    let start = Instant::now();
    let mut report = Report {
        pipeline: PipelineReport::asked(request),
        model: ModelReport {
            input: request.model.display().to_string(),
            ..ModelReport::default()
        },
        ..Report::default()
    };
    let diagnostics: Kept = Arc::new(Mutex::new(Some(Vec::new())));
    let recorder = Arc::new(Recorder::new(watch.on_pass));
    let emit = collecting(diagnostics.clone());
    let emitting = emit.clone();
    let watched = Watched {
        instruments: watch.instruments,
        sink: watch.sink,
        recorder: Some(recorder.clone()),
        on_diagnostic: Some(Box::new(move |said| emitting(said))),
        only_judges: false,
    };
    let reproduces = watch.reproduces.unwrap_or_else(|| Box::new(|_| true));
    let mut endings = None;
    let end = || {
        run_to_end(
            registry,
            request,
            given,
            watched,
            &*emit,
            &mut report,
            &recorder,
            watch.staging.as_deref(),
            &mut endings,
        )
    };
    let result = caught(end).unwrap_or_else(|panic| Err(failed(&panic)));
    report.passes = recorder.take();
    report.diagnostics = util::lock(&diagnostics).take().unwrap_or_default();
    let (made, output) = match result {
        Ok((after, output)) => {
            report.ok = true;
            (Ok(after), output)
        }
        Err(error) => {
            let mut error = blame::locate(error, request, registry);
            report.exit_status = error.exit_status();
            // The error says it again.
            let is_again = |said: &Diagnostic| said.code == "data" && said.message == error.message;
            report.diagnostics.retain(|said| !is_again(said));
            // What the pass said is there already.
            if error.kind != ErrorKind::Diagnostics || !error.notes.is_empty() {
                report.diagnostics.push(error.to_diagnostic());
            }
            let write = || {
                if reproduces(&error) {
                    reproduce::write(request, &error, &mut report);
                }
            };
            if let Err(panic) = caught(write) {
                report.diagnostics.push(failed(&panic).to_diagnostic());
            }
            // It has the module and the instruments, which nobody asks for any more; what fails of them is told, too.
            error.forget_site();
            let ended = endings.as_ref().and_then(Endings::take);
            let ended = ended.map(|ended| ended.to_diagnostic());
            report.diagnostics.extend(ended);
            (Err(error), None)
        }
    };
    report.seconds = start.elapsed().as_secs_f64();
    Finished {
        report,
        made,
        output,
    }
}

/// A panic of the host's own: a mistake in it, or a plugin wrote where it may only read and nobody
/// looked.
pub fn failed(panic: &Panic) -> PassError {
    let text = util::panic_text(&*panic.payload);
    let message = format!("passdock itself failed: {text}.");
    let mut error = PassError::new(ErrorKind::Panicked, message);
    error
        .notes
        .extend(panic.place.iter().map(|place| format!("at {place}")));
    error.help(
        "It is a mistake in passdock, or of a plugin that writes into what it may only read: \
         `--verify all` says which.",
    )
}

/// The diagnostics of a run, until its report has them.
type Kept = Arc<Mutex<Option<Vec<Diagnostic>>>>;

/// A handler that keeps diagnostics, notes and warnings once: a pass that runs again says again what it left alone, and
/// what is wrong with the model. What comes after the run, as its module or its error is freed, is shown.
fn collecting(kept: Kept) -> Arc<dyn Fn(Diagnostic) + Send + Sync> {
    let said: Mutex<HashSet<Diagnostic>> = Mutex::default();
    Arc::new(move |diagnostic| {
        let problem = match diagnostic.severity {
            Severity::Note => Some(diagnostic.clone()),
            Severity::Warning => Some(problem(&diagnostic)),
            _ => None,
        };
        if problem.is_some_and(|problem| !util::lock(&said).insert(problem)) {
            return;
        }
        let late = match &mut *util::lock(&kept) {
            Some(kept) => {
                kept.push(diagnostic);
                None
            }
            None => Some(diagnostic),
        };
        if let Some(late) = late {
            get_renderer()(&[late]);
        }
    })
}

/// What a warning is about: its code, its message and the value that it names. An op gets another number and other
/// types as passes run.
fn problem(warning: &Diagnostic) -> Diagnostic {
    let message = match warning.message.split_once(' ') {
        Some((op, rest))
            if Some(op) == warning.op.as_deref().and_then(|op| op.split(' ').next()) =>
        {
            rest
        }
        _ => &warning.message,
    };
    let mut labels = warning.labels.iter().map(|label| &label.snippet);
    let snippet = warning
        .snippet
        .as_ref()
        .or_else(|| labels.find_map(Option::as_ref));
    let named = snippet.map_or("", |snippet| &snippet.text);
    Diagnostic {
        function: warning.function.clone(),
        notes: vec![
            named
                .split_once(" = ")
                .map_or(named, |(name, _)| name)
                .to_owned(),
        ],
        ..Diagnostic::new(warning.severity, &warning.code, message)
    }
}

#[expect(clippy::too_many_arguments, reason = "what a run has to do with")]
fn run_to_end(
    registry: &Registry,
    request: &Request,
    given: Option<Module>,
    watched: Watched,
    emit: &dyn Fn(Diagnostic),
    report: &mut Report,
    recorder: &Recorder,
    staging: Option<&str>,
    told: &mut Option<Endings>,
) -> Result<(Module, Option<StagedModel>), PassError> {
    if given.is_none() {
        Format::of(&request.model)?;
    }
    request.output.as_ref().map(Format::of).transpose()?;
    let mut prepared = Prepared::new(registry, request, watched)?;
    let context = prepared.context.clone();
    let endings = told.insert(context.endings());
    report.pipeline = PipelineReport::prepared(&prepared);
    // Plugins that couldn't be read: unneeded, or the look-up had failed.
    for error in registry.unreadable() {
        let message = capitalized(&error.to_string());
        context.emit(Diagnostic::new(Severity::Warning, "plugin", message));
    }
    // Also what the model doesn't have to be read for: cycles, plugins that can't be loaded.
    prepared.load()?;
    if request.value_info {
        types::find(&context)?;
    }
    let notes = remarks::of_request(request, &prepared).into_iter();
    notes.for_each(|note| context.emit(note));
    let output = request.output.as_ref().map(match request.replaces_links {
        true => Output::replacing,
        false => Output::new,
    });
    let output = output.transpose()?;
    let is_given = given.is_some();
    let module = match given {
        Some(module) => module,
        None => request.read_model()?,
    };
    if let Some(output) = &output {
        output.check_source(&module)?;
    }
    prepared.bind(request, &module)?;
    // Data that can't be read is a warning: not every pipeline needs it. A pass that does fails of it later.
    let unreadable = passdock_onnx::check_external(&module);
    let unreadable = unreadable.into_iter().map(|data| {
        let message = match is_given {
            true => capitalized(&data.error.to_string()),
            false => format!("The model {}: {}", request.model.display(), data.error),
        };
        context.emit(Diagnostic::new(Severity::Warning, "data", message.clone()));
        (data.file, message)
    });
    let unreadable: Vec<(String, String)> = unreadable.collect();
    let defs = context.registry().op_defs();
    let remarks = [
        remarks::unknown_ops(&module, &defs),
        remarks::newer_opset(&module, &defs),
    ];
    let remarks = remarks.into_iter().flatten();
    remarks.for_each(|warning| context.emit(warning));
    let used = UsedOperators::of(&module);
    if let Some(warning) = remarks::recursion(request, &module) {
        context.emit(warning);
    }
    report.model.ops_before = module.op_count();
    report.model.ops_after = report.model.ops_before;
    report.model.bytes_before = bytes_of(&request.model, &module);
    let kinds = report::kinds(&module);
    let after = context
        .scope(|_| {
            let after = prepared.call(module);
            // Before the context is left: some instruments forget then.
            reported(&context, after, &mut report.instruments)
        })
        .map_err(|error| of_data(error, &unreadable))?;
    let mut after = match request.value_info && output.is_some() {
        true => types::inferred(&context, &after)?,
        false => after,
    };
    report.model.ops_after = after.op_count();
    report.model.kinds = report::compared(&kinds, &report::kinds(&after));
    // Who writes into IR that it may only read leaves no trace, and what it wrote may look like IR to who writes it.
    if context.verify() != Verify::Off
        && let Some(broken) = verify::broken(&after, &recorder.foreign())
    {
        return Err(broken);
    }
    if let Some(warning) = used.warning(&after, &context.registry().op_defs(), recorder) {
        context.emit(warning);
    }
    // The instruments end with it, and so does what passes kept; whatever comes of that, the output is as it was.
    drop((prepared, context));
    after.forget_kept();
    if let Some(error) = endings.take() {
        return Err(error);
    }
    let Some(output) = output else {
        return Ok((after, None));
    };
    let options = WriteOptions {
        drop_spans: request.drop_spans,
        external_data: request.external_data,
        value_info: request.value_info,
        ..WriteOptions::default()
    };
    check_interrupt()?;
    let write = || output.stage(&after, options, staging, &mut |said| emit(said));
    let staged = caught(write).unwrap_or_else(|panic| Err(failed(&panic)));
    let staged = staged.map_err(|error| {
        let broken = verify::broken(&after, &recorder.foreign());
        broken.unwrap_or_else(|| of_data(made_by(error, &after, recorder), &unreadable))
    })?;
    let path = request.output.as_ref();
    report.model.output = path.map(|path| path.display().to_string());
    report.model.bytes_after = staged.bytes();
    Ok((after, Some(staged)))
}

/// The model's own error, of a pass that failed because data can't be read, or of the output: the files of such data,
/// as they are quoted, and what was said of each.
fn of_data(error: PassError, unreadable: &[(String, String)]) -> PassError {
    let is_of = |(file, _): &&(String, String)| error.message.contains(file);
    let Some((_, message)) = unreadable.iter().find(is_of) else {
        return error;
    };
    let mut of_model = PassError::new(ErrorKind::Read, message.as_str());
    match (&error.pass, &error.source, error.kind) {
        (Some(pass), None, _) => of_model.notes.push(format!("`{pass}` needs it")),
        (None, _, ErrorKind::Read) => of_model.notes.push("the output needs it".to_owned()),
        // What a pass of Python raised comes out as itself.
        _ => return error,
    }
    of_model.notes.extend(error.notes.iter().cloned());
    of_model.help.clone_from(&error.help);
    of_model
}

/// The bytes of a model's file, and of those that its data is in.
fn bytes_of(model: &Path, module: &Module) -> Option<u64> {
    let files = data_files_of(module);
    let files = files.iter().map(PathBuf::as_path);
    let sizes = files.chain([model]).map(|file| {
        let found = file.metadata().ok()?;
        found.is_file().then_some(found.len())
    });
    sizes.sum()
}

/// Asks the instruments what they have to show. One that fails over it fails the run, if nothing
/// did before.
fn reported(
    context: &PassContext,
    mut result: Result<Module, PassError>,
    shown: &mut Vec<InstrumentReport>,
) -> Result<Module, PassError> {
    for report in context.instrument_reports() {
        match (report, &mut result) {
            (Ok(report), _) => shown.push(report),
            (Err(error), Ok(_)) => result = Err(error),
            (Err(more), Err(error)) => error.notes.push(more.message.clone()),
        }
    }
    result
}

/// The function that can't be written: its name begins the error's path, but for the main one's.
fn function_of(error: &OnnxError, module: &Module) -> Option<String> {
    let names = module.functions().map(|f| f.text(f.name()));
    let Some(path) = error.path.strip_prefix('@') else {
        // What is in it is an op, or a value with a name or without.
        let is_of_part = ["op", "%", "the value "]
            .iter()
            .any(|part| error.path.starts_with(part));
        return module
            .function_named("main")
            .filter(|_| is_of_part)
            .map(|_| "main".to_owned());
    };
    let is_within = |name: &&str| {
        let rest = path.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    names
        .filter(is_within)
        .max_by_key(|name| name.len())
        .map(str::to_owned)
}

/// Names the passes that changed the function that the output's format doesn't have, or the model if it
/// is about no function. A disk that is full, and data that can't be read, are none of theirs.
fn made_by(error: PassError, after: &Module, recorder: &Recorder) -> PassError {
    let source = error.source.as_ref();
    if error.kind == ErrorKind::Read || source.is_none_or(|source| source.is::<std::io::Error>()) {
        return error;
    }
    let refused = source.and_then(|source| source.downcast_ref::<OnnxError>());
    if let Some(function) = refused.and_then(|refused| function_of(refused, after)) {
        let passes = recorder.changing_function(&function);
        return error.note(match passes.split_last() {
            None => format!("no pass changed @{function} since it was read"),
            Some((last, [])) => format!("the pass that changed @{function}: `{last}`"),
            Some((last, before)) => format!(
                "the last pass that changed @{function}: `{last}`; before it: {}",
                suggest::listed(before.iter().map(String::as_str))
            ),
        });
    }
    let passes = recorder.changing();
    match passes.is_empty() {
        true => error,
        false => {
            let names = suggest::listed(passes.iter().map(String::as_str));
            error.note(format!(
                "passes that changed the model since it was read: {names}"
            ))
        }
    }
}
