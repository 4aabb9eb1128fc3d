//! The worker that this process is, if it is one.

use std::io;
use std::sync::OnceLock;

use passdock::supervised::Worker;
use serde::Serialize;
use serde::de::DeserializeOwned;

static RUNNING: OnceLock<Worker> = OnceLock::new();

/// Sets the worker that this process is, and returns it.
pub(crate) fn set(worker: Worker) -> &'static Worker {
    RUNNING.get_or_init(|| worker)
}

/// Whether this process is a worker.
pub(crate) fn is_set() -> bool {
    RUNNING.get().is_some()
}

/// Asks the supervisor something. Returns `None` if this process isn't a worker.
pub(crate) fn ask<A: DeserializeOwned>(question: &impl Serialize) -> Option<io::Result<A>> {
    Some(RUNNING.get()?.ask(question))
}
