//! Records in memory that two processes share.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use memmap2::{MmapOptions, MmapRaw};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::record::Record;

/// A record that another process writes, as this one reads it.
#[derive(Debug)]
pub struct SharedRecord {
    memory: MmapRaw,
    file: OwnedFd,
}

impl SharedRecord {
    /// Makes an empty record, in memory that has no name.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<SharedRecord> {
        #[cfg(target_os = "linux")]
        let file = rustix::fs::memfd_create("passdock", rustix::fs::MemfdFlags::CLOEXEC)?;
        #[cfg(not(target_os = "linux"))]
        let file = OwnedFd::from(tempfile::tempfile()?);
        rustix::fs::ftruncate(&file, size_of::<Record>() as u64)?;
        let memory = map(&file)?;
        Ok(SharedRecord { memory, file })
    }

    /// The record.
    pub fn record(&self) -> &Record {
        record_in(&self.memory)
    }

    /// The file of the memory, for the process that writes it.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Record {
    /// Maps the record whose file the parent process left open under this number, for as long as this process lives.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn inherited(fd: RawFd) -> io::Result<&'static Record> {
        Ok(record_in(Box::leak(Box::new(map(&inherited(fd)?)?))))
    }
}

/// The descriptor that the parent process left open under this number, which nothing that this process starts gets.
///
/// # Errors
/// If there is none.
pub fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call fails if there is no such descriptor.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(fd) }, FdFlags::CLOEXEC)?;
    // SAFETY: it is there, and whoever started this process left it to whoever asks for it by its number.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn map(file: &OwnedFd) -> io::Result<MmapRaw> {
    MmapOptions::new().len(size_of::<Record>()).map_raw(file)
}

fn record_in(memory: &MmapRaw) -> &Record {
    // SAFETY: `map` made the memory as large as a record, and pages are aligned; a record is atomic numbers, of any
    // bits.
    unsafe { &*memory.as_ptr().cast::<Record>() }
}
