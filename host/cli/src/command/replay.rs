//! `passdock replay`: a failed pass again, and whether it fails the same way.

use passdock::Registry;
use passdock::reproducer::{Outcome, Replay, ReplayOptions, Reproducer};

use crate::args::ReplayArgs;
use crate::progress::Progress;
use crate::{plugins, show};

pub(crate) fn replay(args: ReplayArgs) -> u8 {
    let reproducer = match Reproducer::open(&args.reproducer) {
        Ok(reproducer) => reproducer,
        Err(error) => return super::fail(&error),
    };
    let options = ReplayOptions {
        plugin_dirs: args.plugins.plugin_dir,
        standard_dirs: plugins::standard_dirs(),
        manifest_cache: plugins::manifest_cache(),
        jobs: args.jobs,
        locked: args.locked,
    };
    let progress = Progress::start(&format!("reading {}", args.reproducer.display()));
    let replay = reproducer.replay(&Registry::new(), &options, progress.on_pass());
    drop(progress);
    for diagnostic in &replay.report.diagnostics {
        show::diagnostic(diagnostic);
    }
    match args.json {
        true => show::print_json(&replay),
        false => show::print(&render(&replay)),
    }
    replay.report.exit_status
}

fn render(replay: &Replay) -> String {
    let mut text = super::run::passes(&replay.report.passes);
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
