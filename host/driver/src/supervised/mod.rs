//! Crash isolation: a worker process runs plugins, and its supervisor survives and reports crashes.
//!
//! A [`Supervisor`] starts a program as its [`Worker`] and sends it a job. The worker sends the output of instruments
//! and finally the result (`message`). It writes the output file to the supervisor's staging directory, and the
//! supervisor commits it. The worker records its calls into plugins in shared memory (`passdock_crash`). If it crashes
//! in a pass, a second worker gets the same job and fails that pass instead of running it. Its result is that of any
//! failed pass: a report and a reproducer.

#[cfg(target_os = "linux")]
mod caller;
mod children;
mod limits;
mod message;
mod process;
mod run;
mod supervisor;
mod trials;
mod worker;

pub use children::{forget, give_up, resume, spawn, stop};
#[doc(hidden)]
pub use message::handle_messages;
pub use passdock_crash::{Culprit, Termination, TerminationCause};
pub use passdock_sandbox::SandboxMode;
pub use process::OnAsk;
use run::{crash_error, not_started};
pub use run::{run, seekable_input};
pub use supervisor::Supervisor;
pub use trials::WorkerTrials;
pub use worker::Worker;
