//! Which ops have no effect but their results.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::abi::NameUse;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{CallGraph, FunctionEntry};

/// Says whether an op may be erased when nobody uses its results.
pub(crate) struct Purity {
    /// The module's functions that only hold such ops; a call of one is an op of its name, unless an
    /// operator has that name too.
    pure_functions: HashSet<SymbolId>,
}

impl Purity {
    /// Looks through a module's functions; each counts as pure once all that it calls does.
    pub(crate) fn new(graph: &CallGraph) -> Purity {
        let mut purity = Purity {
            pure_functions: HashSet::new(),
        };
        // Per function, the callers that wait for it to be pure, and how many each waits for.
        let mut waiting: HashMap<SymbolId, Vec<SymbolId>> = HashMap::new();
        let mut open: HashMap<SymbolId, usize> = HashMap::new();
        let mut pending = Vec::new();
        let is_graph = |entry: &FunctionEntry| entry.kind == FunctionKind::GRAPH;
        for caller in graph.functions().filter(is_graph).map(|entry| entry.name) {
            let mut calls = Vec::new();
            let names = op_names(graph.names(caller)).filter(|used| !purity.is_pure(used));
            let is_call = |used: NameUse| {
                calls.push(used.name);
                graph.function(used.name).is_some() && !OpTraits(used.traits).is_ambiguous()
            };
            if !names.copied().all(is_call) {
                continue;
            }
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

    /// The names of a function's ops that, their regions left aside, have an effect beside their
    /// results.
    pub(crate) fn impure_names(&self, f: &Function) -> Result<HashSet<SymbolId>, EditError> {
        let names = f.names()?;
        let impure = names.of_ops().filter(|used| !self.is_pure(used));
        Ok(impure.map(|used| used.name).collect())
    }

    fn is_pure(&self, used: &NameUse) -> bool {
        let traits = OpTraits(used.traits);
        traits.is_pure() || !traits.is_ambiguous() && self.pure_functions.contains(&used.name)
    }
}

fn op_names(names: &[NameUse]) -> impl Iterator<Item = &NameUse> {
    names
        .iter()
        .filter(|used| used.flags & NameUse::CALLEE == 0)
}
