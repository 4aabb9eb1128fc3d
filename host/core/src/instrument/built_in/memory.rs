//! The `memory` instrument, which measures the memory of each pass where the system reports it.
//!
//! Linux reports the resident memory of the process and its peak, which can be reset before each pass. On other systems
//! the report has "not measured". The size of the module's arenas is available on all systems. The numbers are for the
//! whole process, so passes that run at the same time can't be told apart.

use std::sync::{Arc, Mutex};

use passdock_diagnostic::ProcessMemory;
use passdock_diagnostic::table::{TextTable, bytes};
use passdock_ir::Module;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::PassError;
use crate::instrument::{
    Entries, Frame, InstrumentResult, InstrumentSpec, PassCall, PassInstrument, Running,
};
use crate::util;

pub(super) fn spec() -> InstrumentSpec {
    let summary =
        "Reports memory per pass: the process before and after, its peak, and the module.";
    InstrumentSpec::new("memory", summary, |(), _| Ok(Arc::new(PassMemory::new()))).watching()
}

/// An instrument that measures memory around each pass.
#[derive(Default)]
pub struct PassMemory {
    passes: Mutex<Vec<Measured>>,
    /// The running passes, as indices into `passes`.
    running: Running<usize>,
    entries: Entries,
}

/// The measurement of one run of a pass, in bytes. `None` if not measured.
#[derive(Serialize)]
struct Measured {
    name: String,
    depth: usize,
    resident_before: Option<u64>,
    resident_after: Option<u64>,
    resident_peak: Option<u64>,
    module_before: u64,
    module_after: u64,
    failed: bool,
    #[serde(skip)]
    is_running: bool,
}

impl PassMemory {
    /// Creates an instrument without measurements.
    pub fn new() -> PassMemory {
        PassMemory::default()
    }

    fn finish(&self, module: &Module, failed: bool) {
        let now = ProcessMemory::now();
        let Some(at) = self.running.pop() else {
            return;
        };
        let mut passes = util::lock(&self.passes);
        raise_peaks(&mut passes, &now);
        // The measurements are gone if the context was exited and entered again meanwhile.
        if let Some(pass) = passes.get_mut(at) {
            pass.resident_after = now.resident;
            pass.module_after = module.arena_bytes();
            pass.is_running = false;
            pass.failed = failed;
        }
    }
}

/// Raises the peaks of all running passes to the process's peak since the last pass began.
fn raise_peaks(passes: &mut [Measured], now: &ProcessMemory) {
    for pass in passes.iter_mut().filter(|pass| pass.is_running) {
        let peaks = pass.resident_peak.zip(now.peak);
        pass.resident_peak = peaks.map(|(old, new)| old.max(new));
    }
}

impl PassInstrument for PassMemory {
    fn name(&self) -> &str {
        "memory"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter() {
            util::lock(&self.passes).clear();
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.entries.exit();
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let mut passes = util::lock(&self.passes);
        raise_peaks(&mut passes, &ProcessMemory::now());
        let can_reset = ProcessMemory::reset_peak();
        let now = ProcessMemory::now();
        let module_bytes = call.module.arena_bytes();
        passes.push(Measured {
            name: call.info.name.clone(),
            depth: self.running.depth(),
            resident_before: now.resident,
            resident_after: None,
            resident_peak: now.peak.filter(|_| can_reset),
            module_before: module_bytes,
            module_after: module_bytes,
            failed: false,
            is_running: true,
        });
        self.running.push(passes.len() - 1);
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.finish(call.module, false);
        Ok(())
    }

    fn pass_failed(&self, call: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.finish(call.module, true);
        Ok(())
    }

    fn report(&self) -> Option<String> {
        let passes = util::lock(&self.passes);
        let shown = |count: Option<u64>| count.map_or_else(|| "not measured".to_owned(), bytes);
        let change = |pass: &Measured| match pass.resident_before.zip(pass.resident_after) {
            Some((before, after)) if after < before => format!("-{}", bytes(before - after)),
            Some((before, after)) => format!("+{}", bytes(after - before)),
            None => shown(None),
        };
        let rows = passes.iter().map(|pass| {
            let failed = if pass.failed { " failed" } else { "" };
            let (before, after) = (bytes(pass.module_before), bytes(pass.module_after));
            [
                format!("{}{}{failed}", "  ".repeat(pass.depth), pass.name),
                shown(pass.resident_before),
                shown(pass.resident_after),
                change(pass),
                shown(pass.resident_peak),
                match pass.module_before == pass.module_after {
                    true => after,
                    false => format!("{before} → {after}"),
                },
            ]
        });
        let columns = ["pass", ">before", ">after", ">change", ">peak", ">module"];
        (!passes.is_empty()).then(|| TextTable::from_rows(columns, rows).render())
    }

    fn report_data(&self) -> Option<Value> {
        Some(json!({ "passes": *util::lock(&self.passes) }))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::context::PassContext;
    use crate::instrument::built_in::testing::{failing, module, no_op, sequential};
    use crate::pass::PassInfo;
    use crate::run::create_host_pass;

    /// A lock for the tests, since the peak is the whole process's.
    static EXCLUSIVE: Mutex<()> = Mutex::new(());

    /// Returns the report without numbers: for each pass, whether its numbers are plausible.
    fn shape(memory: &PassMemory) -> String {
        let passes = util::lock(&memory.passes);
        let lines = passes.iter().map(|pass| {
            let sane = match (
                pass.resident_before,
                pass.resident_after,
                pass.resident_peak,
            ) {
                (Some(before), Some(_), Some(peak)) => peak >= before,
                (Some(_), Some(_), None) => true,
                (None, None, None) => !cfg!(target_os = "linux"),
                _ => false,
            };
            let failed = if pass.failed { " failed" } else { "" };
            format!("{}{}: {sane}{failed}\n", "  ".repeat(pass.depth), pass.name)
        });
        lines.collect()
    }

    #[test]
    fn each_pass_is_measured() {
        let _exclusive = util::lock(&EXCLUSIVE);
        let memory = Arc::new(PassMemory::new());
        let passes = sequential(
            "outer",
            [no_op("a"), sequential("inner", [no_op("b")]), failing("c")],
        );
        let cx = PassContext::builder().shared_instrument(memory.clone());
        let cx = cx.build().unwrap();
        let _: Result<(), PassError> = cx.scope(|_| {
            passes.call(module()).unwrap_err();
            expect![[r#"
                outer: true failed
                  a: true
                  inner: true
                    b: true
                  c: true failed
            "#]]
            .assert_eq(&shape(&memory));
            let report = memory.report().unwrap();
            assert!(report.starts_with("pass "), "{report}");
            assert_eq!(report.lines().count(), 6, "{report}");
            Ok(())
        });
    }

    /// The peak of a pass, and of the pass around it, includes memory that is freed again before it
    /// returns.
    #[test]
    fn peak_includes_freed_memory() {
        const SIZE: usize = 64 << 20;
        let _exclusive = util::lock(&EXCLUSIVE);
        let memory = Arc::new(PassMemory::new());
        let hungry = create_host_pass(PassInfo::new("hungry"), |module, _| {
            assert!(
                std::hint::black_box(vec![1u8; SIZE])
                    .iter()
                    .all(|&byte| byte == 1)
            );
            Ok(module.clone())
        });
        let passes = sequential("outer", [no_op("before"), hungry, no_op("after")]);
        let cx = PassContext::builder().shared_instrument(memory.clone());
        let cx = cx.build().unwrap();
        cx.scope(|_| {
            let after = passes.call(module());
            let measured = util::lock(&memory.passes);
            let grew = |name: &str| {
                let pass = measured.iter().find(|pass| pass.name == name).unwrap();
                pass.resident_peak
                    .zip(pass.resident_before)
                    .map(|(peak, before)| peak.saturating_sub(before))
            };
            // Nothing can be checked where memory can't be measured.
            if let Some(hungry) = grew("hungry") {
                assert!(hungry >= SIZE as u64 / 2, "{hungry}");
                assert!(grew("outer").unwrap() >= SIZE as u64 / 2);
            }
            after
        })
        .unwrap();
    }
}
