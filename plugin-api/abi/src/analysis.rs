//! Analyses: an optional power of the host, [`EXTENSION`].
//!
//! The host's own are columns, worked out when they are first asked for. What a plugin works out
//! itself it can leave with the host, which gives it back while the function is as it was.

use core::ffi::c_void;

use crate::ids::{OpId, SymbolId};
use crate::status::Status;
use crate::view::{Column, Function, Str};

/// The id by which `get_extension` knows [`AnalysisApi`].
pub const EXTENSION: &str = "passdock.analysis.v0";

/// The names of the host's analyses.
pub mod name {
    /// A [`super::Liveness`] per value id.
    pub const LIVENESS: &str = "liveness";
    /// An [`super::OpOrder`] per op id.
    pub const ORDER: &str = "order";
    /// An [`super::OpEffects`] per op id.
    pub const EFFECTS: &str = "effects";
    /// A [`super::NameUse`] per name, in program order.
    pub const NAMES: &str = "names";
}

/// Drops what a plugin left with the host; any thread, any time, once.
pub type DropAnalysis = unsafe extern "C" fn(data: *mut c_void);

/// Analyses of a function.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AnalysisApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// A column of the host's, by its name; good until the next edit.
    pub column:
        Option<unsafe extern "C" fn(*const Function, name: Str, out: *mut Column) -> Status>,
    /// The analysis that is kept for the function as it is; NOT_FOUND if none is.
    pub get: Option<
        unsafe extern "C" fn(
            *const Function,
            owner: *const c_void,
            key: Str,
            out: *mut *mut c_void,
        ) -> Status,
    >,
    /// Gives `data` to the host, to be kept for the function as it is; `out` is what is kept.
    /// REFUSED if the function has 4,096 analyses already.
    pub put: Option<
        unsafe extern "C" fn(
            *const Function,
            owner: *const c_void,
            key: Str,
            data: *mut c_void,
            drop: Option<DropAnalysis>,
            out: *mut *mut c_void,
        ) -> Status,
    >,
    /// The kept analysis still holds, although the function changed; NOT_FOUND if none is kept.
    pub preserve:
        Option<unsafe extern "C" fn(*mut Function, owner: *const c_void, key: Str) -> Status>,
}

/// The last use of a value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// The last op in the value's own region that uses it, or that holds an op which does; NONE if
    /// nobody does.
    pub last_use: OpId,
}

/// The place of an op in the whole function, all regions included.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpOrder {
    /// The number of ops before it; `u32::MAX` for an op that is gone.
    pub position: u32,
    /// The position behind the last op that is nested in it.
    pub end: u32,
    /// The nesting depth of the region that it stands in; the body is at 0.
    pub depth: u32,
}

/// The effects of running an op, beside giving results.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpEffects {
    /// `OpEntry::*`: what its definition says; `PURE` for the ops that the IR itself defines to be.
    pub traits: u64,
    /// The traits of it and everything nested in it: `PURE` if all are, `RANDOM`, `STATEFUL`,
    /// `READS`, `WRITES`, `ALLOCATES` if one is.
    pub effects: u64,
}

/// A name that a function uses.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The name of ops, or of the function that they call.
    pub name: SymbolId,
    /// The number of ops.
    pub count: u32,
    /// The first of them in program order.
    pub first: OpId,
    /// Flags: [`NameUse::CALLEE`].
    pub flags: u32,
    /// Traits as in [`OpEffects`]; 0 of a callee.
    pub traits: u64,
}

impl NameUse {
    /// The name is in ops' attribute `callee`; otherwise it is that of the ops themselves.
    pub const CALLEE: u32 = 1;
}
