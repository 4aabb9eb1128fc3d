//! What importers and parsers may do beyond editing: say what a file said.

use passdock_abi::{
    Constant, Loc, LocId, LocKind, Op, OpId, Opset, Port, Range, Region, RegionId, SymbolId, Value,
    ValueId,
};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::hash::BuildHasher;

use crate::error::Edit;
use crate::function::Function;
use crate::types::push_range;

/// How many domains a function or file may have a version of: they are looked for one by one.
pub const MAX_OPSETS: usize = 1024;

impl Function {
    /// Gives a value the name it has in the file, which another region's value may have too.
    pub fn import_name(&mut self, value: ValueId, name: SymbolId) {
        self.names = None;
        self.values[value.index()].name = name;
    }

    /// Says that the file leaves a result out.
    pub fn import_absent(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::ABSENT;
    }

    /// Says that the file declares a value's type beside its definition.
    pub fn import_declared(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::DECLARED;
    }

    /// Sets the version of a domain.
    pub fn set_opset(&mut self, domain: SymbolId, version: i64) {
        match self.opsets.iter_mut().find(|opset| opset.domain == domain) {
            Some(opset) => opset.version = version,
            None => self.opsets.push(Opset {
                domain,
                reserved: 0,
                version,
            }),
        }
        self.touch_function();
    }

    /// Interns a location.
    pub fn add_loc(&mut self, loc: Loc) -> LocId {
        let hash = FxBuildHasher.hash_one(loc);
        let locs = &self.locs;
        if let Some(&id) = self.loc_index.find(hash, |&id| locs[id as usize] == loc) {
            return LocId(id);
        }
        let id = self.locs.len() as u32;
        self.locs.push(loc);
        let locs = &self.locs;
        self.loc_index
            .insert_unique(hash, id, |&id| FxBuildHasher.hash_one(locs[id as usize]));
        LocId(id)
    }

    /// Finds locations again after their ranges moved.
    pub(crate) fn index_locs(&mut self) {
        let locs = &self.locs;
        self.loc_index.clear();
        for (id, loc) in locs.iter().enumerate() {
            let hash = FxBuildHasher.hash_one(loc);
            let rehash = |&id: &u32| FxBuildHasher.hash_one(locs[id as usize]);
            self.loc_index.insert_unique(hash, id as u32, rehash);
        }
    }

    /// A location by the name of an ONNX node.
    pub fn add_name_loc(&mut self, name: &str) -> LocId {
        let name = self.symbols.intern(name);
        self.add_loc(Loc {
            kind: LocKind::NAME,
            name,
            a: 0,
            b: 0,
        })
    }

    /// A location that says "came from these"; what is fused already is taken apart.
    pub fn fuse_locs(&mut self, locs: &[LocId]) -> LocId {
        let mut parts: Vec<u32> = Vec::new();
        for &id in locs {
            match self.loc(id) {
                Some(loc) if loc.kind == LocKind::FUSED => {
                    let range = Range {
                        start: loc.a,
                        len: loc.b,
                    };
                    parts.extend(self.ids_in(range));
                }
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

    /// Sets an op's location.
    pub fn set_loc(&mut self, op: OpId, loc: LocId) -> Edit {
        self.live_op(op)?;
        self.ops[op.index()].loc = loc;
        self.touch_op(op);
        Ok(())
    }

    /// Sets a region's location: a graph's name.
    pub fn set_region_loc(&mut self, region: RegionId, loc: LocId) -> Edit {
        self.live_region(region)?;
        self.regions[region.index()].loc = loc;
        self.touch_region(region);
        Ok(())
    }

    /// Says that everything is as the file has it: nothing is touched.
    pub fn seal(&mut self) {
        self.ops.iter_mut().for_each(|op| op.flags &= !Op::TOUCHED);
        self.values
            .iter_mut()
            .for_each(|value| value.flags &= !Value::TOUCHED);
        self.regions
            .iter_mut()
            .for_each(|region| region.flags &= !Region::TOUCHED);
        self.ports
            .iter_mut()
            .for_each(|port| port.flags &= !Port::TOUCHED);
        self.constants
            .iter_mut()
            .for_each(|constant| constant.flags &= !Constant::TOUCHED);
        self.touched = false;
    }
}
