//! A cache of op definitions and of type inference. Definitions are cached by op symbol, since passes look up the
//! traits of every op. Results of inference are cached since types are inferred again after each pass.
//!
//! If a function of the module has an operator's name, ONNX lets the runtime choose which one an op refers to.
//! (ONNX Runtime takes the operator, other runtimes the function.) Such ops are ambiguous, and have no definition.
//!
//! Each thread has its own cache, so there are no locks. A cache is for one module's symbols and one set of
//! definitions. It is cleared when a different one is used.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use passdock_abi::{OpEntry, SymbolId};
use passdock_ir::{ConstantData, Function, OpName, Premises, Symbols};
use passdock_loader::{LoadedOp, OpDefs};
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Memory {
    defs: u64,
    /// A weak pointer, so that the address isn't reused for other symbols.
    symbols: Weak<Symbols>,
    /// The cached definitions, by op symbol.
    slots: Vec<Option<Slot>>,
    /// The premises from which inference derives nothing new, with the constants whose addresses the keys cover.
    complete: FxHashMap<u128, Vec<Weak<ConstantData>>>,
}

/// The maximum number of cached premises.
const MAX_COMPLETE: usize = 1 << 18;

struct Slot {
    domain: SymbolId,
    version: Option<i64>,
    definition: Option<LoadedOp>,
    /// The traits of the definition and of the plugins' extensions to it.
    traits: u64,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Returns the traits of an op in a function, or 0 if no plugin defines it. `names_function` returns whether a function
/// of the module has the op's name.
pub(crate) fn definition_traits(
    defs: &OpDefs,
    function: &Function,
    name: SymbolId,
    names_function: &dyn Fn() -> bool,
) -> u64 {
    match look_up(defs, function, name, |slot| slot.traits) {
        0 => 0,
        // The opset is older than the operator, so an op of this name is a call if there is such a function.
        OpEntry::LATER => OpEntry::LATER * u64::from(!names_function()),
        _ if names_function() => OpEntry::AMBIGUOUS,
        traits => traits,
    }
}

/// Returns the definition of an op in a function. There is none if the op is ambiguous: `names_function` returns
/// whether a function of the module has its name.
pub(crate) fn definition(
    defs: &OpDefs,
    function: &Function,
    name: SymbolId,
    names_function: &dyn Fn() -> bool,
) -> Option<LoadedOp> {
    let definition = look_up(defs, function, name, |slot| slot.definition);
    definition.filter(|_| !names_function())
}

/// Returns all definitions of an op in a function in the order in which they are tried: the extensions by plugins, then
/// the definition. Empty if the op is ambiguous.
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

/// Whether inference from these premises derives nothing new, given the current types of the results.
pub(crate) fn is_complete(defs: &OpDefs, function: &Function, premises: &Premises) -> bool {
    MEMORY.with_borrow_mut(|memory| {
        memory.clear_for_others(defs, function);
        memory.complete.contains_key(&premises.key)
    })
}

/// Caches premises from which inference derives nothing new.
pub(crate) fn remember_complete(defs: &OpDefs, function: &Function, premises: Premises) {
    MEMORY.with_borrow_mut(|memory| {
        memory.clear_for_others(defs, function);
        if memory.complete.len() >= MAX_COMPLETE {
            memory.complete.clear();
        }
        memory.complete.insert(premises.key, premises.constants);
    });
}

/// Returns `pick` of an op's slot. Most callers need only a small part of it.
fn look_up<T>(defs: &OpDefs, function: &Function, name: SymbolId, pick: fn(&Slot) -> T) -> T {
    let remembered =
        MEMORY.with_borrow_mut(|memory| memory.remembered(defs, function, name).map(pick));
    remembered.unwrap_or_else(|| {
        // Without borrowing the cache: this may load a plugin, whose entry point may run any code.
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
        Some(d) => d.entry.traits | OpEntry::DEFINED | d.function_traits(),
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
        traits: extensions.fold(own, |all, added| {
            let illegal = OpEntry::ILLEGAL * u64::from(added.entry.decompose.is_some());
            all | added.function_traits() | illegal
        }),
    }
}

impl Memory {
    /// Returns the cached definition of a name, if it is valid for this function.
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
        // An invalid symbol must not make the vector long.
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
