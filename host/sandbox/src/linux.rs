//! The sandbox of Linux.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::access::Access;
use crate::enter::{SandboxEntry, SandboxPart};
use crate::{files, filter};

/// The time that threads of the host have to end before the sandbox is entered.
const THREADS_END_WITHIN: Duration = Duration::from_millis(200);

/// Restricts this process. With `reports`, a supervisor receives denied calls.
pub(crate) fn restrict(access: &Access, reports: bool) -> SandboxEntry {
    let mut entered = SandboxEntry::default();
    let limit = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // A core file would be written outside of the process's files, and has all its data.
    _ = setrlimit(Resource::Core, limit);
    // Landlock restricts the calling thread and threads that it starts. Plugins could change the code of any other.
    let files = has_one_thread().and_then(|()| files::restrict(access));
    match files {
        Ok(()) => entered.parts.push(SandboxPart::Files),
        Err(error) => entered.missing.push(format!("files: {error}")),
    }
    match filter::install(access, reports) {
        Ok(denied) => {
            entered.parts.push(SandboxPart::Calls);
            if denied.is_some() {
                entered.parts.push(SandboxPart::Reports);
            }
            entered.denied = denied;
        }
        Err(error) => entered.missing.push(format!("system calls: {error}")),
    }
    entered
}

/// Waits until this is the only thread of the process.
fn has_one_thread() -> io::Result<()> {
    let start = Instant::now();
    while fs::read_dir("/proc/self/task")?.count() > 1 {
        if start.elapsed() > THREADS_END_WITHIN {
            return Err(io::Error::other("another thread is running"));
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}
