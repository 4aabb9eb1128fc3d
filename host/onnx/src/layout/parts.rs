//! The parts of each region: initializers, declared values, and the constants that were inputs.

use passdock_abi::{ConstId, Constant, OpId, RegionId, Value, ValueId};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashMap;

use super::constants::RegionConstants;
use super::sparse::sparse_initializers;
use crate::extras::importer_data::ImporterData;

/// The parts of one function.
pub(crate) struct Layout<'f> {
    pub(crate) f: &'f Function,
    pub(crate) constants: RegionConstants,
    /// The ops that are sparse initializers, with where those stood in the file.
    pub(crate) sparse: FxHashMap<OpId, u64>,
    /// Whether constants may be inputs too: of the main graph, before IR version 4, without its file.
    has_old_inputs: bool,
    /// The place of each op in the region at hand: scratch.
    pub(super) places: Vec<u32>,
}

impl<'f> Layout<'f> {
    /// The layout of a function; `has_old_inputs`: of the main graph of a model before IR version 4
    /// whose file isn't at hand.
    pub(crate) fn new(f: &'f Function, has_old_inputs: bool) -> Layout<'f> {
        Layout {
            f,
            constants: RegionConstants::new(f),
            sparse: sparse_initializers(f),
            has_old_inputs,
            places: vec![0; f.op_ids()],
        }
    }

    /// The constants of a region that aren't nodes: the defaults of its arguments, then the others.
    pub(crate) fn initializers(&self, region: RegionId) -> Vec<ConstId> {
        let f = self.f;
        let default = |id: ConstId| {
            let value = f.value(f.constant(id).value);
            (value.flags & Value::KIND != Value::CONST).then_some(value.index)
        };
        let ids = self.constants.in_region(region).iter().map(|&(_, id)| id);
        let mut ids: Vec<ConstId> = ids
            .filter(|&id| f.constant(id).flags & Constant::NODE == 0)
            .collect();
        ids.sort_by_key(|&id| default(id).unwrap_or(u32::MAX));
        ids
    }

    /// The values of a region whose types the file declares beside their definitions.
    pub(crate) fn declared(&self, region: RegionId) -> Vec<ValueId> {
        let is_declared = |value: &ValueId| self.f.value(*value).flags & Value::DECLARED != 0;
        let mut values: Vec<ValueId> = self.values(region).filter(is_declared).collect();
        values.sort_unstable();
        values
    }

    /// The results of a region's ops, and its constants.
    pub(crate) fn values(&self, region: RegionId) -> impl Iterator<Item = ValueId> {
        let f = self.f;
        let results = f.ops_in(region).flat_map(|op| f.results(op));
        let constants = self.constants.in_region(region).iter();
        results.chain(constants.map(|&(_, id)| f.constant(id).value))
    }

    /// Whether a constant was an initializer and an input of a model whose file isn't at hand, before
    /// IR version 4: both are its interface.
    pub(crate) fn is_old_input(&self, id: ConstId) -> bool {
        let record = self.f.constant(id);
        let kept = ImporterData::from_entity(self.f, Entity::Value(record.value));
        if kept.input.is_some() || kept.no_input {
            return kept.input.is_some();
        }
        self.has_old_inputs
            && record.flags & (Constant::NODE | Constant::TOUCHED) == 0
            && (record.region.is_none() || record.region == self.f.body())
            && self.is_own_value(record.value)
    }

    /// Whether a constant was an initializer before IR version 4.
    pub(crate) fn is_old_initializer(&self, id: ConstId) -> bool {
        let value = self.f.constant(id).value;
        self.is_old_input(id) || ImporterData::from_entity(self.f, Entity::Value(value)).no_input
    }

    /// Whether a constant is a value of its own, not a parameter's default.
    pub(crate) fn is_own_value(&self, value: ValueId) -> bool {
        self.f.value(value).flags & Value::KIND == Value::CONST
    }
}
