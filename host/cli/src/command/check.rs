//! `passdock check`: is a pipeline right? Nothing runs.

use passdock::pipeline;
use passdock::states::ModelNeed;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::{plugins, request, show};

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    ok: bool,
    exit_status: u8,
    /// What the model has to be, for which pass.
    model_needs: Vec<ModelNeed>,
    diagnostics: Vec<passdock::Diagnostic>,
}

pub(crate) fn check(args: CheckArgs) -> u8 {
    let checked = request::of_passes(Some(&args.pipeline), args.context, args.plugins)
        .and_then(|request| pipeline::check(&plugins::registry(), &request));
    let status = match &checked {
        Ok(_) => 0,
        Err(error) => show::fail(error),
    };
    if args.json {
        let (model_needs, diagnostics) = match checked {
            Ok(needs) => (needs, Vec::new()),
            Err(error) => (Vec::new(), vec![error.to_diagnostic()]),
        };
        show::print_json(&Answer {
            ok: status == 0,
            exit_status: status,
            model_needs,
            diagnostics,
        });
    } else if let Ok(needs) = checked {
        show::print(&format!("{}: OK\n", args.pipeline.display()));
        show::print(&show::model_needs(&needs));
    }
    status
}
