//! Records in memory shared by two processes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use memmap2::{MmapOptions, MmapRaw};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::record::Record;

/// A record that another process writes and this one reads.
#[derive(Debug)]
pub struct SharedRecord {
    memory: MmapRaw,
    file: OwnedFd,
}

impl SharedRecord {
    /// Creates an empty record in anonymous memory.
    ///
    /// # Errors
    /// If the system can't create or map the memory.
    pub fn new() -> io::Result<SharedRecord> {
        #[cfg(target_os = "linux")]
        let file = rustix::fs::memfd_create("passdock", rustix::fs::MemfdFlags::CLOEXEC)?;
        #[cfg(not(target_os = "linux"))]
        let file = OwnedFd::from(tempfile::tempfile()?);
        rustix::fs::ftruncate(&file, size_of::<Record>() as u64)?;
        let memory = map(&file)?;
        Ok(SharedRecord { memory, file })
    }

    /// Returns the record.
    pub fn record(&self) -> &Record {
        record_in(&self.memory)
    }

    /// Returns the memory's file, to be inherited by the process that writes the record.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Record {
    /// Maps the record from the descriptor that the parent process left open. The mapping is never released.
    ///
    /// # Errors
    /// If there is no such descriptor, or it can't be mapped.
    pub fn inherited(fd: RawFd) -> io::Result<&'static Record> {
        Ok(record_in(Box::leak(Box::new(map(&inherited(fd)?)?))))
    }
}

/// Takes ownership of the descriptor that the parent process left open, and marks it close-on-exec.
///
/// # Errors
/// If there is no such descriptor.
pub fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is only borrowed for the call, which fails if it isn't open.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(fd) }, FdFlags::CLOEXEC)?;
    // SAFETY: the call above proves that the descriptor is open. The parent process left it open for the caller, which
    // is its only owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn map(file: &OwnedFd) -> io::Result<MmapRaw> {
    MmapOptions::new().len(size_of::<Record>()).map_raw(file)
}

fn record_in(memory: &MmapRaw) -> &Record {
    // SAFETY: `map` maps `size_of::<Record>()` bytes, and pages are aligned. A record consists of atomic integers, for
    // which any bits are valid.
    unsafe { &*memory.as_ptr().cast::<Record>() }
}
