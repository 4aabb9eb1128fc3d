//! The manifest cache: manifests kept between runs, so that a start doesn't read and check every
//! plugin file.
//!
//! A directory of the user's has one cache file for each directory of plugins. The file lists each
//! plugin with its manifest and the state that its file was in when it was checked (device, inode,
//! length, times of change). A plugin file in that very state isn't opened: its manifest is known,
//! and so is that the system's loader may have it. Loading compares the state once more.
//!
//! The cache is never needed. A cache file of another user, a damaged one, and one of another
//! passdock are ignored; failures to write one are, too.

use std::collections::HashMap;
use std::fs;
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use passdock_abi as abi;

use super::codec::{Coded, take};
use crate::file::{self, Identity};
use crate::library::Plugin;
use crate::manifest::Manifest;

/// The longest cache file that is written or read, in bytes.
const MAX_LEN: u64 = 16 << 20;
/// The most cache files in a directory: one for each directory of plugins.
const MAX_FILES: usize = 64;
/// The extension of cache files.
const ENDING: &str = "manifests";

/// A directory in which manifests are kept between runs.
#[derive(Clone, Debug)]
pub struct ManifestCache {
    dir: PathBuf,
}

/// The cached manifests of a directory of plugins.
pub(super) struct Kept {
    /// The cache file's path.
    path: PathBuf,
    /// The cache file's contents after its header; empty without a valid file.
    bytes: Vec<u8>,
    /// The cached plugins by their file names.
    entries: HashMap<Vec<u8>, Entry>,
    /// The time at which the cache was read. Files that changed shortly before may change again
    /// without a trace.
    at: SystemTime,
}

/// A cached plugin file, in the state that it was in when it was checked.
struct Entry {
    identity: Identity,
    /// The offset of its manifest in the cache's bytes.
    manifest: usize,
}

impl ManifestCache {
    /// A cache in the directory `dir`, which is made when it is needed.
    pub fn new(dir: impl Into<PathBuf>) -> ManifestCache {
        ManifestCache { dir: dir.into() }
    }

    /// The cached manifests of the plugins in a directory.
    pub(super) fn of(&self, plugins: &Path) -> Kept {
        let plugins = std::path::absolute(plugins).unwrap_or_else(|_| plugins.to_path_buf());
        let number = blake3::hash(plugins.as_os_str().as_encoded_bytes()).to_hex();
        let path = self.dir.join(format!("{}.{ENDING}", &number[..32]));
        let at = SystemTime::now();
        let bytes = read(&path).unwrap_or_default();
        let entries = entries(&bytes).unwrap_or_default();
        Kept {
            path,
            bytes,
            entries,
            at,
        }
    }
}

impl Kept {
    /// The plugin in a file, if the file is in the state that the cache knows.
    pub(super) fn plugin(&self, path: &Path) -> Option<Plugin> {
        let entry = self.entries.get(name(path)?)?;
        let identity = Identity::of(&fs::metadata(path).ok()?);
        let mut bytes = self.bytes.get(entry.manifest..)?;
        let manifest = (identity == entry.identity).then(|| Manifest::get(&mut bytes))??;
        Some(Plugin::known(path, manifest, identity))
    }

    /// Writes the plugins that were found to the cache, unless it has the same ones. A failure is
    /// ignored.
    pub(super) fn keep(self, found: &[Arc<Plugin>]) {
        let plugins = found.iter().filter_map(|plugin| {
            let identity = plugin.file()?;
            let name = name(plugin.origin().path()?)?;
            let settled = identity.is_settled(self.at);
            settled.then_some((name, identity, plugin.manifest()))
        });
        let plugins: Vec<_> = plugins.collect();
        let is_kept = |name: &[u8], identity: &Identity| {
            let entry = self.entries.get(name);
            entry.is_some_and(|entry| entry.identity == *identity)
        };
        if plugins.len() == self.entries.len()
            && plugins
                .iter()
                .all(|(name, identity, ..)| is_kept(name, identity))
        {
            return;
        }
        let mut body = Vec::new();
        for (name, identity, manifest) in plugins {
            (name.len() as u32).put(&mut body);
            body.extend_from_slice(name);
            identity.put(&mut body);
            let start = body.len();
            0u32.put(&mut body);
            manifest.put(&mut body);
            let len = (body.len() - start - 4) as u32;
            body[start..start + 4].copy_from_slice(&len.to_le_bytes());
        }
        let _ = write(&self.path, &body);
    }
}

/// The name of a file in its directory, as bytes.
fn name(path: &Path) -> Option<&[u8]> {
    Some(path.file_name()?.as_encoded_bytes())
}

/// The first line of a cache file: a host that checks or writes manifests in another way has
/// another one, and ignores the file.
fn header() -> String {
    format!(
        "passdock {} manifests, {}-{}, abi {}.{} {:08x}, ir {}.{}, checks {CHECKS:016x}\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        abi::ABI.major,
        abi::ABI.minor,
        abi::LAYOUT,
        abi::IR.major,
        abi::IR.minor,
    )
}

/// A fingerprint of the sources that check files and manifests, and of those that write them here.
const CHECKS: u64 = fingerprint(&[
    include_bytes!("cache.rs"),
    include_bytes!("codec.rs"),
    include_bytes!("../manifest/declaration.rs"),
    include_bytes!("../manifest/field.rs"),
    include_bytes!("../manifest/mod.rs"),
    include_bytes!("../manifest/raw.rs"),
    include_bytes!("../manifest/schema.rs"),
    include_bytes!("../manifest/sequential.rs"),
    include_bytes!("../manifest/states.rs"),
    include_bytes!("../names.rs"),
    include_bytes!("../file/elf.rs"),
    include_bytes!("../file/macho.rs"),
    include_bytes!("../file/pe.rs"),
    include_bytes!("../file/mod.rs"),
    include_bytes!("../file/reader.rs"),
]);

/// The FNV-1a hash of some texts.
const fn fingerprint(texts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut text = 0;
    while text < texts.len() {
        let mut at = 0;
        while at < texts[text].len() {
            hash = (hash ^ texts[text][at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        text += 1;
    }
    hash
}

/// A checksum of the cache's bytes, to notice damage.
fn checksum(body: &[u8]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(body);
    hasher.finish()
}

/// The bytes of a cache file, if it is this user's, has this host's header and is undamaged.
fn read(path: &Path) -> Option<Vec<u8>> {
    let (file, identity) = file::open(path).ok()?;
    let meta = file.metadata().ok()?;
    if identity.len() > MAX_LEN || !is_ours(&meta) || is_open(&meta) {
        return None;
    }
    let mut bytes = Vec::with_capacity(identity.len() as usize);
    file.take(MAX_LEN).read_to_end(&mut bytes).ok()?;
    let mut rest = bytes.strip_prefix(header().as_bytes())?;
    let sum = u64::get(&mut rest)?;
    let start = bytes.len() - rest.len();
    (sum == checksum(rest)).then(|| bytes.split_off(start))
}

/// The cached plugin files, with the places of their manifests in the bytes.
fn entries(bytes: &[u8]) -> Option<HashMap<Vec<u8>, Entry>> {
    let mut entries = HashMap::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let len = u32::get(&mut rest)?;
        let name = take(&mut rest, len as usize)?;
        let identity = Identity::get(&mut rest)?;
        let len = u32::get(&mut rest)?;
        let entry = Entry {
            identity,
            manifest: bytes.len() - rest.len(),
        };
        take(&mut rest, len as usize)?;
        entries.insert(name.to_vec(), entry);
    }
    Some(entries)
}

/// Writes a cache file atomically: a reader meanwhile gets the old one.
fn write(path: &Path, body: &[u8]) -> io::Result<()> {
    let Some(dir) = path.parent() else {
        return Ok(());
    };
    let header = header();
    if (header.len() + size_of::<u64>() + body.len()) as u64 > MAX_LEN {
        return Ok(());
    }
    make(dir)?;
    if !is_ours(&fs::metadata(dir)?) {
        return Ok(());
    }
    if !path.exists() {
        make_room(dir)?;
    }
    // The temporary file of a killed process is removed with the oldest cache files.
    let mut file = tempfile::Builder::new();
    let mut file = file.suffix(&format!(".{ENDING}")).tempfile_in(dir)?;
    file.write_all(header.as_bytes())?;
    file.write_all(&checksum(body).to_le_bytes())?;
    file.write_all(body)?;
    file.persist(path)?;
    Ok(())
}

/// Removes the oldest files until there is room for one more.
fn make_room(dir: &Path) -> io::Result<()> {
    let files = fs::read_dir(dir)?.flatten().filter_map(|file| {
        let path = file.path();
        let ours = path.extension().is_some_and(|ending| ending == ENDING);
        let written = file.metadata().ok()?.modified().ok()?;
        ours.then_some((written, path))
    });
    let mut files: Vec<(SystemTime, PathBuf)> = files.collect();
    files.sort();
    let too_many = (files.len() + 1).saturating_sub(MAX_FILES);
    files
        .iter()
        .take(too_many)
        .try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(unix)]
fn make(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn make(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Whether a file or directory is this user's.
#[cfg(unix)]
fn is_ours(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// Whether other users may write to a file.
#[cfg(unix)]
fn is_open(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.mode() & 0o022 != 0
}

/// Whether a file is this user's: never, so that nothing is cached on systems whose files have no
/// identity. See [`Identity::is_settled`].
#[cfg(not(unix))]
fn is_ours(_meta: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_open(_meta: &fs::Metadata) -> bool {
    true
}

// Other systems cache nothing.
#[cfg(all(test, unix))]
mod tests;
