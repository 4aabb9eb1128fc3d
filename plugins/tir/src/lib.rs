//! The loop-level standard passes, tir.transform.*.
