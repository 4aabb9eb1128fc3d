//! Work in a process of its own, which may die: its supervisor stays, and says what it died of.
//!
//! A [`Supervisor`] starts a program as its [`Worker`] and gives it a job. The worker tells it what instruments show, asks
//! before it puts the output in its place, and answers in the end; `message` says how. A worker that dies says of what, if
//! it still can (`passdock_crash`), and has written down what it was at; `record` says where. Then a second one does the
//! same job, lets the pass that the first one died in fail instead of running it, and answers as of any pass that failed:
//! with a report, and with a reproducer.

mod guard;
mod limit;
mod message;
#[cfg(target_os = "linux")]
mod orphans;
mod parent;
mod process;
mod record;
mod run;
mod running;
mod supervisor;
mod trials;
mod worker;

pub use guard::refuse_tracing;
pub use passdock_crash::{Culprit, Death, DeathCause};
pub use process::waits;
pub use run::{died, kept_input, not_started, remove_leftovers, run};
pub use running::{give_up, go_on, stop};
pub use supervisor::{Ended, Supervisor};
pub use trials::WorkerTrials;
pub use worker::{Worker, end_worker};
