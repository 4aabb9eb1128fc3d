//! Ids: `u32` newtypes that name one entity of one function (symbols: of one module).
//!
//! An id is never reused while a pass runs, so a stale id is an error and never another entity.
//! `Display` is the spelling used by messages and debug output.

use core::fmt;

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident $prefix:literal)*) => {$(
        $(#[doc = $doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No entity: an operand left out, the end of a list.
            pub const NONE: $name = $name(u32::MAX);

            /// Whether this is [`Self::NONE`].
            #[inline]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            /// Whether this names an entity (which may still be dead).
            #[inline]
            pub const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// The position in its arena.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id; `None` for [`Self::NONE`].
            #[inline]
            pub const fn option(self) -> Option<$name> {
                if self.is_none() { None } else { Some(self) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.is_none() { f.write_str("_") } else { write!(f, concat!($prefix, "{}"), self.0) }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

ids! {
    /// An op of a function.
    OpId "op"
    /// A value: an op's result, a region's argument, or a constant.
    ValueId "v"
    /// A region: the function's body, or nested in an op.
    RegionId "region"
    /// An interned type of a function: equal ids are equal types.
    TypeId "type"
    /// A constant of a function.
    ConstId "const"
    /// A dim expression of a function.
    ExprId "expr"
    /// A location of a function.
    LocId "loc"
    /// An operand slot, which is also a node of its value's use list.
    UseId "use"
    /// An interned string of a module.
    SymbolId "sym"
}

/// The symbols that every module interns first, so that they are constants.
pub mod symbol {
    use super::SymbolId;

    macro_rules! well_known {
        ($($name:ident = $id:literal $text:literal),* $(,)?) => {
            $(
                #[doc = concat!("`", $text, "`")]
                pub const $name: SymbolId = SymbolId($id);
            )*
            /// The well-known texts, in id order: from 0 on, without a gap.
            pub const WELL_KNOWN: &[&str] = &[$($text),*];
        };
    }

    well_known! {
        EMPTY = 0 "",
        RETURN = 1 "return",
        YIELD = 2 "yield",
        CALL = 3 "call",
        IF = 4 "if",
        FOR = 5 "for",
        WHILE = 6 "while",
        TUPLE = 7 "tuple",
        TUPLE_GET = 8 "tuple_get",
        CALLEE = 9 "callee",
        INDEX = 10 "index",
    }

    /// The first symbol that is a module's own. Those between the last well-known one and this are
    /// reserved for well-known ones of later versions: no text has them.
    pub const FIRST: SymbolId = SymbolId(256);
}
