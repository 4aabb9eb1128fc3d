//! The constants of a function, by region.

use passdock_abi::{ConstId, Constant, RegionId};
use passdock_ir::{Entity, Function};

/// Live constants that are values, sorted by region and id.
pub(crate) struct RegionConstants(Vec<(RegionId, ConstId)>);

impl RegionConstants {
    pub(crate) fn new(f: &Function) -> RegionConstants {
        let mut constants: Vec<(RegionId, ConstId)> = f
            .live_constants()
            .filter(|(_, constant)| constant.value.is_some())
            .map(|(id, constant)| {
                let region = constant.region;
                (if region.is_none() { f.body() } else { region }, id)
            })
            .collect();
        constants.sort_unstable();
        RegionConstants(constants)
    }

    /// Returns the constants of a region, in id order.
    pub(crate) fn in_region(&self, region: RegionId) -> &[(RegionId, ConstId)] {
        let from = self.0.partition_point(|entry| entry.0 < region);
        let to = self.0.partition_point(|entry| entry.0 <= region);
        &self.0[from..to]
    }
}

/// Whether a constant was read from the file or from IR text.
pub(crate) fn is_imported(f: &Function, id: ConstId) -> bool {
    let touched = f.constant(id).flags & Constant::TOUCHED != 0;
    !touched || f.origins().get(Entity::Constant(id)).is_some()
}
