//! Rules: an error with its place, or rules, which rewrite a function to a right one.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use passdock_fuzz::{memory::Counting, rules, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &str| -> Corpus { tally::count(rules::check(input), 48, input.as_bytes()) });
