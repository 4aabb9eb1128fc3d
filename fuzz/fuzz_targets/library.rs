//! Files of libraries: an error, or the manifest that is in it.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{library, memory::Counting, numbers, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &[u8]| -> Corpus { tally::count(library::check(input), 1 << 14, input) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    numbers::mutate(data, size, max_size, seed, fuzzer_mutate)
});
