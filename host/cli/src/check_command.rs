//! The command of `--check`: it gets a model's path, and its status says whether the model is good.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use passdock::files::TemporaryDirectory;
use passdock::judge::Verdict;
use passdock::model_file::{self, Format, WriteOptions};
use passdock::reproducer::shell_word;
use passdock::{ErrorKind, Module, PassError};

use crate::args::CheckCommandArgs;
use crate::child;

/// Runs a command on models, each in a directory of its own that goes away with it.
pub(crate) struct CheckCommand {
    command: String,
    timeout: Option<Duration>,
    extension: &'static str,
    dir: TemporaryDirectory,
    /// The output of the last command, or why there was none.
    said: String,
}

impl CheckCommand {
    /// The command of `--check` for models like `model`. It has to say where the model's path goes.
    pub(crate) fn new(args: &CheckCommandArgs, model: &Path) -> Result<CheckCommand, PassError> {
        let Some(command) = args.check.clone() else {
            let error = PassError::new(ErrorKind::Usage, "There is no `--check`.");
            return Err(error.help(
                "Give the command that judges a model, with `{}` in place of its path: `--check 'test-model {}'`.",
            ));
        };
        if !command.contains("{}") {
            let message =
                format!("The command of `--check {command}` doesn't say where the model goes.");
            return Err(PassError::new(ErrorKind::Usage, message)
                .help("Write `{}` in place of its path: `--check 'test-model {}'`."));
        }
        let dir = TemporaryDirectory::new()
            .map_err(|error| failed("A temporary directory can't be made", &error))?;
        Ok(CheckCommand {
            command,
            timeout: (args.check_timeout)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            extension: match Format::of(model)? {
                Format::Onnx => "onnx",
                Format::Text => "ir",
            },
            dir,
            said: String::new(),
        })
    }

    /// The command's verdict on a model; `input` stands for `{in}`. A model that can't be written
    /// can't be judged.
    pub(crate) fn check(&mut self, module: &Module, input: &Module) -> Result<Verdict, PassError> {
        let place = self.dir.path().join("candidate");
        let verdict = self.check_in(&place, module, input);
        // It may be that a command still writes there; the next one will see.
        _ = fs::remove_dir_all(&place);
        verdict
    }

    fn check_in(
        &mut self,
        place: &Path,
        module: &Module,
        input: &Module,
    ) -> Result<Verdict, PassError> {
        let mut command = self.command.clone();
        for (mark, name, module) in [("{in}", "in", input), ("{}", "model", module)] {
            if !command.contains(mark) {
                continue;
            }
            let dir = place.join(name);
            fs::create_dir_all(&dir)
                .map_err(|error| failed("The directory of a candidate can't be made", &error))?;
            let path = dir.join(format!("{name}.{}", self.extension));
            let path = path.to_string_lossy();
            let options = WriteOptions {
                temporary: true,
                ..WriteOptions::default()
            };
            if let Err(error) = model_file::write(module, &*path, options) {
                self.said = error.to_string();
                return Ok(Verdict::Unknown);
            }
            command = command.replace(mark, &shell_word(&path));
        }
        let out = place.join("out");
        let status = self.run(&command, &out);
        let status =
            status.map_err(|error| failed("The command of `--check` can't be run", &error))?;
        self.said = child::tail(&out).unwrap_or_default();
        match status.map(|status| status.code()) {
            None => {
                self.said.push_str("(it took too long and was ended)");
                Ok(Verdict::Unknown)
            }
            Some(Some(0)) => Ok(Verdict::Good),
            Some(Some(125)) => Ok(Verdict::Unknown),
            // The last one is what `cmd` says.
            Some(Some(code @ (126 | 127 | 9009))) => {
                let message = format!("The command of `--check` can't be run (status {code}).");
                Err(PassError::new(ErrorKind::Check, message))
            }
            // A signal has no status.
            Some(_) => Ok(Verdict::Bad),
        }
    }

    /// Adds what the last command said to an error about it.
    pub(crate) fn with_said(&self, error: PassError) -> PassError {
        match self.said.trim() {
            said if said.is_empty() || error.kind != ErrorKind::Check => error,
            said => error.note(format!("the command's last words: {said}")),
        }
    }

    /// The command's status; `None` if it took too long.
    fn run(&self, command: &str, out: &Path) -> io::Result<Option<ExitStatus>> {
        let out = File::create(out)?;
        let mut shell = shell(command);
        shell
            .stdin(Stdio::null())
            .stderr(out.try_clone()?)
            .stdout(out);
        child::run(&mut shell, self.timeout)
    }
}

/// The shell, with a command to run.
fn shell(command: &str) -> Command {
    #[cfg(not(windows))]
    {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        shell
    }
    // It takes the rest of its line as it stands, without the outer quotes.
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        let mut shell = Command::new("cmd");
        shell.raw_arg(format!("/D /S /C \"{command}\""));
        shell
    }
}

fn failed(what: &str, error: &io::Error) -> PassError {
    PassError::new(ErrorKind::Check, format!("{what}: {error}."))
}
