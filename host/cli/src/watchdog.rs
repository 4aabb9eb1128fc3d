//! The time limit of what the command does by itself: it reads its input and writes files, any of which may be a pipe
//! that another program never serves. The processes that it starts have limits of their own.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The activity of the command, for the error.
fn activity() -> MutexGuard<'static, String> {
    static ACTIVITY: Mutex<String> = Mutex::new(String::new());
    ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets what the command does from now on.
pub(crate) fn doing(what: &str) {
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

    use super::{activity, doing};
    use crate::show;

    /// The time between two looks.
    const LOOK: Duration = Duration::from_millis(20);

    /// Ends the command with status 1 once it has been busy by itself for so long; `json` makes an answer of the error.
    pub(crate) fn start(limit: Duration, json: Option<fn(&PassError) -> String>) {
        doing("reading its input");
        thread::spawn(move || {
            let look = LOOK.min(limit);
            let mut busy = Duration::ZERO;
            while busy < limit {
                thread::sleep(look);
                // Time in which the command is stopped doesn't count.
                busy += look;
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
        let (doing, limit) = (activity().clone(), limit.as_secs_f64());
        let message = format!("The command was still {doing} after {limit} s.");
        let error = PassError::new(ErrorKind::Crashed, message)
            .help("A pipe needs a program at its other end, which closes it in time.");
        let status = show::fail(&error);
        if let Some(json) = json {
            show::write_out(&json(&error));
        }
        // Passes that the command runs itself haven't crashed.
        crash::finish(status);
        std::process::exit(status.into())
    }
}
