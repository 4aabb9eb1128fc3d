//! Progress of long operations, shown only on terminals.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use crate::show;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use passdock::pipeline::Watch;

/// A progress line on standard error, which is erased on drop.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows `what`, truncated to a line. Shows nothing if standard error isn't a terminal.
    pub(crate) fn start(what: &str) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(show::safe(what));
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(Some(bar))
    }

    /// Replaces the text.
    pub(crate) fn update(&self, what: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(show::safe(what));
        }
    }

    /// Writes a line to standard output, above the progress line.
    pub(crate) fn line(&self, line: &str) {
        self.suspended(|| show::print(line));
    }

    /// Calls a function that writes to the terminal, above the progress line.
    pub(crate) fn suspended(&self, write: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Returns a watch that shows the running pass. The progress line is hidden while instruments write.
    pub(crate) fn watch(&self, to_stderr: bool) -> Watch {
        let write = match to_stderr {
            true => show::write_error,
            false => show::write_out,
        };
        let Some(bar) = self.0.clone() else {
            return Watch {
                sink: Some(Arc::new(write)),
                ..Watch::default()
            };
        };
        let line = bar.clone();
        Watch {
            on_pass: Some(Box::new(move |pass| line.set_message(show::safe(pass)))),
            sink: Some(Arc::new(move |text| bar.suspend(|| write(text)))),
            ..Watch::default()
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
