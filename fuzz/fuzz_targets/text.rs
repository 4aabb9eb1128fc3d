//! The text form: an error or a right module, which prints as it will print again.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{lines, memory::Counting, tally, text};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &str| -> Corpus { tally::count(text::check(input), 48, input.as_bytes()) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    lines::mutate(data, size, max_size, seed, fuzzer_mutate)
});
