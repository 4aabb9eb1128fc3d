//! [`OpTraits`]: the traits of op definitions.

use std::ops::BitOr;

use passdock_abi::OpEntry;

/// The traits that a definition declares for all ops of its name.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// let traits = OpTraits::PURE | OpTraits::COMMUTATIVE;
/// assert!(traits.is_pure() && !traits.is_random());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpTraits(pub u64);

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident $question:ident;)*) => {
        impl OpTraits {
            /// No traits.
            pub const NONE: OpTraits = OpTraits(0);
            $($(#[$doc])* pub const $name: OpTraits = OpTraits(OpEntry::$name);)*

            $($(#[$doc])* pub const fn $question(self) -> bool {
                self.0 & OpEntry::$name != 0
            })*

            /// Returns the union of two sets of traits. Usable in a `const`; elsewhere, use `|`.
            pub const fn with(self, more: OpTraits) -> OpTraits {
                OpTraits(self.0 | more.0)
            }
        }
    };
}

impl OpTraits {
    /// The op is pure, and two runs with equal operands give equal results.
    pub const fn is_deterministic(self) -> bool {
        self.is_pure() && !self.is_random() && !self.is_stateful()
    }
}

traits! {
    /// The op has a definition.
    DEFINED is_defined;
    /// The op has no side effects: it may be erased, merged and moved.
    PURE is_pure;
    /// The op is random: two runs give different results.
    RANDOM is_random;
    /// The op keeps state between runs.
    STATEFUL is_stateful;
    /// Operands may be swapped.
    COMMUTATIVE is_commutative;
    /// The op works element by element, with broadcasting.
    ELEMENTWISE is_elementwise;
    /// The op is idempotent: applying it again has no effect.
    IDEMPOTENT is_idempotent;
    /// The first result is the first operand.
    IDENTITY is_identity;
    /// The results may be much larger than the operands: folding the op grows the model.
    GROWS grows;
    /// The op reads memory that operand 0 points to.
    READS reads;
    /// The op writes memory that an operand points to.
    WRITES writes;
    /// The op allocates memory.
    ALLOCATES allocates;
    /// The definition has an evaluation.
    FOLDS folds;
    /// The results depend on the operands' types only.
    SHAPE_ONLY is_shape_only;
    /// The definition has a decomposition into other ops.
    DECOMPOSES decomposes;
    /// A function of the module has the operator's name. A runtime may use either of them, so the op has no other
    /// traits.
    AMBIGUOUS is_ambiguous;
    /// Each element of a result is computed from selected elements of the operands, not from all elements along an
    /// axis: the op moves, resizes, samples or quantizes data.
    INJECTIVE is_injective;
    /// The op reduces axes.
    REDUCTION is_reduction;
    /// Elementwise users can be fused into the op, for example into a convolution.
    OUT_FUSABLE is_out_fusable;
    /// The definition has a body for back ends.
    ILLEGAL is_illegal;
    /// The definition describes the op in other layouts.
    KNOWS_LAYOUT knows_layout;
    /// The definition prefers other layouts.
    ALTERS_LAYOUT alters_layout;
    /// The op is defined only in a later version of its domain than the function's. It has no other traits.
    LATER is_later;
}

impl BitOr for OpTraits {
    type Output = OpTraits;

    fn bitor(self, more: OpTraits) -> OpTraits {
        self.with(more)
    }
}
