//! Manifests: an error that names a place, or all of it read or left out.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use passdock_fuzz::{manifest, memory::Counting, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &[u8]| -> Corpus { tally::count(manifest::check(input), 48, input) });
