//! Models as files: `.onnx`, `.ir`, or `-` for IR text on standard input and output.
//!
//! A file is written beside its place under another name and renamed when it is whole, so the old
//! one is there until the new one is, and the input may be the output. An ONNX model's data files come
//! first, and go back if the model can't follow.

mod replace;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_ir::{Module, text};

use passdock_onnx::Reach;
use serde::{Deserialize, Serialize};

pub(crate) use self::replace::Replacement;
use crate::diagnostic::{Diagnostic, Severity, Snippet};
use crate::error::{ErrorKind, PassError, capitalized};

/// Where the data of an ONNX model's initializers goes when it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExternalData {
    /// Where it is: data in other files goes with the model. New data goes to a file `OUT.data` if
    /// the model has such files, or would outgrow the 2 GiB of its format.
    #[default]
    Keep,
    /// All but the small goes to a file `OUT.data`, without what nobody uses.
    All,
    /// All of it goes into the model file.
    None,
}

impl From<ExternalData> for passdock_onnx::ExternalData {
    fn from(external: ExternalData) -> Self {
        match external {
            ExternalData::Keep => Self::Keep,
            ExternalData::All => Self::All,
            ExternalData::None => Self::None,
        }
    }
}

/// How a model is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether its data may be outside of its directory.
    pub outside_data: bool,
}

impl ReadOptions {
    fn reach(self) -> Reach {
        match self.outside_data {
            true => Reach::Anywhere,
            false => Reach::Beside,
        }
    }
}

/// How a model is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Encode everything anew instead of copying what didn't change.
    pub drop_spans: bool,
    /// Where the data of an ONNX model's initializers goes.
    pub external_data: ExternalData,
}

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

/// Reads a model whose data is in its directory.
pub fn read(path: &str) -> Result<Module, PassError> {
    read_with(path, ReadOptions::default())
}

/// Reads a model.
pub fn read_with(path: &str, options: ReadOptions) -> Result<Module, PassError> {
    let reach = options.reach();
    match Format::of(path)? {
        Format::Onnx => passdock_onnx::read_within(Path::new(path), reach).map_err(|error| {
            let message = capitalized(&format!("the model {error}"));
            PassError::new(ErrorKind::Read, message).caused_by(Arc::new(error))
        }),
        Format::Text => read_text(path, reach),
    }
}

fn read_text(path: &str, reach: Reach) -> Result<Module, PassError> {
    let mut text = String::new();
    let read = match path {
        "-" => io::stdin().lock().read_to_string(&mut text),
        path => File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    if let Err(error) = read {
        let message = format!("The model `{path}` can't be read: {error}.");
        return Err(PassError::new(ErrorKind::Read, message).caused_by(Arc::new(error)));
    }
    parse_within(path, &text, reach)
}

/// Reads IR text; the files that its constants are in lie beside the file `name`.
pub fn parse_text(name: &str, source: &str) -> Result<Module, PassError> {
    parse_within(name, source, Reach::Beside)
}

fn parse_within(name: &str, source: &str, reach: Reach) -> Result<Module, PassError> {
    let files = passdock_onnx::ExternalFiles::default();
    let open = |file: &str| Ok(files.open(Path::new(name), file, reach));
    let options = text::ParseOptions {
        file: Some(name),
        open: Some(&open),
    };
    let mut module = text::parse_with(source, &options).map_err(|error| {
        let snippet = Snippet::new(name, source, error.span.clone(), "");
        let mut failure = PassError::new(ErrorKind::Read, error.message.clone());
        failure.location = Some(snippet.location());
        failure.snippet = Some(Box::new(snippet));
        failure.help = error.help.clone();
        failure.caused_by(Arc::new(error))
    })?;
    files.give_to(&mut module);
    module.set_text_source(Some(Arc::new(text::TextSource::new(name, source))));
    Ok(module)
}

/// What one should know of the file at `path` that a module is written as: a warning each.
pub fn remarks(module: &Module, path: &str) -> Vec<Diagnostic> {
    let remarks = match Format::of(path) {
        Ok(Format::Onnx) => passdock_onnx::remarks(module),
        Ok(Format::Text) | Err(_) => Vec::new(),
    };
    let warning = |remark: passdock_onnx::Remark| {
        let mut warning = Diagnostic::new(Severity::Warning, remark.code, remark.message);
        warning.function = remark.function;
        warning.help = Some(remark.help.to_owned());
        warning
    };
    remarks.into_iter().map(warning).collect()
}

/// Writes a model, and beside an ONNX file the files that its data is in.
pub fn write(module: &Module, path: &str, options: WriteOptions) -> Result<(), PassError> {
    let format = Format::of(path)?;
    let failed = |error: io::Error| fail(path, &error).caused_by(Arc::new(error));
    let detached;
    let module = match format {
        Format::Onnx => module,
        // A text is without the file that its model was read from.
        Format::Text => {
            let done = passdock_onnx::detach(module);
            detached = done.map_err(|error| fail(path, &error).caused_by(Arc::new(error)))?;
            &detached
        }
    };
    if path == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = text::write_module(&mut out, module, &text::PrintOptions::default());
        return written.and_then(|()| out.flush()).map_err(failed);
    }
    let mut files = Replacement::default();
    match (Place::of(Path::new(path)).map_err(failed)?, format) {
        (Place::File(place), Format::Text) => {
            write_text(module, path, files.file(place).map_err(failed)?).map_err(failed)?;
        }
        (Place::Special(place), Format::Text) => {
            let mut file = File::create(place).map_err(failed)?;
            write_text(module, path, &mut file).map_err(failed)?;
        }
        (place, Format::Onnx) => write_onnx(module, path, place, options, &mut files)?,
    }
    files.commit().map_err(failed)
}

fn fail(path: &str, error: &dyn std::fmt::Display) -> PassError {
    let message = format!("The result can't be written to `{path}`: {error}");
    let message = match message.ends_with('.') {
        true => message,
        false => message + ".",
    };
    PassError::new(ErrorKind::Write, message)
}

fn write_text(module: &Module, path: &str, file: &mut File) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    // Files beside the text are named from there, so that they move together.
    let directory = std::path::absolute(path).ok();
    let options = text::PrintOptions {
        directory: directory.as_deref().and_then(Path::parent),
        ..text::PrintOptions::default()
    };
    text::write_module(&mut out, module, &options)?;
    out.flush()
}

fn write_onnx(
    module: &Module,
    path: &str,
    place: Place,
    options: WriteOptions,
    files: &mut Replacement,
) -> Result<(), PassError> {
    // Of data that can't be read, say which tensor's it is.
    let failed = |error: io::Error| match passdock_onnx::check_external(module).into_iter().next() {
        Some(unreadable) => fail(path, &unreadable).caused_by(Arc::new(unreadable)),
        None => fail(path, &error).caused_by(Arc::new(error)),
    };
    let model = Path::new(path);
    let directory = model.parent().unwrap_or(Path::new(""));
    let name = model.file_name().map(|name| name.to_string_lossy());
    let data_file = name.map(|name| format!("{name}.data"));
    let output = passdock_onnx::write(
        module,
        passdock_onnx::WriteOptions {
            drop_spans: options.drop_spans,
            external: options.external_data.into(),
            data_file: match place {
                Place::File(_) => data_file.as_deref(),
                Place::Special(_) => None,
            },
        },
    );
    let output = output.map_err(|error| fail(path, &error).caused_by(Arc::new(error)))?;
    for data in output.data_files() {
        if data
            .is_at(&directory.join(data.location()))
            .map_err(failed)?
        {
            continue;
        }
        let to = passdock_onnx::place_external(directory, data.location());
        let to = to.map_err(|error| fail(path, &error).caused_by(Arc::new(error)))?;
        if to.exists() {
            if data.is_equal(&to).map_err(failed)? {
                continue;
            }
            if !points_to(model, data.location()) {
                let to = to.display();
                let error = fail(
                    path,
                    &format!("its data goes to `{to}`, where other data is"),
                );
                return Err(error.help(match data.is_own() {
                    true => "Remove that file if no model needs it, or write under another name.",
                    false => {
                        "Write to another directory, or give the model a data file of its own: \
                         `--external-data all`."
                    }
                }));
            }
        }
        let file = files.file(to).map_err(failed)?;
        data.write_file(file).map_err(failed)?;
    }
    match place {
        Place::File(place) => output.write_file(files.file(place).map_err(failed)?),
        Place::Special(place) => {
            File::create(place).and_then(|mut file| output.write_file(&mut file))
        }
    }
    .map_err(failed)
}

/// Whether a model that is there has data in the file at a location: then both are replaced.
fn points_to(model: &Path, location: &str) -> bool {
    let known = passdock_onnx::read(model);
    known.is_ok_and(|module| {
        let mut locations = passdock_onnx::external_locations(&module);
        locations.any(|known| known == location)
    })
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
}
