//! The table of steps, `.ci/steps.toml`, and how steps run and are reported.

use std::fs;
use std::io::{BufRead, BufReader, IsTerminal, Write, stdout};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::project::Project;
use crate::shell;

/// The exit status of a skipped step, whose requirements this machine lacks (`skip` of `.ci/steps/common.sh`).
const SKIPPED: i32 = 77;

/// The rows of `.ci/steps.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    command: Vec<Step>,
    test: Vec<Step>,
    deep: Vec<Step>,
}

/// A line of bash with a name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    name: String,
    #[serde(default)]
    about: String,
    run: String,
    /// Whether the step may run in parallel with adjacent parallel steps.
    #[serde(default)]
    parallel: bool,
    /// Whether a skip is never a failure.
    #[serde(default)]
    optional: bool,
}

/// A finished step.
struct StepResult<'t> {
    step: &'t Step,
    time: Duration,
    outcome: Outcome,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Table {
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let path = project.root.join(".ci/steps.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).context(".ci/steps.toml")
    }

    /// Runs the steps of `cargo xtask test` whose names contain a filter. Returns whether all passed; with `all`, a
    /// skipped step counts as failed.
    pub(crate) fn test(&self, project: &Project, all: bool, filter: &str) -> Result<bool> {
        run_all(
            project,
            self.test.iter().filter(|step| step.name.contains(filter)),
            all,
        )
    }

    /// Runs the steps of `cargo xtask deep`.
    pub(crate) fn deep(&self, project: &Project) -> Result<bool> {
        run_all(project, self.deep.iter(), false)
    }

    /// Returns the step that a command line names, and its arguments.
    pub(crate) fn command<'a>(
        &self,
        name: &str,
        rest: &'a [&'a str],
    ) -> Option<(&Step, &'a [&'a str])> {
        let find = |steps: &[Step], name: &str| steps.iter().position(|step| step.name == name);
        match rest {
            [deep, rest @ ..] if name == "deep" => {
                Some((&self.deep[find(&self.deep, deep)?], rest))
            }
            _ => Some((&self.command[find(&self.command, name)?], rest)),
        }
    }

    pub(crate) fn usage(&self) -> String {
        let mut rows: Vec<(String, &str)> = [
            (
                "test",
                "run all steps except the deep ones; prints the reason for each skipped step",
            ),
            ("test --all", "the same; a skip is a failure"),
            ("test WORD", "only the steps whose names contain WORD"),
            ("tidy", "check only the rules of sources and documents"),
            (
                "generate",
                "write the files that are generated from the plugin ABI's table",
            ),
            ("docs DIR", "write the user documentation, as in archives"),
            (
                "licenses FILE PACKAGE…",
                "write the licenses of all packages linked into PACKAGE…",
            ),
            ("deep", "run all of the following steps"),
        ]
        .map(|(name, about)| (name.to_owned(), about))
        .into();
        let commands = self
            .command
            .iter()
            .map(|step| (step.name.clone(), step.about.as_str()));
        rows.splice(3..3, commands);
        rows.extend(
            self.deep
                .iter()
                .map(|step| (format!("deep {}", step.name), step.about.as_str())),
        );
        let lines = rows
            .into_iter()
            .map(|(name, about)| format!("cargo xtask {name:<24} {about}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Step {
    /// Runs the step alone, with this program's own output streams.
    pub(crate) fn run_alone(&self, project: &Project, arguments: &[&str]) -> Result<bool> {
        let status = self.command(project, "").args(arguments).status();
        Ok(status.context("could not start bash")?.success())
    }

    fn command(&self, project: &Project, git_status: &str) -> Command {
        let mut bash = Command::new("bash");
        bash.args([
            "-c",
            &format!(". .ci/steps/common.sh\n{}", self.run),
            "xtask",
        ]);
        bash.current_dir(&project.root).stdin(Stdio::null());
        bash.env("TARGET", &project.target);
        bash.env(
            "STEP",
            self.name
                .replace(|letter: char| !letter.is_alphanumeric(), "-"),
        );
        bash.env("GIT_STATUS", git_status);
        bash
    }

    /// Runs the step. Prints its output immediately if `live`, otherwise after the step has finished.
    fn run(&self, project: &Project, git_status: &str, live: bool) -> StepResult<'_> {
        let start = Instant::now();
        let title = format!("\n── {}\n", self.name);
        let mut buffered = String::new();
        if live {
            print!("{title}");
        } else {
            buffered = title;
        }
        let mut last = String::new();
        let status = self.piped(project, git_status, |line| {
            if live {
                print!("{line}");
            } else {
                buffered.push_str(line);
            }
            if !line.trim().is_empty() {
                line.trim().clone_into(&mut last);
            }
        });
        let outcome = outcome(status, last);
        let mut out = stdout().lock();
        let result_line = match &outcome {
            Outcome::Passed => String::new(),
            Outcome::Failed(why) => format!("FAILED: {why}\n"),
            Outcome::Skipped(why) => format!("skipped: {why}\n"),
        };
        // A closed output isn't an error: the exit status still reports the result.
        _ = write!(out, "{buffered}{result_line}").and_then(|()| out.flush());
        StepResult {
            step: self,
            time: start.elapsed(),
            outcome,
        }
    }

    /// Runs the step and passes each line of standard output and standard error to `print`.
    fn piped(
        &self,
        project: &Project,
        git_status: &str,
        mut print: impl FnMut(&str),
    ) -> Result<ExitStatus> {
        let (reader, writer) = std::io::pipe()?;
        let mut bash = self.command(project, git_status);
        if stdout().is_terminal() {
            bash.env("CARGO_TERM_COLOR", "always");
        }
        bash.stdout(writer.try_clone()?).stderr(writer);
        let mut child = bash.spawn().context("could not start bash")?;
        // The command holds the pipe's write ends, which would keep the reader waiting.
        drop(bash);
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            print(&String::from_utf8_lossy(&line));
            line.clear();
        }
        Ok(child.wait()?)
    }
}

/// Returns the outcome for an exit status and the last line that the step printed.
fn outcome(status: Result<ExitStatus>, last: String) -> Outcome {
    match status {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) if status.code() == Some(SKIPPED) => Outcome::Skipped(last),
        Ok(status) => Outcome::Failed(format!("{status}; {last}")),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

/// Runs steps, continues after a failure, and prints a summary. Returns whether no step failed.
fn run_all<'t>(
    project: &Project,
    steps: impl Iterator<Item = &'t Step>,
    all: bool,
) -> Result<bool> {
    let mut git = Command::new("git");
    let git_status = shell::read(
        git.args(["status", "--porcelain"])
            .current_dir(&project.root),
    )?;
    let git_status = git_status.trim_end();
    let steps: Vec<&Step> = steps.collect();
    if steps.is_empty() {
        bail!("no step name contains that word; `.ci/steps.toml` lists the steps");
    }
    let mut done = Vec::new();
    for group in steps.chunk_by(|one, next| one.parallel && next.parallel) {
        if let [step] = group {
            done.push(step.run(project, git_status, true));
            continue;
        }
        let (waiting, ended) = (Mutex::new(group.iter()), Mutex::new(&mut done));
        let next = || waiting.lock().ok()?.next();
        let work = || {
            while let Some(step) = next() {
                let step = step.run(project, git_status, false);
                if let Ok(mut ended) = ended.lock() {
                    ended.push(step);
                }
            }
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| (0..processors).for_each(|_| _ = scope.spawn(work)));
    }
    println!("\n{}", summary(&done, all));
    Ok(failures(&done, all) == 0)
}

/// Returns how many steps failed.
fn failures(done: &[StepResult<'_>], all: bool) -> usize {
    let fails = |done: &&StepResult<'_>| match done.outcome {
        Outcome::Passed => false,
        Outcome::Failed(_) => true,
        Outcome::Skipped(_) => all && !done.step.optional,
    };
    done.iter().filter(fails).count()
}

/// Returns a line for each step, the slowest steps and the totals.
fn summary(done: &[StepResult<'_>], all: bool) -> String {
    let mut lines = Vec::new();
    let [mut passed, mut skipped, mut not_here] = [0; 3];
    for StepResult {
        step,
        time,
        outcome,
    } in done
    {
        let (word, why) = match outcome {
            Outcome::Passed => {
                passed += 1;
                ("passed", String::new())
            }
            Outcome::Failed(why) => ("FAILED", format!(": {why}")),
            Outcome::Skipped(why) if step.optional => {
                not_here += 1;
                ("not here", format!(": {why}"))
            }
            Outcome::Skipped(why) => {
                skipped += usize::from(!all);
                (if all { "FAILED" } else { "skipped" }, format!(": {why}"))
            }
        };
        lines.push(format!(
            "{word:8} {:6.1} s  {}{why}",
            time.as_secs_f64(),
            step.name
        ));
    }
    let mut slowest: Vec<&StepResult<'_>> = done.iter().collect();
    slowest.sort_by_key(|done| std::cmp::Reverse(done.time));
    let slowest = slowest.iter().take(5).map(|done| done.step.name.as_str());
    lines.push(format!(
        "slowest: {}",
        slowest.collect::<Vec<_>>().join("; ")
    ));
    let failed = failures(done, all);
    lines.push(format!(
        "{passed} passed, {failed} failed, {skipped} skipped, {not_here} not here"
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Step, StepResult, Table, failures, run_all, summary};
    use crate::project::Project;
    use std::time::Duration;

    fn step(name: &str, run: &str, optional: bool) -> Step {
        Step {
            name: name.to_owned(),
            about: String::new(),
            run: run.to_owned(),
            parallel: true,
            optional,
        }
    }

    fn project() -> Project {
        let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().expect("the workspace").to_owned();
        Project {
            target: root.join("target"),
            root,
            metadata: serde_json::Value::Null,
        }
    }

    #[test]
    fn skipped_steps_fail_only_on_request() {
        let steps = [
            step("works", "", false),
            step("breaks", "echo it broke; false; echo no", false),
            step("cannot", "need no-such-program package", false),
            step("elsewhere", "skip 'not on this system'", true),
        ];
        let project = project();
        let done: Vec<StepResult<'_>> = steps
            .iter()
            .map(|step| step.run(&project, "", false))
            .collect();
        let outcomes: Vec<&Outcome> = done.iter().map(|done| &done.outcome).collect();
        assert_eq!(
            outcomes,
            [
                &Outcome::Passed,
                &Outcome::Failed("exit status: 1; it broke".to_owned()),
                &Outcome::Skipped("no no-such-program (Debian: package)".to_owned()),
                &Outcome::Skipped("not on this system".to_owned()),
            ]
        );
        assert_eq!([failures(&done, false), failures(&done, true)], [1, 2]);
        assert!(summary(&done, false).ends_with("1 passed, 1 failed, 1 skipped, 1 not here"));
        assert!(summary(&done, true).ends_with("1 passed, 2 failed, 0 skipped, 1 not here"));
    }

    #[test]
    fn parallel_steps_all_run() {
        let steps = ["true", "false", "true"].map(|run| step(run, run, false));
        assert!(!run_all(&project(), steps.iter(), false).expect("a checkout"));
        assert!(run_all(&project(), steps[..1].iter(), false).expect("a checkout"));
    }

    #[test]
    fn summary_lists_slowest_steps_first() {
        let steps = ["a", "b"].map(|name| step(name, "", false));
        let done = |step, time| StepResult {
            step,
            time: Duration::from_secs(time),
            outcome: Outcome::Passed,
        };
        let summary = summary(&[done(&steps[0], 1), done(&steps[1], 2)], false);
        assert!(summary.contains("slowest: b; a\n"), "{summary}");
    }

    #[test]
    fn step_table_is_parsed() {
        let table = Table::read(&project()).expect("the table");
        let (step, rest) = table.command("deep", &["flips", "5"]).expect("a step");
        assert_eq!((step.name.as_str(), rest), ("flips", &["5"][..]));
        assert!(table.command("flips", &[]).is_none());
        assert!(table.usage().contains("cargo xtask deep fuzz"));
    }
}
