//! Time limit for the command's own reading and writing, which may block on a pipe. Child processes have separate
//! limits.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The current activity of the command, for the error message.
fn activity() -> MutexGuard<'static, String> {
    static ACTIVITY: Mutex<String> = Mutex::new(String::new());
    ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the current activity.
pub(crate) fn set_activity(what: &str) {
    what.clone_into(&mut activity());
}

#[cfg(unix)]
pub(crate) use limit::start;

#[cfg(unix)]
mod limit {
    use std::thread;
    use std::time::Duration;

    use passdock::waiting::is_waiting;
    use passdock::{ErrorKind, PassError, crash, files, supervised};

    use super::{activity, set_activity};
    use crate::show;

    /// The polling interval.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// Terminates the command with status 1 once it has been busy for `limit`. `json` renders the error as JSON.
    pub(crate) fn start(limit: Duration, json: Option<fn(&PassError) -> String>) {
        set_activity("reading its input");
        thread::spawn(move || {
            let interval = POLL_INTERVAL.min(limit);
            let mut busy = Duration::ZERO;
            while busy < limit {
                thread::sleep(interval);
                // Counts only time in which the command isn't stopped.
                busy += interval;
                if is_waiting() {
                    busy = Duration::ZERO;
                }
            }
            end(limit, json);
        });
    }

    fn end(limit: Duration, json: Option<fn(&PassError) -> String>) -> ! {
        supervised::give_up();
        files::give_up();
        let (activity, limit) = (activity().clone(), limit.as_secs_f64());
        let message = format!("the command was still {activity} after {limit} s");
        let error = PassError::new(ErrorKind::Crashed, message)
            .help("if a path is a pipe, check that the other end is open and is closed in time");
        let status = show::fail(&error);
        if let Some(json) = json {
            show::write_out(&json(&error));
        }
        // Passes that run in this process haven't crashed, so no termination is reported.
        crash::finish(status);
        std::process::exit(status.into())
    }
}
