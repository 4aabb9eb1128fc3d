//! The oracle of `--test`: a shell command, whose exit status is the verdict on a model, or `numerics`, which compares
//! the model's outputs.

mod numerics;

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use self::numerics::{ComparedModels, NUMERICS};

use passdock::files::{TemporaryDirectory, raw_path};
use passdock::model_file::{self, Format, WriteOptions};
use passdock::oracle::Verdict;
use passdock::reproducer::shell_path;
use passdock::{ErrorKind, Module, PassError, waiting};
use serde::{Deserialize, Serialize};

use crate::args::search::TestCommandArgs;
use crate::child;
#[cfg(unix)]
use crate::worker;

/// An oracle that runs a command on models. Each model is written to its own temporary directory, which is removed with
/// it.
pub(crate) struct TestCommand {
    command: String,
    extension: &'static str,
    /// The time limit of the command.
    timeout: Option<Duration>,
    /// ONNX Runtime's library, if the command is `numerics`.
    runtime: Option<PathBuf>,
    /// The output of the last command, or the reason why there is none.
    output: String,
    /// Results of earlier comparisons by `numerics`.
    known: ComparedModels,
    directory: TemporaryDirectory,
}

/// The files of a test.
#[derive(Serialize, Deserialize)]
pub(crate) struct TestFiles {
    /// The input model, if the command uses it.
    #[serde(with = "raw_path")]
    input: Option<PathBuf>,
    /// The model to test.
    #[serde(with = "raw_path")]
    model: PathBuf,
    /// The output of the command.
    #[serde(with = "raw_path")]
    output: PathBuf,
}

/// The result of running a command.
#[derive(Serialize, Deserialize)]
pub(crate) struct TestResult {
    verdict: Verdict,
    output: String,
    /// Whether ONNX Runtime rejects the model.
    rejected: bool,
}

impl TestCommand {
    /// Creates the oracle of `--test` for models in the format of `model`.
    ///
    /// # Errors
    /// If there is no `--test`, or its command doesn't contain `{}`.
    pub(crate) fn new(args: &TestCommandArgs, model: &Path) -> Result<TestCommand, PassError> {
        let Some(command) = args.test.clone() else {
            let error = PassError::new(ErrorKind::Usage, "missing `--test`");
            return Err(error.help(
                "pass `--test numerics` to compare outputs in ONNX Runtime, or a command in which `{}` is the \
                 path of the model: `--test 'test-model {}'`",
            ));
        };
        let is_numerics = command == NUMERICS;
        if !is_numerics && !command.contains("{}") {
            let message = format!("the command of `--test {command}` does not contain `{{}}`");
            return Err(PassError::new(ErrorKind::Usage, message)
                .help(
                "write `{}` for the path of the model: `--test 'test-model {}'`; or pass `--test numerics` to \
                 compare outputs in ONNX Runtime",
            ));
        }
        let extension = match Format::from_path(model)? {
            Format::Onnx => "onnx",
            Format::Text => "ir",
        };
        // The supervisor of a worker runs the comparison.
        let finds_runtime = is_numerics && !is_worker();
        let runtime = finds_runtime
            .then(passdock_tools::numerics::find)
            .transpose()?;
        let directory = TemporaryDirectory::new()
            .map_err(|error| failed("could not create a temporary directory", &error))?;
        Ok(TestCommand {
            command,
            extension,
            timeout: args.test_timeout,
            runtime,
            output: String::new(),
            known: ComparedModels::default(),
            directory,
        })
    }

    fn is_numerics(&self) -> bool {
        self.command == NUMERICS
    }

    /// Returns the command's verdict on a model. `input` replaces `{in}`.
    ///
    /// # Errors
    /// If the model can't be written or the command can't be run.
    pub(crate) fn check(&mut self, module: &Module, input: &Module) -> Result<Verdict, PassError> {
        if self.is_numerics() && self.known.is_good(module, input) {
            return Ok(Verdict::Good);
        }
        let dir = self.directory.path().join("candidate");
        let result = self.test(&dir, module, input);
        // Removal fails if a descendant of the command still writes there. Creating the next candidate reports that.
        _ = fs::remove_dir_all(&dir);
        let result = result?;
        let verdict = match self.is_numerics() {
            true => self.known.record(module, input, &result),
            false => result.verdict,
        };
        self.output = result.output;
        Ok(verdict)
    }

    /// Writes the models to a directory and runs the command. A worker lets its supervisor run it.
    fn test(&self, dir: &Path, module: &Module, input: &Module) -> Result<TestResult, PassError> {
        let mut files = TestFiles {
            input: None,
            model: PathBuf::new(),
            output: dir.join("out"),
        };
        for (name, module) in [("in", input), ("model", module)] {
            if name == "in" && !self.is_numerics() && !self.command.contains(INPUT) {
                continue;
            }
            let dir = dir.join(name);
            fs::create_dir_all(&dir)
                .map_err(|error| failed("could not create the directory of a candidate", &error))?;
            let path = dir.join(format!("{name}.{}", self.extension));
            let options = WriteOptions {
                temporary: true,
                ..WriteOptions::default()
            };
            if let Err(unwritten) = model_file::write(module, &path, options) {
                return Ok(TestResult {
                    verdict: Verdict::Unknown,
                    output: unwritten.to_string(),
                    rejected: false,
                });
            }
            match name {
                "in" => files.input = Some(path),
                _ => files.model = path,
            }
        }
        #[cfg(unix)]
        if let Some(answer) = worker::ask(&files) {
            let answer: io::Result<Result<TestResult, PassError>> = answer;
            return answer.unwrap_or_else(|error| {
                Err(failed("could not run the command of `--test`", &error))
            });
        }
        self.run(&files)
    }

    /// Runs the command.
    pub(crate) fn run(&self, files: &TestFiles) -> Result<TestResult, PassError> {
        let (out, timeout) = (&files.output, self.timeout);
        match &files.input {
            Some(input) if self.is_numerics() => {
                numerics::compare(input, &files.model, out, self.runtime.as_deref(), timeout)
            }
            input => {
                let input = input.as_deref().map(shell_path).unwrap_or_default();
                let line = self.command.replace(INPUT, &input);
                run_shell(&line.replace("{}", &shell_path(&files.model)), out, timeout)
            }
        }
    }

    /// Adds the output of the last command to an error about it.
    pub(crate) fn with_output(&self, error: PassError) -> PassError {
        match self.output.trim() {
            output if output.is_empty() || error.kind != ErrorKind::Check => error,
            output if self.is_numerics() => error.note(format!("`numerics`: {output}")),
            output => error.note(format!("last output of the command: {output}")),
        }
    }
}

fn run_shell(line: &str, out: &Path, timeout: Option<Duration>) -> Result<TestResult, PassError> {
    let run = || {
        let out = File::create(out)?;
        let mut shell = shell(line);
        shell
            .stdin(Stdio::null())
            .stderr(out.try_clone()?)
            .stdout(out);
        child::run(&mut shell, timeout)
    };
    let status = run().map_err(|error| failed("could not run the command of `--test`", &error))?;
    let mut output = File::open(out).and_then(waiting::tail).unwrap_or_default();
    let verdict = match status.map(|status| status.code()) {
        None => {
            output.push_str(TOO_LONG);
            Verdict::Unknown
        }
        Some(Some(0)) => Verdict::Good,
        Some(Some(125)) => Verdict::Unknown,
        // `cmd` exits with 9009 if a command doesn't exist.
        Some(Some(code @ (126 | 127 | 9009))) => {
            let message = format!("could not run the command of `--test` (exit status {code})");
            let error = PassError::new(ErrorKind::Check, message);
            return Err(match output.trim() {
                "" => error,
                output => error.note(format!("last output of the command: {output}")),
            });
        }
        // A process that a signal terminated has no status.
        Some(_) => Verdict::Bad,
    };
    Ok(TestResult {
        verdict,
        output,
        rejected: false,
    })
}

impl TestFiles {
    /// Returns `true` if the files that exist are regular ones in a directory.
    pub(crate) fn are_in(&self, directory: &Path) -> bool {
        let is_in = |path: &PathBuf| {
            let mut parts = path.components();
            path.starts_with(directory) && parts.all(|part| part != Component::ParentDir)
        };
        let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|known| known.is_file());
        let mut models = self.input.iter().chain([&self.model]);
        models.all(|path| is_in(path) && is_file(path)) && is_in(&self.output)
    }
}

/// Whether this process is a worker, whose supervisor runs the command.
fn is_worker() -> bool {
    #[cfg(unix)]
    return worker::is_set();
    #[cfg(not(unix))]
    false
}

/// The mark of the input model in a command.
const INPUT: &str = "{in}";

/// The output of a check that exceeded its time limit.
const TOO_LONG: &str = "(terminated after the time limit)";

/// Returns the system's shell with a command to run.
fn shell(command: &str) -> Command {
    #[cfg(not(windows))]
    {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        shell
    }
    // `cmd` takes the rest of its line literally, without the outer quotes.
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        let mut shell = Command::new("cmd");
        shell.raw_arg(format!("/D /S /C \"{command}\""));
        shell
    }
}

fn failed(what: &str, error: &io::Error) -> PassError {
    PassError::new(ErrorKind::Check, format!("{what}: {error}"))
}
