//! Operators that make tensors out of sizes or attributes.

use super::Operator;
use crate::eval::create;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Constant", 1, (0, 0))
        .attrs(&[
            "value",
            "value_int",
            "value_float",
            "value_ints",
            "value_floats",
            "value_string",
            "value_strings",
        ])
        .folds(create::constant),
    Operator::new("ConstantOfShape", 9, (1, 1))
        .attrs(&["value"])
        .folds(create::constant_of_shape),
    Operator::new("EyeLike", 9, (1, 1))
        .attrs(&["dtype", "k"])
        .folds(create::eye_like),
    Operator::new("OneHot", 9, (3, 3))
        .attrs(&["axis"])
        .folds(create::one_hot),
    Operator::new("Range", 11, (3, 3))
        .attrs(&["stash_type"])
        .folds(create::range),
];
