//! Passes that put the SDK to use and assert what it answers; `tests/tests/sdk` runs them in the host.
//! What an author may write is all that is written here, by a compiler that he may have.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

mod analysis;
mod dump;
mod failing;
mod function;
mod kept;
mod modules;
mod traversal;

/// The examples of the SDK's documentation, as `build.rs` finds them.
#[allow(dead_code, unused_imports, clippy::all)]
mod examples {
    include!(concat!(env!("OUT_DIR"), "/examples.rs"));
}

use passdock_plugin_api::{export_plugin, plugin};

plugin! {
    name: "sdk",
    passes: [
        function "sdk.transform.Keep" => function::keep,
        function "sdk.transform.ReplaceWithValues" => function::replace_with_values,
        function "sdk.transform.ReplaceByOp" => function::replace_by_op,
        function "sdk.transform.SetOperands" => function::set_operands,
        function "sdk.transform.Iterate" => function::iterate,
        function "sdk.transform.Refused" => function::refused,
        function "sdk.transform.Stale" => function::stale,
        function "sdk.transform.Attributes" => function::attributes,
        function "sdk.transform.Types" => function::types,
        function "sdk.transform.Deep" => traversal::deep,
        function "sdk.transform.Visits" => traversal::visits,
        function "sdk.transform.Mutates" => traversal::mutates,
        function "sdk.transform.WorksOut" => traversal::works_out,
        function "sdk.transform.Analyses" => analysis::kept_until_an_edit,
        function "sdk.transform.AnalysesAreGone" => analysis::gone,
        function "sdk.transform.Columns" => analysis::columns,
        function "sdk.transform.KeepIterators" => kept::keep_iterators,
        function "sdk.transform.SlicesStay" => kept::slices_stay,
        module "sdk.transform.ForgetHandles" => kept::forget_handles,
        function "sdk.transform.KeptIteratorsEnd" => kept::kept_iterators_end,
        module "sdk.transform.SnapshotsStay" => modules::snapshots_stay,
        module "sdk.transform.Copy" => modules::copy,
        module "sdk.transform.RunOthers" => modules::run_others,
        function "sdk.transform.Fails" => failing::fails,
        function "sdk.transform.EditsWrongly" => failing::edits_wrongly,
        function "sdk.transform.Panics" => failing::panics,
        function "sdk.transform.PanicsWithABomb" => failing::panics_with_a_bomb,
        function "sdk.transform.ReadsStale" => failing::reads_stale,
        function "doc.transform.FuseDoubleRelu" => examples::fuse_double_relu::fuse_double_relu,
        function "doc.transform.FuseSilu" => examples::fuse_silu::fuse_silu,
        function "doc.transform.WarnOfMemory" => examples::warn_of_memory::warn_of_memory,
        function "doc.transform.Print" => examples::print::print,
        function "doc.transform.ForbidCalls" => examples::forbid_calls::forbid_calls,
        function "doc.transform.EraseUnused" => examples::erase_unused::erase_unused,
        function "doc.transform.SumToAdd" => examples::sum_to_add::sum_to_add,
        function "doc.transform.MakeOnes" => examples::make_ones::make_ones,
        function "doc.transform.MakeType" => examples::make_type::make_type,
        function "doc.transform.CollapseIfs" => examples::collapse_ifs::collapse_ifs,
        function "doc.transform.MarkConstant" => examples::mark_constant::mark_constant,
        function "doc.transform.TestReplaceFunc" => examples::replace_func::replace_func { opt_level: 1 },
        function "doc.transform.ShowHeights" => examples::show_heights::show_heights,
        function "doc.transform.WarnOfOld" => examples::warn_of_old::warn_of_old,
        function "doc.transform.NoLoops" => examples::no_loops::no_loops,
        function "doc.transform.FuseGelu" => examples::fuse_gelu::fuse_gelu,
        function "doc.transform.InferAll" => examples::infer_all::infer_all,
        module "doc.transform.AddRelu" => examples::add_relu::add_relu,
        module "doc.transform.Stamp" => examples::stamp::stamp,
        module "doc.transform.MarkLeaves" => examples::mark_leaves::mark_leaves,
        module "doc.transform.OutlineLayers" => examples::outline_layers::outline_layers,
        module "doc.transform.OutlineMarked" => examples::outline_marked::outline_marked,
        module "doc.transform.RemoveUncalled" => examples::remove_uncalled::remove_uncalled,
    ],
    ops: [examples::silu::SILU, kept::GREEDY],
    instruments: [
        "sdk.budget" => examples::budget::Budget { options: examples::budget::BudgetOptions },
        "sdk.growth" => examples::growth::Growth,
    ],
}
export_plugin!(PLUGIN);
