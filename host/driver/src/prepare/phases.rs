//! Phases: extension points of a pipeline for passes of plugins.
//!
//! A pass may declare a phase. It then runs where the pipeline has an entry for that phase, so a vendor's plugin can be
//! added without editing the pipeline. Passes that the pipeline lists by name aren't added again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::passes::passes_in;
use crate::pipeline_file::PassTable;
use passdock_core::{Phase, Registry};

/// The passes that declare phases, and the phases of a pipeline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    /// The passes of each phase, in execution order.
    offered: BTreeMap<Phase, Vec<String>>,
    /// The phases of the pipeline, in its order.
    phases_in_order: Vec<Phase>,
    /// The passes that the pipeline lists by name.
    listed: BTreeSet<String>,
}

impl Phases {
    /// Collects the passes in the registry that declare a phase, except those that the pipeline lists.
    pub(crate) fn new(registry: &Registry, tables: &[PassTable], passes: &[String]) -> Phases {
        let listed = listed(registry, tables, passes);
        let mut groups: BTreeMap<Phase, BTreeSet<String>> = BTreeMap::new();
        for (name, phase) in registry.phased() {
            if !listed.contains(&name) {
                groups.entry(phase).or_default().insert(name);
            }
        }
        let groups = groups.into_iter();
        Phases {
            listed,
            offered: groups
                .map(|(phase, names)| (phase, ordered(registry, &names)))
                .collect(),
            phases_in_order: Vec::new(),
        }
    }

    /// Returns the passes of a phase, and records that the pipeline has it.
    pub(crate) fn fill(&mut self, phase: Phase) -> &[String] {
        self.phases_in_order.push(phase);
        self.passes(phase)
    }

    /// Returns the passes that declare a phase.
    pub(crate) fn passes(&self, phase: Phase) -> &[String] {
        self.offered.get(&phase).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if the pipeline lists a pass by name.
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.listed.contains(name)
    }

    /// Returns the phases of the pipeline, in its order.
    pub(crate) fn phases_in_order(&self) -> &[Phase] {
        &self.phases_in_order
    }

    /// Returns the phase of each pass whose phase is in the pipeline.
    pub(crate) fn scheduled_passes(&self) -> HashMap<&str, Phase> {
        self.offers(true).collect()
    }

    /// Returns the passes whose phase isn't in the pipeline.
    pub(crate) fn unscheduled(&self) -> impl Iterator<Item = (&str, Phase)> {
        self.offers(false)
    }

    fn offers(&self, scheduled_passes: bool) -> impl Iterator<Item = (&str, Phase)> {
        let offered = self.offered.iter();
        let offered = offered
            .filter(move |(phase, _)| self.phases_in_order.contains(phase) == scheduled_passes);
        offered.flat_map(|(phase, names)| names.iter().map(|name| (name.as_str(), *phase)))
    }
}

/// Returns the canonical names of all listed passes, at any depth, including those in registered Sequentials.
fn listed(registry: &Registry, tables: &[PassTable], passes: &[String]) -> BTreeSet<String> {
    let mut listed = BTreeSet::new();
    let mut list = |name: &str| {
        listed.insert(registry.canonical(name));
        // Unknown names are reported later.
        let pass = registry.get_pass(name).ok();
        let inner = pass.as_ref().and_then(|pass| pass.as_sequential());
        let inner = inner.into_iter().flat_map(passes_in);
        listed.extend(inner.map(|pass| pass.info().name.clone()));
    };
    passes.iter().for_each(|name| list(name));
    let mut open: Vec<&PassTable> = tables.iter().collect();
    while let Some(table) = open.pop() {
        if let PassTable::Pass { name, .. } = table {
            list(name.get_ref());
        }
        open.extend(table.inner());
    }
    listed
}

/// Orders the passes of a phase topologically by `required`, then by name.
fn ordered(registry: &Registry, names: &BTreeSet<String>) -> Vec<String> {
    let required = |name: &String| -> BTreeSet<String> {
        let declared = registry.declaration(name).into_iter();
        let required = declared.flat_map(|declared| declared.info.required);
        let required = required.map(|required| registry.canonical(&required));
        required
            .filter(|required| names.contains(required))
            .collect()
    };
    let mut waiting: BTreeMap<&String, BTreeSet<String>> =
        names.iter().map(|name| (name, required(name))).collect();
    let mut order: Vec<String> = Vec::with_capacity(names.len());
    while let Some(first) = waiting.keys().next() {
        let mut free = waiting.iter().filter(|(_, required)| required.is_empty());
        // The resolver reports cycles of required passes.
        let next = free.next().map_or(*first, |(name, _)| *name);
        waiting.remove(next);
        for required in waiting.values_mut() {
            required.remove(next);
        }
        order.push(next.clone());
    }
    order
}
