//! What happens when a signal asks the command to end: what it started ends, unfinished files go, and the
//! command ends by that signal.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use passdock::{crash, files, supervised};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

/// Starts to listen. Where that fails, a signal ends the command as it ends any.
pub(crate) fn listen() {
    catch_large_files();
    // `nohup`, and shells that start a command in the background, ignore some for it.
    let ignored = ignored();
    let signals = [SIGHUP, SIGINT, SIGTERM, SIGTSTP].into_iter();
    let signals: Vec<i32> = signals
        .filter(|signal| ignored & (1 << (signal - 1)) == 0)
        .collect();
    // The second one ends the command whatever it is at.
    let again = Arc::new(AtomicBool::new(false));
    for &signal in signals.iter().filter(|signal| **signal != SIGTSTP) {
        let _ = flag::register_conditional_default(signal, again.clone());
    }
    let Ok(signals) = Signals::new(signals) else {
        return;
    };
    // If a plugin closed its descriptors, they aren't its own any more.
    let mut signals = ManuallyDrop::new(signals);
    let listen = move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                stop();
                continue;
            }
            again.store(true, Ordering::SeqCst);
            supervised::give_up();
            files::give_up();
            let _ = low_level::emulate_default_handler(signal);
        }
    };
    // It panics if the descriptors are closed.
    thread::spawn(|| crash::caught(listen).ok());
}

/// Makes a file that grows too large an error of the write that made it so.
pub(crate) fn catch_large_files() {
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Stops until this process is to go on, and so does what it runs in a group of its own: the terminal stops only this
/// one's.
fn stop() {
    supervised::stop();
    let _ = low_level::emulate_default_handler(SIGTSTP);
    supervised::go_on();
}

/// The signals that this process was started to ignore, a bit each; none where the system doesn't say.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
