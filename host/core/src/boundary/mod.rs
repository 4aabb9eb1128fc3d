//! The boundary: the host's side of the plugin ABI, and the calls into passes.
//!
//! A pass gets handles, which are pointers to sessions on the host's stack (`session/`: for a function, a module, and
//! the context of everything else). It reads through views. It edits through the tables that [`host`] passes to every
//! plugin (`tables.rs`, which is generated; the functions are implemented in `table/`, `session/` and `op/`).
//! `session/gate` and `session/input` check all input first. `run` calls the passes and `instrument` the instruments;
//! the rest of the host uses only these two.
//!
//! **Invariant:** this code never unwinds into a plugin, and never holds a `&mut` of the IR across a call into one. It
//! never returns memory that a plugin has to free.

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
pub use op::IS_INVALID;
use passdock_abi as abi;
pub use passdock_crash::CANNOT_LEND;
use passdock_loader::HostTable;
pub use run::{
    FunctionClosure, FunctionCode, FunctionOutcome, ModuleClosure, ModuleCode, ModuleInput,
    PassOutcome, edit_module, run_function_pass, run_module_pass,
};
pub use session::FunctionSlot;
pub use session::context::CallFailure;
pub use session::ending::Endings;
pub use session::frame::Frame;
pub use session::lending::{VIOLATION, lend};
pub use session::rewrites::Rewrites;
use session::{gate, input};

struct Shared(abi::Host);

// SAFETY: the table and the tables it points to are immutable and `'static`.
unsafe impl Sync for Shared {}

static HOST: Shared = Shared(TABLE);

static OLDEST: Shared = Shared(abi::Host {
    get_extension: Some(no_extension),
    ..TABLE
});

const TABLE: abi::Host = abi::Host {
    abi: abi::ABI,
    ir: abi::IR,
    name: abi::Str::new("passdock"),
    version: abi::Str::new(env!("CARGO_PKG_VERSION")),
    symbols: ptr::from_ref(&tables::SYMBOLS),
    functions: ptr::from_ref(&tables::FUNCTIONS),
    modules: ptr::from_ref(&tables::MODULES),
    context: ptr::from_ref(&tables::CONTEXT),
    ops: ptr::from_ref(&tables::OPS),
    definitions: ptr::from_ref(&tables::DEFINITIONS),
    analyses: ptr::from_ref(&tables::ANALYSES),
    get_extension: Some(get_extension),
    ..abi::Host::EMPTY
};

/// Returns the host's table, which every plugin gets.
pub fn host() -> HostTable {
    // SAFETY: the table is a constant.
    shared(unsafe { HostTable::new(&HOST.0) })
}

fn shared(host: HostTable) -> HostTable {
    table::analysis::set_host(host);
    host
}

/// Returns the oldest host on which a plugin that requires this minor version of the ABI has to work. It has no
/// extensions. `None` if this host doesn't support the version. Checks of plugins use it.
///
/// If a later ABI version appends functions, older versions get copies of the tables here, with a smaller
/// `struct_size`.
pub fn older_host(minor: u32) -> Option<HostTable> {
    // SAFETY: the table is a constant.
    (minor == abi::ABI.minor).then(|| shared(unsafe { HostTable::new(&OLDEST.0) }))
}

/// The version of the loop level, which `LOOPS_EXTENSION` also names.
static LOOPS: abi::Version = abi::Version { major: 1, minor: 0 };

unsafe extern "C" fn get_extension(_: *const abi::Host, id: abi::Str) -> *const c_void {
    gate::guard(ptr::null(), || {
        // SAFETY: the text is valid during the call, by the plugin ABI.
        match unsafe { input::text(id, "id of the extension") } {
            Ok(abi::LOOPS_EXTENSION) => ptr::from_ref(&LOOPS).cast(),
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
    fn each_supported_minor_has_a_host() {
        assert!((0..=abi::ABI.minor).all(|minor| older_host(minor).is_some()));
        assert!(older_host(abi::ABI.minor + 1).is_none());
    }
}
