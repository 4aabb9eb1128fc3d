//! `Squeeze`: its axes are an operand since version 13.

use super::adapter::Adapter;
use super::axes;

pub(super) const ADAPTERS: &[Adapter] = &[Adapter {
    operators: &["Squeeze"],
    version: 13,
    adapt: axes::to_operand,
}];
