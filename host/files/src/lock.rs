//! Locks on directories, against other runs that put files there.

use std::fs::File;
use std::path::Path;

/// A lock on a directory, until it is dropped.
pub type DirectoryLock = File;

/// Locks a directory against other runs that put files there, and waits for them. `None` where
/// the system doesn't lock directories, or no file can be made there.
pub fn lock_directory(dir: &Path) -> Option<DirectoryLock> {
    #[cfg(not(windows))]
    {
        let file = File::open(dir).ok()?;
        file.lock().ok()?;
        Some(file)
    }
    #[cfg(windows)]
    loop {
        match lock_file(dir) {
            Err(error) if error.raw_os_error() == Some(HELD) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            locked => return locked.ok(),
        }
    }
}

/// Locks a directory as [`lock_directory`] does, without waiting: `None` also if another run holds
/// the lock.
pub(crate) fn try_lock_directory(dir: &Path) -> Option<DirectoryLock> {
    #[cfg(not(windows))]
    {
        let file = File::open(dir).ok()?;
        file.try_lock().ok()?;
        Some(file)
    }
    #[cfg(windows)]
    lock_file(dir).ok()
}

/// The system's error for a file that another process has opened for itself alone
/// (`ERROR_SHARING_VIOLATION`).
#[cfg(windows)]
const HELD: i32 = 32;

/// Makes the file that stands for a directory's lock: Windows locks no directories. Nobody else can
/// open it meanwhile, and it goes with its last handle, even if the process dies.
#[cfg(windows)]
fn lock_file(dir: &Path) -> std::io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const GENERIC_WRITE: u32 = 0x4000_0000;
    const DELETE: u32 = 0x0001_0000;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).share_mode(0);
    options.access_mode(GENERIC_WRITE | DELETE);
    options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    options.open(dir.join(format!("{}lock", crate::leftovers::PREFIX)))
}
