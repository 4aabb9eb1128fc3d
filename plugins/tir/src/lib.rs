//! The loop-level standard passes, `tir.transform.*`.
//!
//! One file per pass: what it does in one sentence, before → after, what it doesn't do, the code.

pub mod unroll_loop;

use passdock_plugin_api::prelude::*;
use unroll_loop::{UnrollLoop, unroll_loop};

plugin! {
    name: "tir",
    passes: [
        /// Unrolls loops: copies of their bodies stand in their place.
        prim_function "tir.transform.UnrollLoop" => unroll_loop {
            opt_level: 0,
            thread_safe: true,
            options: UnrollLoop,
            config: "tir.UnrollLoop",
        },
    ],
}
