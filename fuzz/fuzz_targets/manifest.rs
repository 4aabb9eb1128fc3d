//! Manifests: an error that names a place, or all of it read or left out.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{lines, manifest, memory::Counting, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &[u8]| -> Corpus { tally::count(manifest::check(input), 48, input) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    lines::mutate(data, size, max_size, seed, fuzzer_mutate)
});
