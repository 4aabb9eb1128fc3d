//! The graph-level standard passes as a loadable plugin.
