//! Functions on single dims.

use passdock_plugin_api::{Dim, DimKind};

/// Returns a dim without its denotation, which doesn't apply to computed dims.
pub(super) fn plain(dim: Dim) -> Dim {
    Dim {
        denotation: Dim::UNKNOWN.denotation,
        ..dim
    }
}

/// Returns the size if it is constant.
pub(crate) fn as_const(dim: Dim) -> Option<i64> {
    (dim.kind == DimKind::CONST).then_some(dim.value)
}

/// Returns the sizes if all are constant.
pub(crate) fn as_consts(dims: &[Dim]) -> Option<Vec<i64>> {
    dims.iter().copied().map(as_const).collect()
}

/// Returns constant dims of these sizes.
pub(crate) fn sizes(list: impl IntoIterator<Item = i64>) -> Vec<Dim> {
    list.into_iter().map(Dim::constant).collect()
}

/// Whether a dim is a size, a symbol or an expression.
pub(crate) fn is_known(dim: Dim) -> bool {
    dim.kind != DimKind::UNKNOWN
}

/// Whether two dims are known to be equal.
pub(crate) fn same(a: Dim, b: Dim) -> bool {
    is_known(a) && (a.kind, a.value) == (b.kind, b.value)
}
