//! What follows a run while it goes on.

use super::report::Report;
use passdock_core::{InstrumentRef, OnPass, PassError, Sink};

/// A function that is called around the moment in which the output is put in its place.
pub type OnWrite = dyn Fn(Writing<'_>) -> Result<(), PassError> + Send + Sync;

/// A function that says whether a failure is to be reproduced.
pub type Reproduces = dyn Fn(&PassError) -> bool + Send + Sync;

/// Callbacks that follow a run while it goes on.
#[derive(Default)]
pub struct Watch {
    /// The function that is called with the name of each pass that starts.
    pub on_pass: Option<Box<OnPass>>,
    /// The program's own instruments, which watch the passes before those of the pipeline's file.
    pub instruments: Vec<InstrumentRef>,
    /// The sink for the text that instruments show while passes run; `None`: standard output, or
    /// standard error if the request says so.
    pub sink: Option<Sink>,
    /// The function that is called around the moment in which the output is put in its place.
    pub on_write: Option<Box<OnWrite>>,
    /// Whether a failure is one that people want to run into again, so that a reproducer is written; `None`: each is.
    pub reproduces: Option<Box<Reproduces>>,
}

/// The moments of an output that is put in its place.
#[derive(Clone, Copy, Debug)]
pub enum Writing<'r> {
    /// All is written but the place; with the report so far. If the function fails or doesn't return, the output is as
    /// it was.
    Begins(&'r Report),
    /// The output is in its place.
    Done,
}
