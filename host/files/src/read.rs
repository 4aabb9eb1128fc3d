//! Reading files that a user names.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// Opens a regular file or a pipe for reading, also after the process has entered a sandbox. Devices are rejected,
/// because they may have no end.
///
/// # Errors
/// If the file is a device, or the system's error.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    passdock_sandbox::allow_read(path);
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

/// Returns `true` if two files have the same content. Both are read from their beginnings, in chunks.
///
/// # Errors
/// The system's error.
pub fn same_contents(a: &mut File, b: &mut File) -> io::Result<bool> {
    const PART: u64 = 1 << 20;
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let mut parts = [Vec::new(), Vec::new()];
    a.rewind()?;
    b.rewind()?;
    loop {
        for (file, part) in [&mut *a, &mut *b].into_iter().zip(&mut parts) {
            part.clear();
            file.take(PART).read_to_end(part)?;
        }
        if parts[0] != parts[1] || parts[0].is_empty() {
            return Ok(parts[0] == parts[1]);
        }
    }
}
