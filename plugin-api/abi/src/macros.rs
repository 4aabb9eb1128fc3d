//! What the generated declarations are written with.

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

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                if self.is_none() { f.write_str("_") } else { write!(f, concat!($prefix, "{}"), self.0) }
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    )*};
}

macro_rules! symbols {
    (first $first:literal; $($name:ident = $id:literal $text:literal,)*) => {
        /// The symbols that every module interns first, so that they are constants.
        pub mod symbol {
            use super::SymbolId;

            $(
                #[doc = concat!("`", $text, "`")]
                pub const $name: SymbolId = SymbolId($id);
            )*
            /// The texts of these symbols, in id order: from 0 on, without a gap.
            pub const WELL_KNOWN: &[&str] = &[$($text),*];
            /// The first symbol that is a module's own. Those between the last well-known one and this are
            /// reserved for well-known ones of later versions: no text has them.
            pub const FIRST: SymbolId = SymbolId($first);
        }
    };
}

macro_rules! dtypes {
    ($($name:ident $text:literal $bits:literal,)*) => {
        impl DType {
            /// Every known element type.
            pub const ALL: &'static [DType] = &[$(DType::$name),*];

            /// The spelling in IR text; `None` for a code this side doesn't know.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(DType::$name => Some($text),)*
                    _ => None,
                }
            }

            /// Bits of one element; 0 for strings and unknown codes.
            pub const fn bits(self) -> u32 {
                match self {
                    $(DType::$name => $bits,)*
                    _ => 0,
                }
            }

            /// The type that is spelt so in IR text.
            pub fn from_name(text: &str) -> Option<DType> {
                match text {
                    $($text => Some(DType::$name),)*
                    _ => None,
                }
            }
        }
    };
}

/// A struct of which every byte is 0.
macro_rules! zeros {
    ($name:ty) => {{
        union Zeros {
            bytes: [u8; core::mem::size_of::<$name>()],
            value: $name,
        }
        let zeros = Zeros {
            bytes: [0; core::mem::size_of::<$name>()],
        };
        // SAFETY: integers, pointers and `Option`s of functions: all zeros is a value.
        unsafe { zeros.value }
    }};
}

macro_rules! grows {
    ($($name:ident $(flags ($known:expr) $(; $reserved:ident)?)?),* $(,)?) => {$(
        impl $name {
            /// The struct with its size, and nothing else.
            pub const EMPTY: Self = {
                let mut empty = zeros!($name);
                empty.struct_size = core::mem::size_of::<$name>() as u32;
                empty
            };
        }

        // SAFETY: it starts with its size, and is made of integers, pointers and `Option`s of functions.
        unsafe impl crate::Grows for $name {
            const NAME: &'static str = stringify!($name);
            const EMPTY: Self = $name::EMPTY;
            // What asks for something has flags.
            const ASKS: bool = {
                let known: &[u32] = &[$($known)?];
                !known.is_empty()
            };
            $(
                #[inline]
                fn unknown_flags(&self) -> u32 {
                    self.flags & !$known $(| self.$reserved)?
                }
            )?
        }
    )*};
}

/// Entries of a table, which grow as well: the table says how far apart they are.
macro_rules! entries {
    ($($name:ident),* $(,)?) => {$(
        impl $name {
            /// The entry with nothing in it.
            pub const EMPTY: Self = zeros!($name);
        }
    )*};
}

macro_rules! layout {
    ($($name:ident),* $(,)?) => {
        /// A fingerprint of the sizes of records and structs, for messages: two builds that differ in it
        /// don't fit, even if their versions say so.
        pub const LAYOUT: u32 = {
            let sizes = [$(core::mem::size_of::<$name>()),*];
            // FNV-1a.
            let mut hash: u32 = 0x811c_9dc5;
            let mut i = 0;
            while i < sizes.len() {
                hash = (hash ^ sizes[i] as u32).wrapping_mul(0x0100_0193);
                i += 1;
            }
            hash
        };
    };
}
