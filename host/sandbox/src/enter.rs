//! The sandbox of this process, from its preparation to its entry.

use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::access::{Access, CallLimits, Permission};
#[cfg(target_os = "linux")]
use crate::linux::restrict;
#[cfg(not(target_os = "linux"))]
use crate::other::restrict;

/// Whether a process that runs plugins enters a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// Enters the parts that the system has.
    #[default]
    Auto,
    /// Enters it, and fails if the system lacks a part.
    Require,
    /// Doesn't enter it.
    Off,
}

/// A part of the sandbox that may be active by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxPart {
    /// Files outside of what the process was given are denied.
    Files,
    /// System calls that reach beyond the process are denied.
    Calls,
    /// The supervisor receives each denied system call.
    Reports,
}

/// A sandbox that the process will enter.
pub struct Sandbox {
    /// Whether it is entered.
    pub mode: SandboxMode,
    /// Whether a supervisor receives denied calls.
    pub reports: bool,
    /// Called once, right before the process runs its first plugin code.
    pub on_enter: Box<dyn FnOnce(SandboxEntry) + Send>,
}

/// The result of entering a sandbox.
#[derive(Debug, Default)]
pub struct SandboxEntry {
    /// The active parts.
    pub parts: Vec<SandboxPart>,
    /// Why the other parts aren't active.
    pub missing: Vec<String>,
    /// The limits of calls into plugins, by file.
    pub limits: Vec<(PathBuf, CallLimits)>,
    /// The source of [`crate::DeniedCalls`]. The supervisor must own it alone, or plugins could answer their own calls.
    #[cfg(target_os = "linux")]
    pub denied: Option<OwnedFd>,
}

/// The error for a sandbox that is required but lacks a part.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", .0.join("; "))]
pub struct Unavailable(pub Vec<String>);

/// The state of this process.
#[derive(Default)]
struct State {
    /// The prepared sandbox, until it is entered.
    prepared: Option<Sandbox>,
    access: Access,
    /// The result of the entry, if it failed.
    failure: Option<Unavailable>,
}

static STATE: Mutex<State> = Mutex::new(State {
    prepared: None,
    access: Access {
        read: Vec::new(),
        write: Vec::new(),
        libraries: BTreeSet::new(),
        library_directories: BTreeSet::new(),
        limits: Vec::new(),
        network: false,
        exec: false,
    },
    failure: None,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prepares a sandbox, which the first call of [`enter`] enters. Without it, `enter` does nothing.
pub fn prepare(sandbox: Sandbox) {
    state().prepared = Some(sandbox);
}

/// Returns `true` from the preparation of a sandbox to its entry.
pub fn is_prepared() -> bool {
    state().prepared.is_some()
}

/// Allows reading a file, or a directory with all that is in it. Without a prepared sandbox, or after its entry, this
/// has no effect.
pub fn allow_read(path: impl Into<PathBuf>) {
    let mut state = state();
    if state.prepared.is_some() {
        state.access.read.push(path.into());
    }
}

/// Allows loading a library, and other libraries in its directory, which it may need, as [`allow_read`] allows reading.
pub fn allow_library(path: &Path) {
    let mut state = state();
    if state.prepared.is_some() {
        state.access.libraries.insert(path.to_owned());
    }
}

/// Allows loading the libraries in a directory, as [`allow_read`] allows reading.
pub fn allow_libraries_in(directory: &Path) {
    let mut state = state();
    if state.prepared.is_some() {
        state
            .access
            .library_directories
            .insert(directory.to_owned());
    }
}

/// Allows writing a file, or creating and removing files in a directory, as [`allow_read`] allows reading.
pub fn allow_write(path: impl Into<PathBuf>) {
    let mut state = state();
    if state.prepared.is_some() {
        state.access.write.push(path.into());
    }
}

/// Grants a permission, as [`allow_read`] allows reading.
pub fn grant(permission: Permission) {
    let mut state = state();
    if state.prepared.is_some() {
        state.access.grant(permission);
    }
}

/// Limits the calls into the plugin of a file, as [`allow_read`] allows reading.
pub fn limit_calls(plugin: &Path, limits: CallLimits) {
    let mut state = state();
    if state.prepared.is_some() && limits != CallLimits::default() {
        state.access.limits.push((plugin.to_owned(), limits));
    }
}

/// Enters the prepared sandbox, unless that has been done. The caller is about to run plugin code.
///
/// # Errors
/// If the sandbox is required and the system lacks a part of it. No plugin code may run then.
pub fn enter() -> Result<(), Unavailable> {
    let mut state = state();
    if let Some(sandbox) = state.prepared.take() {
        let mut access = std::mem::take(&mut state.access);
        let limits = std::mem::take(&mut access.limits);
        let mut entered = match sandbox.mode {
            SandboxMode::Off => SandboxEntry::default(),
            SandboxMode::Auto | SandboxMode::Require => restrict(&access, sandbox.reports),
        };
        if sandbox.mode == SandboxMode::Require && !entered.missing.is_empty() {
            state.failure = Some(Unavailable(entered.missing.clone()));
        }
        entered.limits = limits;
        (sandbox.on_enter)(entered);
    }
    state.failure.clone().map_or(Ok(()), Err)
}
