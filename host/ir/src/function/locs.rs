//! Locations, interned per function.

use std::hash::BuildHasher;

use passdock_abi::{Loc, LocId, LocKind, Range, SymbolId};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::Function;
use crate::pool::{intern_record, push_range};

/// Returns the range of a fused location's parts.
pub(crate) fn loc_range(loc: &Loc) -> Range {
    Range {
        start: loc.a,
        len: loc.b,
    }
}

impl Function {
    /// Returns the ids of a fused location's parts; empty for other locations.
    pub fn loc_parts(&self, loc: &Loc) -> &[u32] {
        match loc.kind {
            LocKind::FUSED => self.ids_in(loc_range(loc)),
            _ => &[],
        }
    }

    /// Iterates over the parts of a fused location; another location yields itself.
    pub fn single_locs(&self, id: LocId) -> impl Iterator<Item = &Loc> + '_ {
        let loc = self.loc(id);
        let parts = loc.map_or(&[][..], |loc| self.loc_parts(loc)).iter();
        let parts = parts.filter_map(|&part| self.loc(LocId(part)));
        let all = loc.into_iter().chain(parts);
        all.filter(|loc| loc.kind != LocKind::FUSED)
    }

    /// Interns a location.
    pub fn add_loc(&mut self, loc: Loc) -> LocId {
        LocId(intern_record(&mut self.locs, &mut self.loc_index, loc))
    }

    /// Rebuilds the index of locations after their ranges moved.
    pub(crate) fn index_locs(&mut self) {
        let locs = &self.locs;
        self.loc_index.clear();
        for (id, loc) in locs.iter().enumerate() {
            let hash = FxBuildHasher.hash_one(loc);
            let rehash = |&id: &u32| FxBuildHasher.hash_one(locs[id as usize]);
            self.loc_index.insert_unique(hash, id as u32, rehash);
        }
    }

    /// Interns the location of an ONNX node, given its name.
    pub fn add_name_loc(&mut self, name: &str) -> LocId {
        let name = self.symbols.intern(name);
        self.add_loc(Loc {
            kind: LocKind::NAME,
            name,
            a: 0,
            b: 0,
        })
    }

    /// Fuses locations; nested fused locations are flattened.
    pub fn fuse_locs(&mut self, locs: &[LocId]) -> LocId {
        let mut parts: Vec<u32> = Vec::new();
        for &id in locs {
            match self.loc(id) {
                Some(loc) if loc.kind == LocKind::FUSED => parts.extend(self.loc_parts(loc)),
                Some(_) => parts.push(id.0),
                None => {}
            }
        }
        let mut seen = FxHashSet::default();
        parts.retain(|&id| seen.insert(id));
        match parts.as_slice() {
            [] => LocId::NONE,
            &[one] => LocId(one),
            _ => {
                let Range { start, len } = push_range(&mut self.ids, parts);
                self.add_loc(Loc {
                    kind: LocKind::FUSED,
                    name: SymbolId::NONE,
                    a: start,
                    b: len,
                })
            }
        }
    }
}
