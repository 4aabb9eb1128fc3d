//! Macros for the generated declarations.

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident $prefix:literal)*) => {$(
        $(#[doc = $doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No entity: an omitted operand, the end of a list.
            pub const NONE: $name = $name(u32::MAX);

            /// Whether this is [`Self::NONE`].
            #[inline]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            /// Whether this is the id of an entity, which may be erased.
            #[inline]
            pub const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// Returns the index in the arena.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the id, or `None` for [`Self::NONE`].
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

/// A struct whose bytes are all 0.
macro_rules! zeros {
    ($name:ty) => {{
        union Zeros {
            bytes: [u8; core::mem::size_of::<$name>()],
            value: $name,
        }
        let zeros = Zeros {
            bytes: [0; core::mem::size_of::<$name>()],
        };
        // SAFETY: the struct consists of integers, pointers and `Option`s of functions, for which all zeros is valid.
        unsafe { zeros.value }
    }};
}

macro_rules! grows {
    ($($name:ident $(flags ($known:expr) $(; $reserved:ident)?)?),* $(,)?) => {$(
        impl $name {
            /// The struct with its size set and all other fields 0.
            pub const EMPTY: Self = {
                let mut empty = zeros!($name);
                empty.struct_size = core::mem::size_of::<$name>() as u32;
                empty
            };
        }

        // SAFETY: it starts with its size, and consists of integers, pointers and `Option`s of functions.
        unsafe impl crate::Grows for $name {
            const NAME: &'static str = stringify!($name);
            const EMPTY: Self = $name::EMPTY;
            // Requests have flags.
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

/// Entries of a table, which may get more fields. The table has their stride.
macro_rules! entries {
    ($($name:ident),* $(,)?) => {$(
        impl $name {
            /// The entry with all fields 0.
            pub const EMPTY: Self = zeros!($name);
        }
    )*};
}
