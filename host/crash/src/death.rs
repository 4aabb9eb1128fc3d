//! The death of a process: what ended it, and whose doing that was.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use signal_hook::low_level::signal_name;

use crate::call::{CallKind, Callee};

/// The death of a process that ran plugins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Death {
    /// What ended it.
    #[serde(flatten)]
    pub cause: DeathCause,
    /// What of a plugin ran on the thread that died; `None`: nothing of a plugin that the host knows of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Culprit>,
    /// The pass that ran, or that an instrument was called around, if the culprit isn't the pass itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<Culprit>,
    /// The definition that the culprit, a pass, had called last: what it wrote past its memory shows later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_before: Option<Culprit>,
    /// Whether it was another thread than the one that ran that: no call into a plugin was on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_other_thread: bool,
    /// The rewrites that the pass had done, and the rule that was at it, if somebody counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrites: Option<(u64, String)>,
    /// The files of the plugins that were loaded, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<String>,
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
    /// A call of `exit` or `_exit`, or the end of another program in its place.
    Exit {
        /// The status; `None`: it isn't known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<i32>,
    },
    /// It closed descriptors that weren't its own.
    Descriptors,
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
    /// The number of the call, of a pass or an instrument.
    #[serde(default)]
    pub number: u64,
}

/// The deaths that this process is to leave out.
static EXPECTED: OnceLock<Vec<Death>> = OnceLock::new();

/// The number of them that were left out.
static MET: AtomicUsize = AtomicUsize::new(0);

/// Makes the passes fail instead of running that other processes died in, which did the same. The first call counts.
pub fn expect(deaths: Vec<Death>) {
    _ = EXPECTED.set(deaths);
}

/// The death that is expected of this call of a pass or an instrument, which is to be left out.
pub fn expected(callee: &Callee<'_>) -> Option<&'static Death> {
    let at = Some((callee.kind, callee.number));
    let death = EXPECTED.get()?.iter().find(|death| death.place() == at);
    if death.is_some() {
        MET.fetch_add(1, Ordering::Relaxed);
    }
    death
}

/// The number of expected deaths that were left out so far.
pub fn met_deaths() -> usize {
    MET.load(Ordering::Relaxed)
}

impl Death {
    /// A death of which nothing but the cause is known.
    pub fn new(cause: DeathCause) -> Death {
        Death {
            cause,
            culprit: None,
            pass: None,
            called_before: None,
            on_other_thread: false,
            rewrites: None,
            loaded: Vec::new(),
        }
    }

    /// The pass that ran, whoever was the culprit in it.
    pub fn running_pass(&self) -> Option<&Culprit> {
        let is_pass = |culprit: &&Culprit| culprit.kind == CallKind::Pass;
        self.culprit.as_ref().filter(is_pass).or(self.pass.as_ref())
    }

    /// Whether nothing is known of what ran.
    pub fn is_of_nothing(&self) -> bool {
        self.culprit.is_none() && self.pass.is_none()
    }

    /// The kind and the number of the call that another process can leave out, to get further than this one: of the
    /// instrument that it died in, or of the pass. `None`: there is no such call.
    pub fn place(&self) -> Option<(CallKind, u64)> {
        let is_instrument = |culprit: &&Culprit| culprit.kind == CallKind::Instrument;
        let instrument = self.culprit.as_ref().filter(is_instrument);
        let at = instrument.or(self.running_pass())?;
        (at.number > 0).then_some((at.kind, at.number))
    }
}

impl DeathCause {
    /// The word for it: two deaths with the same one are the same. `SIGSEGV`, `exit`.
    pub fn name(&self) -> &'static str {
        match self {
            DeathCause::Signal {
                stack_overflow: true,
                ..
            } => "stack overflow",
            DeathCause::Signal { signal, .. } => signal_name(*signal).unwrap_or("a signal"),
            DeathCause::Exit { .. } => "exit",
            DeathCause::Descriptors => "descriptors",
            DeathCause::Timeout { .. } => "timeout",
        }
    }
}

/// The rest of a sentence about a process: `ended by SIGSEGV (address 0x0)`.
impl fmt::Display for DeathCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeathCause::Signal {
                signal,
                address,
                stack_overflow,
            } => {
                let name = fmt::from_fn(|f| match signal_name(*signal) {
                    Some(name) => f.write_str(name),
                    None => write!(f, "signal {signal}"),
                });
                if *stack_overflow {
                    return write!(f, "used up its stack ({name})");
                }
                write!(f, "crashed: {name}")?;
                f.write_str(match signal_name(*signal).unwrap_or_default() {
                    "SIGSEGV" => ", memory that isn't there or may not be written",
                    "SIGBUS" => ", memory that can't be reached",
                    "SIGFPE" => ", a division by zero, or one that overflows",
                    "SIGILL" => ", an instruction that isn't one",
                    "SIGABRT" => ", it gave up (`abort`)",
                    "SIGKILL" => ", the system or somebody killed it, perhaps for want of memory",
                    _ => "",
                })?;
                match address {
                    Some(address) => write!(f, " (address {address:#x})"),
                    None => Ok(()),
                }
            }
            DeathCause::Exit {
                status: Some(status),
            } => write!(f, "ended the process with status {status}"),
            DeathCause::Exit { status: None } => f.write_str("ended the process"),
            DeathCause::Descriptors => {
                f.write_str("closed files of the process that weren't its own")
            }
            DeathCause::Timeout { seconds } => write!(f, "was still running after {seconds} s"),
        }
    }
}
