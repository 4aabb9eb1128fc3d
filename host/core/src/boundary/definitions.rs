//! Which definition an op has, remembered per op symbol: passes ask for the traits of every op.
//!
//! Where one of the module's functions has the operator's name, ONNX leaves it to the runtime which of
//! both an op means (ONNX Runtime takes the operator, others the function): such ops are ambiguous,
//! and no definition says anything of them.
//!
//! Each thread remembers for itself, so nothing is locked. The memory is of one module's symbols
//! and one set of definitions; another's takes its place.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use passdock_abi::{OpEntry, OpId, SymbolId};
use passdock_ir::{Function, OpName, Symbols};

use super::context::{self, ContextSession};
use super::session::FunctionSession;
use crate::plugin::OpDefs;
use crate::plugin::library::LoadedOp;

#[derive(Default)]
struct Memory {
    defs: u64,
    /// A weak pointer keeps the address from being given to other symbols.
    symbols: Weak<Symbols>,
    /// By op symbol.
    slots: Vec<Option<Slot>>,
}

#[derive(Clone, Copy)]
struct Slot {
    domain: SymbolId,
    version: Option<i64>,
    definition: Option<LoadedOp>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// The traits of an op in a function; 0 if nobody defines it.
pub(super) fn traits(session: &FunctionSession, name: SymbolId) -> u64 {
    context::with_op_defs(|defs| {
        let found = session.with(|state| Ok(definition_traits(defs, state.function(), name)));
        found.unwrap_or(0)
    })
    .unwrap_or(0)
}

/// As [`traits`], for those who have the function itself.
pub(crate) fn definition_traits(defs: &OpDefs, function: &Function, name: SymbolId) -> u64 {
    match look_up(defs, function, name) {
        None => 0,
        Some(_) if function.symbols().names_function(name) => OpEntry::AMBIGUOUS,
        Some(definition) => flags(&definition),
    }
}

/// The definition of an op in a function.
pub(super) fn find(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    name: SymbolId,
) -> Option<LoadedOp> {
    let defs = context.around().op_defs();
    let found = session.with(|state| {
        let function = state.function();
        let found = look_up(defs, function, name);
        Ok(found.filter(|_| !function.symbols().names_function(name)))
    });
    found.ok().flatten()
}

/// The definition of an op as messages name it: with its plugin, which isn't the pass's.
pub(super) fn describe(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    op: OpId,
) -> String {
    let described = session.with(|state| {
        let function = state.function();
        let text = function.text(function.live_op(op)?.name);
        let domain = OpName::parse(text).and_then(|name| name.domain);
        let domain = domain.and_then(|domain| function.symbols().find(&domain));
        let version = function.opset(domain.unwrap_or(SymbolId::NONE));
        let shown = function.describe_op(op);
        Ok(match context.around().op_defs().provider(text, version) {
            Some(origin) => format!("The definition of {shown}, of plugin {origin},"),
            None => format!("The definition of {shown}"),
        })
    });
    described.unwrap_or_else(|_| format!("The definition of {op}"))
}

/// What the entry says, and what follows from it.
fn flags(definition: &LoadedOp) -> u64 {
    let entry = &definition.entry;
    let folds = match entry.evaluate {
        Some(_) => OpEntry::FOLDS,
        None => 0,
    };
    let decomposes = match entry.decompose {
        Some(_) => OpEntry::DECOMPOSES,
        None => 0,
    };
    entry.traits | OpEntry::DEFINED | folds | decomposes
}

fn look_up(defs: &OpDefs, function: &Function, name: SymbolId) -> Option<LoadedOp> {
    let known = MEMORY.with_borrow_mut(|memory| memory.known(defs, function, name));
    known.unwrap_or_else(|| {
        // Not under the borrow: it may load a plugin, whose entry may do anything.
        let slot = make_slot(defs, function, name);
        MEMORY.with_borrow_mut(|memory| memory.remember(name, slot));
        slot.definition
    })
}

fn make_slot(defs: &OpDefs, function: &Function, name: SymbolId) -> Slot {
    let text = function.text(name);
    let domain = OpName::parse(text).and_then(|name| name.domain);
    let domain = match domain {
        Some(domain) => function.symbols().intern(&domain),
        None => SymbolId::NONE,
    };
    let version = function.opset(domain);
    Slot {
        domain,
        version,
        definition: defs.find(text, version),
    }
}

impl Memory {
    /// What is remembered of a name, if it is still right for this function.
    fn known(
        &mut self,
        defs: &OpDefs,
        function: &Function,
        name: SymbolId,
    ) -> Option<Option<LoadedOp>> {
        let symbols = function.symbols();
        if self.defs != defs.id() || !std::ptr::eq(self.symbols.as_ptr(), Arc::as_ptr(symbols)) {
            *self = Memory {
                defs: defs.id(),
                symbols: Arc::downgrade(symbols),
                slots: Vec::new(),
            };
        }
        let slot = (*self.slots.get(name.index())?)?;
        (function.opset(slot.domain) == slot.version).then_some(slot.definition)
    }

    fn remember(&mut self, name: SymbolId, slot: Slot) {
        // A symbol that isn't one must not make the list long.
        let known = self.symbols.upgrade();
        if known.is_none_or(|symbols| symbols.get(name).is_none()) {
            return;
        }
        if self.slots.len() <= name.index() {
            self.slots.resize(name.index() + 1, None);
        }
        self.slots[name.index()] = Some(slot);
    }
}
