//! What passes on the functions of a module share, and what is kept of it for the next pass.

use std::sync::Arc;

use passdock_abi::FunctionEntry;
use passdock_ir::{Function, Module};

use super::function::FunctionSlot;

/// A module as passes see it, made once for a pass and shared by the threads that run it.
pub struct ModuleInput<'m> {
    pub(super) module: &'m Module,
    pub(super) entries: Vec<FunctionEntry>,
    /// How many ids of ops the functions have.
    op_ids: usize,
}

/// The entries and slots kept for the next pass on the same state of a module.
struct Kept {
    entries: Vec<FunctionEntry>,
    /// How many ids of ops the functions have.
    op_ids: usize,
    slots: Vec<FunctionSlot>,
}

impl<'m> ModuleInput<'m> {
    /// The input for a module, with a list of its functions.
    pub fn new(module: &'m Module) -> ModuleInput<'m> {
        ModuleInput {
            module,
            entries: entries(module),
            op_ids: op_ids(module),
        }
    }

    /// The input for a module, with a list of its functions, and a slot of each for function
    /// passes. Entries and slots that an earlier pass on the same state of the module kept are used
    /// again.
    pub fn with_slots(module: &'m Module) -> (ModuleInput<'m>, Vec<FunctionSlot>) {
        let kept = module.take_kept().and_then(|kept| kept.downcast().ok());
        let Kept {
            entries,
            op_ids,
            slots,
        } = match kept {
            Some(kept) => *kept,
            None => Kept {
                entries: entries(module),
                op_ids: op_ids(module),
                slots: module.functions().cloned().map(FunctionSlot::new).collect(),
            },
        };
        let input = ModuleInput {
            module,
            entries,
            op_ids,
        };
        (input, slots)
    }

    /// Keeps the slots for the next pass on the same state of the module.
    pub fn keep(self, slots: Vec<FunctionSlot>) {
        self.module.keep(Box::new(Kept {
            entries: self.entries,
            op_ids: self.op_ids,
            slots,
        }));
    }

    /// The number of ids of ops that the module's functions have: those of dead ops too.
    pub fn op_ids(&self) -> usize {
        self.op_ids
    }

    /// The module that the passes read.
    pub fn module(&self) -> &'m Module {
        self.module
    }
}

fn op_ids(module: &Module) -> usize {
    module.functions().map(|function| function.op_ids()).sum()
}

pub(super) fn entries(module: &Module) -> Vec<FunctionEntry> {
    module.functions().map(entry).collect()
}

#[inline]
pub(super) fn entry(f: &Arc<Function>) -> FunctionEntry {
    FunctionEntry {
        name: f.name(),
        kind: f.kind(),
        op_count: f.live_op_count(),
        reserved: 0,
    }
}
