//! `passdock compare`: compares the outputs of two models.

use passdock::{ErrorKind, PassError};
use passdock_tools::numerics::{self, CompareOptions, Comparison};
use serde::Serialize;

use super::{read, result};
use crate::args::compare::CompareArgs;
use crate::progress::Progress;
use crate::show;

/// The output of `--json`.
#[derive(Serialize)]
struct CompareOutput {
    #[serde(flatten)]
    comparison: Comparison,
    /// The difference as a message.
    difference: Option<String>,
}

pub(crate) fn compare(args: &CompareArgs) -> u8 {
    let compared = compare_models(args);
    let paths = [&*args.before, &*args.after];
    let is_same = |compared: &CompareOutput| compared.comparison.same;
    result(&compared, is_same, paths, args.json, |compared| {
        show::print(&render(compared, args.quiet));
    })
}

fn compare_models(args: &CompareArgs) -> Result<CompareOutput, PassError> {
    if let Some(path) = args.inputs.as_ref().filter(|path| !path.exists()) {
        let message = format!("no such file: `{}`", path.display());
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
    let comparison = numerics::compare(&before, &after, &options)?;
    Ok(CompareOutput {
        difference: comparison.difference(),
        comparison,
    })
}

fn render(compared: &CompareOutput, quiet: bool) -> String {
    let text = match quiet {
        true => String::new(),
        false => compared.comparison.text(),
    };
    match &compared.difference {
        Some(difference) => text + &show::line(&format!("different: {difference}")),
        None if quiet => text,
        None => text + "same\n",
    }
}
