//! Reading: an error or a right module, within memory that the file's length bounds.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{memory::Counting, mutate, onnx, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|bytes: &[u8]| -> Corpus { tally::count(onnx::check_read(bytes), 128, bytes) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed, fuzzer_mutate)
});

fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
    mutate::cross(data1, data2, out, seed)
});
