//! A file that is mapped: what is written to it arrives, whatever became of the descriptors.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::trace::Trace;

/// The first bytes of a file, for as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub struct Mapped {
    at: *mut u8,
    len: usize,
}

// SAFETY: the memory stays where it is, and is only written to, byte after byte, by atomic stores.
unsafe impl Send for Mapped {}
// SAFETY: see above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps so many bytes of a file that has them.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(file: impl AsFd, len: usize) -> io::Result<Mapped> {
        let fd = file.as_fd().as_raw_fd();
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the memory is new, and nobody else's.
        let at = unsafe { libc::mmap(ptr::null_mut(), len, rights, libc::MAP_SHARED, fd, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapped = Mapped { at: at.cast(), len };
        mapped.leave_to_this_process();
        Ok(mapped)
    }

    /// A process that this one forks, as a plugin may do, writes to memory of its own from then on: the file tells of this
    /// one alone.
    fn leave_to_this_process(self) {
        static FIRST: OnceLock<Mapped> = OnceLock::new();
        unsafe extern "C" fn part() {
            if let Some(Mapped { at, len }) = FIRST.get() {
                let rights = libc::PROT_READ | libc::PROT_WRITE;
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                // SAFETY: the memory that was mapped there is replaced by zeros, which stand for nothing.
                unsafe { libc::mmap(at.cast(), *len, rights, flags, -1, 0) };
            }
        }
        if FIRST.set(self).is_ok() {
            // SAFETY: in the new process the function makes one call of the system. If it isn't kept, both write.
            unsafe { libc::pthread_atfork(None, None, Some(part)) };
        }
    }

    /// A trace at a place; `None`: there is no room for it.
    pub fn trace(&self, place: usize) -> Option<&'static Trace> {
        let at = self.at.wrapping_add(place).cast::<Trace>();
        let has_room = self.len.saturating_sub(place) >= size_of::<Trace>();
        // SAFETY: it is in the memory, which stays, and is aligned; a trace is atomic numbers, of any bits.
        (has_room && at.is_aligned()).then(|| unsafe { &*at })
    }

    /// Writes bytes from a place on, if there is room for them. It neither allocates nor takes a lock.
    pub fn write(&self, place: usize, bytes: &[u8]) {
        if bytes.len() > self.len.saturating_sub(place) {
            return;
        }
        for (index, byte) in bytes.iter().enumerate() {
            // SAFETY: it is in the memory, which is only written to like this.
            let to = unsafe { AtomicU8::from_ptr(self.at.add(place + index)) };
            to.store(*byte, Ordering::Release);
        }
    }
}
