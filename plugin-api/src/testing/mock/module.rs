//! The mock host's modules: one function each.

use passdock_abi as abi;
use passdock_abi::{Status, SymbolId};

use super::arena::MockFunction;

/// The mock host's module: what a `*mut abi::Module` points to.
pub(super) struct MockModule {
    pub(super) function: Box<MockFunction>,
    pub(super) error: String,
}

// The module's table. SAFETY (all): the SDK keeps the contract.

pub(super) unsafe extern "C" fn last_error(handle: *const abi::Module) -> abi::Str {
    // SAFETY: as above.
    unsafe { abi::Str::new(&(*handle.cast::<MockModule>()).error) }
}

/// The function itself: nobody edits it while the instrument looks.
pub(super) unsafe extern "C" fn snapshot(
    handle: *const abi::Module,
    name: SymbolId,
    out: *mut abi::FunctionRef,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let module = handle.cast::<MockModule>() as *mut MockModule;
        let function: *mut MockFunction = &mut *(*module).function;
        if (*(*function).view).name != name {
            (*module).error = "the mock module has one function, `main`".to_owned();
            return Status::NOT_FOUND;
        }
        out.write(abi::FunctionRef {
            handle: function.cast(),
            view: (*function).view,
        });
        Status::OK
    }
}

pub(super) unsafe extern "C" fn release(_: *const abi::Module, _: abi::FunctionRef) {}
