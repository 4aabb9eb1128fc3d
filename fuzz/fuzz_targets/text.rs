//! The text form: an error or a right module, which prints as it will print again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::text;

fuzz_target!(|input: &str| {
    text::check(input);
});
