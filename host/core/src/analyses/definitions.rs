//! The definitions of ops, cached per op symbol, since passes ask for the traits of every op; and the results of
//! type inference, since types are inferred again after each pass.
//!
//! Where one of the module's functions has the operator's name, ONNX leaves it to the runtime which
//! of both an op means (ONNX Runtime takes the operator, others the function): such ops are
//! ambiguous, and have no definition.
//!
//! Each thread has a memory of its own, so nothing is locked. The memory is for one module's
//! symbols and one set of definitions, and is cleared for others.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use passdock_abi::{OpEntry, SymbolId};
use passdock_ir::{ConstantData, Function, OpName, Premises, Symbols};
use passdock_loader::{LoadedOp, OpDefs};
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Memory {
    defs: u64,
    /// A weak pointer keeps the address from being given to other symbols.
    symbols: Weak<Symbols>,
    /// The remembered definitions, by op symbol.
    slots: Vec<Option<Slot>>,
    /// The premises from which nothing new follows, with the constants whose addresses are among them.
    settled: FxHashMap<Vec<u8>, Vec<Weak<ConstantData>>>,
    settled_bytes: usize,
}

/// The most bytes of premises that are remembered.
const MAX_SETTLED: usize = 16 << 20;

struct Slot {
    domain: SymbolId,
    version: Option<i64>,
    definition: Option<LoadedOp>,
    /// The traits that follow from all that is said of the op.
    traits: u64,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// The traits of an op in a function; 0 if no plugin defines it. `names_function` says whether a
/// function of the module has the op's name.
pub(crate) fn definition_traits(
    defs: &OpDefs,
    function: &Function,
    name: SymbolId,
    names_function: &dyn Fn() -> bool,
) -> u64 {
    match look_up(defs, function, name, |slot| slot.traits) {
        0 => 0,
        // An operator that isn't there yet isn't meant.
        OpEntry::LATER => OpEntry::LATER * u64::from(!names_function()),
        _ if names_function() => OpEntry::AMBIGUOUS,
        traits => traits,
    }
}

/// The definition of an op in a function; none if it is ambiguous, for `names_function` says that a
/// function of the module has the op's name.
pub(crate) fn definition(
    defs: &OpDefs,
    function: &Function,
    name: SymbolId,
    names_function: &dyn Fn() -> bool,
) -> Option<LoadedOp> {
    let definition = look_up(defs, function, name, |slot| slot.definition);
    definition.filter(|_| !names_function())
}

/// What is said of an op in a function, in the order in which it is asked: what plugins add to its definition, and the
/// definition; nothing if it is ambiguous.
pub(crate) fn all_definitions(
    defs: &OpDefs,
    function: &Function,
    name: SymbolId,
    names_function: &dyn Fn() -> bool,
) -> Vec<LoadedOp> {
    let (version, own) = look_up(defs, function, name, |slot| (slot.version, slot.definition));
    let extensions = defs.extensions(function.text(name), version);
    let all: Vec<LoadedOp> = extensions.chain(own).collect();
    match all.is_empty() || names_function() {
        true => Vec::new(),
        false => all,
    }
}

/// Returns `true` if inference from these premises, with the types that results have now, finds nothing new.
pub(crate) fn is_settled(defs: &OpDefs, function: &Function, premises: &Premises) -> bool {
    MEMORY.with_borrow_mut(|memory| {
        memory.clear_for_others(defs, function);
        memory.settled.contains_key(&premises.key)
    })
}

/// Remembers premises from which nothing new follows.
pub(crate) fn settle(defs: &OpDefs, function: &Function, premises: Premises) {
    MEMORY.with_borrow_mut(|memory| {
        memory.clear_for_others(defs, function);
        let Premises { mut key, constants } = premises;
        if memory.settled_bytes + key.len() > MAX_SETTLED {
            memory.settled.clear();
            memory.settled_bytes = 0;
        }
        memory.settled_bytes += key.len();
        key.shrink_to_fit();
        memory.settled.insert(key, constants);
    });
}

/// What `pick` takes out of a slot, of which most of those who ask need little.
fn look_up<T>(defs: &OpDefs, function: &Function, name: SymbolId, pick: fn(&Slot) -> T) -> T {
    let remembered =
        MEMORY.with_borrow_mut(|memory| memory.remembered(defs, function, name).map(pick));
    remembered.unwrap_or_else(|| {
        // Not under the borrow: this may load a plugin, whose entry may run any code.
        let slot = make_slot(defs, function, name);
        let picked = pick(&slot);
        MEMORY.with_borrow_mut(|memory| memory.remember(name, slot));
        picked
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
    let definition = defs.find(text, version);
    let own = match definition {
        Some(d) => d.entry.traits | OpEntry::DEFINED | d.answers(),
        None => match version.zip(defs.first_version(text)) {
            Some((version, first)) if version < first => OpEntry::LATER,
            _ => 0,
        },
    };
    let extensions = defs.extensions(text, version);
    Slot {
        domain,
        version,
        definition,
        traits: extensions.fold(own, |all, added| all | added.answers()),
    }
}

impl Memory {
    /// The remembered definition of a name, if it is still valid for this function.
    fn remembered(&mut self, defs: &OpDefs, function: &Function, name: SymbolId) -> Option<&Slot> {
        self.clear_for_others(defs, function);
        let slot = self.slots.get(name.index())?.as_ref()?;
        (function.opset(slot.domain) == slot.version).then_some(slot)
    }

    fn clear_for_others(&mut self, defs: &OpDefs, function: &Function) {
        let symbols = function.symbols();
        if self.defs != defs.id() || !std::ptr::eq(self.symbols.as_ptr(), Arc::as_ptr(symbols)) {
            *self = Memory {
                defs: defs.id(),
                symbols: Arc::downgrade(symbols),
                ..Memory::default()
            };
        }
    }

    fn remember(&mut self, name: SymbolId, slot: Slot) {
        // An invalid symbol must not make the list long.
        let symbols = self.symbols.upgrade();
        if symbols.is_none_or(|symbols| symbols.get(name).is_none()) {
            return;
        }
        if self.slots.len() <= name.index() {
            self.slots.resize_with(name.index() + 1, || None);
        }
        self.slots[name.index()] = Some(slot);
    }
}
