//! A host as an older contract has it, for checks of plugins: they report how old a host may be.

use std::ffi::c_void;
use std::ptr;
use std::sync::LazyLock;

use passdock_abi as abi;
use passdock_loader::HostTable;

use super::host;

/// The oldest host that a plugin may meet whose manifest asks for this minor of the contract: it has no extension.
/// `None` for a minor that this host doesn't serve. A contract whose minor is over ends its tables earlier: it gets
/// copies of them here, with a smaller `struct_size`.
pub fn older_host(minor: u32) -> Option<HostTable> {
    struct Shared(abi::Host);
    // SAFETY: the table and the tables it points to are immutable and live for good.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    static OLDEST: LazyLock<Shared> = LazyLock::new(|| {
        Shared(abi::Host {
            get_extension: Some(no_extension),
            ..*host().get()
        })
    });
    // SAFETY: the table is a constant.
    (minor == abi::ABI.minor).then(|| unsafe { HostTable::new(&OLDEST.0) })
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
