//! Writing: what is encoded anew or edited is read again, and means the same.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use passdock_fuzz::{memory::Counting, mutate, onnx, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

// What can't be read is the other target's.
fuzz_target!(|bytes: &[u8]| -> Corpus { tally::count(onnx::check_write(bytes), 0, bytes) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed, fuzzer_mutate)
});

fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
    mutate::cross(data1, data2, out, seed)
});
