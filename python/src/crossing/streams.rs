//! Python's streams, which a program may have replaced: a notebook, a test, `redirect_stdout`.

use std::sync::Arc;

use passdock::instruments::Sink;
use passdock::terminal::supports_color;
use pyo3::prelude::*;

use crate::crossing::gil;

/// Returns a sink to a stream of `sys`, which is looked up at each write.
pub(crate) fn sink(name: &'static str) -> Sink {
    Arc::new(move |text| gil::attach(|py| write(py, name, text)))
}

/// Writes a text to a stream of `sys` and flushes it: the next pass may crash the process.
fn write(py: Python<'_>, name: &str, text: &str) {
    let written = stream(py, name).and_then(|stream| {
        if let Some(stream) = stream {
            gil::call_method(&stream, "write", (text,))?;
            gil::call_method(&stream, "flush", ())?;
        }
        Ok(())
    });
    if let Err(raised) = written {
        // The sink can't return an error, so Python reports it.
        raised.write_unraisable(py, None);
    }
}

/// Whether a stream of `sys` supports colors.
pub(crate) fn has_color(py: Python<'_>, name: &str) -> bool {
    let color = stream(py, name).and_then(|stream| match stream {
        Some(stream) => gil::call_method(&stream, "isatty", ())?.is_truthy(),
        None => Ok(false),
    });
    supports_color(color.unwrap_or(false))
}

/// Returns a stream of `sys`; `None` in a program without it.
fn stream<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let stream = py.import("sys")?.getattr(name)?;
    Ok((!stream.is_none()).then_some(stream))
}
