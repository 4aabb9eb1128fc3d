//! Crashes of plugins: what of a plugin runs on each thread, and what is reported when the process dies of it.
//!
//! The host enters a [`Callee`] around whatever it runs of a plugin. Once a [`Record`] is in use, the calls of each
//! thread are written there: memory that a supervisor shares, so that it can say what a process was doing whatever
//! ended it. A program without a supervisor prints a sentence ([`watch()`]).
//!
//! **Invariant:** what runs in a signal handler here neither allocates nor takes a lock.

mod call;
mod death;
mod panics;
mod record;
#[cfg(unix)]
mod shared;
#[cfg(unix)]
mod watch;

#[cfg(unix)]
pub use call::record_to;
pub use call::{
    CallKind, Callee, RunningCall, expect, expected, met_deaths, thread_number, trace_rewrites,
};
pub use death::{Culprit, Death, DeathCause};
pub use panics::{Panic, caught, keep_quiet, panic_text};
pub use record::Record;
#[cfg(unix)]
pub use shared::{SharedRecord, inherited};
pub use signal_hook::low_level::signal_name;
#[cfg(unix)]
pub use watch::{Then, finish, flush_streams, ignore_terminal_stops, lose_channel, watch};
