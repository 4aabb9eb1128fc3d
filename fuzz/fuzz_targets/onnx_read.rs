//! Reading: an error or a right module, within memory that the file's length bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::onnx;

fuzz_target!(|input: &[u8]| {
    onnx::check_read(input);
});
