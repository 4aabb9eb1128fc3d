//! `run`: executes a request and returns a report.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use passdock_crash::{Panic, caught};
use passdock_ir::Module;

use super::diagnostics::DiagnosticLog;
use super::output_error::{UnreadableData, blame_data, blame_passes};
use super::remarks::{self, UsedOperators};
use super::report::{self, ModelReport, PipelineReport, Report};
use super::watch::{Reproduces, Watch};
use super::{reproduce, types};
use crate::model_file::{Format, Output, StagedModel, referenced_data_files};
use crate::prepare::{Prepared, Request, Watched, blame};
use crate::trust;
use passdock_core::{
    Diagnostic, Endings, ErrorKind, PassContext, PassError, Recorder, Registry, Severity, Verify,
    check_interrupt, util, verify,
};

/// A completed run, whose output is written but not yet committed.
pub struct Finished {
    /// The report, which assumes that the output gets committed.
    pub report: Report,
    /// The resulting module, or the error. Errors that a pass emitted as diagnostics are only in the report.
    pub result: Result<Module, PassError>,
    /// The staged output, if the request has one.
    pub output: Option<StagedModel>,
}

impl Finished {
    /// Commits the output, unless the run failed. If the commit fails, the run counts as failed.
    pub fn commit(mut self) -> (Report, Result<Module, PassError>) {
        if let Err(error) = commit(&mut self.report, self.output.take()) {
            self.result = Err(error);
        }
        (self.report, self.result)
    }
}

/// Commits the output of a run, unless the run failed. If that fails, the error is added to the report.
///
/// # Errors
/// The system's error.
pub fn commit(report: &mut Report, output: Option<StagedModel>) -> Result<(), PassError> {
    let Some(output) = output.filter(|_| report.ok) else {
        return Ok(());
    };
    let committed = output.commit(&mut |note| report.diagnostics.push(note));
    committed.inspect_err(|error| {
        report.add_error(error);
        report.model.output = None;
        report.model.bytes_after = None;
    })
}

/// Runs a request, from parsing the pipeline to writing the model. Plugins in the request's directories are added to
/// the registry. The report contains all errors. If there is one, nothing was written, and the error is also returned.
pub fn run(
    registry: &Registry,
    request: &Request,
    watch: Watch,
) -> (Report, Result<(), PassError>) {
    let (mut report, result) = run_staged(registry, request, None, watch).commit();
    let end = Instant::now();
    let result = result.map(drop);
    report.seconds += end.elapsed().as_secs_f64();
    (report, result)
}

/// Runs a request like [`run`], but doesn't commit the output, for callers that must do something fallible first. If
/// `given` is a module, it is the input, and the request's model is only its name in the report. The report's time
/// doesn't include dropping the module.
pub fn run_staged(
    registry: &Registry,
    request: &Request,
    given: Option<Module>,
    watch: Watch,
) -> Finished {
    let start = Instant::now();
    let diagnostics = Arc::new(DiagnosticLog::default());
    let recorder = Arc::new(Recorder::new(watch.on_pass));
    let handler = diagnostics.clone();
    let watched = Watched {
        instruments: watch.instruments,
        sink: watch.sink,
        recorder: Some(recorder.clone()),
        on_diagnostic: Some(Box::new(move |diagnostic| handler.add(diagnostic))),
        only_checks: false,
    };
    let mut run = Run {
        registry,
        request,
        staging: watch.staging,
        diagnostics,
        recorder,
        report: Report {
            pipeline: PipelineReport::requested(request),
            model: ModelReport {
                input: request.model.display().to_string(),
                ..ModelReport::default()
            },
            ..Report::default()
        },
        unreadable: Vec::new(),
        endings: None,
    };
    let result = caught(|| run.optimize(given, watched));
    let result = result.unwrap_or_else(|panic| Err(failed(&panic)));
    let mut finished = run.finish(result, watch.reproduces);
    finished.report.seconds = start.elapsed().as_secs_f64();
    finished
}

/// The state of a run.
struct Run<'r> {
    registry: &'r Registry,
    request: &'r Request,
    /// The staging directory, if another process commits the output.
    staging: Option<PathBuf>,
    diagnostics: Arc<DiagnosticLog>,
    recorder: Arc<Recorder>,
    report: Report,
    /// The model's unreadable data.
    unreadable: Vec<UnreadableData>,
    /// Failures while plugins' data is dropped.
    endings: Option<Endings>,
}

impl Run<'_> {
    /// Runs the request, from parsing the pipeline to writing the output to its staging directory.
    fn optimize(
        &mut self,
        given: Option<Module>,
        watched: Watched,
    ) -> Result<(Module, Option<StagedModel>), PassError> {
        self.check_formats(given.is_some())?;
        let is_given = given.is_some();
        // Files that plugins can't open in a sandbox are opened before the first one is loaded.
        let module = given.map_or_else(|| self.request.read_model(), Ok);
        let open = |path: &PathBuf| Output::at(path, self.request.replaces_links);
        let output = self.request.output.as_ref().map(open).transpose();
        let checked = match (&output, &module) {
            (Ok(Some(output)), Ok(module)) => output.check_source(module),
            _ => Ok(()),
        };
        reproduce::declare(self.request);
        if let Some(staging) = &self.staging {
            passdock_sandbox::allow_write(staging);
        }
        let mut prepared = self.prepare(watched)?;
        let (output, module) = (output?, module?);
        checked?;
        prepared.bind(self.request, &module)?;
        self.check_data(&module, is_given);
        self.check_operators(&module, &prepared.context);
        let used = UsedOperators::new(&module);
        let after = self.call_passes(&prepared, module)?;
        self.check_result(&after, &used, &prepared.context)?;
        let after = self.end(prepared, after)?;
        let staged = output
            .map(|output| self.write(&after, output))
            .transpose()?;
        Ok((after, staged))
    }

    /// Rejects files of unknown formats.
    fn check_formats(&self, is_given: bool) -> Result<(), PassError> {
        let model = Some(&self.request.model).filter(|_| !is_given);
        let mut paths = model.into_iter().chain(&self.request.output);
        paths.try_for_each(|path| Format::from_path(path).map(drop))
    }

    /// Resolves all names and loads the plugins, which doesn't require the model.
    fn prepare(&mut self, watched: Watched) -> Result<Prepared, PassError> {
        let mut prepared = trust::prepared(self.registry, self.request, watched)?;
        self.endings = Some(prepared.context.endings());
        self.report.pipeline = PipelineReport::prepared(&prepared);
        // Unreadable plugins are only a warning. If one were needed, resolving would have failed.
        for error in self.registry.unreadable() {
            self.warn("plugin", error.to_string());
        }
        prepared.load()?;
        if self.request.write.value_info {
            types::find(&prepared.context)?;
        }
        self.emit(remarks::for_request(self.request, &prepared));
        Ok(prepared)
    }

    /// Warns about unreadable data. Not every pipeline reads it; a pass that does fails later.
    fn check_data(&mut self, module: &Module, is_given: bool) {
        for data in passdock_onnx::check_external(module) {
            let message = match is_given {
                true => data.error.to_string(),
                false => format!("model `{}`: {}", self.request.model.display(), data.error),
            };
            self.warn("data", message.clone());
            let file = data.file;
            self.unreadable.push(UnreadableData { file, message });
        }
    }

    /// Warns about undefined operators, and counts the ops.
    fn check_operators(&mut self, module: &Module, context: &PassContext) {
        let defs = context.registry().op_defs();
        self.emit(remarks::unknown_ops(module, &defs));
        self.emit(remarks::newer_opset(module, &defs));
        self.emit(remarks::recursion(self.request, module));
        let model = &mut self.report.model;
        model.ops_before = module.op_count();
        model.ops_after = model.ops_before;
        model.bytes_before = bytes_of(&self.request.model, module);
    }

    /// Runs the passes, and collects the reports of instruments. A failed report fails the run, unless the run has
    /// already failed.
    fn call_passes(&mut self, prepared: &Prepared, module: Module) -> Result<Module, PassError> {
        let context = &prepared.context;
        let kinds = report::counted_kinds(&module);
        let called = context.scope(|_| {
            let mut result = prepared.call(module);
            // Before the context exits, because some instruments discard their data then.
            for report in context.instrument_reports() {
                match (report, &mut result) {
                    (Ok(report), _) => self.report.instruments.push(report),
                    (Err(error), Ok(_)) => result = Err(error),
                    (Err(more), Err(error)) => error.notes.push(more.message.clone()),
                }
            }
            result
        });
        let mut after = called.map_err(|error| blame_data(error, &self.unreadable))?;
        if self.request.write.value_info && self.request.output.is_some() {
            after = types::inferred(context, &after)?;
        }
        self.report.model.ops_after = after.op_count();
        self.report.model.constant_nodes = after.constant_node_count();
        self.report.model.kinds = report::compared(&kinds, &report::counted_kinds(&after));
        Ok(after)
    }

    /// Rejects IR that a pass corrupted by writing to it directly, which the host can't detect earlier. Warns about ops
    /// that match no definition.
    fn check_result(
        &self,
        after: &Module,
        used: &UsedOperators,
        context: &PassContext,
    ) -> Result<(), PassError> {
        if context.verify() != Verify::Off {
            verify::broken(after, &self.recorder.foreign()).map_or(Ok(()), Err)?;
        }
        self.emit(used.warning(after, &context.registry().op_defs(), &self.recorder));
        Ok(())
    }

    /// Drops the instruments and the data of passes. If that fails, the output isn't committed.
    fn end(&self, prepared: Prepared, mut after: Module) -> Result<Module, PassError> {
        drop(prepared);
        after.clear_cache();
        let failure = self.endings.as_ref().and_then(Endings::take);
        failure.map_or(Ok(after), Err)
    }

    /// Writes the output to its staging directory.
    fn write(&mut self, after: &Module, output: Output) -> Result<StagedModel, PassError> {
        let request = self.request;
        check_interrupt()?;
        let staging = self.staging.as_deref();
        let mut emit = |diagnostic| self.diagnostics.add(diagnostic);
        let staged = caught(|| output.stage(after, request.write, staging, &mut emit))
            .unwrap_or_else(|panic| Err(failed(&panic)))
            .map_err(|error| {
                let broken = verify::broken(after, &self.recorder.foreign());
                let blamed =
                    || blame_data(blame_passes(error, after, &self.recorder), &self.unreadable);
                broken.unwrap_or_else(blamed)
            })?;
        let path = request.output.as_ref();
        self.report.model.output = path.map(|path| path.display().to_string());
        self.report.model.bytes_after = staged.bytes();
        Ok(staged)
    }

    /// Completes the report. If the run failed, writes a reproducer.
    fn finish(
        mut self,
        result: Result<(Module, Option<StagedModel>), PassError>,
        reproduces: Option<Box<Reproduces>>,
    ) -> Finished {
        self.report.passes = self.recorder.take();
        self.report.diagnostics = self.diagnostics.take();
        self.report.ok = result.is_ok();
        let (result, output) = match result {
            Ok((after, output)) => (Ok(after), output),
            Err(error) => (Err(self.fail(error, reproduces)), None),
        };
        let report = self.report;
        Finished {
            report,
            result,
            output,
        }
    }

    /// Adds an error to the report, and writes its reproducer.
    fn fail(&mut self, error: PassError, reproduces: Option<Box<Reproduces>>) -> PassError {
        let mut error = blame::locate(error, self.request, self.registry);
        let report = &mut self.report;
        report.exit_status = error.exit_status();
        // The error has the same message.
        report
            .diagnostics
            .retain(|other| other.code != "data" || other.message != error.message);
        // The report already has the diagnostics of the pass.
        if error.kind != ErrorKind::Diagnostics || !error.notes.is_empty() {
            report.diagnostics.push(error.to_diagnostic());
        }
        let write = || {
            if reproduces.is_none_or(|reproduces| reproduces(&error)) {
                reproduce::write(self.request, &error, report);
            }
        };
        if let Err(panic) = caught(write) {
            self.report.diagnostics.push(failed(&panic).to_diagnostic());
        }
        // The site holds the module and the instruments. Dropping it may report further failures.
        error.forget_site();
        let ended = self.endings.as_ref().and_then(Endings::take);
        let ended = ended.map(|ended| ended.to_diagnostic());
        self.report.diagnostics.extend(ended);
        error
    }

    fn emit(&self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        let diagnostics = diagnostics.into_iter();
        diagnostics.for_each(|diagnostic| self.diagnostics.add(diagnostic));
    }

    fn warn(&self, code: &str, message: String) {
        self.emit([Diagnostic::new(Severity::Warning, code, message)]);
    }
}

/// Returns the error for a panic of the host. The cause is a bug in the host, or a plugin that wrote to read-only
/// memory without verification.
pub fn failed(panic: &Panic) -> PassError {
    let text = util::panic_text(&*panic.payload);
    let message = format!("passdock panicked: {text}");
    let mut error = PassError::new(ErrorKind::Panicked, message);
    let location = panic.location.iter();
    let notes = location.map(|location| format!("at {location}"));
    error.notes.extend(notes);
    error.help(
        "pass `--verify all` to check whether a plugin wrote to read-only memory; if none did, this is a bug in \
         passdock, please report it",
    )
}

/// Returns the total size in bytes of a model's file and its data files.
fn bytes_of(model: &Path, module: &Module) -> Option<u64> {
    let files = referenced_data_files(module);
    let files = files.iter().map(PathBuf::as_path);
    let sizes = files.chain([model]).map(|file| {
        let metadata = file.metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    });
    sizes.sum()
}
