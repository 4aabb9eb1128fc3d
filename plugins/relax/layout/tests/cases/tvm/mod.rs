//! The cases of TVM's own tests, in ONNX's operators; what ONNX has no word for is said by the nearest one.

mod alter;
mod alter_axes;
mod alter_broadcasts;
mod alter_more;
mod relax_axes;
mod relax_blocks;
mod relax_blocks_models;
mod relax_blocks_more;
mod relax_blocks_sums;
mod relax_moves;
mod relax_results;
mod relay_convert;
mod relay_convert_more;
