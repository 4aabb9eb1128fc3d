//! Locations of ops in the file: the node's name, and metadata with the names of its sources.

use std::borrow::Cow;

use passdock_abi::{LocId, LocKind, Op, OpId, RegionId};
use passdock_ir::Entity;
use rustc_hash::{FxHashMap, FxHashSet};

use super::writer::FunctionWriter;
use crate::format::error::Result;
use crate::format::schema::node;
use crate::format::wire::{fields_of, string_of};
use crate::layout::names::numbered;

/// The metadata key for the names of the nodes that a node was merged from, one per line.
const MERGED_FROM: &str = "passdock.merged_from";

/// The maximum number of these names.
const MAX_SOURCES: usize = 64;

impl<'w> FunctionWriter<'w> {
    /// Returns the name of an op's node.
    pub(super) fn node_name(&self, op: OpId) -> Option<Cow<'w, str>> {
        match self.node_names.get(&op) {
            Some(name) => Some(Cow::Owned(name.clone())),
            None => self.loc_name(self.f.op(op).loc).map(Cow::Borrowed),
        }
    }

    /// Renames nodes of a region that passes created and whose names aren't unique. Several ops may have the same
    /// location, but a node's name has to be unique.
    pub(super) fn name_nodes(&mut self, region: RegionId) -> Result {
        let f = self.f;
        let named = |op: OpId| Some((op, self.loc_name(f.op(op).loc)?));
        let all = || {
            let named = f.ops_in(region).filter_map(named);
            named.filter(|(_, name)| !name.is_empty())
        };
        let (mut used, mut shared) = (FxHashSet::default(), FxHashSet::default());
        for (_, name) in all() {
            if !used.insert(Cow::Borrowed(name)) {
                shared.insert(name);
            }
        }
        if shared.is_empty() {
            return Ok(());
        }
        // The node that has the name in the file keeps it.
        let (mut assigned, mut originals, mut generated) =
            (FxHashSet::default(), FxHashSet::default(), vec![]);
        let mut sharing: Vec<_> = all().filter(|(_, name)| shared.contains(name)).collect();
        // Of several ops derived from one node, the op that defines its first result comes first.
        let makes_result = |op| {
            let node = self.stripper.span(Entity::Op(op))?;
            let result = f.results(op).next()?;
            let mut fields = fields_of(Some(node)).flatten();
            let output = fields.find(|field| field.number == node::OUTPUT)?;
            Some(output.body().bytes == self.name(result).as_bytes())
        };
        sharing.sort_by_key(|(op, _)| makes_result(*op) == Some(false));
        for (op, name) in sharing {
            let original = match f.op(op).flags & Op::TOUCHED {
                0 => None,
                _ => Some(self.stripper.span(Entity::Op(op))),
            };
            let keeps = match original {
                None => true,
                Some(None) => false,
                Some(Some(node)) => {
                    string_of(node, node::NAME)? == name.as_bytes()
                        && originals.insert(node.bytes.as_ptr())
                }
            };
            if keeps {
                assigned.insert(name);
            } else {
                generated.push((op, name));
            }
        }
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut found = Vec::new();
        for (op, name) in generated {
            if assigned.insert(name) {
                continue;
            }
            let number = numbers.entry(name).or_insert(1);
            let fresh = loop {
                *number += 1;
                let fresh = numbered(name, *number);
                if used.insert(Cow::Owned(fresh.clone())) {
                    break fresh;
                }
            };
            found.push((op, fresh));
        }
        self.node_names.extend(found);
        Ok(())
    }

    /// Returns the node name of a location; for a fused location, the first one.
    pub(super) fn loc_name(&self, loc: LocId) -> Option<&'w str> {
        self.loc_names(loc).next()
    }

    /// Returns all node names of a location.
    fn loc_names(&self, loc: LocId) -> impl Iterator<Item = &'w str> {
        let f = self.f;
        let one = [loc];
        let fused = f.loc(loc).filter(|loc| loc.kind == LocKind::FUSED);
        let parts = fused.map_or(&[][..], |loc| f.loc_parts(loc));
        let alone = one.into_iter().filter(move |_| fused.is_none());
        let all = alone.chain(parts.iter().map(|&part| LocId(part)));
        let named = all.filter_map(|part| f.loc(part).filter(|loc| loc.kind == LocKind::NAME));
        named.map(|loc| f.text(loc.name))
    }

    /// Returns the metadata of an op's node. If the op has several sources, their names are added.
    pub(super) fn with_sources<'m>(
        &self,
        op: OpId,
        metadata: &[(&'m str, &'m str)],
    ) -> Vec<(Cow<'m, str>, Cow<'m, str>)> {
        let pairs = metadata
            .iter()
            .map(|&(key, value)| (key.into(), value.into()));
        let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = pairs.collect();
        let mut seen = FxHashSet::default();
        let sources = self.loc_names(self.f.op(op).loc);
        let sources: Vec<&str> = sources
            .filter(|name| !name.is_empty() && seen.insert(*name))
            .collect();
        if sources.len() < 2 {
            return pairs;
        }
        let before = pairs.extract_if(.., |(key, _)| key == MERGED_FROM);
        let before: Vec<Cow<'_, str>> = before.map(|(_, names)| names).collect();
        let before = before.iter().flat_map(|names| names.lines());
        seen.clear();
        let names = before
            .chain(sources)
            .filter(|name| seen.insert(*name))
            .take(MAX_SOURCES);
        let names: Vec<&str> = names.collect();
        pairs.push((MERGED_FROM.into(), names.join("\n").into()));
        pairs
    }
}
