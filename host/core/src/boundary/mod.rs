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
mod older;
mod op;
mod rewrite;
mod run;
mod session;
mod table;
mod tables;

use std::ffi::c_void;
use std::ptr;

pub use instrument::{CallbackOutcome, CallbackReport, Instance, PassCall};
pub use older::older_host;
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

/// The host's table, as every plugin gets it.
pub fn host() -> HostTable {
    struct Shared(abi::Host);
    // SAFETY: the table and the tables it points to are immutable and live for good.
    unsafe impl Sync for Shared {}
    static HOST: Shared = Shared(abi::Host {
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
    });
    // SAFETY: the table is a constant.
    unsafe { HostTable::new(&HOST.0) }
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
