//! The parts of each region: initializers, declared values, and constants that were inputs.

use passdock_abi::{ConstId, Constant, OpId, RegionId, Value, ValueId};
use passdock_ir::{Entity, Function};
use rustc_hash::FxHashMap;

use super::constants::RegionConstants;
use super::sparse::sparse_initializers;
use crate::extras::importer_data::ImporterData;

/// The layout of one function.
pub(crate) struct Layout<'f> {
    pub(crate) f: &'f Function,
    pub(crate) constants: RegionConstants,
    /// The ops of sparse initializers, with the starts of those in the file.
    pub(crate) sparse: FxHashMap<OpId, u64>,
    /// Whether constants may also be inputs: in the main graph of a self-contained model before IR version 4.
    has_old_inputs: bool,
    /// Scratch space: the index of each op in the current region.
    pub(super) positions: Vec<u32>,
}

impl<'f> Layout<'f> {
    /// Creates the layout of a function. `has_old_inputs` is whether it is the main graph of a self-contained model
    /// before IR version 4.
    pub(crate) fn new(f: &'f Function, has_old_inputs: bool) -> Layout<'f> {
        Layout {
            f,
            constants: RegionConstants::new(f),
            sparse: sparse_initializers(f),
            has_old_inputs,
            positions: vec![0; f.op_ids()],
        }
    }

    /// Returns the constants of a region that aren't nodes: the defaults of its arguments, then the others.
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

    /// Returns the values of a region that have a value info in the file.
    pub(crate) fn declared(&self, region: RegionId) -> Vec<ValueId> {
        let is_declared = |value: &ValueId| self.f.value(*value).flags & Value::DECLARED != 0;
        let mut values: Vec<ValueId> = self.values(region).filter(is_declared).collect();
        values.sort_unstable();
        values
    }

    /// Returns the results of a region's ops, and its constants.
    pub(crate) fn values(&self, region: RegionId) -> impl Iterator<Item = ValueId> {
        let f = self.f;
        let results = f.ops_in(region).flat_map(|op| f.results(op));
        let constants = self.constants.in_region(region).iter();
        results.chain(constants.map(|&(_, id)| f.constant(id).value))
    }

    /// Whether a constant of a self-contained model was an initializer and also an input, before IR version 4. Then
    /// both are written.
    pub(crate) fn is_old_input(&self, id: ConstId) -> bool {
        let record = self.f.constant(id);
        let kept = ImporterData::from_entity(self.f, Entity::Value(record.value));
        if kept.input.is_some() || kept.no_input {
            return kept.input.is_some();
        }
        self.has_old_inputs
            && record.flags & (Constant::NODE | Constant::TOUCHED) == 0
            && (record.region.is_none() || record.region == self.f.body())
            && self.is_constant_value(record.value)
    }

    /// Whether a constant was an initializer in a model before IR version 4.
    pub(crate) fn is_old_initializer(&self, id: ConstId) -> bool {
        let value = self.f.constant(id).value;
        self.is_old_input(id) || ImporterData::from_entity(self.f, Entity::Value(value)).no_input
    }

    /// Whether a constant is a value by itself, and not a parameter's default.
    pub(crate) fn is_constant_value(&self, value: ValueId) -> bool {
        self.f.value(value).flags & Value::KIND == Value::CONST
    }
}
