//! `passdock check`: is a pipeline right? Nothing runs.

use passdock::pipeline;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::show;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    ok: bool,
    exit_status: u8,
    diagnostics: Vec<passdock::Diagnostic>,
}

pub(crate) fn check(args: CheckArgs) -> u8 {
    let checked = super::request(Some(&args.pipeline), args.context, args.plugins)
        .and_then(|request| pipeline::check(&request));
    let status = match &checked {
        Ok(()) => 0,
        Err(error) => super::fail(error),
    };
    if args.json {
        let diagnostics = checked
            .err()
            .map(|error| error.to_diagnostic())
            .into_iter()
            .collect();
        show::print_json(&Answer {
            ok: status == 0,
            exit_status: status,
            diagnostics,
        });
    } else if status == 0 {
        show::print(&format!("{} is right.\n", args.pipeline.display()));
    }
    status
}
