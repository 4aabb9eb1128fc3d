//! The ONNX operator definitions as a loadable plugin.
