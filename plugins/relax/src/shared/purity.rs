//! Purity of ops, including calls of the module's functions.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::NameUse;
use passdock_plugin_api::symbol;

/// A predicate on the traits of ops. A call satisfies it if all ops of the callee do.
type Rule = fn(OpTraits) -> bool;

/// Decides whether ops satisfy a rule, for example whether they may be erased if their results are unused.
pub(crate) struct Purity {
    rule: Rule,
    /// The functions of the module that only contain such ops. They are called by a `call`, or by an op of the same
    /// name unless that is ambiguous with an operator.
    pure_functions: HashSet<SymbolId>,
}

impl Purity {
    /// Treats no function as pure.
    pub(crate) fn without_functions(rule: Rule) -> Purity {
        Purity {
            rule,
            pure_functions: HashSet::new(),
        }
    }

    /// Analyzes the functions of a module. A function is pure once all its callees are.
    pub(crate) fn new(graph: &CallGraph, rule: Rule) -> Purity {
        let mut purity = Purity::without_functions(rule);
        // Per function, the callers that wait for it; per caller, the number of functions it waits for.
        let mut waiting: HashMap<SymbolId, Vec<SymbolId>> = HashMap::new();
        let mut open: HashMap<SymbolId, usize> = HashMap::new();
        let mut pending = Vec::new();
        let functions = graph.functions();
        for entry in functions.filter(|entry| entry.kind == FunctionKind::GRAPH) {
            let (caller, names) = (entry.name, graph.names(entry.name));
            let count = |is_meant: fn(&NameUse) -> bool| -> u32 {
                names
                    .iter()
                    .filter(|used| is_meant(used))
                    .map(|used| used.count)
                    .sum()
            };
            // A `call` of a function that doesn't exist.
            if count(|used| used.name == symbol::CALL) > count(is_callee) {
                continue;
            }
            let uncertain = || names.iter().filter(|used| !purity.is_pure(used));
            if uncertain().any(|used| OpTraits(used.traits).is_ambiguous()) {
                continue;
            }
            let calls: Vec<SymbolId> = uncertain().map(|used| used.name).collect();
            if calls.is_empty() {
                pending.push(caller);
            }
            open.insert(caller, calls.len());
            for callee in calls {
                waiting.entry(callee).or_default().push(caller);
            }
        }
        while let Some(function) = pending.pop() {
            purity.pure_functions.insert(function);
            for caller in waiting.remove(&function).unwrap_or_default() {
                if let Some(calls) = open.get_mut(&caller) {
                    *calls -= 1;
                    if *calls == 0 {
                        pending.push(caller);
                    }
                }
            }
        }
        purity
    }

    /// Whether calls of a function are pure.
    pub(crate) fn is_pure_function(&self, name: SymbolId) -> bool {
        self.pure_functions.contains(&name)
    }

    /// Returns the names used by a function's ops that have effects, not counting nested regions. See
    /// [`callee_or_name`].
    pub(crate) fn impure_names(&self, f: &Function) -> Result<HashSet<NameOf>, EditError> {
        let names = f.names()?;
        let impure = names.iter().filter(|used| !self.is_pure(used));
        let impure = impure.map(|used| (is_callee(&used), used.name));
        // A `call` of a missing function has effects, too.
        Ok(impure.chain([(true, SymbolId::NONE)]).collect())
    }

    fn is_pure(&self, used: &NameUse) -> bool {
        let traits = OpTraits(used.traits);
        match is_callee(used) {
            true => self.is_pure_function(used.name),
            // The purity of a `call` is that of its callee, whose name is listed as well.
            false if used.name == symbol::CALL => true,
            false => {
                (self.rule)(traits) || !traits.is_ambiguous() && self.is_pure_function(used.name)
            }
        }
    }
}

fn is_callee(used: &NameUse) -> bool {
    used.flags & NameUse::CALLEE != 0
}

/// A name, and whether it is the callee of a `call`.
pub(crate) type NameOf = (bool, SymbolId);

/// Returns the name that determines whether an op has effects: the callee of a `call`, otherwise the op's name.
pub(crate) fn callee_or_name(f: &Function, op: OpId) -> NameOf {
    if f.symbol(op) != symbol::CALL {
        return (false, f.symbol(op));
    }
    let callee = f.string(op, symbol::CALLEE);
    let callee = callee.and_then(|name| f.find_symbol(name));
    (true, callee.unwrap_or(SymbolId::NONE))
}
