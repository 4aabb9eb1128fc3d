//! `passdock check`: is a pipeline right? Nothing runs.

use passdock::{PassError, pipeline};
use serde_json::json;

use super::worker::{self, Files};
use crate::args::CheckArgs;
use crate::{plugins, request, show};

pub(crate) fn check(args: CheckArgs) -> Result<u8, PassError> {
    let (process, json) = (args.process.clone(), args.json);
    worker::whole(&process, json, Files::default(), || {
        let checked = request::of_passes(Some(&args.pipeline), args.passes)
            .and_then(|request| pipeline::check(&plugins::registry(), &request))
            .map(|_| json!({}));
        Ok(show::result(&checked, json, |_| {
            show::print(&format!("{}: OK\n", args.pipeline.display()));
        }))
    })
}
