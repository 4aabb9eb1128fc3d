//! Crashes of plugins: what of a plugin runs on each thread, and what is reported when the process terminates.
//!
//! The host enters a [`Callee`] around whatever it runs of a plugin. Once a [`Record`] is in use, the calls of each
//! thread are written there: memory that a supervisor shares, so that it can say what a process was doing whatever
//! ended it. A program without a supervisor prints a sentence ([`watch()`]).
//!
//! **Invariant:** what runs in a signal handler here neither allocates nor takes a lock.

mod call;
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
    CallKind, Callee, RunningCall, skip_terminated, skipped_calls, terminated, thread_number,
    trace_rewrites,
};
pub use panics::{Panic, caught, keep_quiet, panic_text};
pub use record::Record;
#[cfg(unix)]
pub use shared::{SharedRecord, inherited};
pub use termination::{Culprit, Termination, TerminationCause};
#[cfg(unix)]
pub use watch::{Then, finish, flush_streams, ignore_terminal_stops, lose_channel, watch};
