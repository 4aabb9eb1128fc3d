//! Reading files that a user names.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file or a pipe for reading. Devices are rejected, because they may have no end.
///
/// # Errors
/// If the file is a device, or the system's error.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = file.metadata()?.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            return Err(io::Error::other("not a regular file or a pipe"));
        }
    }
    Ok(file)
}

/// Reads a file that [`open`] accepts.
///
/// # Errors
/// See [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file as UTF-8.
///
/// # Errors
/// See [`open`]; also if the file isn't UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}
