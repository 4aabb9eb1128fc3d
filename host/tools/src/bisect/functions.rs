//! The fewest functions whose changes break the module, by delta debugging.

use std::sync::Arc;

use passdock_ir::{Function, Module};

use super::Verdict;
use crate::reduce::ddmin;
use passdock_core::{PassError, PassRun, verify};

/// Returns the names of the functions whose changes make the module bad together. None of them can be left out.
pub(super) fn narrow(
    run: &PassRun,
    judge: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
) -> Result<Vec<String>, PassError> {
    // New functions are added for those that call them.
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
        let candidate = format!("before it, with {}", listed(&names));
        Ok(judge(candidate, &module)? == Verdict::Bad)
    };
    // The fault may be in the functions that the pass removed.
    let mut names = run.before.names();
    if names.any(|name| run.after.function(name).is_none()) && !test(&changed)? {
        return Ok(Vec::new());
    }
    Ok(ddmin(changed, &mut test)?.iter().map(name).collect())
}

/// Returns a few names in full, and the number of the others.
fn listed(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [first, second, rest @ ..] if names.len() > 4 => {
            format!("{first}, {second} and {} others", rest.len())
        }
        _ => names.join(", "),
    }
}
