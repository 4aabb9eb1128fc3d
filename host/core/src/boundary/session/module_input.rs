//! What passes on the functions of a module share, and what is kept of it for the next pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use passdock_abi::FunctionEntry;
use passdock_ir::{Function, Module};

use super::function::FunctionSlot;

/// A module as passes see it, made once for a pass and shared by the threads that run it.
pub struct ModuleInput<'m> {
    pub(super) module: &'m Module,
    pub(super) list: List,
    /// The version of the list: no other input has it.
    pub(super) version: u64,
}

/// The list of a module's functions.
pub(super) struct List {
    pub(super) entries: Vec<FunctionEntry>,
    /// How many ids of ops the functions have.
    op_ids: usize,
}

/// The list and the slots kept for the next pass on the same state of a module.
type Kept = (List, Vec<FunctionSlot>);

impl List {
    fn new(module: &Module) -> List {
        List {
            entries: entries(module),
            op_ids: module.functions().map(|function| function.op_ids()).sum(),
        }
    }
}

impl<'m> ModuleInput<'m> {
    /// The input for a module, with a list of its functions.
    pub fn new(module: &'m Module) -> ModuleInput<'m> {
        ModuleInput::of(module, List::new(module))
    }

    /// The input for a module, with a list of its functions, and a slot of each for function
    /// passes. List and slots that an earlier pass on the same state of the module kept are used
    /// again.
    pub fn with_slots(module: &'m Module) -> (ModuleInput<'m>, Vec<FunctionSlot>) {
        let kept = module.take_kept().and_then(|kept| kept.downcast().ok());
        let (list, slots): Kept = kept.map_or_else(
            || {
                let slots = module.functions().cloned().map(FunctionSlot::new);
                (List::new(module), slots.collect())
            },
            |kept| *kept,
        );
        (ModuleInput::of(module, list), slots)
    }

    fn of(module: &'m Module, list: List) -> ModuleInput<'m> {
        // More than a list that is edited gets to.
        static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
        ModuleInput {
            module,
            list,
            version: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Keeps the slots for the next pass on the same state of the module.
    pub fn keep(self, slots: Vec<FunctionSlot>) {
        self.module.keep(Box::<Kept>::new((self.list, slots)));
    }

    /// The number of ids of ops that the module's functions have: those of dead ops too.
    pub fn op_ids(&self) -> usize {
        self.list.op_ids
    }

    /// The module that the passes read.
    pub fn module(&self) -> &'m Module {
        self.module
    }
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
