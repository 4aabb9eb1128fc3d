//! Manifests: an error that names a place, or all of it read or left out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::manifest;

fuzz_target!(|input: &[u8]| {
    manifest::check(input);
});
