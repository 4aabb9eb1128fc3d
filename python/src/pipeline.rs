//! Pipelines: what the command `passdock run` does, on files and on modules.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use passdock::pipeline::{self, AskedInstrument, Finished, Report, Request, Watch};
use passdock::{
    Frame, InstrumentRef, InstrumentResult, PassCall, PassContext, PassError, PassInfo,
    PassInstrument, Provider, Registry, Severity,
};
use passdock_page::RunPage;
use pyo3::exceptions::{PyRecursionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::Value as Json;

use crate::crossing::convert;
use crate::crossing::error;
use crate::crossing::gil;
use crate::crossing::streams;
use crate::crossing::words::{in_python, is_of_command};
use crate::ir::call::Call;
use crate::ir::module::Module;
use crate::pass::instrument;

/// A request as a dict says it: the fields of the host's own, and the page that is to be written.
pub(crate) fn request(said: &Bound<'_, PyDict>) -> PyResult<(Request, Option<PathBuf>)> {
    let mut table = convert::to_table(said)?;
    let page = table
        .remove("page")
        .and_then(|page| page.as_str().map(str::to_owned));
    let verify_outputs = table.remove("verify_outputs");
    let read = toml::Value::Table(table.clone()).try_into();
    let mut request: Request = read.map_err(|error: toml::de::Error| {
        // The reader doesn't say which option it is.
        let is_wrong = |(name, value): &(&String, &toml::Value)| {
            let alone = toml::Table::from_iter([((*name).clone(), (*value).clone())]);
            toml::Value::Table(alone).try_into::<Request>().is_err()
        };
        let name = table.iter().find(is_wrong).map_or("", |(name, _)| name);
        PyValueError::new_err(format!("{name}: {}", error.message()))
    })?;
    if let Some(page) = &page {
        let asked = AskedInstrument::by_flag("page", passdock_page::NAME);
        request
            .instruments
            .push(asked.option("file", page.as_str()));
    }
    let name = passdock_tools::numerics::VERIFY_OUTPUTS;
    let verify = AskedInstrument::by_flag("verify_outputs", name);
    match verify_outputs {
        Some(toml::Value::Boolean(true)) => request.instruments.push(verify),
        Some(toml::Value::String(library)) => {
            let verify = verify.option("library", library.as_str());
            request.instruments.push(verify);
        }
        _ => {}
    }
    Ok((request, page.map(PathBuf::from)))
}

/// Writes the page of a run, and then puts the output in its place. Answers the page's file, and what was made.
fn finish(
    py: Python<'_>,
    page: &RunPage,
    mut finished: Finished,
) -> PyResult<(Option<PathBuf>, Report, Result<passdock::Module, PassError>)> {
    gil::detach(py, || {
        let page = page.write(&mut finished.report)?;
        let (report, made) = finished.place();
        Ok((page, report, made))
    })
    .map_err(|error: PassError| error::to_exception(py, &error))
}

/// An instrument of the context around a run: it watches the run's passes, and its own context calls what is of contexts.
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

/// The page that is asked for, or an instrument of the pipeline.
fn page_of(asked: Option<PathBuf>) -> RunPage {
    let program = format!("passdock {}", env!("CARGO_PKG_VERSION"));
    RunPage::new(asked, program, Vec::new())
}

/// What watches a run: the instruments of the current context, then those of the program, and a function that
/// gets the name of each pass that begins.
fn watch(on_pass: Option<Py<PyAny>>, own: Option<&Bound<'_, PyAny>>) -> PyResult<Watch> {
    let outer = PassContext::current().instruments().into_iter();
    let outer = outer.map(|one| Arc::new(Outer(one)) as InstrumentRef);
    let instruments = outer.chain(instrument::list(own)?).collect();
    let on_pass = on_pass.map(|told| {
        let told = move |name: &str| {
            gil::attach(|py| {
                if let Err(raised) = gil::call(told.bind(py), (name,)) {
                    error::stop_with(raised);
                }
            });
        };
        Box::new(told) as Box<passdock::OnPass>
    });
    Ok(Watch {
        on_pass,
        instruments,
        sink: Some(streams::sink("stdout")),
        reproduces: Some(Box::new(error::is_failure)),
        ..Watch::default()
    })
}

/// Tells the current context which passes a run met: those are names that it may have listed.
fn meet(report: &Report) {
    let current = PassContext::current();
    for run in &report.passes {
        let _ = current.enabled(&PassInfo::new(&run.name), &BTreeSet::new());
    }
}

/// Puts the text of a report into Python's words.
pub(crate) fn in_python_words(said: &mut Json) {
    match said {
        Json::String(text) => *text = in_python(text),
        Json::Array(items) => items.iter_mut().for_each(in_python_words),
        Json::Object(fields) => fields.values_mut().for_each(in_python_words),
        _ => {}
    }
}

/// What `--json` would print, and the page.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: &'a Report,
    page: Option<String>,
    json_version: u32,
}

/// A warning, or a remark that isn't one, and its text.
type Said = (bool, String);

/// A report as JSON, which Python reads when it is asked for a field, and what it has to say beside failures.
fn told(report: &Report, page: Option<PathBuf>) -> PyResult<(String, Vec<Said>)> {
    let told = Told {
        report,
        page: page.map(|page| page.display().to_string()),
        json_version: pipeline::JSON_VERSION,
    };
    let mut json = serde_json::to_string(&told).map_err(is_wrong)?;
    // Paths may have such words, too.
    let said = || serde_json::to_string(&(&report.diagnostics, &report.passes));
    if is_of_command(&json) && is_of_command(&said().map_err(is_wrong)?) {
        let mut value = serde_json::from_str::<Json>(&json).map_err(is_wrong)?;
        for part in ["diagnostics", "passes"] {
            value.get_mut(part).into_iter().for_each(in_python_words);
        }
        json = value.to_string();
    }
    let said = report.diagnostics.iter();
    let said = said.filter(|said| !said.severity.is_failure()).map(|said| {
        let of = said.pass.as_ref().map(|pass| format!("{pass}: "));
        let text = of.unwrap_or_default() + &said.message;
        (said.severity == Severity::Warning, in_python(&text))
    });
    Ok((json, said.collect()))
}

/// What the diagnostics of a report look like.
#[pyfunction]
pub(crate) fn rendered(json: &str) -> PyResult<Vec<String>> {
    let report: Report = serde_json::from_str(json).map_err(is_wrong)?;
    let said = report.diagnostics.iter();
    Ok(said.map(|said| in_python(&said.render(false))).collect())
}

fn is_wrong(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The runs that may be inside of each other on a thread: a pass that runs a pipeline starts one.
const MAX_NESTED: u32 = 16;

thread_local! {
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

/// Runs `body` unless too many runs are around it, and answers its error, or the exception that ended it.
fn nested<T>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> PyResult<T>
where
    T: Send,
{
    let around = NESTED.get();
    if around == MAX_NESTED {
        let message = format!(
            "More than {MAX_NESTED} runs are inside of each other: a pass that runs itself has to come to an end."
        );
        return Err(PyRecursionError::new_err(message));
    }
    NESTED.set(around + 1);
    let ran = gil::detach(py, body);
    NESTED.set(around);
    match error::take_stop() {
        Some(raised) => Err(raised),
        None => Ok(ran),
    }
}

/// Runs a request from file to file; answers the report as JSON, what it has to say, and the exception of a run
/// that failed.
#[pyfunction]
#[pyo3(signature = (said, on_pass = None, instruments = None))]
pub(crate) fn run(
    py: Python<'_>,
    said: &Bound<'_, PyDict>,
    on_pass: Option<Py<PyAny>>,
    instruments: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<Said>, Option<PyErr>)> {
    let (request, page) = request(said)?;
    let page = page_of(page);
    let watch = watch(on_pass, instruments)?;
    let finished = nested(py, || {
        pipeline::run_staged(Registry::global(), &request, None, watch)
    })?;
    meet(&finished.report);
    let (page, report, made) = finish(py, &page, finished)?;
    let failed = made.err().map(|error| error::to_exception(py, &error));
    let (json, said) = told(&report, page)?;
    Ok((json, said, failed))
}

/// What a run on a module answers: the report as JSON, what it has to say, and the module or the exception.
type OnModule = (String, Vec<Said>, Option<Py<Module>>, Option<PyErr>);

/// Runs a request on a module.
#[pyfunction]
#[pyo3(signature = (said, module, on_pass = None, instruments = None))]
pub(crate) fn run_module(
    py: Python<'_>,
    said: &Bound<'_, PyDict>,
    module: &Bound<'_, Module>,
    on_pass: Option<Py<PyAny>>,
    instruments: Option<&Bound<'_, PyAny>>,
) -> PyResult<OnModule> {
    let ((request, page), given) = (request(said)?, module.get().now()?);
    let page = page_of(page);
    let watch = watch(on_pass, instruments)?;
    let under_way = Call::on(module);
    let finished = nested(py, || {
        pipeline::run_staged(Registry::global(), &request, Some(given), watch)
    })?;
    meet(&finished.report);
    let (page, report, made) = finish(py, &page, finished)?;
    let (json, said) = told(&report, page)?;
    let (made, failed) = match made {
        Ok(made) => (Some(under_way.object(py, made)?), None),
        Err(error) => (None, Some(error::to_exception(py, &error))),
    };
    Ok((json, said, made, failed))
}

/// What a request would run, in order, and why or why not: as ``passdock explain --json``.
#[pyfunction]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    said: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (request, _) = request(said)?;
    let explained = gil::detach(py, || pipeline::explain(Registry::global(), &request));
    let explained = explained.map_err(|error| error::to_exception(py, &error))?;
    let mut json = serde_json::to_value(&explained).map_err(is_wrong)?;
    json["json_version"] = pipeline::JSON_VERSION.into();
    convert::from_json(py, &json)
}

/// The text of a pipeline that comes with the host.
#[pyfunction]
pub(crate) fn built_in(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    let found = pipeline::BuiltInPipeline::named(name);
    found
        .map(|found| found.text)
        .map_err(|error| error::to_exception(py, &error))
}
