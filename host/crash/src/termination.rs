//! The termination of a process: its cause, and the plugin code that ran.

use std::fmt;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};
use signal_hook::low_level::signal_name;

use crate::call::CallKind;

/// The termination of a process that ran plugins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Termination {
    /// The cause.
    #[serde(flatten)]
    pub cause: TerminationCause,
    /// The plugin code that ran on the thread that crashed; `None` if the host recorded none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Culprit>,
    /// The pass that ran, or around which an instrument was called, if the culprit isn't the pass itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<Culprit>,
    /// The op definition that the culprit, a pass, called last. If it wrote out of bounds, the crash may follow later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_before: Option<Culprit>,
    /// Whether another thread crashed, outside of calls into plugins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_other_thread: bool,
    /// The number of rewrites of the pass, and the rule that ran, if they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrites: Option<(u64, String)>,
    /// The paths of the loaded plugins, if known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<String>,
}

/// The cause of a process's termination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "lowercase")]
pub enum TerminationCause {
    /// A signal.
    Signal {
        /// The signal's number.
        signal: i32,
        /// The address that was read or written, if the signal has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<u64>,
        /// Whether the stack overflowed.
        #[serde(default)]
        stack_overflow: bool,
    },
    /// A call of `exit` or `_exit`, or `exec` of a program that exited.
    Exit {
        /// The status, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<i32>,
    },
    /// A plugin closed file descriptors of the host.
    Descriptors,
    /// A call used more memory than its plugin may.
    Memory {
        /// The limit in bytes.
        bytes: u64,
    },
    /// The time limit was exceeded.
    Timeout {
        /// The limit in seconds.
        seconds: f64,
    },
}

/// Plugin code that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Culprit {
    /// The kind of call.
    pub kind: CallKind,
    /// The name of the pass, the instrument or the op.
    pub name: String,
    /// The plugin's file; `None` if the plugin is part of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// The function that it worked on, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The 1-based number of a pass or of an instrument call; 0 for other kinds.
    #[serde(default)]
    pub number: u64,
}

impl Termination {
    /// Creates a termination with only a cause.
    pub fn new(cause: TerminationCause) -> Termination {
        Termination {
            cause,
            culprit: None,
            pass: None,
            called_before: None,
            on_other_thread: false,
            rewrites: None,
            loaded: Vec::new(),
        }
    }

    /// Returns the pass that ran, whether or not it is the culprit.
    pub fn running_pass(&self) -> Option<&Culprit> {
        let is_pass = |culprit: &&Culprit| culprit.kind == CallKind::Pass;
        self.culprit.as_ref().filter(is_pass).or(self.pass.as_ref())
    }

    /// Returns `true` if the running plugin code is unknown.
    pub fn is_unattributed(&self) -> bool {
        self.culprit.is_none() && self.pass.is_none()
    }

    /// Returns the kind and the number of the call that another process can skip to continue the run. It is the
    /// instrument call in which the process terminated, or else the pass.
    pub fn call(&self) -> Option<(CallKind, u64)> {
        let is_instrument = |culprit: &&Culprit| culprit.kind == CallKind::Instrument;
        let instrument = self.culprit.as_ref().filter(is_instrument);
        let at = instrument.or(self.running_pass())?;
        (at.number > 0).then_some((at.kind, at.number))
    }
}

impl From<ExitStatus> for TerminationCause {
    fn from(status: ExitStatus) -> TerminationCause {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return TerminationCause::Signal {
                signal,
                address: None,
                stack_overflow: false,
            };
        }
        TerminationCause::Exit {
            status: status.code(),
        }
    }
}

impl TerminationCause {
    /// Returns a short name of the cause, such as `SIGSEGV` or `exit`. Terminations are considered equal if the names
    /// are.
    pub fn name(&self) -> &'static str {
        match self {
            TerminationCause::Signal {
                stack_overflow: true,
                ..
            } => "stack overflow",
            TerminationCause::Signal { signal, .. } => signal_name(*signal).unwrap_or("a signal"),
            TerminationCause::Exit { .. } => "exit",
            TerminationCause::Descriptors => "descriptors",
            TerminationCause::Memory { .. } => "memory",
            TerminationCause::Timeout { .. } => "timeout",
        }
    }
}

/// Formats the predicate of a message: `crashed: SIGSEGV, an invalid memory access (address 0x0)`.
impl fmt::Display for TerminationCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TerminationCause::Signal {
                signal,
                address,
                stack_overflow,
            } => {
                let name = fmt::from_fn(|f| match signal_name(*signal) {
                    Some(name) => f.write_str(name),
                    None => write!(f, "signal {signal}"),
                });
                if *stack_overflow {
                    return write!(f, "overflowed its stack ({name})");
                }
                write!(f, "crashed: {name}")?;
                f.write_str(match signal_name(*signal).unwrap_or_default() {
                    "SIGSEGV" => ", an invalid memory access",
                    "SIGBUS" => ", an access to unavailable memory",
                    "SIGFPE" => ", an integer division by zero or an overflow",
                    "SIGILL" => ", an illegal instruction",
                    "SIGABRT" => ", `abort` was called",
                    "SIGKILL" => ", possibly out of memory",
                    _ => "",
                })?;
                match address {
                    Some(address) => write!(f, " (address {address:#x})"),
                    None => Ok(()),
                }
            }
            TerminationCause::Exit {
                status: Some(status),
            } => write!(f, "ended the process with status {status}"),
            TerminationCause::Exit { status: None } => f.write_str("ended the process"),
            TerminationCause::Descriptors => {
                f.write_str("closed file descriptors that it didn't open")
            }
            TerminationCause::Memory { bytes } => {
                write!(f, "used more than {} MiB of memory", bytes >> 20)
            }
            TerminationCause::Timeout { seconds } => {
                write!(f, "was still running after {seconds} s")
            }
        }
    }
}
