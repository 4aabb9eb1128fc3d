//! Instruments that a plugin offers: what watches passes run, and may veto them.
//!
use core::ffi::c_void;

use crate::host::Context;
use crate::status::Status;
use crate::view::{ModuleRef, Str};

/// The pass that an instrument is called about.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// The pass's level.
    pub opt_level: u32,
    /// The pass's registered name.
    pub name: Str,
    /// The plugin that gives it, or empty.
    pub plugin: Str,
    /// Names of the passes that it requires.
    pub required: *const Str,
    /// The number of required passes.
    pub required_count: usize,
    /// The failure's sentence, in `pass_failed`; else empty.
    pub error: Str,
}

/// Makes an instance; `out` gets what the callbacks get.
pub type CreateInstrument = unsafe extern "C" fn(
    state: *mut c_void,
    context: *mut Context,
    out: *mut *mut c_void,
) -> Status;

/// Frees an instance; nothing is called on it any more.
pub type DestroyInstrument = unsafe extern "C" fn(instance: *mut c_void);

/// The context is about to be entered, or was left.
pub type WatchContext =
    unsafe extern "C" fn(instance: *mut c_void, context: *mut Context) -> Status;

/// A pass is about to run, ran or failed.
pub type WatchPass = unsafe extern "C" fn(
    instance: *mut c_void,
    context: *mut Context,
    module: *const ModuleRef,
    pass: *const PassInfo,
) -> Status;

/// Whether a pass may run: `out` is 1, and is set to 0 to veto it.
pub type ShouldRun = unsafe extern "C" fn(
    instance: *mut c_void,
    context: *mut Context,
    module: *const ModuleRef,
    pass: *const PassInfo,
    out: *mut u32,
) -> Status;

/// Reports what the instrument has to show; the text lives until the next call on the instance.
pub type Report =
    unsafe extern "C" fn(instance: *mut c_void, context: *mut Context, out: *mut Str) -> Status;

/// An instrument. Its options and what it is for stand in the manifest; this is how to call it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InstrumentEntry {
    /// The instrument's registered name.
    pub name: Str,
    /// The state handed to `create`; may be null.
    pub state: *mut c_void,
    /// Makes an instance.
    pub create: Option<CreateInstrument>,
    /// Frees an instance; null: nothing is to be freed.
    pub destroy: Option<DestroyInstrument>,
    /// The context is about to be entered.
    pub enter_pass_ctx: Option<WatchContext>,
    /// The context was left.
    pub exit_pass_ctx: Option<WatchContext>,
    /// Whether the pass may run; null: yes.
    pub should_run: Option<ShouldRun>,
    /// The pass is about to run.
    pub run_before_pass: Option<WatchPass>,
    /// The pass ran.
    pub run_after_pass: Option<WatchPass>,
    /// The pass failed.
    pub pass_failed: Option<WatchPass>,
    /// Reports when all passes ran.
    pub report: Option<Report>,
}

// SAFETY: as a plugin's table: immutable after the entry returned it; `state` is the plugin's own
// business.
unsafe impl Sync for InstrumentEntry {}
