//! Rules: an error with its place, or rules, which rewrite a function to a right one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::rules;

fuzz_target!(|input: &str| {
    rules::check(input);
});
