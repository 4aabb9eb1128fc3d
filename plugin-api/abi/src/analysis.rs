//! Analyses: an optional power of the host, [`EXTENSION`].
//!
//! The host's own are columns, worked out when they are first asked for. What a plugin works out
//! itself it can leave with the host, which gives it back while the function is as it was.

use core::ffi::c_void;

use crate::ids::{OpId, SymbolId};
use crate::status::Status;
use crate::view::{Column, Function, Str};

/// What `get_extension` knows [`AnalysisApi`] by.
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
    /// 0.
    pub reserved: u32,
    /// A column of the host's, by its name; good until the next edit.
    pub column:
        Option<unsafe extern "C" fn(*const Function, name: Str, out: *mut Column) -> Status>,
    /// What is kept for the function as it is; NOT_FOUND if nothing is.
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
    /// What is kept still holds, although the function changed; NOT_FOUND if nothing is.
    pub preserve:
        Option<unsafe extern "C" fn(*mut Function, owner: *const c_void, key: Str) -> Status>,
}

/// Where a value is used last.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// The last op in the value's own region that uses it, or that holds an op which does; NONE if
    /// nobody does.
    pub last_use: OpId,
}

/// Where an op stands in the whole function, all regions included.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpOrder {
    /// How many ops stand before it; `u32::MAX` for an op that is gone.
    pub position: u32,
    /// The position behind the last op that is nested in it.
    pub end: u32,
    /// How deep the region that it stands in is nested; the body is at 0.
    pub depth: u32,
}

/// What running an op does, beside giving results.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpEffects {
    /// `OpEntry::*`: what its definition says; `PURE` for the ops that the IR itself defines to be.
    pub traits: u64,
    /// Of it and everything nested in it: `PURE` if all are, `RANDOM`, `STATEFUL`, `READS`,
    /// `WRITES`, `ALLOCATES` if one is.
    pub effects: u64,
}

/// A name that a function uses.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The name of ops, or of the function that they call.
    pub name: SymbolId,
    /// How many ops.
    pub count: u32,
    /// The first of them in program order.
    pub first: OpId,
    /// [`NameUse::CALLEE`].
    pub flags: u32,
    /// As in [`OpEffects`]; 0 of a callee.
    pub traits: u64,
}

impl NameUse {
    /// What ops name in their attribute `callee`; otherwise they are called so themselves.
    pub const CALLEE: u32 = 1;
}
