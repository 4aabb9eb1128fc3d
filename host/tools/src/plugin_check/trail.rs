//! The trail of a check: what it does next, in a file that outlives its process.

use std::cell::RefCell;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// What stands between a pass and what it ran on.
const RAN_ON: &str = "` ran on ";

/// Where a check is, for whoever finds its process dead.
#[derive(Debug, Default)]
pub struct Trail(RefCell<Option<fs::File>>);

impl Trail {
    /// What is said while the library is loaded for the first time.
    pub const LOADING: &'static str = "the library was loaded";

    /// A trail that nobody reads.
    pub fn none() -> Trail {
        Trail::default()
    }

    /// A trail in a new file.
    ///
    /// # Errors
    /// If the file can't be made.
    pub fn to(path: &Path) -> std::io::Result<Trail> {
        Ok(Trail(RefCell::new(Some(fs::File::create(path)?))))
    }

    /// Says that a pass is run next.
    pub(super) fn at_pass(&self, pass: &str, on: &str) {
        self.at(&format!("`{pass}{RAN_ON}{on}"));
    }

    /// The pass that ran, if that is what was said last.
    pub fn pass_in(last: &str) -> Option<&str> {
        let (pass, _) = last.strip_prefix('`')?.split_once(RAN_ON)?;
        Some(pass)
    }

    /// Says what is done next.
    pub(super) fn at(&self, what: &str) {
        let mut file = self.0.borrow_mut();
        let Some(open) = file.as_mut() else {
            return;
        };
        let written = open
            .set_len(0)
            .and_then(|()| open.seek(SeekFrom::Start(0)))
            .and_then(|_| open.write_all(what.as_bytes()));
        if written.is_err() {
            // The check goes on without.
            *file = None;
        }
    }

    /// What was said last in a trail's file; empty if nothing was.
    pub fn last(path: &Path) -> String {
        fs::read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}
