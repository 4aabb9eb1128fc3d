//! Operators that look at shapes or change them.

use super::Operator;
use crate::eval::shape;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Flatten", 1, (1, 1))
        .attrs(&["axis"])
        .folds(shape::flatten),
    Operator::new("Identity", 1, (1, 1)).folds(shape::identity),
    Operator::new("Reshape", 5, (2, 2))
        .attrs(&["allowzero"])
        .folds(shape::reshape),
    Operator::new("Shape", 1, (1, 1))
        .attrs(&["start", "end"])
        .folds(shape::shape),
    Operator::new("Size", 1, (1, 1)).folds(shape::size),
    Operator::new("Squeeze", 1, (1, 2))
        .attrs(&["axes"])
        .folds(shape::squeeze),
    Operator::new("Unsqueeze", 1, (1, 2))
        .attrs(&["axes"])
        .folds(shape::unsqueeze),
];
