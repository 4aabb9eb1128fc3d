//! Model files: `.onnx`, `.ir`, or `-` for IR text on standard input and output.
//!
//! A new file replaces the old one only when it is complete, so the input and the output may be the same file. The data
//! files of an ONNX model are written first, under unused names. Renaming the model file then makes all of them
//! visible.

mod data_files;
mod memory;
mod output;
mod value_info;

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use passdock_ir::{Module, text};
use passdock_onnx::{OnnxError, Reach};

pub use self::memory::{read_bytes, to_bytes, to_text};
pub(crate) use self::output::referenced_data_files;
pub use self::output::{Output, StagedModel, write};
use passdock_core::{ErrorKind, PassError, Snippet};
pub use passdock_onnx::ExternalData;
use serde::{Deserialize, Serialize};

/// The file that marks a directory as a reproducer. Models in a reproducer may refer to data files in its parent
/// directory.
pub(crate) const REPRODUCER: &str = "reproducer.toml";

/// Options for reading a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// Whether the model's data may be outside of its directory.
    pub outside_data: bool,
}

impl ReadOptions {
    fn reach(self) -> Reach {
        match self.outside_data {
            true => Reach::Anywhere,
            false => Reach::ModelDirectory,
        }
    }
}

/// Options for writing a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteOptions {
    /// Whether to re-encode the whole file instead of copying unchanged parts.
    pub drop_spans: bool,
    /// Where to store the data of an ONNX model's initializers.
    pub external_data: ExternalData,
    /// Whether to declare all known types in the file, in an ONNX graph's `value_info`. A run infers them first.
    pub value_info: bool,
    /// Whether to write brief IR text, which can't be parsed.
    #[serde(skip)]
    pub brief: bool,
    /// Whether the file is only needed while this process runs. It is then not synced to disk.
    #[serde(skip)]
    pub temporary: bool,
}

/// The format of a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An ONNX model.
    Onnx,
    /// IR text.
    Text,
}

impl Format {
    /// Returns the format for a path's extension; `-` is IR text.
    ///
    /// # Errors
    /// If the path isn't `.onnx`, `.ir` or `-`.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Format, PassError> {
        let path = path.as_ref();
        let extension = path.extension().and_then(|e| e.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            _ if is_standard(path) => Ok(Format::Text),
            Some("onnx") => Ok(Format::Onnx),
            Some("ir") => Ok(Format::Text),
            _ => {
                let shown = path.display();
                let (what, help) = match path.is_dir() {
                    true => ("cannot read directory", "pass a file in it"),
                    false => (
                        "unknown file format of",
                        "rename the file, or pass `-` for IR text",
                    ),
                };
                let message = format!("{what} `{shown}`: expected `.onnx` or `.ir`");
                Err(PassError::new(ErrorKind::Usage, message).help(help))
            }
        }
    }
}

/// Returns `true` if a path is `-`, which means standard input or output.
pub fn is_standard(path: impl AsRef<Path>) -> bool {
    path.as_ref() == Path::new("-")
}

/// Reads a model whose data is in its directory.
///
/// # Errors
/// If the file can't be read or isn't a valid model. Errors of IR text have a source line.
pub fn read(path: impl AsRef<Path>) -> Result<Module, PassError> {
    read_with(path, ReadOptions::default())
}

/// Reads a model with options.
///
/// # Errors
/// See [`read`].
pub fn read_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Module, PassError> {
    let (path, reach) = (path.as_ref(), options.reach());
    match Format::from_path(path)? {
        Format::Onnx => passdock_onnx::read_within(path, reach)
            .map_err(|error| unusable(ErrorKind::Read, error)),
        Format::Text => read_text(path, reach),
    }
}

/// Returns the error of an ONNX model that can't be read or written.
pub fn unusable(kind: ErrorKind, error: OnnxError) -> PassError {
    let message = match error.system {
        Some(_) => error.to_string(),
        None => format!("invalid model {error}"),
    };
    PassError::new(kind, message).caused_by(Arc::new(error))
}

fn read_text(path: &Path, reach: Reach) -> Result<Module, PassError> {
    let mut bytes = Vec::new();
    let read = match is_standard(path) {
        true => io::stdin().lock().read_to_end(&mut bytes),
        false => passdock_files::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    if let Err(error) = read {
        let message = format!("could not read `{}`: {error}", path.display());
        return Err(PassError::new(ErrorKind::Read, message).caused_by(Arc::new(error)));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let what = match passdock_onnx::foreign_format(error.as_bytes()) {
                Some(what) => what,
                None if passdock_onnx::read_bytes(path, error.as_bytes().to_vec()).is_ok() => {
                    "an ONNX model: pass it as a file with extension `.onnx`"
                }
                None => "bytes that are not UTF-8",
            };
            let message = format!("expected IR text in `{}`, found {what}", path.display());
            return Err(PassError::new(ErrorKind::Read, message).caused_by(Arc::new(error)));
        }
    };
    parse_within(path, &text, reach)
}

/// Parses IR text. Data files are relative to the directory of the file `name`.
///
/// # Errors
/// If the text isn't a valid module. The error has a source line.
pub fn parse_text(name: &str, source: &str) -> Result<Module, PassError> {
    parse_text_with(name, source, ReadOptions::default())
}

/// Parses IR text with options.
///
/// # Errors
/// See [`parse_text`].
pub fn parse_text_with(
    name: &str,
    source: &str,
    options: ReadOptions,
) -> Result<Module, PassError> {
    parse_within(Path::new(name), source, options.reach())
}

/// Parses the text of a module that another process sent.
#[cfg(unix)]
pub(crate) fn parse_sent(source: &str) -> Result<Module, PassError> {
    let outside_data = true;
    let mut module = parse_text_with("-", source, ReadOptions { outside_data })?;
    module.set_text_source(None);
    Ok(module)
}

fn parse_within(path: &Path, source: &str, reach: Reach) -> Result<Module, PassError> {
    let files = passdock_onnx::ExternalFiles::default();
    let open = |file: &str| Ok(files.open(path, file, reach));
    let name = &*path.to_string_lossy();
    let options = text::ParseOptions {
        file: Some(name),
        open: Some(&open),
    };
    let mut module = text::parse_with(source, &options).map_err(|error| {
        let snippet = Snippet::new(name, source, error.span.clone(), "");
        let mut failure = PassError::new(ErrorKind::Read, error.message.clone()).snippet(snippet);
        failure.help = error.help.clone();
        failure.caused_by(Arc::new(error))
    })?;
    files.attach_to(&mut module);
    module.set_text_source(Some(Arc::new(text::TextSource::new(name, source))));
    Ok(module)
}
