//! `passdock compare`: whether two models compute the same.

use std::path::Path;

use passdock::model_file::is_standard;
use passdock::{Diagnostic, ErrorKind, Module, PassError, model_file};
use passdock_tools::numerics::{self, CompareOptions, Comparison};
use serde::Serialize;

use crate::args::compare::CompareArgs;
use crate::progress::Progress;
use crate::show;

/// The exit statuses, as of diff(1).
pub(crate) const SAME: u8 = 0;
pub(crate) const DIFFERENT: u8 = 1;
pub(crate) const TROUBLE: u8 = 2;

/// The output of `--json`.
#[derive(Serialize)]
struct CompareOutput<'c> {
    ok: bool,
    exit_status: u8,
    old: &'c str,
    new: &'c str,
    #[serde(flatten)]
    comparison: Option<&'c Comparison>,
    /// The difference in a sentence.
    difference: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

pub(crate) fn compare(args: &CompareArgs) -> u8 {
    let compared = compare_models(args);
    let status = match &compared {
        Ok(comparison) if comparison.same => SAME,
        Ok(_) => DIFFERENT,
        Err(error) => {
            show::diagnostic(&error.to_diagnostic());
            TROUBLE
        }
    };
    let (comparison, error) = (compared.as_ref().ok(), compared.as_ref().err());
    if args.json {
        show::print_json(&CompareOutput {
            ok: error.is_none(),
            exit_status: status,
            old: &args.before.to_string_lossy(),
            new: &args.after.to_string_lossy(),
            comparison,
            difference: comparison.and_then(Comparison::difference),
            diagnostics: error.map(PassError::to_diagnostic).into_iter().collect(),
        });
    } else if let Some(comparison) = comparison {
        show::print(&render(comparison, args.quiet));
    }
    status
}

fn compare_models(args: &CompareArgs) -> Result<Comparison, PassError> {
    if is_standard(&args.before) && is_standard(&args.after) {
        let message = "Only one of the two models can come from standard input.";
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    if let Some(path) = args.inputs.as_ref().filter(|path| !path.exists()) {
        let message = format!("There is no `{}`.", path.display());
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let progress = Progress::start("running both models");
    let outside_data = args.allow_outside_data;
    let read = |path: &Path| -> Result<Module, PassError> {
        model_file::read_with(path, model_file::ReadOptions { outside_data })
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let options = CompareOptions {
        library: None,
        inputs: args.inputs.clone(),
        dims: args.dim.iter().cloned().collect(),
        seed: args.seed,
        runs: args.runs as usize,
        sizes: args.sizes as usize,
        rtol: args.rtol,
        atol: args.atol,
    };
    let compared = numerics::compare(&before, &after, &options);
    drop(progress);
    compared
}

fn render(comparison: &Comparison, quiet: bool) -> String {
    let difference = comparison.difference();
    match (difference, quiet) {
        (None, true) => String::new(),
        (None, false) => format!("{}same\n", comparison.text()),
        (Some(difference), true) => format!("different: {difference}\n"),
        (Some(difference), false) => format!("{}different: {difference}\n", comparison.text()),
    }
}
