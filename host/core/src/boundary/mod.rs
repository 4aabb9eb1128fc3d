//! The boundary: the contract's tables over the IR, and the calls into passes.
//!
//! A pass gets handles: pointers to sessions that live on the host's stack while it runs
//! (`session/`: for a function, a module, and the context of everything else). It reads through
//! views, and edits through the tables that [`host`] gives to every plugin (`tables.rs`, which is
//! generated; what their functions do is in `table/`, `session/` and `op/`).
//! Whatever comes in goes through `session/gate` and `session/input` first. `run` calls the passes
//! and `instrument` the instruments; they are all that the rest of the host sees of this.
//!
//! **Invariant:** nothing here unwinds into a plugin, holds a `&mut` of the IR across a call into
//! one, or gives out memory that a plugin has to free.

pub(crate) mod handles;
mod instrument;
mod op;
mod rewrite;
mod run;
mod session;
mod table;
mod tables;

use std::ffi::c_void;
use std::ptr;

pub use instrument::{CallbackOutcome, CallbackReport, Instance, PassCall};
pub use op::IS_WRONG;
use passdock_abi as abi;
use passdock_loader::HostTable;
pub use run::{
    FunctionClosure, FunctionCode, FunctionOutcome, ModuleClosure, ModuleCode, ModuleInput,
    PassOutcome, edit_module, run_function_pass, run_module_pass,
};
pub use session::FunctionSlot;
pub use session::context::CallFailure;
pub use session::ending::Endings;
pub use session::frame::Frame;
pub use session::rewrites::Rewrites;
use session::{gate, input};

struct Shared(abi::Host);

// SAFETY: the table and the tables it points to are immutable and live for good.
unsafe impl Sync for Shared {}

static HOST: Shared = Shared(TABLE);

static OLDEST: Shared = Shared(abi::Host {
    get_extension: Some(no_extension),
    ..TABLE
});

const TABLE: abi::Host = abi::Host {
    abi: abi::ABI,
    ir: abi::IR,
    symbols: ptr::from_ref(&tables::SYMBOLS),
    functions: ptr::from_ref(&tables::FUNCTIONS),
    modules: ptr::from_ref(&tables::MODULES),
    context: ptr::from_ref(&tables::CONTEXT),
    ops: ptr::from_ref(&tables::OPS),
    definitions: ptr::from_ref(&tables::DEFINITIONS),
    get_extension: Some(get_extension),
    ..abi::Host::EMPTY
};

/// The host's table, as every plugin gets it.
pub fn host() -> HostTable {
    // SAFETY: the table is a constant.
    unsafe { HostTable::new(&HOST.0) }
}

/// The oldest host that a plugin may meet whose manifest asks for this minor of the contract: it has no extension.
/// `None` for a minor that this host doesn't serve. For checks of plugins: they report how old a host may be.
///
/// A contract whose minor is over ends its tables earlier: it gets copies of them here, with a smaller `struct_size`.
pub fn older_host(minor: u32) -> Option<HostTable> {
    // SAFETY: the table is a constant.
    (minor == abi::ABI.minor).then(|| unsafe { HostTable::new(&OLDEST.0) })
}

unsafe extern "C" fn get_extension(_: *const abi::Host, id: abi::Str) -> *const c_void {
    gate::guard(ptr::null(), || {
        // SAFETY: the contract: the text is there during the call.
        match unsafe { input::text(id, "id of the extension") } {
            Ok(abi::ANALYSIS_EXTENSION) => ptr::from_ref(&tables::ANALYSES).cast(),
            _ => ptr::null(),
        }
    })
}

unsafe extern "C" fn no_extension(_: *const abi::Host, _: abi::Str) -> *const c_void {
    ptr::null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_minor_that_is_served_has_a_host() {
        assert!((abi::OLDEST_MINOR..=abi::ABI.minor).all(|minor| older_host(minor).is_some()));
        assert!(older_host(abi::OLDEST_MINOR - 1).is_none());
    }
}
