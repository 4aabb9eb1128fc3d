//! Writing: what is encoded anew or edited is read again, and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::onnx;

fuzz_target!(|input: &[u8]| {
    onnx::check_write(input);
});
