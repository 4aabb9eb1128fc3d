//! Handling the messages of a worker changes only the outputs of the run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::worker;

fuzz_target!(|input: &[u8]| {
    let is_framed = input.first().is_some_and(|byte| *byte < b' ');
    worker::check_messages(input, is_framed);
});
