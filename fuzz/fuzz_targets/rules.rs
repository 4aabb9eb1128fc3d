//! Parsing rules gives an error with a location, or rules that rewrite a function to a valid one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::rules;

fuzz_target!(|input: &str| {
    rules::check(input);
});
