//! Purity of ops, including calls of the module's functions.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::NameUse;

/// A predicate on the traits of ops. A call satisfies it if all ops of the callee do.
type Rule = fn(OpTraits) -> bool;

/// Decides whether ops satisfy a rule, for example whether they may be erased if their results are unused.
pub(crate) struct Purity {
    rule: Rule,
    /// The functions of the module that only contain such ops.
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

    /// Returns the names of a function's ops that have effects, not counting nested regions.
    pub(crate) fn impure_names(&self, f: &Function) -> Result<HashSet<SymbolId>, EditError> {
        let names = f.names()?;
        let impure = names.iter().filter(|used| !self.is_pure(used));
        Ok(impure.map(|used| used.name).collect())
    }

    fn is_pure(&self, used: &NameUse) -> bool {
        let traits = OpTraits(used.traits);
        (self.rule)(traits) || !traits.is_ambiguous() && self.is_pure_function(used.name)
    }
}
