//! Operators that move elements about.

use super::{MANY, Operator};
use crate::eval::{compare_logic, data_movement, gather, scatter};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Compress", 9, (2, 2))
        .attrs(&["axis"])
        .folds(gather::compress),
    Operator::new("Concat", 4, (1, MANY))
        .attrs(&["axis"])
        .folds(data_movement::concat),
    Operator::new("DepthToSpace", 1, (1, 1))
        .attrs(&["blocksize", "mode"])
        .folds(data_movement::depth_to_space),
    Operator::new("Expand", 8, (2, 2)).folds(data_movement::expand),
    Operator::new("Gather", 1, (2, 2))
        .attrs(&["axis"])
        .folds(gather::gather),
    Operator::new("GatherElements", 11, (2, 2))
        .attrs(&["axis"])
        .folds(gather::gather_elements),
    Operator::new("GatherND", 11, (2, 2))
        .attrs(&["batch_dims"])
        .folds(gather::gather_nd),
    Operator::new("NonZero", 9, (1, 1)).folds(compare_logic::non_zero),
    Operator::new("Pad", 2, (1, 4))
        .attrs(&["mode", "pads", "value"])
        .folds(data_movement::pad),
    Operator::new("ReverseSequence", 10, (2, 2))
        .attrs(&["batch_axis", "time_axis"])
        .folds(gather::reverse_sequence),
    Operator::new("Scatter", 9, (3, 3))
        .attrs(&["axis"])
        .folds(scatter::scatter_elements),
    Operator::new("ScatterElements", 11, (3, 3))
        .attrs(&["axis", "reduction"])
        .folds(scatter::scatter_elements),
    Operator::new("ScatterND", 11, (3, 3))
        .attrs(&["reduction"])
        .folds(scatter::scatter_nd),
    Operator::new("Slice", 1, (1, 5))
        .attrs(&["starts", "ends", "axes"])
        .folds(data_movement::slice),
    Operator::new("SpaceToDepth", 1, (1, 1))
        .attrs(&["blocksize", "mode"])
        .folds(data_movement::space_to_depth),
    Operator::new("Split", 2, (1, 2))
        .attrs(&["axis", "split", "num_outputs"])
        .folds(data_movement::split),
    Operator::new("Tile", 6, (2, 2)).folds(data_movement::tile),
    Operator::new("Transpose", 1, (1, 1))
        .attrs(&["perm"])
        .folds(data_movement::transpose),
    Operator::new("Trilu", 14, (1, 2))
        .attrs(&["upper"])
        .folds(data_movement::trilu),
    Operator::new("Where", 9, (3, 3)).folds(compare_logic::choose),
];
