//! Handlers of termination signals: they terminate child processes and remove unfinished files, then the command
//! terminates by the same signal.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use passdock::{crash, files, supervised};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

/// Installs the handlers. If that fails, signals have their default effect.
pub(crate) fn watch_signals() {
    catch_large_files();
    // `nohup`, and shells that start a background job, let the command ignore some signals.
    let ignored = ignored();
    let signals = [SIGHUP, SIGINT, SIGTERM, SIGTSTP].into_iter();
    let signals = signals.filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let signals: Vec<i32> = signals.collect();
    // A second signal terminates the command immediately.
    let was_interrupted = Arc::new(AtomicBool::new(false));
    for &signal in signals.iter().filter(|signal| **signal != SIGTSTP) {
        let _ = flag::register_conditional_default(signal, was_interrupted.clone());
    }
    let Ok(signals) = Signals::new(signals) else {
        return;
    };
    // Never dropped: a plugin may have closed the descriptors, and their numbers may be in use again.
    let mut signals = ManuallyDrop::new(signals);
    let handle_signals = move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                stop();
                continue;
            }
            was_interrupted.store(true, Ordering::SeqCst);
            supervised::give_up();
            files::give_up();
            let _ = low_level::emulate_default_handler(signal);
        }
    };
    // The iterator panics if the descriptors are closed.
    thread::spawn(|| crash::caught(handle_signals).ok());
}

/// Makes a write that exceeds the file size limit fail instead of terminating the process.
pub(crate) fn catch_large_files() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Stops this process until it is continued, and with it its children in other process groups, which the terminal
/// doesn't stop.
fn stop() {
    supervised::stop();
    let _ = low_level::emulate_default_handler(SIGTSTP);
    supervised::resume();
}

/// Returns the signals that this process was started to ignore, as a bit mask. Returns 0 if the system doesn't report
/// them.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
