//! What the mock host keeps beside a function.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;

use passdock_abi::DropAnalysis;

/// The analyses kept beside a function: columns of the host's, and what plugins gave.
#[derive(Default)]
pub(super) struct Kept {
    /// Columns, each with the version it is for.
    pub(super) columns: RefCell<Vec<(u64, Box<dyn Any>)>>,
    pub(super) given: RefCell<Vec<Given>>,
}

pub(super) struct Given {
    pub(super) owner: *const c_void,
    pub(super) key: String,
    pub(super) version: u64,
    pub(super) data: *mut c_void,
    pub(super) drop: Option<DropAnalysis>,
}

impl Drop for Given {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: the contract: the giver's own function and data, called once.
            unsafe { drop(self.data) }
        }
    }
}
