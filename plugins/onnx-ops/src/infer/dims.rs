//! Functions on single dims.

use passdock_plugin_api::Dim;

/// Returns a dim without its denotation, which doesn't apply to computed dims.
pub(super) fn plain(dim: Dim) -> Dim {
    Dim {
        denotation: Dim::UNKNOWN.denotation,
        ..dim
    }
}

/// Returns the sizes if all are constant.
pub(crate) fn as_consts(dims: &[Dim]) -> Option<Vec<i64>> {
    dims.iter().copied().map(Dim::as_const).collect()
}

/// Returns constant dims of these sizes.
pub(crate) fn sizes(list: impl IntoIterator<Item = i64>) -> Vec<Dim> {
    list.into_iter().map(Dim::constant).collect()
}
