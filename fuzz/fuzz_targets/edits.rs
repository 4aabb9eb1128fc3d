//! Edits: what a plugin does through the contract's tables leaves a right module or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::edits;

fuzz_target!(|input: &[u8]| {
    edits::check(input);
});
