//! The rule by which a pass made, changed or removed an op.

use passdock_core::{PassContext, PassRun, run};
use passdock_driver::pipeline::Rerun;
use passdock_ir::Module;

use super::around::Around;
use super::find::Place;

/// The rule of the rewrite from which on a thing is done: the pass runs again on the module before it, with rules that
/// stop after so many rewrites. `None`: the pass did it without a rule, or does something else alone.
pub(super) fn of(
    rerun: &Rerun,
    pass: &PassRun,
    is_done: impl Fn(&Module) -> bool,
) -> Option<String> {
    if rerun.context().settings().rewrite_limit.is_some() {
        return None;
    }
    let again = |rewrites: u64| -> Option<(Module, PassContext)> {
        let cx = rerun.context().limited(rewrites);
        let made = run::call(&*pass.pass, &pass.before, &cx, false).ok()?;
        Some((made, cx))
    };
    let done_after = |rewrites: u64| {
        let made = again(rewrites);
        made.is_some_and(|(made, _)| !made.is_same(&pass.before) && is_done(&made))
    };
    let (_, cx) = again(u64::MAX)?;
    let (all, _) = cx.last_rewrite();
    if all == 0 || done_after(0) || !done_after(all) {
        return None;
    }
    let (mut without, mut with) = (0, all);
    while with - without > 1 {
        let middle = without + (with - without) / 2;
        match done_after(middle) {
            true => with = middle,
            false => without = middle,
        }
    }
    again(with)?.1.last_rewrite().1
}

/// Whether a module has an op of what the pass left: exactly so if nothing of it may be different.
pub(super) fn has(made: &Module, pass: &PassRun, place: &Place, exactly: bool) -> bool {
    match Around::between(made, &pass.after, &place.function) {
        Ok(Some(around)) => {
            let pair = around.pair_of(place.op);
            pair.is_some_and(|pair| !(exactly && around.is_changed(pair)))
        }
        Ok(None) => made.function_named(&place.function).is_some(),
        Err(_) => false,
    }
}

/// Whether a module doesn't have an op any more that was there before the pass.
pub(super) fn lacks(made: &Module, pass: &PassRun, place: &Place) -> bool {
    let around = Around::between(&pass.before, made, &place.function);
    let Ok(Some(around)) = around else {
        return false;
    };
    !around.pairs.iter().any(|pair| pair.before == place.op)
}
