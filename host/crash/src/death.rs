//! The death of a process: what ended it, and whose doing that was.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::CallKind;

/// The death of a process that ran plugins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Death {
    /// What ended it.
    #[serde(flatten)]
    pub cause: DeathCause,
    /// What of a plugin ran on the thread that died; `None`: nothing of a plugin that the host knows of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Culprit>,
    /// The pass that ran, if the culprit isn't the pass itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<Culprit>,
}

/// What ended a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "lowercase")]
pub enum DeathCause {
    /// A signal.
    Signal {
        /// Its number.
        signal: i32,
        /// The address that was read or written, of a signal that has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<u64>,
        /// Whether the stack was used up.
        #[serde(default)]
        stack_overflow: bool,
    },
    /// A call of `exit` or `_exit`, or another program in its place.
    Exit {
        /// The status; `None`: it isn't known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<i32>,
    },
    /// It closed descriptors that weren't its own, or wrote to them.
    Descriptors,
    /// Nobody said: it was written before anything happened, who runs is known, and not what came of it.
    Foreseen,
    /// It took longer than it was allowed to.
    Timeout {
        /// The seconds that it was allowed.
        seconds: f64,
    },
}

/// What of a plugin ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Culprit {
    /// Its kind.
    pub kind: CallKind,
    /// Its name: of the pass, the instrument, the op.
    pub name: String,
    /// The plugin's file; `None`: it is a part of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// The function that it worked on, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The number of the call, of a pass.
    #[serde(default)]
    pub number: u64,
}

/// The deaths that this process is to leave out.
static EXPECTED: OnceLock<Vec<Death>> = OnceLock::new();

/// Makes the passes fail instead of running that other processes died in, which did the same. The first call counts.
pub fn expect(deaths: Vec<Death>) {
    _ = EXPECTED.set(deaths);
}

/// The death that is expected in the pass of this number.
pub fn expected(number: u64) -> Option<&'static Death> {
    let is_in = |death: &&Death| {
        death
            .running_pass()
            .is_some_and(|pass| pass.number == number)
    };
    EXPECTED.get()?.iter().find(is_in)
}

impl Death {
    /// The pass that ran, whoever was the culprit in it.
    pub fn running_pass(&self) -> Option<&Culprit> {
        let is_pass = |culprit: &&Culprit| culprit.kind == CallKind::Pass;
        self.culprit.as_ref().filter(is_pass).or(self.pass.as_ref())
    }
}

/// The rest of a sentence about a process: `ended by SIGSEGV (address 0x0)`.
impl fmt::Display for DeathCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeathCause::Signal {
                stack_overflow: true,
                signal,
                ..
            } => write!(f, "used up its stack ({})", signal_name(*signal)),
            DeathCause::Signal {
                signal, address, ..
            } => {
                write!(f, "crashed: {}", signal_name(*signal))?;
                match meaning(*signal) {
                    "" => Ok(()),
                    meaning => write!(f, ", {meaning}"),
                }?;
                match address {
                    Some(address) => write!(f, " (address {address:#x})"),
                    None => Ok(()),
                }
            }
            DeathCause::Exit {
                status: Some(status),
            } => write!(f, "ended the process with status {status}"),
            DeathCause::Exit { status: None } | DeathCause::Foreseen => {
                f.write_str("ended the process")
            }
            DeathCause::Descriptors => {
                f.write_str("closed files of the process that weren't its own, or wrote to them")
            }
            DeathCause::Timeout { seconds } => write!(f, "was still running after {seconds} s"),
        }
    }
}

/// The name of a signal.
pub(crate) fn signal_name(signal: i32) -> &'static str {
    #[cfg(unix)]
    match signal {
        libc::SIGSEGV => return "SIGSEGV",
        libc::SIGBUS => return "SIGBUS",
        libc::SIGFPE => return "SIGFPE",
        libc::SIGILL => return "SIGILL",
        libc::SIGABRT => return "SIGABRT",
        libc::SIGTRAP => return "SIGTRAP",
        libc::SIGSYS => return "SIGSYS",
        libc::SIGKILL => return "SIGKILL",
        libc::SIGTERM => return "SIGTERM",
        libc::SIGINT => return "SIGINT",
        libc::SIGPIPE => return "SIGPIPE",
        libc::SIGALRM => return "SIGALRM",
        libc::SIGXCPU => return "SIGXCPU",
        _ => {}
    }
    let _ = signal;
    "a signal"
}

/// What a signal means, if it means one thing.
pub(crate) fn meaning(signal: i32) -> &'static str {
    #[cfg(unix)]
    match signal {
        libc::SIGSEGV => return "memory that isn't there or may not be written",
        libc::SIGBUS => return "memory that can't be reached",
        libc::SIGFPE => return "a division by zero, or one that overflows",
        libc::SIGILL => return "an instruction that isn't one",
        libc::SIGABRT => return "it gave up (`abort`)",
        libc::SIGKILL => return "the system or somebody killed it, perhaps for want of memory",
        _ => {}
    }
    let _ = signal;
    ""
}
