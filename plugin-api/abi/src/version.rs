//! The two versions that host and plugin negotiate.

/// `major.minor`. Sides with the same major talk, and both use the smaller minor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// A break: nothing of another major is loaded.
    pub major: u32,
    /// The number of additions.
    pub minor: u32,
}

/// The layout: records, tables, symbols.
///
/// 0.2: instruments in a plugin's table. 0.3: attributes and bodies of op definitions. 0.4: a break, so
/// that what comes later can be an addition.
pub const ABI: Version = Version { major: 0, minor: 4 };

/// The oldest minor of the major that this side understands: within major 0, that of the last break.
pub const OLDEST_MINOR: u32 = 4;

/// The meaning: op names the IR knows, kinds, invariants.
pub const IR: Version = Version { major: 0, minor: 1 };
