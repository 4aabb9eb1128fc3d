//! What follows a run while it goes on.

use passdock_core::{InstrumentRef, OnPass, PassError, Sink};

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
    /// The name of the directory beside the output's place that the output is written to, made by the process that will
    /// put it in its place; `None`: this one does.
    pub staging: Option<String>,
    /// Whether a failure is one that people want to run into again, so that a reproducer is written; `None`: each is.
    pub reproduces: Option<Box<Reproduces>>,
}
