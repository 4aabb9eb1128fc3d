//! Files of libraries: an error, or the manifest that is in it.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use passdock_fuzz::{library, memory::Counting, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &[u8]| -> Corpus { tally::count(library::check(input), 1 << 14, input) });
