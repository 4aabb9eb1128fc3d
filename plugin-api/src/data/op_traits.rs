//! [`OpTraits`]: what definitions say of ops.

use std::ops::BitOr;

use passdock_abi::OpEntry;

/// The traits that a definition gives every op of its name.
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

            /// The union of two sets of traits; in a `const` (elsewhere `|` does).
            pub const fn with(self, more: OpTraits) -> OpTraits {
                OpTraits(self.0 | more.0)
            }
        }
    };
}

traits! {
    /// The op has a definition.
    DEFINED is_defined;
    /// The op has no effect but its results; may be erased, merged, moved.
    PURE is_pure;
    /// The op is random: two runs give different results.
    RANDOM is_random;
    /// The op keeps state between runs.
    STATEFUL is_stateful;
    /// Operands may change places.
    COMMUTATIVE is_commutative;
    /// The op works element by element, with broadcasting.
    ELEMENTWISE is_elementwise;
    /// The op is idempotent: applying it twice is applying it once.
    IDEMPOTENT is_idempotent;
    /// The first result is the first operand.
    IDENTITY is_identity;
    /// The op makes much out of little: folding it grows the model.
    GROWS grows;
    /// The op reads what operand 0 points at.
    READS reads;
    /// The op writes what an operand points at.
    WRITES writes;
    /// The op makes memory.
    ALLOCATES allocates;
    /// The definition has an evaluation.
    FOLDS folds;
    /// The results depend on the operands' types only.
    SHAPE_ONLY is_shape_only;
    /// The definition has a body of other ops.
    DECOMPOSES decomposes;
    /// A function of the module has the operator's name: whether an op means it or the operator is
    /// its runtime's to say. It has no other traits.
    AMBIGUOUS is_ambiguous;
    /// Each element of the results is made of elements that are looked up, not of all along an axis:
    /// the op moves, resizes, samples or quantizes data.
    INJECTIVE is_injective;
    /// The op reduces axes.
    REDUCTION is_reduction;
    /// Elementwise ops behind it can become part of it, as of a convolution.
    OUT_FUSABLE is_out_fusable;
    /// The definition has a body for back ends.
    LEGALIZES legalizes;
    /// The definition says what the op is in other layouts.
    KNOWS_LAYOUT knows_layout;
    /// The definition wants layouts of its own.
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
