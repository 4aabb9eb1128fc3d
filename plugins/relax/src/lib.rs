//! The graph-level standard passes, relax.transform.*.
