//! `passdock compare`: whether two models compute the same.

use passdock::{ErrorKind, PassError};
use passdock_tools::numerics::{self, CompareOptions, Comparison};
use serde::Serialize;

use super::{print_json, read, status_of};
use crate::args::compare::CompareArgs;
use crate::progress::Progress;
use crate::show;

/// The output of `--json`.
#[derive(Serialize)]
struct CompareOutput<'c> {
    #[serde(flatten)]
    comparison: Option<&'c Comparison>,
    /// The difference in a sentence.
    difference: Option<String>,
}

pub(crate) fn compare(args: &CompareArgs) -> u8 {
    let compared = compare_models(args);
    let status = status_of(&compared, |comparison| comparison.same);
    let (comparison, error) = (compared.as_ref().ok(), compared.as_ref().err());
    if args.json {
        let difference = comparison.and_then(Comparison::difference);
        let answer = CompareOutput {
            comparison,
            difference,
        };
        print_json(status, [&args.before, &args.after], answer, error);
    } else if let Some(comparison) = comparison {
        show::print(&render(comparison, args.quiet));
    }
    status
}

fn compare_models(args: &CompareArgs) -> Result<Comparison, PassError> {
    if let Some(path) = args.inputs.as_ref().filter(|path| !path.exists()) {
        let message = format!("There is no `{}`.", path.display());
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let _progress = Progress::start("running both models");
    let [before, after] = read([&args.before, &args.after], args.allow_outside_data)?;
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
    numerics::compare(&before, &after, &options)
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
