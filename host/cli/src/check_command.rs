//! The command of `--check`: it gets a model's path, and its status says whether the model is good.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use passdock::files::TemporaryDirectory;
use passdock::judge::Verdict;
use passdock::model_file::{self, Format, WriteOptions};
use passdock::reproducer::shell_word;
use passdock::{ErrorKind, Module, PassError};
use serde::{Deserialize, Serialize};

use crate::args::search::CheckCommandArgs;
use crate::child;

/// Runs a command on models, each in a directory of its own that goes away with it.
pub(crate) struct CheckCommand<'j> {
    candidates: Candidates,
    judge: Judge<'j>,
    /// The output of the last command, or why there was none.
    said: String,
    /// The directory, if it goes away with this.
    _dir: Option<TemporaryDirectory>,
}

/// The models that a command is run on: data, so that another process can write them.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Candidates {
    command: String,
    extension: String,
    /// The directory that they are in.
    dir: PathBuf,
}

/// Who runs the command.
enum Judge<'j> {
    /// This process, for so long at most.
    Here(Option<Duration>),
    /// Whoever this asks.
    #[cfg_attr(
        not(unix),
        allow(dead_code, reason = "there all is done by one process")
    )]
    Elsewhere(Box<dyn FnMut(ToJudge) -> Result<Judgement, PassError> + 'j>),
}

/// A command to run on a model that was written.
#[derive(Serialize, Deserialize)]
pub(crate) struct ToJudge {
    /// The command with the models' paths.
    shell: String,
    /// The file for what it says.
    out: PathBuf,
}

/// What came of that.
#[derive(Serialize, Deserialize)]
pub(crate) struct Judgement {
    verdict: Verdict,
    said: String,
}

impl<'j> CheckCommand<'j> {
    /// The command of `--check` for models like `model`. It has to say where the model's path goes.
    pub(crate) fn new(
        args: &CheckCommandArgs,
        model: &Path,
    ) -> Result<CheckCommand<'j>, PassError> {
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
        let extension = match Format::of(model)? {
            Format::Onnx => "onnx",
            Format::Text => "ir",
        };
        let dir = TemporaryDirectory::new()
            .map_err(|error| failed("A temporary directory can't be made", &error))?;
        Ok(CheckCommand {
            candidates: Candidates {
                command,
                extension: extension.to_owned(),
                dir: dir.path().to_path_buf(),
            },
            judge: Judge::Here(timeout(args)),
            said: String::new(),
            _dir: Some(dir),
        })
    }

    /// One whose models are written here, and judged by whoever this asks.
    #[cfg(unix)]
    pub(crate) fn elsewhere(
        candidates: Candidates,
        asks: impl FnMut(ToJudge) -> Result<Judgement, PassError> + 'j,
    ) -> CheckCommand<'j> {
        CheckCommand {
            candidates,
            judge: Judge::Elsewhere(Box::new(asks)),
            said: String::new(),
            _dir: None,
        }
    }

    /// What another process has to know to write the models.
    #[cfg(unix)]
    pub(crate) fn candidates(&self) -> Candidates {
        self.candidates.clone()
    }

    /// The command's verdict on a model; `input` stands for `{in}`. A model that can't be written
    /// can't be judged.
    pub(crate) fn check(&mut self, module: &Module, input: &Module) -> Result<Verdict, PassError> {
        let place = self.candidates.dir.join("candidate");
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
        let mut command = self.candidates.command.clone();
        for (mark, name, module) in [("{in}", "in", input), ("{}", "model", module)] {
            if !command.contains(mark) {
                continue;
            }
            let dir = place.join(name);
            fs::create_dir_all(&dir)
                .map_err(|error| failed("The directory of a candidate can't be made", &error))?;
            let path = dir.join(format!("{name}.{}", self.candidates.extension));
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
        let asked = ToJudge {
            shell: command,
            out: place.join("out"),
        };
        self.said.clear();
        let judgement = match &mut self.judge {
            Judge::Here(timeout) => asked.run(*timeout)?,
            Judge::Elsewhere(ask) => ask(asked)?,
        };
        self.said = judgement.said;
        Ok(judgement.verdict)
    }

    /// Adds what the last command said to an error about it.
    pub(crate) fn with_said(&self, error: PassError) -> PassError {
        match self.said.trim() {
            said if said.is_empty() || error.kind != ErrorKind::Check => error,
            said => error.note(format!("the command's last words: {said}")),
        }
    }
}

/// The time that a command may take.
pub(crate) fn timeout(args: &CheckCommandArgs) -> Option<Duration> {
    (args.check_timeout).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

impl ToJudge {
    /// Runs the command.
    pub(crate) fn run(&self, timeout: Option<Duration>) -> Result<Judgement, PassError> {
        let status = self.status(timeout);
        let status =
            status.map_err(|error| failed("The command of `--check` can't be run", &error))?;
        let mut said = child::tail(&self.out).unwrap_or_default();
        let verdict = match status.map(|status| status.code()) {
            None => {
                said.push_str("(it took too long and was ended)");
                Verdict::Unknown
            }
            Some(Some(0)) => Verdict::Good,
            Some(Some(125)) => Verdict::Unknown,
            // The last one is what `cmd` says.
            Some(Some(code @ (126 | 127 | 9009))) => {
                let message = format!("The command of `--check` can't be run (status {code}).");
                let error = PassError::new(ErrorKind::Check, message);
                return Err(match said.trim() {
                    "" => error,
                    said => error.note(format!("the command's last words: {said}")),
                });
            }
            // A signal has no status.
            Some(_) => Verdict::Bad,
        };
        Ok(Judgement { verdict, said })
    }

    /// The command's status; `None` if it took too long.
    fn status(&self, timeout: Option<Duration>) -> io::Result<Option<ExitStatus>> {
        let out = File::create(&self.out)?;
        let mut shell = shell(&self.shell);
        shell
            .stdin(Stdio::null())
            .stderr(out.try_clone()?)
            .stdout(out);
        child::run(&mut shell, timeout)
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
