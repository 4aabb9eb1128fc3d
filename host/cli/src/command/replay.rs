//! `passdock replay`: a failed pass again, and whether it fails the same way.

use std::path::PathBuf;

use passdock::judge::Verdict;
use passdock::pipeline::{Request, Watch};
use passdock::replay::{Outcome, Replay, Reproducer};
use passdock::{Module, PassError};
use serde::{Deserialize, Serialize};

use super::worker;
use crate::args::ReplayArgs;
use crate::args::search::CheckCommandArgs;
use crate::check_command::CheckCommand;
use crate::progress::Progress;
use crate::report::{self, Shown};
use crate::{plugins, request, show, watchdog};

pub(crate) fn replay(args: ReplayArgs) -> Result<u8, PassError> {
    // What is wrong with it is said by this process.
    watchdog::doing("reading the reproducer");
    Reproducer::open(&args.reproducer, args.trust)?;
    let progress = Progress::start(&format!("reading {}", args.reproducer.display()));
    let watch = progress.watch(args.json);
    let job = Replaying {
        reproducer: args.reproducer,
        request: Request {
            jobs: args.jobs,
            ..request::of_plugins(args.plugins)
        },
        locked: args.locked,
        trust: args.trust,
    };
    let replay = worker::replay(job, &args.process, watch)?;
    drop(progress);
    for diagnostic in &replay.report.diagnostics {
        show::diagnostic(diagnostic);
    }
    match args.json {
        true => show::print_json(&replay),
        false => show::print(&render(&replay)),
    }
    Ok(replay.report.exit_status)
}

/// A reproducer to run again.
#[derive(Serialize, Deserialize)]
pub(crate) struct Replaying {
    reproducer: PathBuf,
    request: Request,
    locked: bool,
    trust: bool,
}

/// Runs a reproducer again, in this process.
pub(crate) fn run(job: Replaying, watch: Watch) -> Result<Replay, PassError> {
    let reproducer = Reproducer::open(&job.reproducer, job.trust)?;
    let mut command = None;
    if let Some(check) = reproducer.check() {
        let check = CheckCommandArgs {
            check: Some(check.command.clone()),
            check_timeout: check.timeout_s,
        };
        let model = reproducer.model().unwrap_or("before.ir");
        command = Some(CheckCommand::new(&check, model.as_ref())?);
    }
    let mut judge = |before: &Module, after: &Module| match &mut command {
        Some(command) => command.check(after, before),
        None => Ok(Verdict::Unknown),
    };
    let registry = plugins::registry();
    Ok(reproducer.replay(&registry, job.request, job.locked, &mut judge, watch))
}

fn render(replay: &Replay) -> String {
    let shown = Shown {
        in_full: false,
        width: show::width(),
    };
    let mut text = report::passes(&replay.report.passes, shown);
    let expected = &replay.expected;
    text.push_str(&match (replay.outcome, &replay.failure) {
        (Outcome::Same, Some(failure)) if failure.message != expected.message => format!(
            "the same failure, in other words; they were: {}\n",
            expected.message
        ),
        (Outcome::Same, _) => format!("the same failure: {expected}\n"),
        (Outcome::Other, _) => format!("another failure; it was: {expected}\n"),
        (Outcome::None, _) => format!("it didn't fail; it was: {expected}\n"),
    });
    text
}
