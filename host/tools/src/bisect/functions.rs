//! Which functions' changes break the module: the fewest of them, by delta debugging.

use std::sync::Arc;

use passdock_abi::SymbolId;
use passdock_ir::{Function, Module};

use super::Verdict;
use crate::reduce::ddmin;
use passdock_core::{PassError, PassRun, verify};

/// The names of the functions whose changes, all of them together, make the module bad. None of
/// them can be left out.
pub(super) fn narrow(
    run: &PassRun,
    judge: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
) -> Result<Vec<String>, PassError> {
    let mixed = Mixed::new(run);
    let name = |id: SymbolId| run.after.symbols().text(id).to_owned();
    if mixed.changed.len() < 2 {
        return Ok(mixed.changed.iter().map(|f| name(f.name())).collect());
    }
    let mut test = |part: &[Arc<Function>]| -> Result<bool, PassError> {
        let Some(module) = mixed.with(part) else {
            return Ok(false);
        };
        let names: Vec<String> = part
            .iter()
            .map(|f| format!("@{}", name(f.name())))
            .collect();
        let candidate = format!("before it, with {}", listed(&names));
        Ok(judge(candidate, &module)? == Verdict::Bad)
    };
    // With the functions that it removed, what is bad may be something else.
    if mixed.removes && !test(&mixed.changed)? {
        return Ok(Vec::new());
    }
    let fewest = ddmin(mixed.changed.clone(), &mut test)?;
    Ok(fewest.iter().map(|f| name(f.name())).collect())
}

/// The module before a pass, with some functions as the pass made them.
struct Mixed<'r> {
    run: &'r PassRun,
    changed: Vec<Arc<Function>>,
    /// The functions that the pass made, for those that call them.
    added: Vec<Arc<Function>>,
    /// Whether the pass removed functions, which stay here.
    removes: bool,
}

impl<'r> Mixed<'r> {
    fn new(run: &'r PassRun) -> Mixed<'r> {
        let (mut changed, mut added) = (Vec::new(), Vec::new());
        for function in run.after.functions() {
            match run.before.function(function.name()) {
                Some(known) if Arc::ptr_eq(known, function) => {}
                Some(_) => changed.push(function.clone()),
                None => added.push(function.clone()),
            }
        }
        Mixed {
            run,
            changed,
            added,
            removes: run
                .before
                .names()
                .any(|name| run.after.function(name).is_none()),
        }
    }

    /// `None` if these functions don't go together with the others.
    fn with(&self, part: &[Arc<Function>]) -> Option<Module> {
        let mut module = self.run.before.clone();
        for function in &self.added {
            module.insert(function.clone()).ok()?;
        }
        for function in part {
            module.replace(function.clone()).ok()?;
        }
        verify::all(&module).ok()?;
        Some(module)
    }
}

/// Names as a text: a few in full, many as a number.
fn listed(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        names if names.len() <= 4 => names.join(", "),
        [first, second, rest @ ..] => format!("{first}, {second} and {} others", rest.len()),
        [one] => one.clone(),
    }
}
