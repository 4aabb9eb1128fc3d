//! The unsafe floor: how shared data lies in memory, and reads of it.
//!
//! Under a key that begins with [`PREFIX`] lies a [`Shared`]. Whoever changes that struct, or takes
//! another minor version of `abi_stable`, changes the prefix: data of the other form isn't found then,
//! rather than read wrongly.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::NonNull;

use abi_stable::type_layout::TypeLayout;
use passdock_plugin_api::__private::{end, Tables};
use passdock_plugin_api::Function;

use crate::layout;
use crate::{SharedAnalysis, Why};

/// Says how the data under a key describes itself.
const PREFIX: &str = "abi_stable-0.11/";

/// Data behind the description of its layout, which is all that a reader looks at before the
/// layouts are compared.
#[repr(C)]
struct Shared<T> {
    /// Of `T`, by who published it.
    layout: &'static TypeLayout,
    value: T,
    /// The tables of the host that drops it. Only who published it looks here.
    tables: &'static Tables,
}

fn key<T: SharedAnalysis>() -> String {
    [PREFIX, T::KEY].concat()
}

pub(crate) fn publish<T: SharedAnalysis>(function: &Function, value: T) -> Result<&T, Why> {
    let shared = Box::new(Shared {
        layout: T::LAYOUT,
        value,
        tables: function.tables(),
    });
    let data = NonNull::from(Box::leak(shared)).cast();
    let key = key::<T>();
    // SAFETY: the key says that it is a `Shared`, which says of what. `T` is `Send` and `Sync`; what
    // it depends on is the promise of `SharedAnalysis`, on which no memory hangs.
    let kept = unsafe { function.keep_shared_data(&key, data, drop_shared::<T>)? };
    // SAFETY: kept under such a key.
    unsafe { read(function, kept) }
}

pub(crate) fn find<T: SharedAnalysis>(function: &Function) -> Option<Result<&T, Why>> {
    match function.shared_data(&key::<T>()) {
        // SAFETY: found under such a key.
        Ok(found) => found.map(|data| unsafe { read(function, data) }),
        Err(error) => Some(Err(error.into())),
    }
}

/// What is kept for the function, if its layout is that of `T`.
///
/// # Safety
/// It is kept for the function as it is, under a key that begins with `PREFIX`.
unsafe fn read<T: SharedAnalysis>(function: &Function, data: NonNull<c_void>) -> Result<&T, Why> {
    // SAFETY: the key says that a reference to a layout stands first; libraries are never unloaded.
    let published = unsafe { data.cast::<&'static TypeLayout>().as_ptr().read() };
    layout::compare(T::LAYOUT, published).map_err(|difference| {
        Why::new(format!(
            "The data `{}` of @{} isn't laid out as this plugin knows it: {difference}. Both plugins \
             need one version of the crate `{}`, which has the type `{}`.",
            T::KEY,
            function.function_name(),
            T::LAYOUT.package(),
            T::LAYOUT.name(),
        ))
    })?;
    // SAFETY: the layouts are one, so it is a `Shared<T>`. It lives until the function's next edit or
    // its end, and the answer borrows the function, which keeps both away. Its type was `Send` and
    // `Sync` where it was published, and may be read on several threads.
    Ok(unsafe { &(*data.cast::<Shared<T>>().as_ptr()).value })
}

/// The host drops what it kept.
unsafe extern "C" fn drop_shared<T>(data: *mut c_void) {
    // SAFETY: made in `publish`, dropped once.
    let shared = unsafe { Box::from_raw(data.cast::<Shared<T>>()) };
    end(shared.tables, shared);
}
