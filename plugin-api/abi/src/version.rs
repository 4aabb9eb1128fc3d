//! The two versions that host and plugin negotiate.

/// `major.minor`. Sides with the same major talk, and both use the smaller minor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// A break: nothing of another major is loaded.
    pub major: u32,
    /// Only additions.
    pub minor: u32,
}

/// The layout: records, tables, symbols.
///
/// 0.2: instruments in a plugin's table. 0.3: attributes and bodies of op definitions.
pub const ABI: Version = Version { major: 0, minor: 3 };

/// The meaning: op names the IR knows, kinds, invariants.
pub const IR: Version = Version { major: 0, minor: 1 };

/// A fingerprint of the records' sizes, for messages: two builds that differ in it don't fit, even
/// if their versions say so.
pub const LAYOUT: u32 = {
    use crate::{desc, host, instrument, plugin, record, view};
    use core::mem::size_of;
    let sizes = [
        size_of::<record::Op>(),
        size_of::<record::Value>(),
        size_of::<record::Use>(),
        size_of::<record::Region>(),
        size_of::<record::Port>(),
        size_of::<record::Attr>(),
        size_of::<record::Type>(),
        size_of::<record::Dim>(),
        size_of::<record::DimExpr>(),
        size_of::<record::Constant>(),
        size_of::<record::Loc>(),
        size_of::<record::Opset>(),
        size_of::<view::FunctionView>(),
        size_of::<view::ModuleView>(),
        size_of::<desc::OpDesc>(),
        size_of::<desc::AttrDesc>(),
        size_of::<desc::TypeDesc>(),
        size_of::<plugin::PassEntry>(),
        size_of::<plugin::OpEntry>(),
        size_of::<host::Host>(),
        size_of::<instrument::PassInfo>(),
        size_of::<instrument::InstrumentEntry>(),
        size_of::<plugin::AttrEntry>(),
    ];
    // FNV-1a.
    let mut hash: u32 = 0x811c_9dc5;
    let mut i = 0;
    while i < sizes.len() {
        hash = (hash ^ sizes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
};
