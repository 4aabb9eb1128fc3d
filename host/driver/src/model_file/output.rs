//! Writing a model to its place.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_ir::{Module, text};
use passdock_onnx::DroppedData;

use super::data_files::{self, Taken};
use super::value_info::declare_types;
use super::{Format, WriteOptions, is_standard};
use passdock_core::{Diagnostic, ErrorKind, PassError, Severity};
use passdock_files::leftovers::Used;
use passdock_files::{StandardOutput, Target, check_room, directory_of, open_special};

/// A function that is called before files are put in their places, with their bytes if those are known.
type Before<'b> = dyn Fn(Option<u64>) -> io::Result<()> + 'b;

/// The place where a model is written. Made before any work is done for the model, it finds out that it
/// takes no file, and keeps the place whatever happens to the process meanwhile.
pub struct Output {
    path: PathBuf,
    /// The directory from which a text names the files that lie beside it, so that they move together.
    directory: Option<PathBuf>,
    format: Format,
    /// The file to write; `None`: standard output.
    target: Option<Target>,
}

/// Writes a model, and beside an ONNX file the files that its data is in.
///
/// # Errors
/// As [`Output::new`] and [`Output::write`].
pub fn write(
    module: &Module,
    path: impl AsRef<Path>,
    options: WriteOptions,
) -> Result<(), PassError> {
    Output::new(path)?.write(module, options, &mut |_| ())?;
    Ok(())
}

impl Output {
    /// A file by its extension, or `-` for standard output.
    ///
    /// # Errors
    /// If the extension says nothing, or no file can be made there.
    pub fn new(path: impl AsRef<Path>) -> Result<Output, PassError> {
        Output::at(path.as_ref(), Target::new)
    }

    /// As [`Output::new`], of a name that the user didn't choose: a link is replaced, and its target stays.
    ///
    /// # Errors
    /// As [`Output::new`].
    pub fn replacing(path: impl AsRef<Path>) -> Result<Output, PassError> {
        Output::at(path.as_ref(), Target::replacing)
    }

    fn at(
        path: &Path,
        target: fn(&Path, Option<Used>) -> io::Result<Target>,
    ) -> Result<Output, PassError> {
        let path = path.to_path_buf();
        let format = Format::of(&path)?;
        let target = match is_standard(&path) {
            true => None,
            false => {
                let target = target(&path, Some(data_files::is_used));
                Some(target.map_err(|error| failed(&path, error))?)
            }
        };
        let whole = std::path::absolute(&path).ok();
        Ok(Output {
            directory: whole.as_deref().and_then(Path::parent).map(PathBuf::from),
            path,
            format,
            target,
        })
    }

    /// Refuses to replace a file that the data of a text is in: the text couldn't be read any more.
    ///
    /// # Errors
    /// If a constant of `module`, as it was read, is in the file that is to be replaced.
    pub fn check_source(&self, module: &Module) -> Result<(), PassError> {
        let Some(Target::File(place, _)) = &self.target else {
            return Ok(());
        };
        let mut files = data_files_of(module).into_iter();
        if !files.any(|file| dunce::canonicalize(file).is_ok_and(|file| file == *place)) {
            return Ok(());
        }
        let error = fail(&self.path, &"the data of the model that was read is in it");
        Err(error.help("Write under another name."))
    }

    /// Writes a model, and beside an ONNX file the files that its data is in. `tell` hears what one should know of that
    /// file, and which data files are gone: those that only the replaced model needed. Answers how many bytes the
    /// model's files have, which of a special file isn't known.
    ///
    /// # Errors
    /// If the format can't say something of the model, or what the system says. Then the place is as it
    /// was.
    pub fn write(
        self,
        module: &Module,
        options: WriteOptions,
        tell: &mut dyn FnMut(Diagnostic),
    ) -> Result<Option<u64>, PassError> {
        self.write_asking(module, options, &|_| Ok(()), tell)
    }

    /// As [`Output::write`]; `before` is called right before the files are put in their places, with
    /// their bytes if those are known; its error ends the writing.
    ///
    /// # Errors
    /// As of [`Output::write`].
    pub fn write_asking(
        self,
        module: &Module,
        options: WriteOptions,
        before: &Before<'_>,
        tell: &mut dyn FnMut(Diagnostic),
    ) -> Result<Option<u64>, PassError> {
        let path = self.path;
        let mut declared;
        let module = match options.value_info {
            true => {
                declared = module.clone();
                declare_types(&mut declared);
                &declared
            }
            false => module,
        };
        match (self.format, self.target) {
            (Format::Onnx, Some(target)) => {
                passdock_onnx::remarks(module)
                    .into_iter()
                    .map(remarked)
                    .for_each(&mut *tell);
                let written = write_onnx(module, &path, target, options, before)?;
                unused(&written.dropped).for_each(&mut *tell);
                written.gone.iter().map(|file| removed(file)).for_each(tell);
                Ok(written.bytes)
            }
            (_, target) => {
                let temporary = options.temporary;
                // A text is without the file that its model was read from.
                let module = passdock_onnx::detach(module);
                let module = module.map_err(|error| refused(&path, error))?;
                if let Some(file) = lossy_name(&module) {
                    let what = format!(
                        "its data is in `{file}`, whose name isn't UTF-8, and text can't say that"
                    );
                    return Err(fail(&path, &what).help("Rename the file."));
                }
                let mut printing = text::PrintOptions {
                    brief: options.brief,
                    ..text::PrintOptions::default()
                };
                let written = match target {
                    None => before(None).and_then(|()| print(&module, StandardOutput, &printing)),
                    Some(target) => {
                        printing.directory = self.directory.as_deref();
                        let bytes = Cell::new(None);
                        target.write_asking(!temporary, &|| before(bytes.get()), |file| {
                            print(&module, &mut *file, &printing)?;
                            bytes.set(Some(file.metadata()?.len()));
                            Ok(())
                        })
                    }
                };
                written.map_err(|error| failed(&path, error))?;
                let bytes = path.metadata().ok().filter(|found| found.is_file());
                Ok(bytes.map(|found| found.len()))
            }
        }
    }
}

/// The warning of what one should know of an ONNX file.
fn remarked(remark: passdock_onnx::Remark) -> Diagnostic {
    let mut warning = Diagnostic::new(Severity::Warning, remark.code, remark.message);
    warning.function = remark.function;
    warning.help = Some(remark.help.to_owned());
    warning
}

/// The notes of data that no tensor references any more: what is dropped, and what stays.
fn unused(files: &[DroppedData]) -> impl Iterator<Item = Diagnostic> {
    let note = |stays: bool| {
        let files = files
            .iter()
            .filter(|file| file.bytes > 0 && file.stays == stays);
        let files: Vec<&DroppedData> = files.collect();
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let from = match files[..] {
            [] => return None,
            [file] => format!("`{}`", file.location),
            [file, _] => format!("`{}` and another file", file.location),
            [file, ..] => format!("`{}` and {} other files", file.location, files.len() - 1),
        };
        let message = match stays {
            false => {
                format!("{from}: {bytes} bytes are dropped, which no tensor references any more.")
            }
            true => format!(
                "{from}: {bytes} bytes stay that no tensor references any more, as a `Constant` node or a function \
                 refers to other data in there."
            ),
        };
        Some(Diagnostic::new(Severity::Note, "data", message))
    };
    [note(false), note(true)].into_iter().flatten()
}

/// The note of a data file that went with the model that needed it.
fn removed(file: &Path) -> Diagnostic {
    let file = file.display();
    let message = format!("`{file}` is removed: only the model that was replaced needed it.");
    Diagnostic::new(Severity::Note, "data", message)
}

fn print(module: &Module, to: impl Write, options: &text::PrintOptions<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    text::write_module(&mut out, module, options)?;
    out.flush()
}

fn write_onnx(
    module: &Module,
    path: &Path,
    target: Target,
    options: WriteOptions,
    before: &Before<'_>,
) -> Result<Written, PassError> {
    // Of data that can't be read, say which tensor's it is; it is the model's, and not the place's.
    let unreadable = || {
        let mut found = passdock_onnx::check_external(module).into_iter();
        let mut error = refused(path, found.next()?.error);
        error.kind = ErrorKind::Read;
        Some(error)
    };
    let unwritten = |error| unreadable().unwrap_or_else(|| failed(path, error));
    let mut writing = passdock_onnx::EncodeOptions {
        drop_spans: options.drop_spans,
        external: options.external_data,
        data_file: None,
        whole_files: options.temporary,
        moved: &[],
    };
    let encode = |writing| {
        let output = passdock_onnx::write(module, writing);
        output.map_err(|error| refused(path, error))
    };
    let (place, mut file) = match target {
        Target::File(place, file) => (place, file),
        Target::Special(place) => {
            let output = encode(writing)?;
            if let Some(data) = output.data_files().first() {
                let location = data.location();
                let message = format!("its data is in `{location}`, and beside it is no place");
                let error = failed(path, io::Error::other(message));
                return Err(error.help("Take the data into the model: `--external-data none`."));
            }
            let opened = before(None).and_then(|()| open_special(&place));
            let written = opened.and_then(|mut file| output.write_file(&mut file));
            return written.map(|()| Written::default()).map_err(unwritten);
        }
    };
    let own = data_files::own_location(&place);
    writing.data_file = Some(&own);
    let mut output = encode(writing)?;
    check_room(directory_of(&place), output.new_bytes()).map_err(|error| failed(path, error))?;
    let mut plan = data_files::Plan::new(&output, &place, &own).map_err(|error| match error {
        Taken::Refused(error) => refused(path, error),
        Taken::Failed(error) => unwritten(error),
        Taken::Other(to) => {
            let to = to.display();
            let error = io::Error::other(format!("its data goes to `{to}`, where other data is"));
            failed(path, error).help(
                "Write to another directory, or give the model a data file of its own: \
                 `--external-data all`.",
            )
        }
    })?;
    if !plan.moved.is_empty() {
        writing.moved = &plan.moved;
        output = encode(writing)?;
    }
    let written = file.anew().and_then(|file| output.write_file(file));
    written.map_err(unwritten)?;
    let data = output
        .data_files()
        .iter()
        .map(|data| data.size())
        .sum::<Option<u64>>();
    let bytes = data.map(|data| data + output.len());
    plan.commit.durable = !options.temporary;
    let old = plan.commit.old.clone();
    let put = plan.commit.put(file, &place, &|| before(bytes));
    put.map_err(unwritten)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let gone = old.iter().map(|old| directory.join(old)).collect();
    let dropped = output.dropped().to_vec();
    Ok(Written {
        gone,
        dropped,
        bytes,
    })
}

/// What came of writing an ONNX model.
#[derive(Default)]
struct Written {
    /// The data files that are gone with the model that was replaced.
    gone: Vec<PathBuf>,
    /// The data files with bytes that nothing references any more.
    dropped: Vec<DroppedData>,
    /// The bytes of the model's files.
    bytes: Option<u64>,
}

/// The files that constants of a module are in, but for the model file itself.
pub(crate) fn data_files_of(module: &Module) -> Vec<PathBuf> {
    let mut names = BTreeSet::new();
    for f in module.functions() {
        for (id, _) in f.live_constants() {
            let external = f.constant_data(id).external();
            names.extend(external.map(|(source, ..)| source.name()));
        }
    }
    names.into_iter().map(PathBuf::from).collect()
}

/// The name of a file that constants are in, if it lost something when it became text.
fn lossy_name(module: &Module) -> Option<&str> {
    let mut names = module.functions().flat_map(|f| {
        let constants = f.live_constants();
        constants.filter_map(|(id, _)| Some(f.constant_data(id).in_named_file()?.0.name()))
    });
    names.find(|name| name.contains(char::REPLACEMENT_CHARACTER))
}

fn refused(path: &Path, error: passdock_onnx::OnnxError) -> PassError {
    fail(path, &error).caused_by(Arc::new(error))
}

fn failed(path: &Path, error: io::Error) -> PassError {
    fail(path, &error).caused_by(Arc::new(error))
}

fn fail(path: &Path, error: &dyn std::fmt::Display) -> PassError {
    let path = path.display();
    let message = format!("The result can't be written to `{path}`: {error}");
    let message = match message.ends_with('.') {
        true => message,
        false => message + ".",
    };
    PassError::new(ErrorKind::Write, message)
}
