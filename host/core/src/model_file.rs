//! Models as files: `.onnx`, `.ir`, or `-` for IR text on standard input and output.
//!
//! A file is written beside its place under another name and renamed when it is whole, so the old
//! one is there until the new one is, and the input may be the output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_ir::{Module, text};

use crate::diagnostic::Snippet;
use crate::error::{ErrorKind, PassError, capitalized};

/// What a model file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An ONNX model.
    Onnx,
    /// IR text.
    Text,
}

impl Format {
    /// By the file's extension; `-` is text.
    pub fn of(path: &str) -> Result<Format, PassError> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            _ if path == "-" => Ok(Format::Text),
            Some("onnx") => Ok(Format::Onnx),
            Some("ir") => Ok(Format::Text),
            _ => {
                let message = format!("The file `{path}` is neither `.onnx` nor `.ir`.");
                let error = PassError::new(ErrorKind::Pipeline, message);
                Err(error.help("The extension says what a model file holds; `-` is IR text."))
            }
        }
    }
}

/// Reads a model.
pub fn read(path: &str) -> Result<Module, PassError> {
    match Format::of(path)? {
        Format::Onnx => passdock_onnx::read(Path::new(path)).map_err(|error| {
            let message = capitalized(&format!("the model {error}"));
            PassError::new(ErrorKind::Read, message).caused_by(Arc::new(error))
        }),
        Format::Text => read_text(path),
    }
}

fn read_text(path: &str) -> Result<Module, PassError> {
    let mut text = String::new();
    let read = match path {
        "-" => io::stdin().lock().read_to_string(&mut text),
        path => File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    if let Err(error) = read {
        let message = format!("The model `{path}` can't be read: {error}.");
        return Err(PassError::new(ErrorKind::Read, message).caused_by(Arc::new(error)));
    }
    parse_text(path, &text)
}

/// Reads IR text; the files that its constants are in lie beside the file `name`.
pub fn parse_text(name: &str, source: &str) -> Result<Module, PassError> {
    let open = |file: &str| Ok(passdock_onnx::open_external(Path::new(name), file));
    let options = text::ParseOptions {
        file: Some(name),
        open: Some(&open),
    };
    text::parse_with(source, &options).map_err(|error| {
        let snippet = Snippet::new(name, source, error.span.clone(), "");
        let mut failure = PassError::new(ErrorKind::Read, error.message.clone());
        failure.location = Some(snippet.location());
        failure.snippet = Some(Box::new(snippet));
        failure.help = error.help.clone();
        failure.caused_by(Arc::new(error))
    })
}

/// Writes a model; `drop_spans` encodes everything anew instead of copying what didn't change.
pub fn write(module: &Module, path: &str, drop_spans: bool) -> Result<(), PassError> {
    let format = Format::of(path)?;
    let fail = |error: &dyn std::fmt::Display| {
        let message = format!("The result can't be written to `{path}`: {error}");
        PassError::new(ErrorKind::Write, message)
    };
    if path == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = text::write_module(&mut out, module, &text::PrintOptions::default())
            .and_then(|()| out.flush());
        return written.map_err(|error| fail(&error).caused_by(Arc::new(error)));
    }
    let place = Place::of(Path::new(path)).map_err(|error| fail(&error))?;
    place.fill(
        |file| match format {
            Format::Text => {
                let mut out = BufWriter::new(file);
                // Files beside the text are named from there, so that they move together.
                let directory = std::path::absolute(path).ok();
                let options = text::PrintOptions {
                    directory: directory.as_deref().and_then(Path::parent),
                    ..text::PrintOptions::default()
                };
                let written =
                    text::write_module(&mut out, module, &options).and_then(|()| out.flush());
                written.map_err(|error| fail(&error).caused_by(Arc::new(error)))
            }
            Format::Onnx => {
                let options = passdock_onnx::WriteOptions { drop_spans };
                let encoded = passdock_onnx::write(module, options)
                    .map_err(|error| fail(&error).caused_by(Arc::new(error)))?;
                encoded
                    .write_to(file)
                    .map_err(|error| fail(&error).caused_by(Arc::new(error)))?;
                // Tensors may point to files beside the model.
                let directory = Path::new(path).parent().unwrap_or(Path::new(""));
                passdock_onnx::copy_external(module, directory)
                    .map_err(|error| fail(&error).caused_by(Arc::new(error)))
            }
        },
        |error| fail(&error).caused_by(Arc::new(error)),
    )
}

/// Where a file goes.
enum Place {
    /// A regular file, there or not.
    File(PathBuf),
    /// Something that can't be replaced: a pipe, a device.
    Special(PathBuf),
}

impl Place {
    /// Follows links, so that a link to a model stays one.
    fn of(path: &Path) -> io::Result<Place> {
        match fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(io::Error::other("it is a directory.")),
            Ok(known) if known.is_file() => Ok(Place::File(fs::canonicalize(path)?)),
            Ok(_) => Ok(Place::Special(path.to_path_buf())),
            Err(_) => Ok(Place::File(path.to_path_buf())),
        }
    }

    /// Writes all of a file, or leaves what was there.
    fn fill(
        &self,
        write: impl FnOnce(&mut File) -> Result<(), PassError>,
        fail: impl Fn(io::Error) -> PassError,
    ) -> Result<(), PassError> {
        let path = match self {
            Place::File(path) => path,
            Place::Special(path) => return write(&mut File::create(path).map_err(&fail)?),
        };
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".passdock-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let known = fs::metadata(path).map(|known| known.permissions().mode() & 0o777);
            builder.permissions(fs::Permissions::from_mode(known.unwrap_or(0o666)));
        }
        let dir = dir.unwrap_or(Path::new("."));
        if !dir.is_dir() {
            let message = format!("there is no directory `{}`", dir.display());
            return Err(fail(io::Error::new(io::ErrorKind::NotFound, message)));
        }
        // Its own error names the temporary file, which means nothing to anybody.
        let made = builder
            .tempfile_in(dir)
            .map_err(|error| io::Error::from(error.kind()));
        let mut file = made.map_err(&fail)?;
        write(file.as_file_mut())?;
        file.persist(path).map_err(|error| fail(error.error))?;
        Ok(())
    }
}
