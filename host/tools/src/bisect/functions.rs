//! The minimal set of functions whose changes break the module, found by delta debugging.

use std::sync::Arc;

use passdock_ir::{Function, Module};

use super::Verdict;
use crate::reduce::ddmin;
use passdock_core::{PassError, PassRun, verify};

/// Returns a minimal set of functions whose changes together make the module bad: each of them is necessary.
pub(super) fn narrow(
    run: &PassRun,
    oracle: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
) -> Result<Vec<String>, PassError> {
    // New functions are part of the base, since changed functions may call them.
    let (mut base, mut changed) = (run.before.clone(), Vec::new());
    for (_, function, known) in run.after.changed_since(&run.before) {
        match known {
            Some(_) => changed.push(function.clone()),
            None => _ = base.insert(function.clone()),
        }
    }
    let name = |f: &Arc<Function>| run.after.symbols().text(f.name()).to_owned();
    if changed.len() < 2 {
        return Ok(changed.iter().map(name).collect());
    }
    let mut test = |part: &[Arc<Function>]| -> Result<bool, PassError> {
        let mut module = base.clone();
        let mut functions = part.iter();
        if functions.any(|f| module.replace(f.clone()).is_err()) || verify::all(&module).is_err() {
            return Ok(false);
        }
        let names: Vec<String> = part.iter().map(|f| format!("@{}", name(f))).collect();
        let candidate = format!("with changes in {} only", listed(&names));
        Ok(oracle(candidate, &module)? == Verdict::Bad)
    };
    // If the changed functions alone aren't bad, the fault may be in the removed ones: inconclusive.
    let mut names = run.before.names();
    if names.any(|name| run.after.function(name).is_none()) && !test(&changed)? {
        return Ok(Vec::new());
    }
    Ok(ddmin(changed, &mut test)?.iter().map(name).collect())
}

/// Joins the first few names, and the number of the rest.
fn listed(names: &[String]) -> String {
    match names {
        [first, second, rest @ ..] if names.len() > 4 => {
            format!("{first}, {second} and {} others", rest.len())
        }
        _ => names.join(", "),
    }
}
