//! Definitions of the ONNX operators: traits, type rules, evaluation.
