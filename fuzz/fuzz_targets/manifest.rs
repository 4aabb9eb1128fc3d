//! Reading a manifest gives an error with a location, or each of its entries is read or reported as skipped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::manifest;

fuzz_target!(|input: &[u8]| {
    manifest::check(input);
});
