//! What each pass changed, as a diff of the functions that it changed.
//!
//! A pass that runs others shows only what it changed beside them.

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use passdock_ir::{Function, Module, text};

use super::Sink;
use crate::diff;
use crate::error::PassError;
use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass_info::PassInfo;
use crate::util;

/// Prints what each pass changed.
pub struct PrintChanged {
    sink: Sink,
    /// The module before each pass that is running, or after the last one in it, by thread.
    running: Mutex<Vec<(ThreadId, Module)>>,
}

impl PrintChanged {
    /// Prints to `sink`.
    pub fn new(sink: Sink) -> PrintChanged {
        PrintChanged {
            sink,
            running: Mutex::default(),
        }
    }

    fn pop(&self) -> Option<Module> {
        let mut running = util::lock(&self.running);
        let thread = thread::current().id();
        let at = running.iter().rposition(|(id, _)| *id == thread)?;
        Some(running.remove(at).1)
    }
}

impl PassInstrument for PrintChanged {
    fn name(&self) -> &str {
        "print-changed"
    }

    fn exit_pass_ctx(&self) -> InstrumentResult {
        util::lock(&self.running).clear();
        Ok(())
    }

    fn run_before_pass(&self, module: &Module, _info: &PassInfo) -> InstrumentResult {
        let running = (thread::current().id(), module.clone());
        util::lock(&self.running).push(running);
        Ok(())
    }

    fn run_after_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        if let Some(before) = self.pop() {
            // What is shown here isn't shown again for the pass around.
            let mut running = util::lock(&self.running);
            let thread = thread::current().id();
            if let Some((_, outer)) = running.iter_mut().rfind(|(id, _)| *id == thread) {
                outer.clone_from(module);
            }
            drop(running);
            if let Some(text) = difference(&before, module) {
                (self.sink)(&format!("Changed by {}:\n{text}\n", info.name));
            }
        }
        Ok(())
    }

    fn pass_failed(&self, _module: &Module, _info: &PassInfo, _error: &PassError) {
        self.pop();
    }
}

/// A unified diff of what differs; `None` if nothing does.
fn difference(before: &Module, after: &Module) -> Option<String> {
    let mut out = String::new();
    let mut add = |name: &str, old: Option<&Arc<Function>>, new: Option<&Arc<Function>>| {
        let (old, new) = (old.map(|f| &**f), new.map(|f| &**f));
        let options = text::PrintOptions::default();
        out.push_str(&diff::unified_function(name, old, new, &options));
    };
    for new in after.functions() {
        match before.function(new.name()) {
            Some(old) if Arc::ptr_eq(old, new) => {}
            old => add(new.text(new.name()), old, Some(new)),
        }
    }
    for old in before.functions() {
        if after.function(old.name()).is_none() {
            add(old.text(old.name()), Some(old), None);
        }
    }
    (!out.is_empty()).then_some(out)
}
