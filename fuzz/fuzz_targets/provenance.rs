//! Parsing a provenance statement gives a reason, or a statement in which each file has a hash.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::trust;

fuzz_target!(|input: &str| {
    trust::check_statement(input);
});
