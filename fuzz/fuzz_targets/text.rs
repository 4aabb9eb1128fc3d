//! The text form: an error or a right module, which prints as it will print again.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use passdock_fuzz::{memory::Counting, tally, text};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &str| -> Corpus { tally::count(text::check(input), 48, input.as_bytes()) });
