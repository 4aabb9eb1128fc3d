//! Descriptors that the process that started this one left open for it.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// The descriptor of this number, which nothing that this process starts gets in its turn.
///
/// # Errors
/// If there is none.
pub fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call only looks whether there is such a descriptor, and marks it.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is there, and whoever started this process left it to whoever asks for it by its number.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
