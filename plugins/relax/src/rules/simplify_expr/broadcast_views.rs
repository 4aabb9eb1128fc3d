//! Operands that elementwise ops broadcast, reshaped for another view of the result. For example, if a view splits
//! channels into blocks, an operand with one number per channel is reshaped to blocks.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{known_dims, viewed};

const UNIT: Dim = Dim::constant(1);

/// Two shapes of the same elements in the same order, as runs of axes with equal sizes. Dims of 1 belong to no run.
pub(super) struct Runs {
    from: Vec<Dim>,
    to: Vec<Dim>,
    runs: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Runs {
    pub(super) fn between(from: Vec<Dim>, to: Vec<Dim>) -> Option<Runs> {
        let large = |dims: &[Dim]| -> Vec<usize> {
            let is_large = |at: &usize| dims[*at] != UNIT;
            (0..dims.len()).filter(is_large).collect()
        };
        let (ours, theirs) = (large(&from), large(&to));
        let (mut ours, mut theirs) = (ours.into_iter(), theirs.into_iter());
        let mut runs = Vec::new();
        loop {
            let (a, b) = match (ours.next(), theirs.next()) {
                (None, None) => break,
                (Some(a), Some(b)) => (a, b),
                _ => return None,
            };
            let (mut own, mut other) = (vec![a], vec![b]);
            if from[a] != to[b] {
                let size = |dim: Dim| dim.as_const().filter(|size| *size > 1);
                let (mut left, mut right) = (size(from[a])?, size(to[b])?);
                while left != right {
                    let (size_so_far, dims, axes, next) = match left < right {
                        true => (&mut left, &from, &mut own, ours.next()),
                        false => (&mut right, &to, &mut other, theirs.next()),
                    };
                    let axis = next?;
                    *size_so_far = size_so_far.checked_mul(size(dims[axis])?)?;
                    axes.push(axis);
                }
            }
            runs.push((own, other));
        }
        Some(Runs { from, to, runs })
    }

    /// Returns the dims in the other view of an operand that broadcasts to `from`. `None` if it has only a part of a
    /// run.
    fn below(&self, dims: &[Dim]) -> Option<Vec<Dim>> {
        let missing = self.from.len().checked_sub(dims.len())?;
        let at = |axis: usize| match axis.checked_sub(missing) {
            Some(at) => dims[at],
            None => UNIT,
        };
        let mut below = vec![UNIT; self.to.len()];
        for (own, other) in &self.runs {
            if own.iter().all(|&axis| at(axis) == self.from[axis]) {
                other.iter().for_each(|&axis| below[axis] = self.to[axis]);
            } else if own.iter().any(|&axis| at(axis) != UNIT) {
                return None;
            }
        }
        let is_unit = |axis: usize| self.from[axis] != UNIT || at(axis) == UNIT;
        (0..self.from.len()).all(is_unit).then_some(below)
    }
}

/// A broadcast operand, in another view.
pub(super) enum Below {
    /// An existing value.
    Value(ValueId),
    /// A `Reshape` of the value to this shape.
    Reshape(ValueId, Vec<i64>),
}

impl Below {
    pub(super) fn from_value(f: &Function, value: ValueId, runs: &Runs) -> Option<Below> {
        let dims = known_dims(f, value)?;
        let expected = runs.below(&dims)?;
        // Leading dims of 1 are redundant unless they exceed the rank of the other shape.
        let is_expected = |dims: &[Dim]| {
            dims.len() <= expected.len() && {
                let (missing, own) = expected.split_at(expected.len() - dims.len());
                missing.iter().all(|dim| *dim == UNIT) && own == dims
            }
        };
        if is_expected(&dims) {
            return Some(Below::Value(value));
        }
        let viewed = viewed(f, value).unwrap_or(value);
        if known_dims(f, viewed).is_some_and(|dims| is_expected(&dims)) {
            return Some(Below::Value(viewed));
        }
        let shape = expected.iter().map(|dim| dim.as_const());
        Some(Below::Reshape(viewed, shape.collect::<Option<_>>()?))
    }

    /// Whether building it creates an op: a constant becomes another constant.
    pub(super) fn is_op(&self, f: &Function) -> bool {
        matches!(self, Below::Reshape(value, _) if f.constant(*value).is_none())
    }

    pub(super) fn make(self, r: &mut Rewriter<'_>) -> Result<ValueId, EditError> {
        match self {
            Below::Value(value) => Ok(value),
            Below::Reshape(value, shape) => {
                let shape = r.ints(&shape)?;
                r.op(OpBuilder::new("onnx.Reshape").operands([value, shape]))
            }
        }
    }
}
