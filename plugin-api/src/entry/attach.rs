//! Attaching a plugin to a host.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::{Mutex, PoisonError};

use passdock_abi as abi;

use super::table;
use crate::ffi;
use crate::plugin::PluginSpec;

/// A plugin's table, created when the first host attaches it. It is never freed, because the library is never unloaded.
#[doc(hidden)]
pub struct Slot(Mutex<Option<&'static abi::Plugin>>);

impl Slot {
    /// Creates a slot without a table.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot {
        Slot(Mutex::new(None))
    }
}

/// Returns the plugin's table, which is the same for all hosts. Returns null for an incompatible host, with the reason
/// in `attach`.
///
/// # Safety
/// `host` conforms to the ABI and lives for the rest of the process; `attach` is valid until the function returns.
#[doc(hidden)]
pub unsafe fn attach(
    slot: &'static Slot,
    plugin: &'static PluginSpec,
    host: *const abi::Host,
    attach: *mut abi::Attach,
) -> *const abi::Plugin {
    // SAFETY: the caller guarantees a valid `host`.
    if let Err(reason) = unsafe { ffi::check(host) } {
        let reason: &'static str = Box::leak(reason.into_boxed_str());
        // SAFETY: the caller guarantees a valid `attach`; all hosts have this field.
        unsafe { ptr::addr_of_mut!((*attach).reason).write(abi::Str::new(reason)) };
        return ptr::null();
    }
    ffi::install_hook();
    let mut table = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
    *table.get_or_insert_with(|| Box::leak(Box::new(table::new(plugin))))
}
