//! Which ops have no effect but their results, calls of the module's functions among them.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::NameUse;
use passdock_plugin_api::symbol;

/// A rule for the ops of a function, so that a call of it is like them.
type Rule = fn(OpTraits) -> bool;

/// Says whether an op is as the rule says: whether it may be erased when nobody uses its results.
pub(crate) struct Purity {
    rule: Rule,
    /// The module's functions that only hold such ops; a call of one is a `call`, or an op of its name,
    /// unless an operator has that name too.
    pure_functions: HashSet<SymbolId>,
}

impl Purity {
    /// No function counts as pure.
    pub(crate) fn without_functions(rule: Rule) -> Purity {
        Purity {
            rule,
            pure_functions: HashSet::new(),
        }
    }

    /// Looks through a module's functions; each counts as pure once all that it calls does.
    pub(crate) fn new(graph: &CallGraph, rule: Rule) -> Purity {
        let mut purity = Purity::without_functions(rule);
        // Per function, the callers that wait for it to be pure, and how many each waits for.
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
            // A `call` of what isn't there.
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

    /// What a function's ops use by name that, regions left aside, has an effect beside its results:
    /// see [`callee_or_name`].
    pub(crate) fn impure_names(&self, f: &Function) -> Result<HashSet<NameOf>, EditError> {
        let names = f.names()?;
        let impure = names.iter().filter(|used| !self.is_pure(used));
        let impure = impure.map(|used| (is_callee(&used), used.name));
        // So is a `call` of what isn't there.
        Ok(impure.chain([(true, SymbolId::NONE)]).collect())
    }

    fn is_pure(&self, used: &NameUse) -> bool {
        let traits = OpTraits(used.traits);
        match is_callee(used) {
            true => self.is_pure_function(used.name),
            // It is as its callee is, which stands among the names, too.
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

/// Whether a name is that of a `call`'s callee, and the name.
pub(crate) type NameOf = (bool, SymbolId);

/// The name that decides whether an op has an effect: of the function that a `call` names,
/// otherwise its own.
pub(crate) fn callee_or_name(f: &Function, op: OpId) -> NameOf {
    if f.symbol(op) != symbol::CALL {
        return (false, f.symbol(op));
    }
    let callee = f.string(op, symbol::CALLEE);
    let callee = callee.and_then(|name| f.find_symbol(name));
    (true, callee.unwrap_or(SymbolId::NONE))
}
