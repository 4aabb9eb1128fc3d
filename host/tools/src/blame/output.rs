//! An output of the main graph that a pass has made by another op.

use passdock_core::{PassError, PassRun};
use passdock_driver::pipeline::Rerun;
use passdock_ir::Module;

use super::around::PairedFunction;
use super::find::{self, OpRef};
use super::trail::step;
use super::{BlameAction, BlameStep, rule};

/// The op that made an output until a pass had another one make it that was there, too. One that the pass made of it
/// is told of as made.
pub(super) fn moved(
    rerun: &Rerun,
    run: &PassRun,
    name: &str,
) -> Result<Option<(OpRef, BlameStep)>, PassError> {
    let name = name.strip_prefix('%').unwrap_or(name);
    let makers = (
        find::output(&run.before, name),
        find::output(&run.after, name),
    );
    let (Some(old), Some(new)) = makers else {
        return Ok(None);
    };
    let Some(around) = PairedFunction::in_run(run, &old.function)? else {
        return Ok(None);
    };
    let stays = match around.pair_of(new.op) {
        Some(pair) => pair.before == old.op,
        None => around.sources(new.op).contains(&old.op),
    };
    if stays {
        return Ok(None);
    }
    let mut step = step(
        run,
        BlameAction::Moved,
        rule::find(rerun, run, |made| is_made_by_another(made, run, name, &old)),
    );
    step.names = old.names(&run.before);
    step.before = vec![old.line(&run.before)];
    step.after = vec![new.line(&run.after)];
    Ok(Some((old, step)))
}

/// Whether in a module another op makes an output than before a pass.
fn is_made_by_another(made: &Module, run: &PassRun, name: &str, old: &OpRef) -> bool {
    let around = PairedFunction::between(&run.before, made, &old.function);
    let (Ok(Some(around)), Some(maker)) = (around, find::output(made, name)) else {
        return false;
    };
    around
        .pair_of(maker.op)
        .is_none_or(|pair| pair.before != old.op)
}
