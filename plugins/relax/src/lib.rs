//! The graph-level standard passes, `relax.transform.*`.
//!
//! One file per pass: what it does in one sentence, before → after, what it doesn't do, the code.

pub mod canonicalize_bindings;
pub mod dead_code_elimination;
pub mod eliminate_common_subexpr;
pub mod fold_constant;
pub mod infer_type;
mod purity;
mod signature;

use canonicalize_bindings::canonicalize_bindings;
use dead_code_elimination::{DeadCodeElimination, dead_code_elimination};
use eliminate_common_subexpr::eliminate_common_subexpr;
use fold_constant::{FoldConstant, fold_constant};
use infer_type::infer_type;
use passdock_plugin_api::prelude::*;

plugin! {
    name: "relax",
    passes: [
        /// Infers the types of all results from the operators' definitions.
        module "relax.transform.InferType" => infer_type {
            opt_level: 0,
            establishes: ["types-inferred"],
        },
        /// Evaluates what depends on constants only.
        function "relax.transform.FoldConstant" => fold_constant {
            opt_level: 2,
            thread_safe: true,
            establishes: ["constants-folded"],
            options: FoldConstant,
            config: "relax.FoldConstant",
        },
        /// Lets the uses of a copy use the original.
        function "relax.transform.CanonicalizeBindings" => canonicalize_bindings {
            opt_level: 1,
            thread_safe: true,
        },
        /// Computes once what several ops compute.
        function "relax.transform.EliminateCommonSubexpr" => eliminate_common_subexpr {
            opt_level: 1,
            required: ["relax.transform.InferType"],
            thread_safe: true,
        },
        /// Erases what nobody uses: ops, constants, functions.
        module "relax.transform.DeadCodeElimination" => dead_code_elimination {
            opt_level: 1,
            required: ["relax.transform.InferType"],
            options: DeadCodeElimination,
            config: "relax.DeadCodeElimination",
        },
    ],
}
