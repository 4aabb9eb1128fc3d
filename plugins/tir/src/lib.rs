//! The loop-level standard passes, `tir.transform.*`.
//!
//! There is one file per pass. Its module documentation has a one-line summary, IR before and after, and the limits of
//! the pass.

pub mod unroll_loop;

use passdock_plugin_api::prelude::*;
use unroll_loop::{UnrollLoop, unroll_loop};

plugin! {
    name: "tir",
    passes: [
        /// Unrolls loops.
        prim_function "tir.transform.UnrollLoop" => unroll_loop {
            opt_level: 0,
            thread_safe: true,
            options: UnrollLoop,
            config: "tir.UnrollLoop",
        },
    ],
}
