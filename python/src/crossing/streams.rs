//! Python's streams, which a program may have put others in place of: a notebook, a test, `redirect_stdout`.

use std::sync::Arc;

use passdock::instruments::Sink;
use passdock::terminal::takes_color;
use pyo3::prelude::*;

use crate::crossing::gil;

/// A sink to a stream of `sys`, looked up at each text.
pub(crate) fn sink(name: &'static str) -> Sink {
    Arc::new(move |text| gil::attach(|py| write(py, name, text)))
}

/// Writes a text to a stream of `sys`, at once: the process may die of the pass that comes.
fn write(py: Python<'_>, name: &str, text: &str) {
    let written = stream(py, name).and_then(|stream| {
        if let Some(stream) = stream {
            gil::call_method(&stream, "write", (text,))?;
            gil::call_method(&stream, "flush", ())?;
        }
        Ok(())
    });
    if let Err(raised) = written {
        // There is nobody to tell but Python.
        raised.write_unraisable(py, None);
    }
}

/// Whether a stream of `sys` takes colours.
pub(crate) fn has_color(py: Python<'_>, name: &str) -> bool {
    let asked = stream(py, name).and_then(|stream| match stream {
        Some(stream) => gil::call_method(&stream, "isatty", ())?.is_truthy(),
        None => Ok(false),
    });
    takes_color(asked.unwrap_or(false))
}

/// A stream of `sys`; None in a program without one.
fn stream<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let stream = py.import("sys")?.getattr(name)?;
    Ok((!stream.is_none()).then_some(stream))
}
