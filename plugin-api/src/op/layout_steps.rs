//! [`LayoutStep`]: the ops that convert a tensor to a [`Layout`], and back.

use super::layout::Layout;

/// An op of a conversion between two layouts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutStep {
    /// `Transpose`, with this `perm`.
    Transpose(Vec<usize>),
    /// `Reshape`, to this shape: 0 is the size at the same position of the input, -1 is inferred.
    Reshape(Vec<i64>),
}

impl Layout {
    /// Returns the ops that convert a tensor of this shape to the layout: nothing, a `Transpose`, or for split axes a
    /// `Reshape` and `Transpose`s. `None` if the sizes aren't multiples of the blocks, or too few are known.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::op::{Layout, LayoutStep};
    ///
    /// # fn main() -> Result<(), passdock_plugin_api::op::LayoutError> {
    /// let layout = Layout::parse("NCHW->NCHW4c")?;
    /// let sizes = [Some(1), Some(8), Some(5), Some(6)];
    /// let steps = [
    ///     LayoutStep::Reshape(vec![1, 2, 4, 5, 6]),
    ///     LayoutStep::Transpose(vec![0, 1, 3, 4, 2]),
    /// ];
    /// assert_eq!(layout.steps(&sizes).as_deref(), Some(&steps[..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn steps(&self, sizes: &[Option<i64>]) -> Option<Vec<LayoutStep>> {
        let mut steps = Vec::new();
        self.sizes(sizes)?;
        if !self.is_blocked() {
            transpose(&mut steps, self.perm()?);
            return Some(steps);
        }
        if sizes.contains(&Some(0)) {
            // A 0 in a `Reshape` means the size of the input.
            return None;
        }
        let order = self.before_cutting(sizes);
        let (apart, shape) = self.apart(&order, sizes)?;
        transpose(&mut steps, order);
        steps.push(LayoutStep::Reshape(shape));
        let perm = self.positions.iter().enumerate();
        let perm = perm.map(|(at, _)| apart.iter().position(|position| *position == at));
        transpose(&mut steps, perm.collect::<Option<_>>()?);
        Some(steps)
    }

    /// Returns the ops that convert a tensor back, the reverse of [`Layout::steps`]. `sizes` are those before the
    /// conversion.
    pub fn steps_back(&self, sizes: &[Option<i64>]) -> Option<Vec<LayoutStep>> {
        let mut steps = Vec::new();
        self.sizes(sizes)?;
        if !self.is_blocked() {
            transpose(&mut steps, self.inverse()?.perm()?);
            return Some(steps);
        }
        if sizes.contains(&Some(0)) {
            return None;
        }
        let order = self.before_cutting(sizes);
        let (apart, _) = self.apart(&order, sizes)?;
        transpose(&mut steps, apart);
        let shape = order
            .iter()
            .enumerate()
            .map(|(at, axis)| match sizes[*axis] {
                Some(size) => Some(size),
                None if is_in_place(&order, at, self) => Some(0),
                None => None,
            });
        steps.push(LayoutStep::Reshape(shape.collect::<Option<_>>()?));
        let mut back = vec![0; order.len()];
        for (at, axis) in order.iter().enumerate() {
            back[*axis] = at;
        }
        transpose(&mut steps, back);
        Some(steps)
    }

    /// Returns the order in which axes are split: the original one if all sizes are known. Otherwise the axes that
    /// aren't split come first, so that a `Reshape` can copy their sizes by position.
    fn before_cutting(&self, sizes: &[Option<i64>]) -> Vec<usize> {
        let all = 0..self.rank();
        if sizes.iter().all(Option::is_some) {
            return all.collect();
        }
        let (cut, whole): (Vec<usize>, Vec<usize>) = all.partition(|axis| self.block(*axis) > 1);
        whole.into_iter().chain(cut).collect()
    }

    /// Returns the positions of the layout in their order after the split, and their sizes.
    fn apart(&self, order: &[usize], sizes: &[Option<i64>]) -> Option<(Vec<usize>, Vec<i64>)> {
        let (mut apart, mut shape) = (Vec::new(), Vec::new());
        for (at, &axis) in order.iter().enumerate() {
            for position in self.positions_of(axis) {
                apart.push(position);
                shape.push(match (self.positions[position].block, sizes[axis]) {
                    (Some(block), _) => block,
                    (None, Some(size)) => size / self.block(axis),
                    (None, None) if is_in_place(order, at, self) => 0,
                    (None, None) => return None,
                });
            }
        }
        Some((apart, shape))
    }
}

/// Whether no axis up to `at` is split, so that its position is the same before and after.
fn is_in_place(order: &[usize], at: usize, layout: &Layout) -> bool {
    order[..=at]
        .iter()
        .all(|axis| layout.positions_of(*axis).len() == 1)
}

fn transpose(steps: &mut Vec<LayoutStep>, perm: Vec<usize>) {
    if perm.iter().enumerate().any(|(at, axis)| at != *axis) {
        steps.push(LayoutStep::Transpose(perm));
    }
}
