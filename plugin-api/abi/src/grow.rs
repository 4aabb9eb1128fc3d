//! Structs that grow: tables, views, descriptions.
//!
//! Each starts with its size, as the side knows it that filled it. The other side reads what both
//! know; what is missing counts as 0, which means "not there" in every field. 0 is an id as well: one
//! that is appended counts only with a flag that says so.

use core::mem::size_of;

use crate::desc::{ConstantDesc, OpDesc};
use crate::record::{Attr, Type};
use crate::{analysis, desc, host, instrument, op, plugin, view};

/// A struct that starts with its size, so that fields can be appended to it.
///
/// # Safety
/// `repr(C)`, the first field is `struct_size: u32`, and all zeros is a value of it.
pub unsafe trait Grows: Copy {
    /// The struct's name in messages.
    const NAME: &'static str;
    /// The struct with its size, and nothing else.
    const EMPTY: Self;
    /// Whether it asks the host to do something: a host that doesn't know all that is said in it refuses it.
    const ASKS: bool;

    /// The flags that it has and this side doesn't know, and the word that means nothing yet.
    fn unknown_flags(&self) -> u32 {
        0
    }
}

/// A struct of which every byte is 0.
macro_rules! zeros {
    ($name:ty) => {{
        union Zeros {
            bytes: [u8; size_of::<$name>()],
            value: $name,
        }
        let zeros = Zeros {
            bytes: [0; size_of::<$name>()],
        };
        // SAFETY: integers, pointers and `Option`s of functions: all zeros is a value.
        unsafe { zeros.value }
    }};
}

macro_rules! grows {
    ($($module:ident::$name:ident $(flags $known:expr $(; $reserved:ident)?)?),* $(,)?) => {$(
        impl $module::$name {
            /// The struct with its size, and nothing else.
            pub const EMPTY: Self = {
                let mut empty = zeros!($module::$name);
                empty.struct_size = size_of::<$module::$name>() as u32;
                empty
            };
        }

        // SAFETY: declared so where it stands.
        unsafe impl Grows for $module::$name {
            const NAME: &'static str = stringify!($name);
            const EMPTY: Self = $module::$name::EMPTY;
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
    ($($module:ident::$name:ident),* $(,)?) => {$(
        impl $module::$name {
            /// The entry with nothing in it.
            pub const EMPTY: Self = zeros!($module::$name);
        }
    )*};
}

grows!(
    analysis::AnalysisApi,
    desc::AttrDesc flags Attr::PARAM; reserved,
    desc::CloneDesc flags 0; reserved,
    desc::CloneOpsDesc flags 0,
    desc::ConstantDesc flags ConstantDesc::SPLAT,
    desc::EvaluateDesc flags 0,
    desc::FunctionDesc flags 0,
    desc::LaidOut,
    desc::OpDesc flags (OpDesc::TAKE_REGIONS | OpDesc::TAKE_ATTRS),
    desc::OutlineDesc flags 0; reserved,
    desc::PortDesc flags 0; reserved,
    desc::RegionDesc flags 0,
    desc::ResultsDesc flags 0; reserved,
    desc::RewriteDesc flags 0,
    desc::RunDesc flags 0,
    desc::TextDesc flags 0; reserved,
    desc::TypeDesc flags (Type::UNRANKED | Type::MAY_ALIAS),
    host::ContextApi,
    host::Diagnostic,
    host::Failure,
    host::FunctionApi,
    host::Host,
    host::Label,
    host::ModuleApi,
    host::Setting,
    host::SymbolApi,
    instrument::PassInfo,
    op::DefinitionApi,
    op::OpApi,
    plugin::Attach,
    plugin::Plugin,
    view::FunctionView,
    view::ModuleView,
);

entries!(
    instrument::InstrumentEntry,
    plugin::AttrEntry,
    plugin::OpEntry,
    plugin::PassEntry,
);
