//! Phases: which passes go to a pipeline's places for them.
//!
//! A pass may ask for a phase instead of being listed: a vendor's plugin is dropped into a
//! directory, and its passes run where the pipeline has a place. What the pipeline lists by name
//! isn't placed a second time.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::passes::passes_in;
use crate::pipeline_file::PassTable;
use passdock_core::{Phase, Registry};

/// The passes that ask for phases, and the places for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    /// The passes that ask for a phase, in the order in which they run there.
    offered: BTreeMap<Phase, Vec<String>>,
    /// The phases that the pipeline has places for, in its order.
    places: Vec<Phase>,
    /// The passes that the pipeline lists by name.
    listed: BTreeSet<String>,
}

impl Phases {
    /// The phases of a registry's passes, without the passes that a pipeline lists itself.
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
            places: Vec::new(),
        }
    }

    /// The passes for a place of the pipeline.
    pub(crate) fn fill(&mut self, phase: Phase) -> &[String] {
        self.places.push(phase);
        self.passes(phase)
    }

    /// The passes that ask for a phase.
    pub(crate) fn passes(&self, phase: Phase) -> &[String] {
        self.offered.get(&phase).map_or(&[], Vec::as_slice)
    }

    /// Whether the pipeline lists a pass by name.
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.listed.contains(name)
    }

    /// The phases that have a place, in the pipeline's order.
    pub(crate) fn places(&self) -> &[Phase] {
        &self.places
    }

    /// The phase of each pass that was placed.
    pub(crate) fn placed(&self) -> HashMap<&str, Phase> {
        self.offers(true).collect()
    }

    /// The passes that ask for a phase that has no place.
    pub(crate) fn left_over(&self) -> impl Iterator<Item = (&str, Phase)> {
        self.offers(false)
    }

    fn offers(&self, placed: bool) -> impl Iterator<Item = (&str, Phase)> {
        let offered = self.offered.iter();
        let offered = offered.filter(move |(phase, _)| self.places.contains(phase) == placed);
        offered.flat_map(|(phase, names)| names.iter().map(|name| (name.as_str(), *phase)))
    }
}

/// The canonical names of all passes that are listed, at any depth; those in a registered Sequential are
/// listed with it.
fn listed(registry: &Registry, tables: &[PassTable], passes: &[String]) -> BTreeSet<String> {
    let mut listed = BTreeSet::new();
    let mut list = |name: &str| {
        listed.insert(registry.canonical(name));
        // A name that stands for nothing is an error later.
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

/// Passes of one phase in their order: what is required first, and else by name.
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
        // What requires itself in a circle is refused by the resolver, with the chain.
        let next = free.next().map_or(*first, |(name, _)| *name);
        waiting.remove(next);
        for required in waiting.values_mut() {
            required.remove(next);
        }
        order.push(next.clone());
    }
    order
}
