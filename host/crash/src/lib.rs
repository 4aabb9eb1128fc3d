//! Crash attribution: a record of the plugin code that runs on each thread, and reports when the process terminates.
//!
//! The host enters a [`Callee`] around each call into a plugin. Once a [`Record`] is in use, the calls of each thread
//! are written to it. The record can be in memory shared with a supervisor, which reads it after the process has
//! terminated for any reason. A program without a supervisor prints an error message ([`watch()`]).
//!
//! In a process that checks plugins, [`LentMemory`] finds accesses to memory that has expired.
//!
//! **Invariant:** signal handlers in this crate neither allocate nor take locks.

mod call;
mod lent;
mod panics;
mod record;
#[cfg(unix)]
mod shared;
mod termination;
#[cfg(unix)]
mod watch;

#[cfg(unix)]
pub use call::record_to;
pub use call::{
    CallKind, Callee, RunningCall, is_recording, skip_terminated, skipped_calls, terminated,
    thread_number, trace_rewrites,
};
pub use lent::{CANNOT_LEND, LentFor, LentMemory};
pub use panics::{Panic, caught, keep_quiet, panic_text};
pub use record::Record;
#[cfg(unix)]
pub use shared::{SharedRecord, inherited};
pub use termination::{Culprit, Termination, TerminationCause};
#[cfg(unix)]
pub use watch::{Then, finish, flush_streams, ignore_terminal_stops, lose_channel, watch};
