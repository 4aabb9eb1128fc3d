//! [`Forward`]: what each op comes to, tried out beside the function.

use std::collections::{BTreeMap, HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::budget::Limits;
use crate::shared::accept::Answers;
use crate::shared::column::Column;

/// The values that the ops of a function come to.
pub(super) struct Forward<'a> {
    pub(super) cx: &'a PassContext,
    /// Flags of the checker, per op id.
    pub(super) flags: Column<bool>,
    /// Per op id, whether its value can be of use.
    pub(super) useful: Column<bool>,
    /// The branches that run if anything does, by If: whether it is `then_branch`.
    pub(super) only: HashMap<OpId, bool>,
    /// The bytes beyond which a splat stays one.
    pub(super) large: u64,
    /// Whether the function may grow as it likes.
    pub(super) may_grow: bool,
    /// The elements of large splats.
    pub(super) elements: HashMap<ValueId, Vec<u8>>,
    /// Constants of one element, by type and bytes.
    pub(super) singles: HashMap<(u32, Vec<u8>), ValueId>,
    /// Bytes that scratch constants may take.
    pub(super) room: u64,
    /// Per value id, the scratch constant that it comes to.
    known: Column<ValueId>,
    /// Ops whose values are known, in program order.
    pub(super) folded: Vec<Folded>,
    /// Ops of which a user couldn't take the value as a constant.
    pub(super) pinned: HashSet<OpId>,
    /// Constants that ops which are gone used.
    pub(super) left: Vec<ConstId>,
    /// The answers of users of copies of constants.
    pub(super) asked: Answers,
    /// Refusals of ops whose operands are constant, by name and reason. Some may go later.
    pub(super) refused: BTreeMap<(String, String), Vec<OpId>>,
}

/// An op, and the scratch constants that its results come to.
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
            asked: Answers::new(),
            refused: BTreeMap::new(),
        }
    }

    /// The constant that a value is or comes to.
    pub(super) fn constant(&self, f: &Function, value: ValueId) -> Option<ValueId> {
        if f.constant(value).is_some() {
            return Some(value);
        }
        self.known(value)
    }

    /// The scratch constant that a value comes to.
    pub(super) fn known(&self, value: ValueId) -> Option<ValueId> {
        self.known.get(value.index()).option()
    }

    /// Notes the scratch constants that an op's results come to.
    pub(super) fn know(&mut self, f: &Function, op: OpId, values: Vec<ValueId>) {
        for (&result, &value) in f.results(op).iter().zip(&values) {
            self.known.set(result.index(), value);
            self.room = self.room.saturating_sub(byte_len(f, value));
        }
        self.folded.push(Folded { op, values });
    }

    pub(super) fn refuse(&mut self, f: &Function, op: OpId, why: &str) {
        let key = (f.name(op).to_owned(), why.to_owned());
        self.refused.entry(key).or_default().push(op);
    }
}

/// The reason why an op isn't folded whose value would be too large to be kept.
pub(super) const GROWS: &str = "would make the model larger";

/// The reason why an op isn't folded whose value takes more memory than folding may, where the model may grow.
pub(super) const TOO_LARGE: &str =
    "would take more than folding may: 2 GiB, or 4 times what the constants take";

/// The reason why what is quantised isn't folded.
pub(super) const QUANTISED: &str = "what is quantised stays so; --allow-growth folds it";

/// The number of bytes of a constant; 0 for what is none.
pub(super) fn byte_len(f: &Function, value: ValueId) -> u64 {
    let record = f.constant(value).and_then(|id| f.constant_record(id));
    record.map_or(0, |record| record.byte_len)
}
