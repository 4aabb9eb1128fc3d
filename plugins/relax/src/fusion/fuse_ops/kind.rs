//! Fusion kinds of ops (TVM's `OpPatternKind`).

use passdock_plugin_api::prelude::*;

use crate::fusion::shared::placeholders::Placeholders;
use crate::shared::read::is_one;

/// A fusion kind. Higher kinds are fused with fewer ops. The kind of a group is the maximum of its ops' kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// An element of the result depends only on the elements of the operands at the same index.
    Elementwise,
    /// Like [`Kind::Elementwise`], but operands are broadcast.
    Broadcast,
    /// An element of the result is computed from elements at other indices of the operands, as in data movement.
    Injective,
    /// Reduces axes.
    Reduction,
    /// Elementwise ops that follow can be fused into the op.
    OutFusable,
    /// Not fused.
    Opaque,
}

impl Kind {
    /// Returns the kind of an op.
    pub(super) fn from_op(f: &Function, op: OpId, placeholders: &Placeholders<'_>) -> Kind {
        let traits = placeholders.traits(f, op);
        let is_plain = |&value: &ValueId| {
            matches!(
                f.type_of(value).kind(),
                TypeKind::TENSOR | TypeKind::UNKNOWN
            )
        };
        if !traits.is_deterministic()
            || !f.regions(op).is_empty()
            || !f.results(op).iter().all(is_plain)
        {
            return Kind::Opaque;
        }
        let is_elementwise =
            traits.is_elementwise() || (traits.is_identity() && f.operand_count(op) == 1);
        if is_elementwise {
            let result = f.result(op, 0);
            let fits = |value: ValueId| is_one(f, value) || has_dims_of(f, value, result);
            let mut operands = f.operands(op).filter(|value| value.is_some());
            return match operands.all(fits) {
                true => Kind::Elementwise,
                false => Kind::Broadcast,
            };
        }
        if traits.is_injective() {
            // These ops repeat elements along axes or insert axes, and don't permute elements.
            match f.name(op) {
                "onnx.Expand" | "onnx.Unsqueeze" => Kind::Broadcast,
                _ => Kind::Injective,
            }
        } else if traits.is_reduction() {
            Kind::Reduction
        } else if traits.is_out_fusable() {
            Kind::OutFusable
        } else {
            Kind::Opaque
        }
    }

    /// Returns the kind of the use of a value by an op.
    pub(super) fn for_use(f: &Function, value: ValueId, user: OpId, kind: Kind) -> Kind {
        match kind {
            Kind::Broadcast if has_dims_of(f, value, f.result(user, 0)) => Kind::Elementwise,
            kind => kind,
        }
    }
}

/// Whether two values have provably equal dims.
fn has_dims_of(f: &Function, one: ValueId, other: ValueId) -> bool {
    if f.type_id(one) == f.type_id(other) && f.rank(one) == Some(0) {
        return true;
    }
    let (Some(one), Some(other)) = (f.dims(one), f.dims(other)) else {
        return false;
    };
    one.len() == other.len() && one.zip(other).all(|(a, b)| a.is_same(b))
}
