//! [`LayoutRequest`]: an op, and the layouts that are requested for its operands.

use std::ops::Deref;

use passdock_plugin_api::Dim;
use passdock_plugin_api::op::Layout;

use super::result::{Change, LayoutResult};
use crate::infer::{Infer, Inferred, Stop, invalid};

/// Sizes, `None` where they aren't constant.
pub(super) type Sizes = Vec<Option<i64>>;

/// An op, and the layouts that are available or requested for its operands.
pub(crate) struct LayoutRequest<'a> {
    op: &'a Infer<'a>,
    requested: Vec<Option<String>>,
}

impl<'a> Deref for LayoutRequest<'a> {
    type Target = Infer<'a>;

    fn deref(&self) -> &Infer<'a> {
        self.op
    }
}

impl<'a> LayoutRequest<'a> {
    pub(crate) fn new(op: &'a Infer<'a>, requested: Vec<Option<String>>) -> LayoutRequest<'a> {
        LayoutRequest { op, requested }
    }

    /// Returns a result without any layout.
    pub(super) fn result(&self) -> LayoutResult {
        LayoutResult::new(self.op)
    }

    /// Returns a result with one layout for the first operands and all results.
    pub(super) fn with_layout(&self, operands: usize, layout: &Layout) -> Inferred<LayoutResult> {
        let mut laid = self.result();
        for index in (0..operands.min(self.count())).filter(|index| self.has(*index)) {
            self.fits(index, layout)?;
            laid.operand(index, layout);
        }
        for index in 0..laid.results.len() {
            laid.result(index, layout);
        }
        Ok(laid)
    }

    /// Returns the op with a change, and with one layout for its first operands and all results.
    pub(super) fn rewritten(
        &self,
        operands: usize,
        layout: &Layout,
        change: Change,
    ) -> Inferred<LayoutResult> {
        self.with_layout(operands, layout)?.finish_op(self, change)
    }

    /// Returns the axes counted from the front, sorted.
    pub(super) fn listed(&self, axes: &[i64], rank: usize) -> Inferred<Vec<usize>> {
        let mut axes = self.axes(axes, rank)?;
        axes.sort_unstable();
        Ok(axes)
    }

    /// Returns the number of operand slots.
    pub(super) fn count(&self) -> usize {
        self.op.host.operand_count()
    }

    /// Returns the layout requested for an operand, or `None` if it is the current one. A short form omits the source
    /// order, which is `first` and then the spatial axes.
    pub(super) fn requested(&self, index: usize, first: &str) -> Inferred<Option<Layout>> {
        let Some(text) = self.requested.get(index).and_then(|text| text.as_deref()) else {
            return Ok(None);
        };
        if !self.has(index) {
            return Ok(None);
        }
        let rank = self.host.operand_type(index).rank();
        let layout = match rank {
            Some(rank) => Layout::parse_of(text, &own(first, rank)?),
            None => Layout::parse(text),
        };
        match layout {
            Ok(layout) => Ok(Some(layout).filter(|layout| !layout.is_identity())),
            Err(error) => invalid!("{error}"),
        }
    }

    /// Whether the layout requested for an operand is its current one.
    pub(super) fn is_own(&self, index: usize, first: &str) -> bool {
        let text = self.requested.get(index).and_then(|text| text.as_deref());
        let rank = self.host.operand_type(index).rank();
        let own = rank.and_then(|rank| own(first, rank).ok());
        let layout = text
            .zip(own)
            .map(|(text, own)| Layout::parse_of(text, &own));
        matches!(layout, Some(Ok(layout)) if layout.is_identity())
    }

    /// Returns the layout requested for an operand, if it fits the operand's axes.
    pub(super) fn layout(&self, index: usize) -> Inferred<Layout> {
        match self.requested(index, "NC")? {
            Some(layout) => {
                self.fits(index, &layout)?;
                Ok(layout)
            }
            None => invalid!("no other layout is requested for operand {index}"),
        }
    }

    /// Rejects an operand whose rank differs from the layout's, or whose sizes aren't whole blocks.
    pub(super) fn fits(&self, index: usize, layout: &Layout) -> Inferred {
        match self.op.host.operand_type(index).rank() {
            Some(rank) if rank != layout.rank() => {
                return invalid!(
                    "operand {index} has rank {rank}, but layout `{layout}` has {}",
                    layout.rank()
                );
            }
            None if layout.is_blocked() => return Err(Stop::Unknown),
            _ => {}
        }
        let is_whole = match self.sizes(index) {
            Some(sizes) => layout.steps(&sizes).is_some(),
            None => true,
        };
        if !is_whole {
            return invalid!("operand {index} is not divisible into blocks of layout `{layout}`");
        }
        Ok(())
    }

    /// Returns the sizes of an operand, or `None` if its rank is unknown.
    pub(super) fn sizes(&self, index: usize) -> Option<Sizes> {
        Some(as_sizes(&self.dims(index)?))
    }

    /// Returns the dims of a result if its rank is known.
    pub(super) fn result_dims(&self, index: usize) -> Option<Vec<Dim>> {
        let host = self.op.host;
        let ty = host.type_of(host.result(host.op(), index));
        ty.dims().filter(|_| ty.is_tensor()).map(Iterator::collect)
    }

    /// Returns the sizes of a result. See [`LayoutRequest::sizes`].
    pub(super) fn result_sizes(&self, index: usize) -> Option<Sizes> {
        Some(as_sizes(&self.result_dims(index)?))
    }

    /// Returns the rank of an operand, or stops the rule if it is unknown.
    pub(super) fn rank(&self, index: usize) -> Inferred<usize> {
        self.host.operand_type(index).rank().ok_or(Stop::Unknown)
    }

    /// Whether an operand has one element.
    pub(super) fn is_one(&self, index: usize) -> bool {
        let sizes = self.sizes(index);
        sizes.is_some_and(|sizes| sizes.iter().all(|size| *size == Some(1)))
    }

    /// Whether a result is present.
    pub(super) fn has_result(&self, index: usize) -> bool {
        let host = self.op.host;
        index < host.result_count() && !host.is_absent(host.result(host.op(), index))
    }
}

pub(super) fn as_sizes(dims: &[Dim]) -> Sizes {
    dims.iter().map(|dim| dim.as_const()).collect()
}

/// Returns ONNX's order of axes: the letters in `first`, and the spatial axes.
pub(super) fn own(first: &str, rank: usize) -> Inferred<String> {
    let spatial = match rank.saturating_sub(first.len()) {
        0 => "",
        1 => "W",
        2 => "HW",
        3 => "DHW",
        4 => "TDHW",
        _ => return invalid!("rank {rank} has no default layout"),
    };
    Ok(format!("{}{spatial}", &first[..rank.min(first.len())]))
}
