//! Callbacks of a run.

use std::path::PathBuf;

use passdock_core::{InstrumentRef, OnPass, PassError, Sink};

/// A function that returns whether to write a reproducer of a failure.
pub type Reproduces = dyn Fn(&PassError) -> bool + Send + Sync;

/// Callbacks of a run.
#[derive(Default)]
pub struct Watch {
    /// Called with the name of each pass when it starts.
    pub on_pass: Option<Box<OnPass>>,
    /// Instruments of the program, which are called before those of the pipeline file.
    pub instruments: Vec<InstrumentRef>,
    /// The sink for the output of instruments. Defaults to standard output, or standard error if the request has that
    /// option.
    pub sink: Option<Sink>,
    /// The staging directory next to the output, if another process has created it and will commit it. With `None`,
    /// this process does both.
    pub staging: Option<PathBuf>,
    /// Decides which failures get a reproducer. With `None`, all do.
    pub reproduces: Option<Box<Reproduces>>,
}
