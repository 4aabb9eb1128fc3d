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
