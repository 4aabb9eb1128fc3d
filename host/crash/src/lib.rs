//! Crashes of plugins: what of a plugin runs on each thread, and what is said when the process dies of it.
//!
//! The host puts a [`Call`] on its stack around whatever it runs of a plugin. When a signal ends the process, or
//! somebody ends it with `exit`, the calls of that thread say whose doing it is: a [`Death`]. A supervisor gets it as
//! JSON, people as a sentence ([`watch()`]).
//!
//! **Invariant:** what runs in a signal handler here neither allocates nor takes a lock, and reads only what the
//! crashed thread had on its stack.

mod call;
mod change;
mod death;
#[cfg(unix)]
mod float_mode;
#[cfg(unix)]
mod inherited;
#[cfg(unix)]
mod mapped;
mod observe;
mod panics;
#[cfg(unix)]
mod record;
#[cfg(target_os = "linux")]
mod signal_timer;
#[cfg(unix)]
mod surroundings;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod told;
mod trace;
#[cfg(unix)]
mod watch;

pub use call::{Call, CallKind, Callee, OnStack, Subject, thread_number};
#[cfg(not(unix))]
pub use change::changes;
pub use change::{ProcessChange, sentence};
pub use death::{Culprit, Death, DeathCause, expect, expected};
#[cfg(unix)]
pub use inherited::inherited;
#[cfg(unix)]
pub use mapped::Mapped;
pub use observe::{Observer, Seen, observe, tell};
pub use panics::{Panic, caught, keep_quiet, panic_text};
#[cfg(target_os = "linux")]
pub use signal_timer::SignalTimer;
#[cfg(unix)]
pub use surroundings::{changes, look_after, rely_on};
#[cfg(unix)]
pub use terminal::never_stop_for_terminal;
pub use trace::{
    FunctionTrace, TRACE_BYTES, Trace, Traced, TracedDefinition, trace_rewrites, trace_to, traced,
};
#[cfg(unix)]
pub use watch::{DEATH_BYTES, Then, ends_by, finish, finished, lost_channel, watch};
