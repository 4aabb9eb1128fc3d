//! `passdock check`: checks a pipeline without running it.

use passdock::{PassError, pipeline};
use serde_json::json;

use crate::args::CheckArgs;
use crate::{plugins, request, show};

pub(crate) fn check(args: CheckArgs) -> Result<u8, PassError> {
    let request = request::from_pass_args(Some(&args.pipeline), args.passes)?;
    pipeline::check(&plugins::registry(), &request)?;
    show::print_result(&json!({}), args.json, |_| {
        show::print(&show::line(&format!("{}: OK", args.pipeline.display())));
    });
    Ok(0)
}
