//! The crate's `unsafe` code: the memory layout of shared data, and reads of it.
//!
//! Data under a key that begins with [`PREFIX`] is a [`Shared`]. A change of that struct or of the minor
//! version of `abi_stable` needs a new prefix: then data of the other form isn't found, instead of being
//! misread.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::NonNull;

use abi_stable::type_layout::TypeLayout;
use passdock_plugin_api::__private::{abi, end};
use passdock_plugin_api::Function;

use crate::layout;
use crate::{SharedAnalysis, Why};

/// The prefix of keys, which names the format of the layout's description.
const PREFIX: &str = "abi_stable-0.11/";

/// Data that is preceded by a description of its layout. A reader only accesses the description until the
/// layouts have been compared.
#[repr(C)]
struct Shared<T> {
    /// The publisher's layout of `T`.
    layout: &'static TypeLayout,
    value: T,
}

fn key<T: SharedAnalysis>() -> String {
    [PREFIX, T::KEY].concat()
}

pub(crate) fn publish<T: SharedAnalysis>(function: &Function, value: T) -> Result<&T, Why> {
    let shared = Box::new(Shared {
        layout: T::LAYOUT,
        value,
    });
    let data = NonNull::from(Box::leak(shared)).cast();
    let key = key::<T>();
    // SAFETY: the key identifies it as a `Shared`, whose `layout` identifies `T`. `T` is `Send` and `Sync`.
    // `SharedAnalysis` also requires that it depends only on the function; memory safety doesn't rely on that.
    let kept = unsafe { function.keep_shared_data(&key, data, drop_shared::<T>)? };
    // SAFETY: it is kept under a key that begins with `PREFIX`.
    unsafe { read(function, kept) }
}

pub(crate) fn find<T: SharedAnalysis>(function: &Function) -> Option<Result<&T, Why>> {
    match function.shared_data(&key::<T>()) {
        // SAFETY: it was found under a key that begins with `PREFIX`.
        Ok(found) => found.map(|data| unsafe { read(function, data) }),
        Err(error) => Some(Err(error.into())),
    }
}

/// Returns the function's data if its layout is that of `T`.
///
/// # Safety
/// The data must be kept for the current state of the function, under a key that begins with `PREFIX`.
unsafe fn read<T: SharedAnalysis>(function: &Function, data: NonNull<c_void>) -> Result<&T, Why> {
    // SAFETY: by its key the data begins with a reference to a layout, and libraries are never unloaded.
    let published = unsafe { data.cast::<&'static TypeLayout>().as_ptr().read() };
    layout::compare(T::LAYOUT, published).map_err(|difference| {
        Why::new(format!(
            "data `{}` of function `@{}` has an incompatible layout: {difference}; both plugins must use \
             the same version of crate `{}`, which defines `{}`",
            T::KEY,
            function.function_name(),
            T::LAYOUT.package(),
            T::LAYOUT.name(),
        ))
    })?;
    // SAFETY: the layouts are compatible, so it is a `Shared<T>`. It lives until the function is edited or
    // dropped, and the returned reference borrows the function, which prevents both. The publisher's type
    // is `Send` and `Sync`, so several threads may read it.
    Ok(unsafe { &(*data.cast::<Shared<T>>().as_ptr()).value })
}

/// Drops the data when the host no longer keeps it.
unsafe extern "C" fn drop_shared<T>(
    host: *const abi::Host,
    context: *mut abi::Context,
    data: *mut c_void,
) {
    // SAFETY: `publish` made it from a `Box`, and the host drops it once.
    unsafe { end(host, context, Box::from_raw(data.cast::<Shared<T>>())) };
}
