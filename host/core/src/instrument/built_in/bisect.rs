//! The `bisect` instrument, which runs only the first passes, to find a pass that breaks something. Like LLVM's
//! `-opt-bisect-limit`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::instrument::{
    Entries, Frame, InstrumentResult, InstrumentSpec, PassCall, PassInstrument, Sink,
};

passdock_plugin_api::options! {
    /// The options of `bisect`.
    struct Options {
        /// The number of passes to run; -1 for all.
        #[range(-1..)]
        limit: i64 = -1,
    }
}

pub(super) fn spec() -> InstrumentSpec {
    let summary = "Numbers the passes and skips those after the first `limit`, to find the pass that \
                   breaks a model.";
    InstrumentSpec::new("bisect", summary, |options: Options, setup| {
        let bisect = Bisect::new(options.limit, setup.sink.clone());
        Ok(Arc::new(bisect.uncounted(setup.sequentials())))
    })
}

/// An instrument that numbers the runs of passes from 1, and vetoes those after `limit`.
///
/// Passes that the context requires can't be vetoed, and have no number.
pub struct Bisect {
    limit: i64,
    sink: Sink,
    uncounted: BTreeSet<String>,
    count: AtomicI64,
    entries: Entries,
}

impl Bisect {
    /// Creates an instrument that lets `limit` passes run, or all if it is negative. It prints for each pass whether it
    /// runs.
    pub fn new(limit: i64, sink: Sink) -> Bisect {
        Bisect {
            limit,
            sink,
            uncounted: BTreeSet::new(),
            count: AtomicI64::new(0),
            entries: Entries::default(),
        }
    }

    /// Adds passes that always run and have no number: Sequentials, whose passes are counted.
    pub fn uncounted<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Bisect {
        self.uncounted.extend(names.into_iter().map(Into::into));
        self
    }

    /// Returns the number of counted passes since the context was entered.
    pub fn count(&self) -> i64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl PassInstrument for Bisect {
    fn name(&self) -> &str {
        "bisect"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter() {
            self.count.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.entries.exit();
        Ok(())
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        let name = &call.info.name;
        if self.uncounted.contains(name) {
            return Ok(true);
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let runs = self.limit < 0 || number <= self.limit;
        let what = if runs { "running" } else { "NOT running" };
        (self.sink)(&format!("BISECT: {what} pass ({number}) {name}\n"));
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::context::PassContext;
    use crate::instrument::built_in::testing::{Printed, module, no_op, run_in, sequential};

    #[track_caller]
    fn check(limit: i64, expected: Expect) {
        let printed = Printed::default();
        let bisect = Bisect::new(limit, printed.sink()).uncounted(["inner", "outer"]);
        let context = PassContext::builder()
            .required_pass(["forced"])
            .instrument(bisect);
        let inner = sequential("inner", [no_op("a"), no_op("forced"), no_op("b")]);
        run_in(context, &sequential("outer", [inner, no_op("c")]), module()).unwrap();
        expected.assert_eq(&printed.take());
    }

    #[test]
    fn passes_up_to_the_limit_run() {
        check(
            -1,
            expect![[r#"
            BISECT: running pass (1) a
            BISECT: running pass (2) b
            BISECT: running pass (3) c
        "#]],
        );
        check(
            2,
            expect![[r#"
            BISECT: running pass (1) a
            BISECT: running pass (2) b
            BISECT: NOT running pass (3) c
        "#]],
        );
        check(
            0,
            expect![[r#"
            BISECT: NOT running pass (1) a
            BISECT: NOT running pass (2) b
            BISECT: NOT running pass (3) c
        "#]],
        );
    }
}
