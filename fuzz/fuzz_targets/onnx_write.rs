//! Modules that are re-encoded or edited and written can be read again, with the same meaning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::onnx;

fuzz_target!(|input: &[u8]| {
    onnx::check_write(input);
});
