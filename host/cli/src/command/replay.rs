//! `passdock replay`: runs a failed pass again and reports whether it fails the same way.

use std::time::Duration;

use passdock::oracle::Verdict;
use passdock::pipeline::Request;
use passdock::replay::{Replay, ReplayResult, Reproducer};
use passdock::{Module, PassError};

use crate::args::ReplayArgs;
use crate::args::search::TestCommandArgs;
use crate::progress::Progress;
use crate::report::{self, ReportStyle};
use crate::test_command::TestCommand;
use crate::{plugins, request, show};

pub(crate) fn replay(args: ReplayArgs) -> Result<u8, PassError> {
    let reproducer = Reproducer::open(&args.reproducer, args.trust)?;
    let progress = Progress::start(&format!("reading {}", args.reproducer.display()));
    let mut command = command_of(&reproducer)?;
    let mut oracle = |before: &Module, after: &Module| match &mut command {
        Some(command) => command.check(after, before),
        None => Ok(Verdict::Unknown),
    };
    let request = Request {
        jobs: args.jobs,
        ..request::from_plugin_args(args.plugins)
    };
    let watch = progress.watch(args.json);
    let registry = plugins::registry();
    let replay = reproducer.replay(&registry, request, args.locked, &mut oracle, watch);
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

/// Returns the test command of the reproducer.
#[cfg(unix)]
pub(crate) fn test_command(args: &ReplayArgs) -> Result<Option<TestCommand>, PassError> {
    command_of(&Reproducer::open(&args.reproducer, args.trust)?)
}

fn command_of(reproducer: &Reproducer) -> Result<Option<TestCommand>, PassError> {
    let Some(test) = reproducer.test() else {
        return Ok(None);
    };
    let limit = test.timeout_s;
    let args = TestCommandArgs {
        test: Some(test.command.clone()),
        test_timeout: limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
    };
    let model = reproducer.model().unwrap_or("before.ir");
    TestCommand::new(&args, model.as_ref()).map(Some)
}

fn render(replay: &Replay) -> String {
    let style = ReportStyle {
        in_full: false,
        width: show::width(),
    };
    let mut text = report::passes(&replay.report.passes, style);
    let expected = &replay.expected;
    text.push_str(&show::line(&match (replay.result, &replay.failure) {
        (ReplayResult::Same, Some(failure)) if failure.message != expected.message => format!(
            "same failure with another message; expected: {}",
            expected.message
        ),
        (ReplayResult::Same, _) => format!("same failure: {expected}"),
        (ReplayResult::Other, _) => format!("different failure; expected: {expected}"),
        (ReplayResult::None, _) => format!("no failure; expected: {expected}"),
    }));
    text
}
