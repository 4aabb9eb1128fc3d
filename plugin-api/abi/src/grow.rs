//! Structs that grow: tables, views, descriptions.
//!
//! Each starts with its size, as the side knows it that filled it. The other side reads what both
//! know; what is missing counts as 0, which means "not there" in every field.

use core::mem::size_of;

use crate::{analysis, desc, host, instrument, plugin, view};

/// A struct that starts with its size, so that fields can be appended to it.
///
/// # Safety
/// `repr(C)`, the first field is `struct_size: u32`, and all zeros is a value of it.
pub unsafe trait Grows: Copy {
    /// The struct's name in messages.
    const NAME: &'static str;
    /// The struct with its size, and nothing else.
    const EMPTY: Self;
}

macro_rules! grows {
    ($($module:ident::$name:ident),* $(,)?) => {$(
        impl $module::$name {
            /// The struct with its size, and nothing else.
            pub const EMPTY: Self = {
                union Zeros {
                    bytes: [u8; size_of::<$module::$name>()],
                    value: $module::$name,
                }
                let zeros = Zeros { bytes: [0; size_of::<$module::$name>()] };
                // SAFETY: integers, pointers and `Option`s of functions: all zeros is a value.
                let mut empty = unsafe { zeros.value };
                empty.struct_size = size_of::<$module::$name>() as u32;
                empty
            };
        }

        // SAFETY: declared so where it stands.
        unsafe impl Grows for $module::$name {
            const NAME: &'static str = stringify!($name);
            const EMPTY: Self = $module::$name::EMPTY;
        }
    )*};
}

grows!(
    analysis::AnalysisApi,
    desc::AttrDesc,
    desc::CloneDesc,
    desc::ConstantDesc,
    desc::FunctionDesc,
    desc::OpDesc,
    desc::PortDesc,
    desc::RegionDesc,
    desc::ResultsDesc,
    desc::TypeDesc,
    host::ContextApi,
    host::DefinitionApi,
    host::Diagnostic,
    host::Failure,
    host::FunctionApi,
    host::Host,
    host::Label,
    host::ModuleApi,
    host::OpApi,
    host::Setting,
    host::SymbolApi,
    instrument::PassInfo,
    plugin::Attach,
    plugin::Plugin,
    view::FunctionView,
    view::ModuleView,
);
