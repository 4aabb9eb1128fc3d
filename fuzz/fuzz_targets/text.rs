//! Parsing IR text gives a valid module or an error, and printing the module is stable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::text;

fuzz_target!(|input: &str| {
    text::check(input);
});
