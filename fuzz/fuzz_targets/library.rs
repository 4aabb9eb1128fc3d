//! Reading a library file gives its manifest or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::library;

fuzz_target!(|input: &[u8]| {
    library::check(input);
});
