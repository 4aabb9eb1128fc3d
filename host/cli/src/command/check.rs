//! `passdock check`: is a pipeline right? Nothing runs.

use passdock::{PassError, pipeline};
use serde_json::json;

use super::worker::{self, Files};
use crate::args::CheckArgs;
use crate::{plugins, request, show};

pub(crate) fn check(args: CheckArgs) -> Result<u8, PassError> {
    let (process, json) = (args.process.clone(), args.json);
    worker::whole(&process, json, Files::default(), || check_here(args))
}

fn check_here(args: CheckArgs) -> Result<u8, PassError> {
    let checked = request::of_passes(Some(&args.pipeline), args.passes)
        .and_then(|request| pipeline::check(&plugins::registry(), &request));
    let error = checked.as_ref().err();
    let status = error.map_or(0, show::fail);
    if args.json {
        show::print_answer(status, json!({}), error);
    } else if checked.is_ok() {
        show::print(&format!("{}: OK\n", args.pipeline.display()));
    }
    Ok(status)
}
