//! The file of a batch's results, and fingerprints that determine which results are up to date.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use passdock_core::{ErrorKind, PassError, json};

use super::{BatchItem, ModelResult, display_path};
use crate::pipeline::{PipelineText, Print, Request};
use crate::pipeline_file::parse_value;

/// A hash of the common inputs of a batch's results: the version of passdock, the request, the .rules files that it
/// names, and the plugins.
pub struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// Computes the fingerprint of a request and of the plugin files that it uses
    /// ([`plugin_files`](super::plugin_files)).
    ///
    /// Only fields that affect results count, in a normalized form, so equal requests from the command and from a
    /// program are equal. For .rules files the content counts, for plugins the name, length and modification time.
    pub fn new(original: &Request, plugins: &[PathBuf]) -> Fingerprint {
        let mut hasher = blake3::Hasher::new();
        add(&mut hasher, env!("CARGO_PKG_VERSION").as_bytes());
        let request = Request {
            model: PathBuf::new(),
            output: None,
            jobs: None,
            print: Print::default(),
            default_dirs: Vec::new(),
            program_dir: None,
            reproducer_dir: None,
            self_contained: false,
            resumes: false,
            trust: false,
            locked: false,
            require_signed: false,
            replaces_links: false,
            pipeline: original.pipeline.clone().map(with_absolute_path),
            config: original
                .config
                .iter()
                .map(|setting| plain(setting))
                .collect(),
            bind: original.bind.iter().map(|setting| plain(setting)).collect(),
            // They are in `plugins`.
            plugin_files: Vec::new(),
            plugin_dirs: Vec::new(),
            ..original.clone()
        };
        // Serialization can't fail: a request is plain data.
        add(
            &mut hasher,
            &serde_json::to_vec(&request).unwrap_or_default(),
        );
        for file in original.rules_files() {
            // They are short, so their content is hashed.
            add(
                &mut hasher,
                &passdock_files::read(&file).unwrap_or_default(),
            );
        }
        for plugin in plugins {
            let name = plugin.file_name().unwrap_or_default();
            add(&mut hasher, name.as_encoded_bytes());
            add_state(&mut hasher, plugin);
        }
        Fingerprint(hasher)
    }

    /// Adds files that are identified by their paths, too, such as those with the code of passes.
    #[must_use]
    pub fn with_files<'f>(mut self, files: impl IntoIterator<Item = &'f Path>) -> Fingerprint {
        files
            .into_iter()
            .for_each(|file| add_file(&mut self.0, file));
        self
    }

    /// Returns the fingerprint of the result of a model that isn't a local file. `state` must change if the model does.
    pub fn for_address(&self, address: &str, state: &str) -> String {
        let mut hasher = self.0.clone();
        add(&mut hasher, address.as_bytes());
        add(&mut hasher, state.as_bytes());
        finished(&hasher)
    }

    /// Returns the fingerprint of the result of a model's file.
    pub fn for_file(&self, model: &Path) -> String {
        let mut hasher = self.0.clone();
        add_file(&mut hasher, model);
        finished(&hasher)
    }
}

fn finished(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Removes the path of a pipeline, unless paths in its text are relative to it.
fn with_absolute_path(pipeline: PipelineText) -> PipelineText {
    let has_paths = ["plugins", "rules", "inputs", "params", "library"]
        .iter()
        .any(|word| pipeline.text.contains(word));
    let path = match pipeline.path.parent() {
        _ if pipeline.built_in => pipeline.path,
        Some(directory) if has_paths => std::path::absolute(directory).unwrap_or_default(),
        _ => PathBuf::new(),
    };
    PipelineText { path, ..pipeline }
}

/// Normalizes the value in `KEY=VALUE` as TOML: `a={x=1}` becomes `a = { x = 1 }`.
fn plain(setting: &str) -> String {
    let Some((key, value)) = setting.split_once('=') else {
        return setting.to_owned();
    };
    match parse_value(value) {
        Some(value) => format!("{} = {value}", key.trim()),
        None => setting.to_owned(),
    }
}

fn add(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn add_file(hasher: &mut blake3::Hasher, path: &Path) {
    add(hasher, path.as_os_str().as_encoded_bytes());
    add_state(hasher, path);
}

fn add_state(hasher: &mut blake3::Hasher, path: &Path) {
    let about = fs::metadata(path);
    let changed = about.as_ref().ok().and_then(|about| about.modified().ok());
    let since = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    add(
        hasher,
        &since.map_or(0, |since| since.as_nanos()).to_le_bytes(),
    );
    add(hasher, &about.map_or(0, |about| about.len()).to_le_bytes());
}

/// The file of results, one per line. The last result of a model counts. Only one batch at a time may write the file.
pub struct BatchResults {
    path: PathBuf,
    file: File,
    results: HashMap<String, ModelResult>,
    /// The process that holds the lock. Forked children share it.
    process: u32,
}

impl Drop for BatchResults {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // Unlocks the file even if another process has inherited the descriptor.
            _ = self.file.unlock();
        }
    }
}

impl BatchResults {
    /// Opens or creates the file, and locks it until the value is dropped. Removes an incomplete last line, which an
    /// interrupted batch may leave.
    ///
    /// # Errors
    /// If the file can't be read or written, isn't a file of results, or is locked by another batch. A link must lead
    /// to an existing file of results.
    pub fn open(path: &Path) -> Result<BatchResults, PassError> {
        let failed = |error: io::Error| {
            let message = format!("could not open results file `{}`: {error}", path.display());
            PassError::new(ErrorKind::Write, message)
        };
        let other = |message: String| {
            PassError::new(ErrorKind::Usage, message).help("pass another file: `--results FILE`")
        };
        let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink());
        if is_link && !path.exists() {
            let message = format!("`{}` is a broken link", path.display());
            return Err(other(message));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            // On Windows, a file opened for appending can't be truncated.
            .append(cfg!(unix))
            .create(!is_link)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            let message = format!("`{}` is not a regular file", path.display());
            return Err(other(message));
        }
        if !lock_if_free(&file) {
            let message = format!("another batch is writing `{}`", path.display());
            let help = "wait until it is done, or pass another file: `--results FILE`";
            return Err(PassError::new(ErrorKind::Usage, message).help(help));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut results = HashMap::new();
        for (at, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let result: ModelResult = serde_json::from_slice(line).map_err(|error| {
                let (path, at) = (path.display(), at + 1);
                other(format!(
                    "line {at} of `{path}` is not the result of a model: {error}"
                ))
            })?;
            results.insert(result.model.clone(), result);
        }
        // A link from another user may lead to any file.
        let is_new = bytes.is_empty() && !is_link;
        if whole == 0 && !is_new && !bytes.starts_with(b"{\"model\":") {
            let path = path.display();
            return Err(other(format!("`{path}` is not a file of results")));
        }
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        Ok(BatchResults {
            path: path.to_owned(),
            file,
            results,
            process: std::process::id(),
        })
    }

    /// Returns the result of an item if it is up to date: it succeeded with the same model, pipeline, options and
    /// plugins, and its output exists.
    pub fn done(&self, item: &BatchItem, fingerprint: &Fingerprint) -> Option<ModelResult> {
        self.known(item, &fingerprint.for_file(&item.model))
            .filter(|_| item.output.is_file())
    }

    /// Returns the result of an item if it succeeded with the same fingerprint. Its output may be missing.
    pub fn known(&self, item: &BatchItem, fingerprint: &str) -> Option<ModelResult> {
        let result = self.results.get(&display_path(&item.model))?;
        let holds = result.ok
            && result.output == display_path(&item.output)
            && result.fingerprint == fingerprint;
        holds.then(|| ModelResult {
            up_to_date: true,
            ..result.clone()
        })
    }

    /// Appends a result in a single write.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn add(&mut self, result: &ModelResult) -> Result<(), PassError> {
        let written = json::line(result).map_err(io::Error::from);
        let written = written.and_then(|line| {
            self.file.seek(SeekFrom::End(0))?;
            self.file.write_all((line + "\n").as_bytes())
        });
        written.map_err(|error| {
            let path = self.path.display();
            let message = format!("could not write results file `{path}`: {error}");
            PassError::new(ErrorKind::Write, message)
        })
    }
}

/// How long to wait for the lock: the process of an interrupted batch takes a moment to exit.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Locks a file and returns `true` unless another process holds the lock. File systems without locks, such as some
/// network file systems, count as unlocked.
fn lock_if_free(file: &File) -> bool {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() > LOCK_TIMEOUT => return false,
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_TIMEOUT / 40),
            _ => return true,
        }
    }
}
