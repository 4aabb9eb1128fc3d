//! Work in a process of its own, which may die: its supervisor stays, and reports what it died of.
//!
//! A [`Supervisor`] starts a program as its [`Worker`] and gives it a job. The worker sends what instruments show, and
//! its answer in the end (`message`); an output is written to a directory of the supervisor's, which puts it in its
//! place. What the worker calls is in memory that both share (`passdock_crash`). If it died in a pass, a second one
//! does the same job, lets that pass fail instead of running it, and answers as of any pass that failed: with a report,
//! and with a reproducer.

mod children;
mod message;
mod process;
mod run;
mod supervisor;
mod trials;
mod worker;

pub use children::{forget, give_up, go_on, spawn, stop};
pub use passdock_crash::{Culprit, Termination, TerminationCause};
use run::{crash_error, not_started};
pub use run::{kept_input, run};
pub use supervisor::Supervisor;
pub use trials::WorkerTrials;
pub use worker::Worker;
