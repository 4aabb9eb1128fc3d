//! Rules: an error with its place, or rules, which rewrite a function to a right one.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{lines, memory::Counting, rules, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &str| -> Corpus { tally::count(rules::check(input), 48, input.as_bytes()) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    lines::mutate(data, size, max_size, seed, fuzzer_mutate)
});
