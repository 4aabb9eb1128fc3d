//! The terminal of a process that isn't in its foreground group.

/// Lets this process and what it starts write to its terminal, and fail to read from it, instead of being stopped.
pub fn never_stop_for_terminal() {
    for signal in [libc::SIGTTIN, libc::SIGTTOU] {
        // SAFETY: to ignore a signal has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}
