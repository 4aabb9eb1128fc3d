//! The trail of a check: a file with the current step, which remains if the process terminates.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The text before the pass in a step, and the text between pass and sample.
const RUNNING: (&str, &str) = ("running `", "` on ");

/// A file with the current step of a check.
#[derive(Debug)]
pub struct Trail(Mutex<File>);

impl Trail {
    /// The step in which the library is loaded for the first time.
    pub const LOADING: &'static str = "loading the library";

    /// Creates the file of a trail.
    ///
    /// # Errors
    /// If the file can't be created.
    pub fn new(path: &Path) -> io::Result<Trail> {
        Ok(Trail(Mutex::new(File::create(path)?)))
    }

    /// Records that a pass runs next.
    pub(super) fn at_pass(&self, pass: &str, on: &str) {
        let (before, between) = RUNNING;
        self.at(&format!("{before}{pass}{between}{on}"));
    }

    /// Returns the pass that runs in a step.
    pub fn pass_in(step: &str) -> Option<&str> {
        let (before, between) = RUNNING;
        let (pass, _) = step.strip_prefix(before)?.split_once(between)?;
        Some(pass)
    }

    /// Records the next step. Write errors are ignored.
    pub(super) fn at(&self, step: &str) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(step.as_bytes()));
    }

    /// Returns the last step in a trail's file; empty if there is none.
    pub fn last(path: &Path) -> String {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
