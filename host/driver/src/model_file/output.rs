//! Writing a model to a file.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_ir::{Module, text};
use passdock_onnx::DroppedData;

use super::data_files::{self, PlanError, Replaced};
use super::value_info::declare_types;
use super::{Format, WriteOptions, is_standard};
use passdock_core::{Diagnostic, ErrorKind, PassError, Severity};
use passdock_files::{Staged, Staging, StandardOutput, Target, directory_of, open_special};
use serde::{Deserialize, Serialize};

/// A file or stream to which a model will be written. Creating it before other work reports unwritable paths early.
pub struct Output {
    path: PathBuf,
    /// The directory to which the data files in IR text are relative, so that they can be moved together.
    directory: Option<PathBuf>,
    format: Format,
    /// The file to write, or `None` for standard output.
    target: Option<Target>,
}

/// Writes a model, and the data files of an ONNX model.
///
/// # Errors
/// See [`Output::new`], [`Output::stage`] and [`StagedModel::commit`].
pub fn write(
    module: &Module,
    path: impl AsRef<Path>,
    options: WriteOptions,
) -> Result<(), PassError> {
    let staged = Output::new(path)?.stage(module, options, None, &mut |_| ())?;
    staged.commit(&mut |_| ())
}

impl Output {
    /// Creates an output from a path, or from `-` for standard output.
    ///
    /// # Errors
    /// If the extension is unknown, or no file can be created at the path.
    pub fn new(path: impl AsRef<Path>) -> Result<Output, PassError> {
        Output::at(path.as_ref(), false)
    }

    /// Like [`Output::new`]. With `replaces_links`, for paths that the user didn't choose, a link is replaced and its
    /// target stays unchanged.
    ///
    /// # Errors
    /// See [`Output::new`].
    pub(crate) fn at(path: &Path, replaces_links: bool) -> Result<Output, PassError> {
        let target = match replaces_links {
            true => Target::replacing,
            false => Target::new,
        };
        let path = path.to_path_buf();
        let format = Format::from_path(&path)?;
        let target = match is_standard(&path) {
            true => None,
            false => Some(target(&path).map_err(|error| failed(&path, error))?),
        };
        let whole = std::path::absolute(&path).ok();
        Ok(Output {
            directory: whole.as_deref().and_then(Path::parent).map(PathBuf::from),
            path,
            format,
            target,
        })
    }

    /// Returns the path, as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Allows reading existing files of the output from a sandbox: data that needn't be written again.
    fn allow_existing(path: &Path, module: &Module) {
        if !passdock_sandbox::is_prepared() {
            return;
        }
        let own = data_files::own_location(path);
        let locations = passdock_onnx::external_locations(module);
        for location in locations.chain([&*own]) {
            passdock_sandbox::allow_read(directory_of(path).join(location));
        }
    }

    /// Checks that the output doesn't replace a file with the data of IR text, which would make the text unreadable.
    ///
    /// # Errors
    /// If a constant of `module`, as it was read, is stored in the file to be replaced.
    pub fn check_source(&self, module: &Module) -> Result<(), PassError> {
        let Some(Target::File(path)) = &self.target else {
            return Ok(());
        };
        Output::allow_existing(path, module);
        let mut files = referenced_data_files(module).into_iter();
        if !files.any(|file| dunce::canonicalize(file).is_ok_and(|file| file == *path)) {
            return Ok(());
        }
        let error = fail(&self.path, &"it contains data of the input model");
        Err(error.help("choose another output"))
    }

    /// Writes a model and its data files to a staging directory. Special files are written directly. `staging` is the
    /// staging directory if another process will commit it. `report` receives warnings about the file.
    ///
    /// # Errors
    /// If the format can't represent the model, or writing fails. Existing files are then unchanged.
    pub fn stage(
        self,
        module: &Module,
        options: WriteOptions,
        staging: Option<&Path>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<StagedModel, PassError> {
        let mut declared;
        let module = match options.value_info {
            true => {
                declared = module.clone();
                declare_types(&mut declared);
                &declared
            }
            false => module,
        };
        let (staged, replaces, bytes) = match (self.format, &self.target) {
            (Format::Onnx, Some(target)) => {
                passdock_onnx::remarks(module)
                    .into_iter()
                    .map(remarked)
                    .for_each(&mut *report);
                stage_onnx(module, &self.path, target, options, staging, report)?
            }
            _ => {
                let staged = self.stage_text(module, options, staging)?;
                let bytes = staged.as_ref().map(Staged::bytes);
                (staged, Replaced::default(), bytes)
            }
        };
        Ok(StagedModel {
            path: self.path,
            bytes,
            staged,
            replaces,
        })
    }

    fn stage_text(
        &self,
        module: &Module,
        options: WriteOptions,
        staging: Option<&Path>,
    ) -> Result<Option<Staged>, PassError> {
        let path = &self.path;
        // IR text can't refer to the file that its model was read from.
        let module = passdock_onnx::detach(module).map_err(|error| failed(path, error))?;
        if let Some(file) = lossy_name(&module) {
            let what =
                format!("the name of data file `{file}` is not UTF-8, which IR text requires");
            return Err(fail(path, &what).help("rename the file"));
        }
        let mut printing = text::PrintOptions {
            brief: options.brief,
            ..text::PrintOptions::default()
        };
        if self.target.is_some() {
            printing.directory = self.directory.as_deref();
        }
        let written = match &self.target {
            None => print(&module, StandardOutput, &printing).map(|()| None),
            Some(Target::Special(path)) => open_special(path)
                .and_then(|file| print(&module, file, &printing))
                .map(|()| None),
            Some(Target::File(path)) => Staging::new(path, staging).and_then(|staging| {
                print(&module, staging.main_file()?, &printing)?;
                let durable = !options.temporary;
                staging.finish(Vec::new(), durable, None).map(Some)
            }),
        };
        written.map_err(|error| failed(path, error))
    }
}

/// A model that is written but not yet committed.
#[derive(Serialize, Deserialize)]
pub struct StagedModel {
    #[serde(with = "passdock_files::raw_path")]
    path: PathBuf,
    /// `None` if it was written to a special file.
    staged: Option<Staged>,
    replaces: Replaced,
    bytes: Option<u64>,
}

impl StagedModel {
    /// Creates a staging directory for an output that another process will write. Returns `None` if none can be
    /// created.
    pub fn staging_for(output: &Path, replaces_links: bool) -> Option<Staging> {
        match Output::at(output, replaces_links).ok()?.target? {
            Target::File(path) => Staging::new(&path, None).ok(),
            Target::Special(_) => None,
        }
    }

    /// Returns the path, as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of its files in bytes, or `None` for a special file.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Returns the model for committing it in this process, if another process wrote it.
    ///
    /// # Errors
    /// If there was no staging directory for it.
    pub fn at(mut self, staging: Option<Staging>) -> Result<StagedModel, PassError> {
        self.staged = match (self.staged, staging) {
            (Some(staged), Some(staging)) => Some(staged.at(staging)),
            (None, _) => None,
            (Some(_), None) => {
                let error = io::Error::other("the model was staged by another process");
                return Err(failed(&self.path, error));
            }
        };
        Ok(self)
    }

    /// Commits the model and its data files. `report` receives notes about data files that are removed because only the
    /// replaced model used them.
    ///
    /// # Errors
    /// If the system returns an error. Existing files are then unchanged.
    pub fn commit(self, report: &mut dyn FnMut(Diagnostic)) -> Result<(), PassError> {
        let Some(staged) = self.staged else {
            return Ok(());
        };
        let old = self.replaces.files(staged.target());
        let old = old.and_then(|old| staged.commit(&old).map(|()| old));
        let old = old.map_err(|error| failed(&self.path, error))?;
        let directory = directory_of(&self.path);
        old.iter()
            .map(|old| removed(&directory.join(old)))
            .for_each(report);
        Ok(())
    }
}

/// Converts a remark about an ONNX file to a warning.
fn remarked(remark: passdock_onnx::Remark) -> Diagnostic {
    Diagnostic {
        function: remark.function,
        ..Diagnostic::new(Severity::Warning, remark.code, remark.message).help(remark.help)
    }
}

/// Returns notes about data that no tensor references: data that is dropped, and data that stays.
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
                format!("dropped {bytes} bytes of {from} that no tensor references any more")
            }
            true => format!(
                "kept {bytes} bytes of {from} that no tensor references any more, because a `Constant` node or a \
                 function references other data in it"
            ),
        };
        Some(Diagnostic::new(Severity::Note, "data", message))
    };
    [note(false), note(true)].into_iter().flatten()
}

/// Returns the note about a data file that was removed with the replaced model.
fn removed(file: &Path) -> Diagnostic {
    let file = file.display();
    let message = format!("removed `{file}`: only the replaced model used it");
    Diagnostic::new(Severity::Note, "data", message)
}

fn print(module: &Module, to: impl Write, options: &text::PrintOptions<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    text::write_module(&mut out, module, options)?;
    out.flush()
}

fn stage_onnx(
    module: &Module,
    path: &Path,
    target: &Target,
    options: WriteOptions,
    staging: Option<&Path>,
    report: &mut dyn FnMut(Diagnostic),
) -> Result<(Option<Staged>, Replaced, Option<u64>), PassError> {
    // If data can't be read, the error names the tensor and is an error of the input model.
    let unreadable = || {
        let mut unreadable = passdock_onnx::check_external(module).into_iter();
        let mut error = failed(path, unreadable.next()?.error);
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
        output.map_err(|error| failed(path, error))
    };
    let path = match target {
        Target::File(path) => path,
        Target::Special(path) => {
            let output = encode(writing)?;
            if let Some(data) = output.data_files().first() {
                let location = data.location();
                let message = format!("data file `{location}` cannot be next to a special file");
                let error = failed(path, io::Error::other(message));
                return Err(error.help("store the data in the model: `--external-data none`"));
            }
            let written = open_special(path).and_then(|mut file| output.write_file(&mut file));
            return written
                .map(|()| (None, Replaced::default(), None))
                .map_err(unwritten);
        }
    };
    let own = data_files::own_location(path);
    writing.data_file = Some(&own);
    let mut output = encode(writing)?;
    let staging = Staging::new(path, staging).map_err(|error| failed(path, error))?;
    let plan =
        data_files::Plan::new(&output, path, &own, staging).map_err(|error| match error {
            PlanError::Location(error) => failed(path, error),
            PlanError::Failed(error) => unwritten(error),
            PlanError::Other(to) => {
                let to = to.display();
                let error =
                    io::Error::other(format!("data file `{to}` already exists with different contents"));
                failed(path, error).help(
                    "write to another directory, or use a separate data file: `--external-data all`",
                )
            }
        })?;
    if !plan.moved.is_empty() {
        writing.moved = &plan.moved;
        output = encode(writing)?;
    }
    let written = plan.staging.main_file();
    let written = written.and_then(|mut file| output.write_file(&mut file));
    written.map_err(unwritten)?;
    unused(output.dropped()).for_each(&mut *report);
    let data = output.data_files().iter();
    let bytes = data.map(|data| data.size()).sum::<Option<u64>>();
    let bytes = bytes.map(|bytes| bytes + output.len());
    let durable = !options.temporary;
    let staged = plan.staging.finish(plan.new, durable, plan.lock);
    Ok((Some(staged.map_err(unwritten)?), plan.replaces, bytes))
}

/// Returns the data files of a module's constants, except for the model file.
pub(crate) fn referenced_data_files(module: &Module) -> Vec<PathBuf> {
    let mut names = BTreeSet::new();
    for f in module.functions() {
        for (id, _) in f.live_constants() {
            let external = f.constant_data(id).external();
            names.extend(external.map(|range| range.source.name()));
        }
    }
    names.into_iter().map(PathBuf::from).collect()
}

/// Returns the name of a data file if converting it to UTF-8 lost information.
fn lossy_name(module: &Module) -> Option<&str> {
    let mut names = module.functions().flat_map(|f| {
        let constants = f.live_constants();
        constants.filter_map(|(id, _)| Some(f.constant_data(id).in_named_file()?.source.name()))
    });
    names.find(|name| name.contains(char::REPLACEMENT_CHARACTER))
}

fn failed(path: &Path, error: impl Error + Send + Sync + 'static) -> PassError {
    fail(path, &error).caused_by(Arc::new(error))
}

fn fail(path: &Path, error: &dyn std::fmt::Display) -> PassError {
    let path = path.display();
    let message = format!("could not write `{path}`: {error}");
    PassError::new(ErrorKind::Write, message)
}
