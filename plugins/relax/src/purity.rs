//! Which ops have no effect but their results.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

/// Says whether an op may be erased when nobody uses its results.
pub(crate) struct Purity {
    /// The module's functions that only hold such ops; a call of one is an op of its name.
    pure_functions: HashSet<SymbolId>,
}

impl Purity {
    /// Looks through a module's functions; each counts as pure once all that it calls does.
    pub(crate) fn new(m: &Module<'_>) -> Result<Purity, EditError> {
        let mut purity = Purity {
            pure_functions: HashSet::new(),
        };
        let mut open = Vec::new();
        for entry in m.functions() {
            if entry.kind == FunctionKind::GRAPH {
                open.push((entry.name, m.snapshot(entry.name)?));
            }
        }
        // Callees usually stand behind their callers, so from the back one round settles most.
        loop {
            let known = purity.pure_functions.len();
            for (name, f) in open.iter().rev() {
                if !purity.pure_functions.contains(name) && purity.is_pure_body(f) {
                    purity.pure_functions.insert(*name);
                }
            }
            if purity.pure_functions.len() == known {
                return Ok(purity);
            }
            open.retain(|(name, _)| !purity.pure_functions.contains(name));
        }
    }

    /// Whether an op, its regions left aside, has no effect but its results.
    pub(crate) fn is_pure(&self, f: &Function, op: OpId) -> bool {
        if self.pure_functions.contains(&f.symbol(op)) {
            return true;
        }
        f.traits(op).is_pure() || matches!(f.name(op), "tuple" | "tuple_get" | "yield" | "return")
    }

    fn is_pure_body(&self, f: &Function) -> bool {
        f.iter().all(|op| self.is_pure(f, op))
    }
}
