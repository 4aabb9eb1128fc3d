//! The loop-level standard passes as a loadable plugin.
