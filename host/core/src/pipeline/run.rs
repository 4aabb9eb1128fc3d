//! `run`: a function from a request to a report.

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::bind;
use super::build::{self, Built};
use super::report::{ModelReport, Report};
use super::reproduce;
use super::request::Request;
use super::unknown_ops;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{ErrorKind, PassError, capitalized};
use crate::model_file::{self, Format, ReadOptions, WriteOptions};
use crate::record::{OnPass, Recorder};
use crate::registry::Registry;
use crate::util;

/// Runs a request from the pipeline's text to the written model. Whatever goes wrong is in the
/// report, and then nothing was written. `on_pass` is called when a pass starts.
pub fn run(request: &Request, on_pass: Option<Box<OnPass>>) -> Report {
    run_in(&Registry::new(), request, on_pass)
}

/// As [`run`], with the passes of a registry, to which the plugins of the request's directories
/// come.
pub(crate) fn run_in(
    registry: &Registry,
    request: &Request,
    on_pass: Option<Box<OnPass>>,
) -> Report {
    let start = Instant::now();
    let mut report = Report {
        model: ModelReport {
            input: request.model.clone(),
            ..ModelReport::default()
        },
        ..Report::default()
    };
    let diagnostics: Arc<Mutex<Vec<Diagnostic>>> = Arc::default();
    let recorder = Arc::new(Recorder::new(on_pass));
    let end = || run_to_end(registry, request, &mut report, &diagnostics, &recorder);
    let result =
        catch_unwind(AssertUnwindSafe(end)).unwrap_or_else(|payload| Err(failed(&*payload)));
    report.passes = recorder.take();
    report.diagnostics = std::mem::take(&mut util::lock(&diagnostics));
    match result {
        Ok(()) => report.ok = true,
        Err(error) => {
            report.exit_status = error.kind.exit_status();
            // What the pass said is there already.
            if error.kind != ErrorKind::Diagnostics || !error.notes.is_empty() {
                report.diagnostics.push(error.to_diagnostic());
            }
            let write = || reproduce::write(request, &error, &mut report);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(write)) {
                report.diagnostics.push(failed(&*payload).to_diagnostic());
            }
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    report
}

/// A panic of the host's own: a mistake in it, or a plugin wrote where it may only read and nobody
/// looked.
fn failed(payload: &(dyn Any + Send)) -> PassError {
    let message = format!("passdock itself failed: {}.", util::panic_text(payload));
    PassError::new(ErrorKind::Panicked, message).help(
        "It is a mistake in passdock, or of a plugin that writes into what it may only read: \
         `--verify all` says which.",
    )
}

fn run_to_end(
    registry: &Registry,
    request: &Request,
    report: &mut Report,
    diagnostics: &Arc<Mutex<Vec<Diagnostic>>>,
    recorder: &Arc<Recorder>,
) -> Result<(), PassError> {
    Format::of(&request.model)?;
    request.output.as_deref().map(Format::of).transpose()?;
    let Built {
        sequential,
        context,
        ..
    } = build::build_in(registry, request)?;
    let sink = diagnostics.clone();
    let notes: Mutex<HashSet<Diagnostic>> = Mutex::default();
    let binding = match request.bind.is_empty() {
        true => &[][..],
        false => &bind::PASSES[..],
    };
    let context = context
        .required_pass(binding.iter().copied())
        .recorder(recorder.clone())
        .on_diagnostic(move |diagnostic| {
            // A pass that runs again notes again what it left alone.
            let is_note = diagnostic.severity == Severity::Note;
            if !is_note || util::lock(&notes).insert(diagnostic.clone()) {
                util::lock(&sink).push(diagnostic);
            }
        })
        .build()?;
    // Nobody needs them, or the look-up would have failed.
    for error in context.registry().unreadable() {
        let message = capitalized(&error.to_string());
        context.emit(Diagnostic::new(Severity::Warning, "plugin", message));
    }
    // Also what the model doesn't have to be read for: cycles, plugins that can't be loaded.
    crate::run::prepare(&sequential, &context)?;
    let reading = ReadOptions {
        outside_data: request.outside_data,
    };
    let module = model_file::read_with(&request.model, reading)?;
    let sequential = match request.bind.is_empty() {
        true => sequential,
        false => {
            let sequential = bind::ahead_of(&sequential, request, &module, registry)?;
            crate::run::prepare(&sequential, &context)?;
            sequential
        }
    };
    // Most passes don't need it: whoever does, fails.
    for error in passdock_onnx::check_external(&module) {
        let message = capitalized(&error.to_string());
        context.emit(Diagnostic::new(Severity::Warning, "data", message));
    }
    if let Some(warning) = unknown_ops::warning(&module, &context.registry().op_defs()) {
        context.emit(warning);
    }
    report.model.ops_before = module.op_count();
    report.model.ops_after = report.model.ops_before;
    let after = context.scope(|_| {
        let after = sequential.call(module);
        // Before the context is left: some instruments forget then.
        report.instruments = context.instrument_reports();
        after
    })?;
    report.model.ops_after = after.op_count();
    if let Some(output) = &request.output {
        let options = WriteOptions {
            drop_spans: request.drop_spans,
            external_data: request.external_data,
        };
        for warning in model_file::remarks(&after, output) {
            context.emit(warning);
        }
        model_file::write(&after, output, options)?;
        report.model.output = Some(output.clone());
    }
    Ok(())
}
