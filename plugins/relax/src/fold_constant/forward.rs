//! [`Forward`]: the scratch constants that the ops of a function evaluate to. The function itself isn't changed yet.

use std::collections::{BTreeMap, HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::budget::Limits;
use crate::shared::accept::Rejections;
use crate::shared::column::Column;

/// The state of the forward walk, which evaluates ops.
pub(super) struct Forward<'a> {
    pub(super) cx: &'a PassContext,
    /// The candidates that the checker found, per op id.
    pub(super) flags: Column<bool>,
    /// Per op id, whether its value can be useful.
    pub(super) useful: Column<bool>,
    /// The only branch that can run, by `If`: whether it is `then_branch`.
    pub(super) only: HashMap<OpId, bool>,
    /// Splats of more bytes aren't expanded.
    pub(super) large: u64,
    /// Whether the function may grow without limit.
    pub(super) may_grow: bool,
    /// The elements of large splats.
    pub(super) elements: HashMap<ValueId, Vec<u8>>,
    /// Constants of one element, by type and bytes.
    pub(super) singles: HashMap<(u32, Vec<u8>), ValueId>,
    /// The remaining memory budget of scratch constants, in bytes.
    pub(super) room: u64,
    /// Per value id, the scratch constant that it evaluates to.
    known: Column<ValueId>,
    /// Ops whose values are known, in program order.
    pub(super) folded: Vec<Folded>,
    /// Ops that stay because a user would be invalid with their value as a constant.
    pub(super) pinned: HashSet<OpId>,
    /// Constants that were operands of replaced ops.
    pub(super) left: Vec<ConstId>,
    /// Cached results of checking the users of copies of constants.
    pub(super) checked: Rejections,
    /// Rejected ops with constant operands, by name and reason. Later steps may remove some of them.
    pub(super) rejected: BTreeMap<(String, String), Vec<OpId>>,
}

/// An op, and the scratch constants that its results evaluate to.
pub(super) struct Folded {
    pub(super) op: OpId,
    pub(super) values: Vec<ValueId>,
}

impl<'a> Forward<'a> {
    pub(super) fn new(
        cx: &'a PassContext,
        flags: Column<bool>,
        useful: Column<bool>,
        only: HashMap<OpId, bool>,
        limits: &Limits,
    ) -> Forward<'a> {
        Forward {
            cx,
            flags,
            useful,
            only,
            large: limits.one,
            may_grow: limits.one == u64::MAX,
            elements: HashMap::new(),
            singles: HashMap::new(),
            room: limits.scratch,
            known: Column::new(ValueId::NONE),
            folded: Vec::new(),
            pinned: HashSet::new(),
            left: Vec::new(),
            checked: Rejections::new(),
            rejected: BTreeMap::new(),
        }
    }

    /// Returns the constant that a value is or evaluates to.
    pub(super) fn constant(&self, f: &Function, value: ValueId) -> Option<ValueId> {
        if f.constant(value).is_some() {
            return Some(value);
        }
        self.known(value)
    }

    /// Returns the scratch constant that a value evaluates to.
    pub(super) fn known(&self, value: ValueId) -> Option<ValueId> {
        self.known.get(value.index()).option()
    }

    /// Records the scratch constants that an op's results evaluate to.
    pub(super) fn know(&mut self, f: &Function, op: OpId, values: Vec<ValueId>) {
        for (&result, &value) in f.results(op).iter().zip(&values) {
            self.known.set(result.index(), value);
            self.room = self.room.saturating_sub(byte_len(f, value));
        }
        self.folded.push(Folded { op, values });
    }

    pub(super) fn reject(&mut self, f: &Function, op: OpId, why: &str) {
        let key = (f.name(op).to_owned(), why.to_owned());
        self.rejected.entry(key).or_default().push(op);
    }
}

/// The reason for values that exceed the growth limit.
pub(super) const GROWS: &str = "folding would make the model larger";

/// The reason for values that exceed the memory limit, where the model may grow.
pub(super) const TOO_LARGE: &str =
    "folding would exceed the larger of 2 GiB and 4 times the size of the constants";

/// The reason for quantized values.
pub(super) const QUANTIZED: &str =
    "quantized values are not folded; pass `--allow-growth` to fold them";

/// Returns the size of a constant in bytes; 0 if the value isn't a constant.
pub(super) fn byte_len(f: &Function, value: ValueId) -> u64 {
    let record = f.constant(value).and_then(|id| f.constant_record(id));
    record.map_or(0, |record| record.byte_len)
}
