//! Pipelines: what the command `passdock run` does, on files and on modules.

use passdock::Registry;
use std::cell::Cell;
use std::path::{Path, PathBuf};

use passdock::pipeline::{self, AskedInstrument, Report, Request, Watch};
use pyo3::exceptions::{PyRecursionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value as Json;

use crate::crossing::convert;
use crate::crossing::error;
use crate::crossing::gil;
use crate::crossing::streams;
use crate::crossing::words::in_python;
use crate::ir::module::Module;

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

/// Writes the page that was asked for.
fn write_page(
    py: Python<'_>,
    page: Option<&Path>,
    report: &mut Report,
) -> PyResult<Option<PathBuf>> {
    let program = format!("passdock {}", env!("CARGO_PKG_VERSION"));
    let written = gil::detach(py, || {
        passdock_page::write_run(page, report, program, Vec::new())
    });
    written.map_err(|error| error::to_exception(py, &error))
}

/// What is told while passes run: the name of each pass that begins.
fn watch(on_pass: Option<Py<PyAny>>) -> Watch {
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
    Watch {
        on_pass,
        sink: Some(streams::sink("stdout")),
        reproduces: Some(Box::new(error::is_failure)),
        ..Watch::default()
    }
}

/// Says what a report says in words in Python's.
fn say_in_python(said: &mut Json) {
    match said {
        Json::String(text) => *text = in_python(text),
        Json::Array(items) => items.iter_mut().for_each(say_in_python),
        Json::Object(fields) => fields.values_mut().for_each(say_in_python),
        _ => {}
    }
}

/// What `--json` would print, as an object.
fn answer<'py>(py: Python<'py>, mut json: Json) -> PyResult<Bound<'py, PyAny>> {
    if let Json::Object(fields) = &mut json {
        fields.insert("json_version".to_owned(), pipeline::JSON_VERSION.into());
    }
    convert::from_json(py, &json)
}

fn report_dict<'py>(
    py: Python<'py>,
    report: &Report,
    page: Option<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    let json =
        serde_json::to_value(report).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut json = json;
    for part in ["diagnostics", "passes"] {
        json.get_mut(part).into_iter().for_each(say_in_python);
    }
    let dict = answer(py, json)?;
    let said = report.diagnostics.iter();
    let said: Vec<String> = said.map(|said| in_python(&said.render(false))).collect();
    dict.set_item("rendered", said)?;
    dict.set_item("page", page.map(|page| page.display().to_string()))?;
    Ok(dict)
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

/// Runs a request from file to file; answers the report, and the exception of a run that failed.
#[pyfunction]
#[pyo3(signature = (said, on_pass = None))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    said: &Bound<'py, PyDict>,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Option<PyErr>)> {
    let (request, page) = request(said)?;
    let (mut report, made) = nested(py, || {
        pipeline::run_to_module(Registry::global(), &request, watch(on_pass))
    })?;
    let failed = made.err().map(|error| error::to_exception(py, &error));
    let page = write_page(py, page.as_deref(), &mut report)?;
    Ok((report_dict(py, &report, page)?, failed))
}

/// Runs a request on a module; answers the report, and the module that came out, or the exception.
#[pyfunction]
#[pyo3(signature = (said, module, on_pass = None))]
pub(crate) fn run_module<'py>(
    py: Python<'py>,
    said: &Bound<'py, PyDict>,
    module: &Module,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Option<Module>, Option<PyErr>)> {
    let ((request, page), given) = (request(said)?, module.now()?);
    let ran = nested(py, || {
        pipeline::run_on(Registry::global(), &request, given, watch(on_pass))
    })?;
    let (mut report, made) = ran;
    let page = write_page(py, page.as_deref(), &mut report)?;
    let report = report_dict(py, &report, page)?;
    Ok(match made {
        Ok(made) => (report, Some(Module::own(made)), None),
        Err(error) => (report, None, Some(error::to_exception(py, &error))),
    })
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
    let json = serde_json::to_value(&explained)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    answer(py, json)
}

/// The text of a pipeline that comes with the host.
#[pyfunction]
pub(crate) fn built_in(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    let found = pipeline::BuiltInPipeline::named(name);
    found
        .map(|found| found.text)
        .map_err(|error| error::to_exception(py, &error))
}
