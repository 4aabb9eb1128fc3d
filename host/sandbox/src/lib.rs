//! A sandbox for a process that runs plugins: it reads and writes only what it was given, and can't reach the network,
//! start programs or signal other processes.
//!
//! A process calls [`prepare`] when it starts. Until it runs the first plugin code, its own code states which files it
//! needs ([`allow_read`], [`allow_write`], [`grant`]). The loader of plugins calls [`enter`] before the system's loader
//! sees the first library, so that constructors run inside the sandbox. There is no way out of it.
//!
//! On Linux, Landlock restricts files and seccomp restricts system calls. The supervisor of the process receives each
//! denied call ([`DeniedCalls`]). Other systems have no sandbox.

mod access;
mod call;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod denied;
mod enter;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

pub use access::{CallLimits, InvalidPermission, Permission};
pub use call::DeniedCall;
#[cfg(target_os = "linux")]
pub use denied::DeniedCalls;
pub use enter::{
    Sandbox, SandboxEntry, SandboxMode, SandboxPart, Unavailable, allow_libraries_in,
    allow_library, allow_read, allow_write, enter, grant, is_prepared, limit_calls, prepare,
};
