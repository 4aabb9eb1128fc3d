//! The limit of cached analyses of plugins.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{Status, Str};

use crate::analyses::raw;
use crate::support::{TestFrame, module, run};

static DROPPED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn drop_it(_: *const abi::Host, _: *mut abi::Context, _: *mut c_void) {
    DROPPED.fetch_add(1, Ordering::Relaxed);
}

/// A key per op of a large function, for example, is rejected with a message, and the given data is dropped.
#[test]
fn cached_analyses_of_a_function_are_limited() {
    const KEYS: usize = 30_000;
    let same = run(&module(), &TestFrame::new(), |f, _| {
        let f = f.as_raw().handle;
        let put = raw().put.expect("present");
        let owner = std::ptr::from_ref(raw()).cast();
        let (mut cached, mut rejected) = (std::ptr::null_mut(), 0);
        for number in 0..KEYS {
            let key = format!("key{number}");
            let data = std::ptr::dangling_mut::<u8>().cast();
            // SAFETY: the handle is live, and the data is never dereferenced.
            let status = unsafe { put(f, owner, Str::new(&key), data, Some(drop_it), &mut cached) };
            rejected += usize::from(status == Status::REJECTED);
        }
        assert_eq!(DROPPED.load(Ordering::Relaxed), rejected);
        assert_eq!(KEYS - rejected, 4096);
        // SAFETY: the handle is live.
        let message = unsafe {
            let functions = &*passdock_core::boundary::host().get().functions;
            crate::support::text(functions.last_error.expect("present")(f))
        };
        expect!["cannot keep analysis `key29999`: the function has 4096 analyses; keep related data under one key"]
    .assert_eq(&message);
        Ok(())
    });
    same.expect("works");
    assert_eq!(DROPPED.load(Ordering::Relaxed), KEYS);
}
