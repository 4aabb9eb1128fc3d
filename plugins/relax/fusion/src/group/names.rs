//! Names of functions that nobody has.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

/// The names that are taken: of functions, and of ops, which would become calls.
pub(super) struct Names {
    taken: HashSet<String>,
    /// The number to try next, by the name that it goes to.
    next: HashMap<String, usize>,
}

impl Names {
    pub(super) fn of(m: &Module<'_>, domain: &str) -> Result<Names, EditError> {
        let mut taken = HashSet::new();
        for entry in m.functions() {
            taken.insert(m.text(entry.name).to_owned());
            for used in m.snapshot(entry.name)?.names()?.iter() {
                let name = m.text(used.name);
                if name.starts_with(domain) {
                    taken.insert(name.to_owned());
                }
            }
        }
        Ok(Names {
            taken,
            next: HashMap::new(),
        })
    }

    /// A name that is free, which is taken from now on.
    pub(super) fn free(&mut self, domain: &str, base: &str) -> String {
        let base = format!("{domain}.{base}");
        if self.taken.insert(base.clone()) {
            return base;
        }
        let number = self.next.entry(base.clone()).or_insert(1);
        loop {
            let name = format!("{base}_{number}");
            *number += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
