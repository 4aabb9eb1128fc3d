//! Trace files: the JSON of Chrome's trace events, which Perfetto reads, too.
//!
//! The format is the Chromium project's "Trace Event Format", with one complete event (`ph: "X"`) per pass. Events of a
//! thread nest by their times, so parents aren't written.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::timing::State;

/// Writes the events of all passes, one per line. Times are relative to `start`.
pub(super) fn write(to: impl Write, state: &State, start: Instant) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    let process = std::process::id();
    let name = |what: &str, thread: u32, name: String| {
        json!({
            "name": what, "ph": "M", "pid": process, "tid": thread, "args": { "name": name },
        })
    };
    let mut threads = BTreeSet::new();
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    write_value(&mut out, &name("process_name", 0, "passdock".to_owned()))?;
    for pass in &state.passes {
        if threads.insert(pass.thread) {
            out.write_all(b",\n")?;
            let called = format!("thread {}", pass.thread);
            write_value(&mut out, &name("thread_name", pass.thread, called))?;
        }
        out.write_all(b",\n")?;
        let value = json!({
            "name": &state.names[pass.name.clone()],
            "cat": "pass",
            "ph": "X",
            "ts": micros(pass.start.duration_since(start)),
            // Events nest by their times, so this includes the loading of plugins.
            "dur": micros(pass.total + pass.loading),
            "pid": process,
            "tid": pass.thread,
            "args": pass.args,
        });
        write_value(&mut out, &value)?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

fn write_value(out: &mut impl Write, value: &Value) -> io::Result<()> {
    out.write_all(passdock_diagnostic::json::line(value)?.as_bytes())
}

/// Converts a time to microseconds, the format's unit, with nanoseconds as decimals.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
