//! Edits: what a plugin does through the contract's tables leaves a right module or is refused.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use passdock_fuzz::{edits, memory::Counting, tally};

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: &[u8]| -> Corpus { tally::count(edits::check(input), 1 << 12, input) });
