//! ONNX files to and from the IR, without loss.
