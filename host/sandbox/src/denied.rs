//! The reports of denied system calls.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::DeniedCall;
use crate::calls::kind;

/// The denied system calls of another process, which wait until they are answered.
#[derive(Debug)]
pub struct DeniedCalls(OwnedFd);

impl DeniedCalls {
    /// Creates the receiver of the calls of a process that has entered a sandbox.
    pub fn new(denied: OwnedFd) -> DeniedCalls {
        DeniedCalls(denied)
    }

    /// Receives a call that waits, and lets it fail with `EPERM`. `on_call` gets its kind and the id of its thread,
    /// which waits until then. It isn't called if the thread has ended.
    ///
    /// # Errors
    /// The system's error.
    pub fn deny_next(&self, on_call: impl FnOnce(DeniedCall, u32)) -> io::Result<()> {
        // SAFETY: zero bytes are a valid value of a struct of integers.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        let descriptor = self.0.as_raw_fd();
        // SAFETY: the kernel writes a struct of this type. It must be zeroed, which it is.
        let received =
            unsafe { libc::ioctl(descriptor, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
        if received < 0 {
            return match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
                error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                error => Err(error),
            };
        }
        if let Some(kind) = kind(call.data.nr.into()) {
            on_call(kind, call.pid);
        }
        // SAFETY: as above.
        let mut response: libc::seccomp_notif_resp = unsafe { std::mem::zeroed() };
        response.id = call.id;
        response.error = -libc::EPERM;
        // SAFETY: the kernel reads a struct of this type.
        // A failure means that the thread has ended.
        unsafe {
            libc::ioctl(
                descriptor,
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw const response,
            )
        };
        Ok(())
    }
}

impl AsFd for DeniedCalls {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
