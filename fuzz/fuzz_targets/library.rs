//! Files of libraries: an error, or the manifest that is in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::library;

fuzz_target!(|input: &[u8]| {
    library::check(input);
});
