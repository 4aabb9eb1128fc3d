//! Proves that the boundary only grows.
