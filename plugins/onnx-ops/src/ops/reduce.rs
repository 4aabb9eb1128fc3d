//! Reductions and running totals.

use super::Operator;
use crate::eval::{Evaluate, reduce, scan};

const fn reduction(name: &'static str, evaluate: Evaluate) -> Operator {
    Operator::new(name, 1, (1, 2))
        .attrs(&["axes", "keepdims", "noop_with_empty_axes"])
        .folds(evaluate)
}

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("CumProd", 26, (2, 2))
        .attrs(&["exclusive", "reverse"])
        .folds(scan::cum_prod),
    Operator::new("CumSum", 11, (2, 2))
        .attrs(&["exclusive", "reverse"])
        .folds(scan::cum_sum),
    reduction("ReduceL1", reduce::l1),
    reduction("ReduceL2", reduce::l2),
    reduction("ReduceLogSum", reduce::log_sum),
    reduction("ReduceLogSumExp", reduce::log_sum_exp),
    reduction("ReduceMax", reduce::max),
    reduction("ReduceMean", reduce::mean),
    reduction("ReduceMin", reduce::min),
    reduction("ReduceProd", reduce::product),
    reduction("ReduceSum", reduce::sum),
    reduction("ReduceSumSquare", reduce::sum_square),
];
