//! Trace files: the JSON of Chrome's trace events, which Perfetto reads too.
//!
//! The format: "Trace Event Format" of the Chromium project; here one complete event (`ph: "X"`) a
//! pass. Events of a thread nest by their times, so no parent is written.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use serde_json::{Value, json};

/// The trace event of one run of a pass.
pub(super) struct Event<'e> {
    pub(super) name: &'e str,
    /// The time since the context was entered.
    pub(super) start: Duration,
    pub(super) duration: Duration,
    pub(super) thread: u32,
    pub(super) plugin: Option<&'e str>,
    pub(super) ops_before: usize,
    pub(super) ops_after: usize,
    pub(super) failed: bool,
}

/// Writes all events, one for each line.
pub(super) fn write<'e>(to: impl Write, events: impl Iterator<Item = Event<'e>>) -> io::Result<()> {
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
    for event in events {
        if threads.insert(event.thread) {
            out.write_all(b",\n")?;
            let called = format!("thread {}", event.thread);
            write_value(&mut out, &name("thread_name", event.thread, called))?;
        }
        let mut args = json!({ "ops_before": event.ops_before, "ops_after": event.ops_after });
        if let Some(plugin) = event.plugin {
            args["plugin"] = plugin.into();
        }
        if event.failed {
            args["failed"] = true.into();
        }
        out.write_all(b",\n")?;
        let value = json!({
            "name": event.name,
            "cat": "pass",
            "ph": "X",
            "ts": micros(event.start),
            "dur": micros(event.duration),
            "pid": process,
            "tid": event.thread,
            "args": args,
        });
        write_value(&mut out, &value)?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

fn write_value(out: &mut impl Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

/// The time in microseconds, the format's unit, with nanoseconds as decimals.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
