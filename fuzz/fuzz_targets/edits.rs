//! Edits: what a plugin does through the contract's tables leaves a right module or is refused.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{edits, memory::Counting, steps, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &[u8]| -> Corpus { tally::count(edits::check(input), 1 << 12, input) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    steps::mutate(data, size, max_size, seed, fuzzer_mutate)
});
