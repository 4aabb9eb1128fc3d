//! [`OpTraits`]: what definitions say of ops.

use std::ops::BitOr;

use passdock_abi::OpEntry;

/// What a definition says of every op of its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpTraits(pub u64);

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident $question:ident;)*) => {
        impl OpTraits {
            /// None.
            pub const NONE: OpTraits = OpTraits(0);
            $($(#[$doc])* pub const $name: OpTraits = OpTraits(OpEntry::$name);)*

            $($(#[$doc])* pub const fn $question(self) -> bool {
                self.0 & OpEntry::$name != 0
            })*

            /// These and those; in a `const` (elsewhere `|` does).
            pub const fn with(self, more: OpTraits) -> OpTraits {
                OpTraits(self.0 | more.0)
            }
        }
    };
}

traits! {
    /// Somebody defines the op.
    DEFINED is_defined;
    /// No effect but its results; may be erased, merged, moved.
    PURE is_pure;
    /// Two runs give different results.
    RANDOM is_random;
    /// Keeps state between runs.
    STATEFUL is_stateful;
    /// Operands may change places.
    COMMUTATIVE is_commutative;
    /// Element by element, with broadcasting.
    ELEMENTWISE is_elementwise;
    /// Applying it twice is applying it once.
    IDEMPOTENT is_idempotent;
    /// Its first result is its first operand.
    IDENTITY is_identity;
    /// Makes much out of little: folding it grows the model.
    GROWS grows;
    /// Reads what operand 0 points at.
    READS reads;
    /// Writes what an operand points at.
    WRITES writes;
    /// Makes memory.
    ALLOCATES allocates;
    /// Has an evaluation.
    FOLDS folds;
    /// Its results depend on its operands' types only.
    SHAPE_ONLY is_shape_only;
    /// Has a body of other ops.
    DECOMPOSES decomposes;
    /// A function of the module has the operator's name: whether an op means it or the operator is
    /// its runtime's to say. It has no other traits.
    AMBIGUOUS is_ambiguous;
}

impl BitOr for OpTraits {
    type Output = OpTraits;

    fn bitor(self, more: OpTraits) -> OpTraits {
        self.with(more)
    }
}
