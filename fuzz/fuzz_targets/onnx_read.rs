//! Reading an ONNX file gives a valid module or an error, with memory limited by the file's length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use passdock_fuzz::onnx;

fuzz_target!(|input: &[u8]| {
    onnx::check_read(input);
});
