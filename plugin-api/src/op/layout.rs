//! [`Layout`]: the order of a tensor's axes in memory, and their blocks.

use std::fmt;

/// An order of axes and blocks in memory.
///
/// `NCHW->NHWC` is a transposition. In `NCHW->NCHW4c` the channels are split into innermost blocks of four. An
/// upper-case letter is an axis, or the number of its blocks; a number with a lower-case letter is a block of that
/// axis. The letters of the source are the axes in the operator's order. The choice of letters has no meaning: two
/// layouts with the same axes at the same positions are equal.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::op::Layout;
///
/// # fn main() -> Result<(), passdock_plugin_api::op::LayoutError> {
/// let layout = Layout::parse("NCHW->NCHW4c")?;
/// assert_eq!((layout.rank(), layout.target_rank()), (4, 5));
/// assert_eq!(layout.shape(&[1, 8, 5, 6]), Some(vec![1, 2, 5, 6, 4]));
/// assert_eq!(layout.shape(&[1, 3, 5, 6]), None);
/// assert_eq!(Layout::parse("NCHW->NHWC")?.perm(), Some(vec![0, 2, 3, 1]));
/// let error = Layout::parse("NCHW->NHW").unwrap_err();
/// assert_eq!(error.to_string(), "invalid layout `NCHW->NHW`: missing axis `C`");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    /// An upper-case letter for each axis.
    axes: Vec<char>,
    pub(super) positions: Vec<LayoutPosition>,
}

/// A position of a layout: an axis, the number of blocks of an axis, or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LayoutPosition {
    /// The axis, as an index into the source.
    pub axis: usize,
    /// The size of the block; `None` for the axis itself.
    pub block: Option<i64>,
}

/// The error for an invalid layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayoutError {
    /// The text.
    pub text: String,
    /// The problem: `duplicate axis C`.
    pub what: String,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid layout `{}`: {}", self.text, self.what)
    }
}

impl std::error::Error for LayoutError {}

impl LayoutError {
    fn new(text: &str, what: impl Into<String>) -> LayoutError {
        LayoutError {
            text: text.to_owned(),
            what: what.into(),
        }
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        self.positions == other.positions
    }
}

impl Eq for Layout {}

impl std::hash::Hash for Layout {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.positions.hash(state);
    }
}

/// Letters for unnamed axes.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The maximum size of a block, which also limits the number that is parsed.
const MAX_BLOCK: i64 = 1 << 20;

impl Layout {
    /// Parses `SOURCE->TARGET`.
    ///
    /// # Errors
    /// If the text isn't a layout.
    pub fn parse(text: &str) -> Result<Layout, LayoutError> {
        match text.split_once("->") {
            Some((source, target)) => Layout::read(text, source, target),
            None => {
                let what = "missing source; expected a form such as `NCHW->NHWC`";
                Err(LayoutError::new(text, what))
            }
        }
    }

    /// Parses a layout that may omit the source: that of `NHWC` is `own`, the operator's order of axes.
    ///
    /// # Errors
    /// If the text isn't a layout, or has another number of axes.
    pub fn parse_of(text: &str, own: &str) -> Result<Layout, LayoutError> {
        let layout = match text.contains("->") {
            true => Layout::parse(text)?,
            false => Layout::read(text, own, text)?,
        };
        if layout.rank() == own.len() {
            return Ok(layout);
        }
        let (rank, count) = (layout.rank(), own.len());
        let what = format!("expected {} axes (`{}`), found {}", count, own, rank);
        Err(LayoutError::new(text, what))
    }

    /// Checks whether the text is a layout of some operator, with or without a source.
    ///
    /// # Errors
    /// If it isn't.
    pub fn check(text: &str) -> Result<(), LayoutError> {
        if text.contains("->") {
            return Layout::parse(text).map(drop);
        }
        let own: String = text.chars().filter(char::is_ascii_uppercase).collect();
        Layout::read(text, &own, text).map(drop)
    }

    /// Parses the source and the target of a layout.
    fn read(text: &str, source: &str, target: &str) -> Result<Layout, LayoutError> {
        let error = |what: String| Err(LayoutError::new(text, what));
        let twice = |letter| error(format!("duplicate axis `{}`", letter));
        let mut axes = Vec::new();
        for letter in source.chars() {
            if !letter.is_ascii_uppercase() {
                return error(format!(
                    "invalid axis `{}`: expected a capital letter",
                    letter
                ));
            }
            if axes.contains(&letter) {
                return twice(letter);
            }
            axes.push(letter);
        }
        let mut positions = Vec::new();
        let mut number: Option<i64> = None;
        for letter in target.chars() {
            if let Some(digit) = letter.to_digit(10) {
                let value = number.unwrap_or(0) * 10 + i64::from(digit);
                number = Some(value.min(MAX_BLOCK + 1));
                continue;
            }
            let upper = letter.to_ascii_uppercase();
            let axis = match axes.iter().position(|axis| *axis == upper) {
                Some(axis) => axis,
                None if letter.is_ascii_alphabetic() => {
                    return error(format!(
                        "unknown axis `{}`; the axes are `{}`",
                        upper, source
                    ));
                }
                None => {
                    return error(format!("expected an axis or a block, found `{}`", letter));
                }
            };
            let block = match (number.take(), letter == upper) {
                (None, true) => None,
                (Some(size), false) if (1..=MAX_BLOCK).contains(&size) => Some(size),
                (Some(_), false) => {
                    return error(format!("invalid size of the block of axis `{}`", upper));
                }
                (Some(_), true) => {
                    return error(format!(
                        "unexpected number before axis `{}`; a block has a small letter",
                        upper
                    ));
                }
                (None, false) => {
                    return error(format!(
                        "missing size of block `{}`; expected a form such as `4{}`",
                        letter, letter
                    ));
                }
            };
            let position = LayoutPosition { axis, block };
            if block.is_none() && positions.contains(&position) {
                return twice(upper);
            }
            positions.push(position);
        }
        if number.is_some() {
            return error("unexpected number at the end".to_owned());
        }
        for (axis, letter) in axes.iter().enumerate() {
            if !positions.contains(&LayoutPosition { axis, block: None }) {
                return error(format!("missing axis `{}`", letter));
            }
        }
        Ok(Layout { axes, positions })
    }

    /// Returns the layout of rank `rank` that changes nothing.
    pub fn identity(rank: usize) -> Layout {
        Layout::permuted(&(0..rank).collect::<Vec<_>>()).unwrap_or(Layout {
            axes: Vec::new(),
            positions: Vec::new(),
        })
    }

    /// Returns the layout of the result of a `Transpose` with this `perm`; `None` if it isn't a permutation, or has
    /// more axes than there are letters.
    pub fn permuted(perm: &[usize]) -> Option<Layout> {
        let mut sorted = perm.to_vec();
        sorted.sort_unstable();
        if perm.len() > LETTERS.len() || sorted.iter().enumerate().any(|(at, axis)| at != *axis) {
            return None;
        }
        let whole = |&axis| LayoutPosition { axis, block: None };
        Some(Layout {
            axes: LETTERS.chars().take(perm.len()).collect(),
            positions: perm.iter().map(whole).collect(),
        })
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Returns the number of positions: axes and blocks.
    pub fn target_rank(&self) -> usize {
        self.positions.len()
    }

    /// Returns the positions, from outermost to innermost.
    pub fn positions(&self) -> &[LayoutPosition] {
        &self.positions
    }

    /// Whether the layout changes nothing.
    pub fn is_identity(&self) -> bool {
        let mut positions = self.positions.iter().enumerate();
        positions.all(|(at, position)| position.axis == at && position.block.is_none())
    }

    /// Returns the `perm` of the `Transpose` to this layout; `None` if axes are split into blocks.
    pub fn perm(&self) -> Option<Vec<usize>> {
        let whole =
            |position: &LayoutPosition| Some(position.axis).filter(|_| position.block.is_none());
        self.positions.iter().map(whole).collect()
    }

    /// Whether axes are split into blocks.
    pub fn is_blocked(&self) -> bool {
        self.target_rank() > self.rank()
    }

    /// Returns the product of the block sizes of an axis; 1 if it isn't split.
    pub fn block(&self, axis: usize) -> i64 {
        let own = self.positions.iter().filter(|own| own.axis == axis);
        let blocks = own.filter_map(|own| own.block);
        blocks.fold(1, |product, block| product.saturating_mul(block))
    }

    /// Returns the position of an axis, or of the number of its blocks.
    pub fn position(&self, axis: usize) -> Option<usize> {
        self.positions
            .iter()
            .position(|position| *position == LayoutPosition { axis, block: None })
    }

    /// Returns the positions of an axis and its blocks, outermost first.
    pub fn positions_of(&self, axis: usize) -> Vec<usize> {
        let own = self.positions.iter().enumerate();
        let blocks = own.filter(|(_, position)| position.axis == axis && position.block.is_some());
        self.position(axis)
            .into_iter()
            .chain(blocks.map(|(at, _)| at))
            .collect()
    }

    /// Returns the shape in this layout; `None` if an axis isn't a multiple of its blocks, or the number of axes
    /// differs.
    pub fn shape(&self, sizes: &[i64]) -> Option<Vec<i64>> {
        let sizes: Vec<Option<i64>> = sizes.iter().map(|size| Some(*size)).collect();
        self.sizes(&sizes)?.into_iter().collect()
    }

    /// Like [`Layout::shape`], for sizes that may be unknown. Also returns `None` if the size of a split axis is
    /// unknown.
    pub fn sizes(&self, sizes: &[Option<i64>]) -> Option<Vec<Option<i64>>> {
        if sizes.len() != self.rank() {
            return None;
        }
        let mut out = Vec::with_capacity(self.positions.len());
        for position in &self.positions {
            let count = self.block(position.axis);
            out.push(match (position.block, sizes[position.axis]) {
                (Some(block), Some(_)) => Some(block),
                (None, size) if count == 1 => size,
                (None, Some(size)) if size % count == 0 => Some(size / count),
                _ => return None,
            });
        }
        Some(out)
    }

    /// Returns the inverse layout; `None` if axes are split into blocks, which no layout can merge.
    pub fn inverse(&self) -> Option<Layout> {
        let perm = self.perm()?;
        let mut back = vec![0; perm.len()];
        for (at, axis) in perm.into_iter().enumerate() {
            back[axis] = at;
        }
        Layout::permuted(&back)
    }

    /// Returns the composition of this layout and one of its positions: `NCHW->NHWC` and `NHWC->NHWC4c` give
    /// `NCHW->NHWC4c`. `None` if the ranks don't match, or `next` splits a block or an axis that is already split.
    pub fn then(&self, next: &Layout) -> Option<Layout> {
        if next.rank() != self.target_rank() {
            return None;
        }
        let mut positions = Vec::with_capacity(next.positions.len());
        for position in &next.positions {
            let own = self.positions[position.axis];
            let is_cut = next.block(position.axis) > 1;
            if is_cut && (own.block.is_some() || self.block(own.axis) > 1) {
                return None;
            }
            positions.push(match position.block {
                Some(_) => LayoutPosition {
                    axis: own.axis,
                    ..*position
                },
                None => own,
            });
        }
        let layout = Layout {
            axes: self.axes.clone(),
            positions,
        };
        // Blocks of one axis are distinguished by their order.
        let blocks = |layout: &Layout, axis| -> Vec<Option<i64>> {
            let own = layout.positions.iter().filter(|own| own.axis == axis);
            own.map(|own| own.block).filter(Option::is_some).collect()
        };
        let in_order = (0..self.rank()).all(|axis| {
            let own = blocks(self, axis);
            own.is_empty() || own == blocks(&layout, axis)
        });
        Some(layout).filter(|_| in_order)
    }

    /// Returns the layout without the blocks of some axes.
    pub fn unblocked(&self, axes: &[usize]) -> Layout {
        let stays =
            |position: &LayoutPosition| position.block.is_none() || !axes.contains(&position.axis);
        let positions = self.positions.iter().copied().filter(stays);
        Layout {
            axes: self.axes.clone(),
            positions: positions.collect(),
        }
    }

    /// Returns the layout of some of the axes, renumbered, without the others.
    pub fn only(&self, axes: &[usize]) -> Layout {
        let axes_kept = (0..self.rank()).filter(|axis| axes.contains(axis));
        let axes_kept: Vec<usize> = axes_kept.collect();
        let positions = self.positions.iter().filter_map(|position| {
            let axis = axes_kept.binary_search(&position.axis).ok()?;
            Some(LayoutPosition { axis, ..*position })
        });
        Layout {
            axes: axes_kept.iter().map(|axis| self.axes[*axis]).collect(),
            positions: positions.collect(),
        }
    }

    /// Returns the layout without some of the axes.
    pub fn without(&self, axes: &[usize]) -> Layout {
        let axes_kept: Vec<usize> = (0..self.rank())
            .filter(|axis| !axes.contains(axis))
            .collect();
        self.only(&axes_kept)
    }

    /// Returns the layout with an additional axis at index `axis` of the source, placed directly before the next axis.
    /// `None` if there is no unused letter.
    pub fn with_axis(&self, axis: usize) -> Option<Layout> {
        let letter = LETTERS.chars().find(|letter| !self.axes.contains(letter))?;
        let axis = axis.min(self.rank());
        let after = |axis: usize| Some(*self.positions_of(axis).iter().max()? + 1);
        let at = match axis {
            axis if axis < self.rank() => self.position(axis)?,
            0 => 0,
            axis => after(axis - 1)?,
        };
        let mut axes = self.axes.clone();
        axes.insert(axis, letter);
        let moved = |position: &LayoutPosition| LayoutPosition {
            axis: position.axis + usize::from(position.axis >= axis),
            ..*position
        };
        let mut positions: Vec<LayoutPosition> = self.positions.iter().map(moved).collect();
        positions.insert(at, LayoutPosition { axis, block: None });
        Some(Layout { axes, positions })
    }

    /// Returns the number of positions of these axes, if they are the innermost ones; `None` if other axes are between
    /// or after them.
    pub fn last(&self, axes: &[usize]) -> Option<usize> {
        let count = self
            .positions
            .iter()
            .filter(|position| axes.contains(&position.axis))
            .count();
        let mut last = self.positions[self.positions.len() - count..].iter();
        last.all(|position| axes.contains(&position.axis))
            .then_some(count)
    }

    /// Whether the layout keeps the order of elements of a tensor of this shape: only axes of size 1 move.
    pub fn keeps_order(&self, sizes: &[Option<i64>]) -> bool {
        let mut seen = (0, false);
        for position in &self.positions {
            if sizes.get(position.axis) == Some(&Some(1)) {
                continue;
            }
            let now = (position.axis, position.block.is_some());
            if now < seen {
                return false;
            }
            seen = now;
        }
        true
    }

    /// Returns the target: `NCHW4c`.
    pub fn target(&self) -> String {
        let mut text = String::new();
        for position in &self.positions {
            let letter = self.axes[position.axis];
            match position.block {
                Some(size) => text += &format!("{}{}", size, letter.to_ascii_lowercase()),
                None => text.push(letter),
            }
        }
        text
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source: String = self.axes.iter().collect();
        write!(f, "{}->{}", source, self.target())
    }
}
