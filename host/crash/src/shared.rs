//! Records in memory that two processes share.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};

use crate::record::Record;

/// A record that another process writes, as this one reads it.
#[derive(Debug)]
pub struct SharedRecord {
    memory: NonNull<Record>,
    file: OwnedFd,
}

// SAFETY: a record is atomic numbers; any thread may read it, and unmap it when nobody borrows it.
unsafe impl Send for SharedRecord {}

impl SharedRecord {
    /// Makes an empty record, in memory that has no name.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<SharedRecord> {
        let file = nameless_file()?;
        Ok(SharedRecord {
            memory: map(Some(file.as_fd()))?,
            file,
        })
    }

    /// The record.
    pub fn record(&self) -> &Record {
        // SAFETY: it is mapped until this is dropped; a record is atomic numbers, of any bits.
        unsafe { self.memory.as_ref() }
    }

    /// The file of the memory, for the process that writes it.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for SharedRecord {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody borrows it.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), size_of::<Record>()) };
    }
}

impl Record {
    /// Maps the record whose file the parent process left open under this number, for as long as this process lives.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn inherited(fd: RawFd) -> io::Result<&'static Record> {
        let memory = map(Some(inherited(fd)?.as_fd()))?;
        // SAFETY: it stays mapped.
        Ok(unsafe { memory.as_ref() })
    }

    /// Makes a record that only this process reads.
    pub(crate) fn in_own_memory() -> io::Result<&'static Record> {
        let memory = map(None)?;
        // SAFETY: as above.
        Ok(unsafe { memory.as_ref() })
    }
}

/// The descriptor that the parent process left open under this number, which nothing that this process starts gets.
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

fn map(file: Option<BorrowedFd<'_>>) -> io::Result<NonNull<Record>> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let (flags, fd) = match file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
    };
    // SAFETY: the memory is new, and nobody else's.
    let memory = unsafe { libc::mmap(ptr::null_mut(), size_of::<Record>(), rights, flags, fd, 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(memory.cast()).ok_or_else(io::Error::last_os_error)
}

/// A file without a name, as large as a record.
fn nameless_file() -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    // SAFETY: the call is given a text; what it returns is looked at below.
    let fd = unsafe { libc::memfd_create(c"passdock".as_ptr(), libc::MFD_CLOEXEC) };
    #[cfg(not(target_os = "linux"))]
    let fd = {
        let mut template = *b"/tmp/passdock-XXXXXX\0";
        // SAFETY: the calls are given a text that may be written to; what they return is looked at below.
        unsafe {
            let fd = libc::mkstemp(template.as_mut_ptr().cast());
            libc::unlink(template.as_ptr().cast());
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            fd
        }
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was opened here.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the call is given a descriptor that is open.
    match unsafe { libc::ftruncate(fd, size_of::<Record>() as libc::off_t) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}
