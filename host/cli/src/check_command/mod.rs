//! What `--check` names: a command, which gets a model's path, and whose status says whether the model is good; or
//! `numerics`, which compares what the model computes.

mod numerics;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use self::numerics::{ComparedModels, NUMERICS, Pair};

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
    /// What `numerics` found so far.
    known: ComparedModels,
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
    /// ONNX Runtime's library, if the command is `numerics`.
    runtime: Option<PathBuf>,
}

impl Candidates {
    fn is_numerics(&self) -> bool {
        self.command == NUMERICS
    }
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

/// A model that was written, to be judged.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToJudge {
    /// By a command with the models' paths, and a file for what it says.
    Shell { shell: String, out: PathBuf },
    /// By what it computes.
    Numerics(Pair),
}

/// What came of that.
#[derive(Serialize, Deserialize)]
pub(crate) struct Judgement {
    verdict: Verdict,
    said: String,
    /// Whether ONNX Runtime doesn't take the model.
    refused: bool,
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
                "`--check numerics` compares what models compute; a command that judges one has `{}` in place of its \
                    path: `--check 'test-model {}'`.",
            ));
        };
        let is_numerics = command == NUMERICS;
        if !is_numerics && !command.contains("{}") {
            let message =
                format!("The command of `--check {command}` doesn't say where the model goes.");
            return Err(PassError::new(ErrorKind::Usage, message)
                .help("Write `{}` in place of its path: `--check 'test-model {}'`; or `--check numerics`, which \
                    compares what models compute."));
        }
        let extension = match Format::of(model)? {
            Format::Onnx => "onnx",
            Format::Text => "ir",
        };
        let runtime = is_numerics
            .then(passdock_tools::numerics::find)
            .transpose()?;
        let dir = TemporaryDirectory::new()
            .map_err(|error| failed("A temporary directory can't be made", &error))?;
        Ok(CheckCommand {
            candidates: Candidates {
                command,
                extension: extension.to_owned(),
                dir: dir.path().to_path_buf(),
                runtime,
            },
            judge: Judge::Here(timeout(args)),
            said: String::new(),
            known: ComparedModels::default(),
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
            known: ComparedModels::default(),
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
        if self.candidates.is_numerics() && self.known.is_good(module, input) {
            return Ok(Verdict::Good);
        }
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
        let asked = match self.write(place, module, input) {
            Ok(Ok(asked)) => asked,
            Ok(Err(unwritten)) => {
                self.said = unwritten.to_string();
                return Ok(Verdict::Unknown);
            }
            Err(error) => {
                return Err(failed("The directory of a candidate can't be made", &error));
            }
        };
        self.said.clear();
        let judgement = match &mut self.judge {
            Judge::Here(timeout) => asked.run(*timeout)?,
            Judge::Elsewhere(ask) => ask(asked)?,
        };
        let verdict = match self.candidates.is_numerics() {
            true => self.known.learn(module, input, &judgement),
            false => judgement.verdict,
        };
        self.said = judgement.said;
        Ok(verdict)
    }

    /// Writes the models, and says what to do with them; the inner error is a model's that can't be written.
    fn write(
        &self,
        place: &Path,
        module: &Module,
        input: &Module,
    ) -> io::Result<Result<ToJudge, PassError>> {
        let Candidates {
            command, extension, ..
        } = &self.candidates;
        let is_numerics = self.candidates.is_numerics();
        let mut shell = command.clone();
        let mut paths = Vec::new();
        for (mark, name, module) in [("{in}", "in", input), ("{}", "model", module)] {
            if !is_numerics && !command.contains(mark) {
                continue;
            }
            let dir = place.join(name);
            fs::create_dir_all(&dir)?;
            let path = dir.join(format!("{name}.{extension}"));
            let options = WriteOptions {
                temporary: true,
                ..WriteOptions::default()
            };
            if let Err(error) = model_file::write(module, &path, options) {
                return Ok(Err(error));
            }
            shell = shell.replace(mark, &shell_word(&path.to_string_lossy()));
            paths.push(path);
        }
        let out = place.join("out");
        Ok(Ok(match (is_numerics, &paths[..]) {
            (true, [before, after]) => ToJudge::Numerics(Pair {
                before: before.clone(),
                after: after.clone(),
                out,
                runtime: self.candidates.runtime.clone(),
            }),
            _ => ToJudge::Shell { shell, out },
        }))
    }

    /// Adds what the last command said to an error about it.
    pub(crate) fn with_said(&self, error: PassError) -> PassError {
        match self.said.trim() {
            said if said.is_empty() || error.kind != ErrorKind::Check => error,
            said if self.candidates.is_numerics() => error.note(format!("`numerics`: {said}")),
            said => error.note(format!("the command's last words: {said}")),
        }
    }
}

/// The time that a command may take.
pub(crate) fn timeout(args: &CheckCommandArgs) -> Option<Duration> {
    (args.check_timeout).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

impl ToJudge {
    /// Judges the model.
    pub(crate) fn run(&self, timeout: Option<Duration>) -> Result<Judgement, PassError> {
        match self {
            ToJudge::Shell { shell, out } => run_shell(shell, out, timeout),
            ToJudge::Numerics(pair) => pair.judge(timeout),
        }
    }
}

/// Runs a command.
fn run_shell(command: &str, out: &Path, timeout: Option<Duration>) -> Result<Judgement, PassError> {
    let status = shell_status(command, out, timeout)
        .map_err(|error| failed("The command of `--check` can't be run", &error))?;
    let mut said = child::tail(out).unwrap_or_default();
    let verdict = match status.map(|status| status.code()) {
        None => {
            said.push_str(TOO_LONG);
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
    Ok(Judgement {
        verdict,
        said,
        refused: false,
    })
}

/// What is said of a check that was ended.
const TOO_LONG: &str = "(it took too long and was ended)";

/// The command's status; `None` if it took too long.
fn shell_status(
    command: &str,
    out: &Path,
    timeout: Option<Duration>,
) -> io::Result<Option<ExitStatus>> {
    let out = File::create(out)?;
    let mut shell = shell(command);
    shell
        .stdin(Stdio::null())
        .stderr(out.try_clone()?)
        .stdout(out);
    child::run(&mut shell, timeout)
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
