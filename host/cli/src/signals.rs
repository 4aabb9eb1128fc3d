//! What happens when a signal asks the command to end: what it started ends, unfinished files go, and the
//! command ends by that signal.

use std::io::Read;
use std::mem;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use passdock::{files, supervised};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::{flag, low_level};

/// Starts to listen. Where that fails, a signal ends the command as it ends any.
pub(crate) fn listen() {
    catch_large_files();
    let ignored = ignored();
    let asked = [SIGHUP, SIGINT, SIGTERM].into_iter();
    // `nohup`, and shells that start a command in the background, ignore some for it.
    let asked: Vec<i32> = asked
        .filter(|signal| ignored & (1 << (signal - 1)) == 0)
        .collect();
    // The second one ends the command whatever it is at.
    let again = Arc::new(AtomicBool::new(false));
    for &signal in &asked {
        let _ = flag::register_conditional_default(signal, again.clone());
    }
    let Ok((mut reader, writer)) = UnixStream::pair() else {
        return;
    };
    let came = Arc::new(AtomicUsize::new(0));
    let stops = Arc::new(AtomicBool::new(false));
    let may_stop = ignored & (1 << (SIGTSTP - 1)) == 0;
    if may_stop {
        let _ = flag::register(SIGTSTP, stops.clone());
    }
    for signal in asked.into_iter().chain(may_stop.then_some(SIGTSTP)) {
        let Ok(writer) = writer.try_clone() else {
            return;
        };
        if signal != SIGTSTP {
            let _ = flag::register_usize(signal, came.clone(), signal as usize);
        }
        let _ = low_level::pipe::register(signal, writer);
    }
    thread::spawn(move || {
        let mut signal = 0;
        // A plugin may write there, too.
        while signal == 0 {
            let read = reader.read_exact(&mut [0]);
            signal = came.load(Ordering::SeqCst);
            if read.is_err() {
                // Somebody closed the descriptor, which isn't this one's any more.
                mem::forget(reader);
                break;
            }
            if signal == 0 && stops.swap(false, Ordering::SeqCst) {
                stop();
            }
        }
        again.store(true, Ordering::SeqCst);
        if signal == 0 {
            return;
        }
        supervised::give_up();
        files::give_up();
        let _ = low_level::emulate_default_handler(signal as i32);
    });
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
