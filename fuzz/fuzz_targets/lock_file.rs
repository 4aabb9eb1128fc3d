//! Parsing a lock file gives a printable error, or a file whose text is read as the same file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::trust;

fuzz_target!(|input: &str| {
    trust::check_lock_file(input);
});
