//! The history of ops: the passes that created, changed and removed each.
//!
//! Op ids aren't stable: a pass may assign new ones, and so does the host when it compacts a function. The ops before
//! and after each pass are therefore paired as by `passdock diff`. An op whose kind changed counts as removed, and its
//! successor as created.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diff;
use passdock_abi::OpId;
use passdock_core::PassError;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;

use super::picture::OpHistory;
use super::recorder::PassTrail;

/// The histories of all ops of the current module, and the fates of the first module's ops.
#[derive(Default)]
pub(crate) struct Lineage {
    /// The histories by function and op. An op without an entry is unchanged since the first module, under the same id.
    now: BTreeMap<String, FxHashMap<OpId, Past>>,
    /// The fates of ops of the first module that were removed, by function.
    first: BTreeMap<String, FxHashMap<OpId, OpHistory>>,
}

/// The history of an op.
#[derive(Clone, Default)]
struct Past {
    /// The op of the first module, in the function of the same name.
    origin: Option<OpId>,
    history: OpHistory,
}

impl Lineage {
    /// Creates the lineage of a module on which no pass ran yet.
    pub(crate) fn new(module: &Module) -> Lineage {
        let mut lineage = Lineage::default();
        for f in module.functions() {
            let past = |op| Past {
                origin: Some(op),
                history: OpHistory::default(),
            };
            let ops = f.live_ops().map(|(op, _)| (op, past(op)));
            let name = f.text(f.name()).to_owned();
            lineage.now.insert(name, ops.collect());
        }
        lineage
    }

    /// Adds the changes of a pass, and counts them in its trail.
    pub(crate) fn step(
        &mut self,
        pass: u32,
        trail: &mut PassTrail,
        before: &Module,
        after: &Module,
    ) -> Result<(), PassError> {
        for new in after.functions() {
            let name = new.text(new.name());
            let old = before.function_named(name);
            if old.is_some_and(|old| Arc::ptr_eq(old, new)) {
                continue;
            }
            let mut old_pasts = self.now.remove(name).unwrap_or_default();
            let pairs = old.map_or(Ok(Vec::new()), |old| diff::pairs(old, new))?;
            let mut pasts = FxHashMap::default();
            for pair in pairs.into_iter().filter(|pair| pair.same_kind) {
                let mut past = old_pasts.remove(&pair.before).unwrap_or_default();
                if pair.changed {
                    past.history.changed.push(pass);
                    trail.changed += 1;
                }
                pasts.insert(pair.after, past);
            }
            for (op, _) in new.live_ops() {
                pasts.entry(op).or_insert_with(|| {
                    trail.made += 1;
                    created_by(pass)
                });
            }
            self.remove(name, old_pasts, pass, trail);
            self.now.insert(name.to_owned(), pasts);
        }
        for f in before.functions() {
            let name = f.text(f.name());
            if after.function_named(name).is_none() {
                let pasts = self.now.remove(name).unwrap_or_default();
                self.remove(name, pasts, pass, trail);
            }
        }
        Ok(())
    }

    fn remove(
        &mut self,
        function: &str,
        pasts: FxHashMap<OpId, Past>,
        pass: u32,
        trail: &mut PassTrail,
    ) {
        trail.removed += pasts.len();
        for past in pasts.into_values() {
            if let Some(origin) = past.origin {
                let history = OpHistory {
                    removed: Some(pass),
                    ..past.history
                };
                let first = self.first.entry(function.to_owned()).or_default();
                first.insert(origin, history);
            }
        }
    }

    /// Returns the fate of an op of the last module.
    pub(crate) fn last_history(&self, f: &Function, op: OpId) -> OpHistory {
        let ops = self.now.get(f.text(f.name()));
        let past = ops.and_then(|ops| ops.get(&op));
        past.map(|past| past.history.clone()).unwrap_or_default()
    }

    /// Returns the fates of the first module's ops, including those that weren't removed.
    pub(crate) fn first_histories(&self) -> BTreeMap<String, FxHashMap<OpId, OpHistory>> {
        let mut all = self.first.clone();
        for (name, pasts) in &self.now {
            let histories_in_function = all.entry(name.clone()).or_default();
            let still = pasts.values();
            histories_in_function
                .extend(still.filter_map(|past| Some((past.origin?, past.history.clone()))));
        }
        all
    }
}

fn created_by(pass: u32) -> Past {
    Past {
        origin: None,
        history: OpHistory {
            made: Some(pass),
            ..OpHistory::default()
        },
    }
}
