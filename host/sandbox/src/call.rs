//! Kinds of denied system calls.

use serde::{Deserialize, Serialize};

/// A kind of system call that the sandbox denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeniedCall {
    /// Opens a socket.
    Network,
    /// Starts a program.
    Exec,
    /// Starts a process.
    Fork,
    /// Reads or controls another process.
    Ptrace,
    /// Sends a signal to another process.
    Signal,
    /// Changes a resource limit.
    Limits,
    /// Changes mounts.
    Mount,
    /// Enters another namespace.
    Namespace,
    /// Changes the owner, the permissions or the times of a file.
    Attributes,
    /// Types into the terminal.
    Terminal,
    /// Shares memory or messages with other processes.
    Ipc,
    /// Changes the kernel's state.
    Kernel,
}

impl DeniedCall {
    /// Returns what the call attempts, to complete "the plugin tried to".
    pub fn attempt(self) -> &'static str {
        match self {
            DeniedCall::Network => "open a network connection",
            DeniedCall::Exec => "start a program",
            DeniedCall::Fork => "start a process",
            DeniedCall::Ptrace => "read or control another process",
            DeniedCall::Signal => "send a signal to another process",
            DeniedCall::Limits => "change a resource limit",
            DeniedCall::Mount => "change mounts",
            DeniedCall::Namespace => "enter another namespace",
            DeniedCall::Attributes => "change the attributes of a file",
            DeniedCall::Terminal => "type into the terminal",
            DeniedCall::Ipc => "share memory or messages with other processes",
            DeniedCall::Kernel => "change the state of the kernel",
        }
    }

    /// Returns the permission that allows the call, if there is one.
    pub fn permission(self) -> Option<&'static str> {
        match self {
            DeniedCall::Network => Some("network"),
            DeniedCall::Exec | DeniedCall::Fork => Some("exec"),
            _ => None,
        }
    }
}
