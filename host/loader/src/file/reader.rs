//! Plain reads of a library file, and the file's identity.
//!
//! Reading at an offset, with the first pages read once, keeps a check at three or four system
//! calls: header, segments and symbol tables stand at the front of nearly every library.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use object::read::ReadCacheOps;

use crate::error::PluginErrorKind as Kind;

/// The number of bytes that the first read takes from the front of the file.
const FRONT: u64 = 16 << 10;

/// The identity of one state of a file: its length, times, device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub(crate) len: u64,
    pub(crate) modified: i128,
    pub(crate) changed: i128,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

const SECOND: i128 = 1_000_000_000;

impl Identity {
    /// The identity of an open file.
    #[cfg(unix)]
    pub(crate) fn of(meta: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        let nanos = |s: i64, ns: i64| i128::from(s) * SECOND + i128::from(ns);
        Identity {
            len: meta.len(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
            device: meta.dev(),
            inode: meta.ino(),
        }
    }

    /// The identity of an open file.
    #[cfg(not(unix))]
    pub(crate) fn of(meta: &Metadata) -> Identity {
        let modified = meta
            .modified()
            .ok()
            .and_then(|t| t.duration_since(UNIX_EPOCH).ok())
            .map_or(0, |d| d.as_nanos() as i128);
        Identity {
            len: meta.len(),
            modified,
            changed: 0,
            device: 0,
            inode: 0,
        }
    }

    /// The identity with the volume and the number of the file, which Windows tells of open files
    /// only.
    #[cfg(windows)]
    fn with_place(self, file: &File) -> std::io::Result<Identity> {
        let place = winapi_util::file::information(file)?;
        Ok(Identity {
            device: place.volume_serial_number(),
            inode: place.file_index(),
            ..self
        })
    }

    /// Whether any change after `now` would give the file another identity. Clocks of file systems
    /// are coarse: a file that changed in the last two seconds may change again within the same
    /// tick. A time without a fraction comes from a clock of whole seconds, or was made up for an
    /// image.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos() as i128);
        self.changed % SECOND != 0 && self.changed + 2 * SECOND <= now
    }

    /// The file's length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

/// Opens a library file, and refuses anything but a regular file.
pub(crate) fn open(path: &Path) -> Result<(File, Identity), Kind> {
    let file = open_file(path).map_err(Kind::Io)?;
    let meta = file.metadata().map_err(Kind::Io)?;
    if !meta.is_file() {
        return Err(Kind::NotAFile);
    }
    let identity = Identity::of(&meta);
    #[cfg(windows)]
    let identity = identity.with_place(&file).map_err(Kind::Io)?;
    Ok((file, identity))
}

/// Opens a file without blocking: a pipe in the directory must not make the host wait for a writer.
#[cfg(target_os = "linux")]
fn open_file(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    const O_NONBLOCK: i32 = 0o4000;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
}

#[cfg(not(target_os = "linux"))]
fn open_file(path: &Path) -> std::io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(std::io::Error::other("it isn't a regular file"))
    }
}

/// A file as `object` reads it.
#[derive(Debug)]
pub(super) struct Reader<'f> {
    file: &'f File,
    len: u64,
    at: u64,
    front: Option<Vec<u8>>,
}

impl<'f> Reader<'f> {
    pub(super) fn new(file: &'f File, len: u64) -> Reader<'f> {
        Reader {
            file,
            len,
            at: 0,
            front: None,
        }
    }

    fn fill(&mut self, out: &mut [u8]) -> std::io::Result<()> {
        let end = self.at + out.len() as u64;
        if self.front.is_none() {
            let mut front = vec![0; self.len.min(FRONT) as usize];
            read_exact_at(self.file, &mut front, 0)?;
            self.front = Some(front);
        }
        match self.front.as_deref() {
            Some(front) if end <= front.len() as u64 => {
                out.copy_from_slice(&front[self.at as usize..end as usize]);
            }
            _ => read_exact_at(self.file, out, self.at)?,
        }
        self.at = end;
        Ok(())
    }
}

impl ReadCacheOps for Reader<'_> {
    fn len(&mut self) -> Result<u64, ()> {
        Ok(self.len)
    }

    fn seek(&mut self, pos: u64) -> Result<u64, ()> {
        self.at = pos;
        Ok(pos)
    }

    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ()> {
        let len = self.len.saturating_sub(self.at).min(buf.len() as u64) as usize;
        self.fill(&mut buf[..len]).map_err(|_| ())?;
        Ok(len)
    }

    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), ()> {
        self.fill(buf).map_err(|_| ())
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, out: &mut [u8], at: u64) -> std::io::Result<()> {
    // Named by their traits: a file has `object`'s methods of these names, too.
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at))?;
    std::io::Read::read_exact(&mut file, out)
}
