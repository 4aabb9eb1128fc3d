//! Edits through the tables of the plugin ABI give a valid module or are rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::edits;

fuzz_target!(|input: &[u8]| {
    edits::check(input);
});
