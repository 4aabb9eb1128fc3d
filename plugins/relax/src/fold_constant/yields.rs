//! Regions that give out constants: each gives out one of its own.
//!
//! In a file a region gives out what it has itself, so that a constant from outside is copied in it
//! (`onnx.Identity`), by the model or when it is written.

use std::collections::HashSet;

use passdock_plugin_api::Status;
use passdock_plugin_api::prelude::*;

use super::budget::{CONSTANT, OP, freed};
use super::forward::byte_len;

/// The bytes of a constant that is made again in a region: the file's are left where they are.
const MOST: u64 = 1 << 20;

/// Lets regions give out constants of their own in the place of copies, if those take no more than the copies do.
pub(super) fn own(f: &mut Function, allow_growth: bool) -> Result<(), EditError> {
    let nested: Vec<RegionId> = f
        .iter()
        .flat_map(|op| f.regions(op).iter().copied())
        .collect();
    for region in nested {
        let Some(end) = f.terminator(region) else {
            continue;
        };
        let mut given: HashSet<ValueId> = f
            .operands(end)
            .filter(|&value| is_own(f, value, region))
            .collect();
        for index in 0..f.operand_count(end) {
            let Some(found) = Given::at(f, end, index) else {
                continue;
            };
            let is_own = is_own(f, found.constant, region);
            if is_own && found.copy.is_none() {
                continue;
            }
            let value = match is_own && given.insert(found.constant) {
                true => found.constant,
                false if !allow_growth && !found.is_paid(f) => continue,
                false => match found.again(f, region)? {
                    Some(value) => value,
                    None => continue,
                },
            };
            given.insert(value);
            found.replace(f, end, index, value)?;
        }
    }
    Ok(())
}

/// Whether a value is a constant of the very region.
fn is_own(f: &Function, value: ValueId, region: RegionId) -> bool {
    let constant = f.constant(value).and_then(|id| f.constant_record(id));
    constant.is_some_and(|constant| constant.region == region)
}

/// A constant that a region gives out.
struct Given {
    constant: ValueId,
    /// The op that copies it in the region.
    copy: Option<OpId>,
}

impl Given {
    fn at(f: &Function, end: OpId, index: usize) -> Option<Given> {
        let value = f.operand(end, index)?;
        if f.constant(value).is_some() {
            return Some(Given {
                constant: value,
                copy: None,
            });
        }
        let copy = f.defining_op(value)?;
        let is_near = f.parent_region(copy) == f.parent_region(end);
        let is_copy = f.traits(copy).is_identity() && f.result_count(copy) == 1 && is_near;
        // Who else uses the copy may not take a constant.
        let is_only = f.use_count(value) == 1;
        let constant = f.operand(copy, 0).filter(|_| is_copy && is_only)?;
        f.constant(constant).map(|_| Given {
            constant,
            copy: Some(copy),
        })
    }

    /// Whether one more constant takes no more bytes than the copy, and the constant if nobody else needs it.
    fn is_paid(&self, f: &Function) -> bool {
        let new = byte_len(f, self.constant).saturating_add(CONSTANT);
        let goes = f
            .constant(self.constant)
            .filter(|_| f.use_count(self.constant) == 1);
        let saved = goes.map_or(0, |id| freed(f, id));
        new <= saved.saturating_add(OP)
    }

    /// The same constant in a region; `None` if it is too large, or its elements aren't bytes.
    fn again(&self, f: &mut Function, region: RegionId) -> Result<Option<ValueId>, EditError> {
        if byte_len(f, self.constant) > MOST || f.dtype(self.constant) == DType::STRING {
            return Ok(None);
        }
        let Some(bytes) = f.constant_data(self.constant)?.map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        let ty = f.type_id(self.constant);
        let constant = ConstantSpec::new(ty, &bytes).in_region(region);
        f.add_constant(&constant).map(Some)
    }

    fn replace(
        &self,
        f: &mut Function,
        end: OpId,
        index: usize,
        value: ValueId,
    ) -> Result<(), EditError> {
        let done = match self.copy {
            Some(copy) => f.replace_op_with(copy, &[value]),
            None => f.set_operand(end, index, value),
        };
        match done {
            Ok(()) => f.erase_dead(self.constant),
            // The model declares something else of the copy.
            Err(error) if error.status == Status::REFUSED => f.erase_dead(value),
            Err(error) => Err(error),
        }
    }
}
