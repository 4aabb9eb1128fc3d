//! The rule by which a pass made, changed or removed an op.

use passdock_core::PassRun;
use passdock_driver::judge::Verdict;
use passdock_driver::pipeline::Rerun;
use passdock_ir::Module;

use super::around::PairedFunction;
use super::find::OpRef;
use crate::bisect::rewrites::LimitedPass;

/// The rule of the rewrite from which on a thing is done: the pass runs again on the module before it, with rules that
/// stop after so many rewrites. `None`: the pass did it without a rule, or does something else alone.
pub(super) fn find(
    rerun: &Rerun,
    pass: &PassRun,
    is_done: impl Fn(&Module) -> bool,
) -> Option<String> {
    let limited = LimitedPass {
        context: rerun.context(),
        pass: &pass.pass,
        before: &pass.before,
    };
    let verdict = |rewrites: u64| match limited.run(rewrites).0 {
        Ok(made) if !made.is_same(&pass.before) && is_done(&made) => Verdict::Bad,
        _ => Verdict::Good,
    };
    let (all, _) = limited.run(u64::MAX).1.last_rewrite();
    if verdict(all) == Verdict::Good {
        return None;
    }
    let first = limited.search(all, &mut |rewrites| Ok(verdict(rewrites)));
    limited.run(first.ok()??).1.last_rewrite().1
}

/// Whether a module has an op of what the pass left: exactly so if nothing of it may be different.
pub(super) fn has(made: &Module, pass: &PassRun, place: &OpRef, exactly: bool) -> bool {
    match PairedFunction::between(made, &pass.after, &place.function) {
        Ok(Some(around)) => {
            let pair = around.pair_of(place.op);
            pair.is_some_and(|pair| !(exactly && around.is_changed(pair)))
        }
        Ok(None) => made.function_named(&place.function).is_some(),
        Err(_) => false,
    }
}

/// Whether a module doesn't have an op any more that was there before the pass.
pub(super) fn lacks(made: &Module, pass: &PassRun, place: &OpRef) -> bool {
    let around = PairedFunction::between(&pass.before, made, &place.function);
    let Ok(Some(around)) = around else {
        return false;
    };
    !around.pairs.iter().any(|pair| pair.before == place.op)
}
