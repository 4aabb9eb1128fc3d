//! Running pipelines on files and modules, as `passdock run` does.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use passdock::diagnostic::json;
use passdock::pipeline::{self, Report, Request, RequestedInstrument, Watch};
use passdock::{
    Frame, InstrumentRef, InstrumentResult, PassCall, PassContext, PassError, PassInfo,
    PassInstrument, Provider, Registry, Severity, terminal,
};
use passdock_tools::page::RunPage;
use pyo3::exceptions::{PyRecursionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::Value as Json;

use crate::crossing::convert;
use crate::crossing::error::{self, Exception, Result};
use crate::crossing::gil;
use crate::crossing::streams;
use crate::crossing::terms::{in_python, is_of_command};
use crate::ir::call::Call;
use crate::ir::module::Module;
use crate::pass::instrument;

/// Parses a request from a dict: the fields of the host's `Request`, and the file of the HTML report.
pub(crate) fn request(fields: &Bound<'_, PyDict>) -> PyResult<(Request, Option<PathBuf>)> {
    let mut table = convert::to_table(fields)?;
    let page = table.remove("html_report");
    let page = page.and_then(|page| page.as_str().map(str::to_owned));
    let verify_outputs = table.remove("verify_outputs");
    let read = toml::Value::Table(table.clone()).try_into();
    let mut request: Request = read.map_err(|error: toml::de::Error| {
        // The deserializer's error doesn't name the option.
        let is_invalid = |(name, value): &(&String, &toml::Value)| {
            let alone = toml::Table::from_iter([((*name).clone(), (*value).clone())]);
            toml::Value::Table(alone).try_into::<Request>().is_err()
        };
        let name = table.iter().find(is_invalid).map_or("", |(name, _)| name);
        PyValueError::new_err(format!("{name}: {}", error.message()))
    })?;
    request.instruments.extend(page.as_ref().map(|page| {
        let report = RequestedInstrument::by_flag("html_report", passdock_tools::page::NAME);
        report.option("file", page.as_str())
    }));
    let name = passdock_tools::numerics::VERIFY_OUTPUTS;
    let verify = RequestedInstrument::by_flag("verify_outputs", name);
    request.instruments.extend(match verify_outputs {
        Some(toml::Value::Boolean(true)) => Some(verify),
        Some(toml::Value::String(library)) => Some(verify.option("library", library.as_str())),
        _ => None,
    });
    Ok((request, page.map(PathBuf::from)))
}

/// An instrument of the surrounding context, used in a run: it observes the run's passes. Its own context calls its
/// context callbacks.
struct Outer(InstrumentRef);

impl PassInstrument for Outer {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn provider(&self) -> Option<&Provider> {
        self.0.provider()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        self.0.as_any()
    }

    fn prepare(&self, frame: &dyn Frame) -> Result<(), PassError> {
        self.0.prepare(frame)
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        self.0.should_run(call)
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.0.run_before_pass(call)
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.0.run_after_pass(call)
    }

    fn pass_failed(&self, call: &PassCall<'_>, error: &PassError) -> InstrumentResult {
        self.0.pass_failed(call, error)
    }
}

/// Returns the observers of a run: the instruments of the current context, those of the program, and a function that
/// receives the name of each starting pass.
fn watch(on_pass: Option<Py<PyAny>>, own: Option<&Bound<'_, PyAny>>) -> PyResult<Watch> {
    let outer = PassContext::current().instruments().into_iter();
    let outer = outer.map(|one| Arc::new(Outer(one)) as InstrumentRef);
    let instruments = outer.chain(instrument::list(own)?).collect();
    let on_pass = on_pass.map(|on_pass| {
        let on_pass = move |name: &str| {
            gil::attach(|py| {
                if let Err(raised) = gil::call(on_pass.bind(py), (name,)) {
                    error::stop_with(raised);
                }
            });
        };
        Box::new(on_pass) as Box<passdock::OnPass>
    });
    Ok(Watch {
        on_pass,
        instruments,
        sink: Some(streams::sink("stdout")),
        reproduces: Some(Box::new(error::is_failure)),
        ..Watch::default()
    })
}

/// Marks the passes of a run as known names for the lists of the current context.
fn mark_names(report: &Report) {
    let current = PassContext::current();
    for run in &report.passes {
        let _ = current.skip_reason(&PassInfo::new(&run.name), &BTreeSet::new());
    }
}

/// Translates the strings of a report to Python's terms.
pub(crate) fn in_python_terms(value: &mut Json) {
    match value {
        Json::String(text) => *text = in_python(text),
        Json::Array(items) => items.iter_mut().for_each(in_python_terms),
        Json::Object(fields) => fields.values_mut().for_each(in_python_terms),
        _ => {}
    }
}

/// The output of `--json`, and the path of the HTML report.
#[derive(Serialize)]
struct JsonReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    page: Option<String>,
    json_version: u32,
}

/// Whether a diagnostic is a warning, and its text.
type Remark = (bool, String);

/// Serializes a report as JSON, which Python parses when a field is accessed; also returns its diagnostics other than
/// failures.
fn json_report(report: &Report, page: Option<PathBuf>) -> Result<(String, Vec<Remark>)> {
    let all = JsonReport {
        report,
        page: page.map(|page| page.display().to_string()),
        json_version: pipeline::JSON_VERSION,
    };
    let mut json = json::line(&all)?;
    // Paths may contain such terms, too.
    let texts = || serde_json::to_string(&(&report.diagnostics, &report.passes));
    if is_of_command(&json) && is_of_command(&texts()?) {
        let mut value = serde_json::from_str::<Json>(&json)?;
        for part in ["diagnostics", "passes"] {
            value.get_mut(part).into_iter().for_each(in_python_terms);
        }
        json = json::line(&value)?;
    }
    let remarks = report.diagnostics.iter();
    let remarks = remarks.filter(|remark| !remark.severity.is_failure());
    let remarks = remarks.map(|remark| {
        let pass = remark.pass.as_ref().map(|pass| format!("{pass}: "));
        let text = pass.unwrap_or_default() + &remark.message;
        (
            remark.severity == Severity::Warning,
            in_python(&terminal::safe(&text)),
        )
    });
    Ok((json, remarks.collect()))
}

/// Renders the diagnostics of a report.
#[pyfunction]
pub(crate) fn rendered(json: &str) -> Result<Vec<String>> {
    let report: Report = serde_json::from_str(json)?;
    let rendered = report.diagnostics.iter().map(|one| one.render(false));
    Ok(rendered.map(|text| in_python(&text)).collect())
}

/// The maximum number of nested runs on a thread: a pass that runs a pipeline starts one.
const MAX_NESTED: u32 = 16;

thread_local! {
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

/// Calls `body` unless too many runs are nested; returns its result, or the exception that ended it.
fn nested<T>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> PyResult<T>
where
    T: Send,
{
    let around = NESTED.get();
    if around == MAX_NESTED {
        let message = format!("more than {MAX_NESTED} nested runs; does a pass run itself?");
        return Err(PyRecursionError::new_err(message));
    }
    NESTED.set(around + 1);
    let ran = gil::detach(py, body);
    NESTED.set(around);
    match error::pending_stop() {
        Some(raised) => Err(raised),
        None => Ok(ran),
    }
}

/// The result of a run: the report as JSON, its remarks, and the resulting module (if run on a module) or the
/// exception.
type RunResult = (String, Vec<Remark>, Option<Py<Module>>, Option<PyErr>);

/// Runs a request on a module, or from file to file.
#[pyfunction]
#[pyo3(signature = (fields, module = None, on_pass = None, instruments = None))]
pub(crate) fn run(
    py: Python<'_>,
    fields: &Bound<'_, PyDict>,
    module: Option<&Bound<'_, Module>>,
    on_pass: Option<Py<PyAny>>,
    instruments: Option<&Bound<'_, PyAny>>,
) -> Result<RunResult> {
    let (request, requested) = request(fields)?;
    let input = module.map(|module| module.get().now()).transpose()?;
    let page = RunPage {
        requested,
        program: format!("passdock {}", env!("CARGO_PKG_VERSION")),
        command: Vec::new(),
    };
    let watch = watch(on_pass, instruments)?;
    let call = module.map(Call::on);
    let mut finished = nested(py, || {
        pipeline::run_staged(Registry::global(), &request, input, watch)
    })?;
    mark_names(&finished.report);
    let (page, report, output) = gil::detach(py, || {
        // The output is moved to its final path after the HTML report is written.
        let page = page.write(&mut finished.report)?;
        let (report, output) = finished.commit();
        Ok::<_, PassError>((page, report, output))
    })?;
    let (json, remarks) = json_report(&report, page)?;
    let (output, failed) = match output {
        Ok(output) => (call.map(|call| call.object(py, output)), None),
        Err(error) => (None, Some(Exception::from(error).into())),
    };
    Ok((json, remarks, output.transpose()?, failed))
}

/// Returns the passes that a request would run, in order, with reasons: the data of ``passdock explain --json``.
#[pyfunction]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    fields: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyAny>> {
    let (request, _) = request(fields)?;
    let explained = gil::detach(py, || pipeline::explain(Registry::global(), &request))?;
    let explained = convert::to_python(py, &explained)?;
    explained.set_item("json_version", pipeline::JSON_VERSION)?;
    Ok(explained)
}

/// Returns the text of a built-in pipeline.
#[pyfunction]
pub(crate) fn built_in(name: &str) -> Result<&'static str> {
    Ok(pipeline::BuiltInPipeline::named(name)?.text)
}
