//! Passes and an instrument for the benchmarks: empty, reading, rewriting, requesting analyses.

use std::hint::black_box;

use passdock_plugin_api::prelude::*;

/// Does nothing.
fn empty(_f: &mut Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

/// Reads each op's name and its number of operands.
fn visit(f: &mut Function, _cx: &PassContext) -> PassResult {
    let mut sum = 0;
    for op in f.iter() {
        sum += f.operand_count(op) + f.symbol(op).index();
    }
    black_box(sum);
    Ok(())
}

/// Replaces each Relu with a Gelu.
fn rewrite(f: &mut Function, _cx: &PassContext) -> PassResult {
    let gelu = f.intern("onnx.Gelu")?;
    for op in f.ops_named("onnx.Relu") {
        if let Some(x) = f.operand(op, 0) {
            f.replace_op(op, OpBuilder::new(gelu).operand(x).untyped_results(1))?;
        }
    }
    Ok(())
}

/// The number of requests in the passes below.
pub const TIMES: usize = 1000;

/// An analysis without any computation.
struct Nothing;

impl Analysis for Nothing {
    fn compute(_f: &Function, _cx: &PassContext) -> Result<Nothing, PassError> {
        Ok(Nothing)
    }
}

/// Requests a cached analysis.
fn find(f: &mut Function, cx: &PassContext) -> PassResult {
    for _ in 0..TIMES {
        black_box(f.analysis::<Nothing>(cx)?);
    }
    Ok(())
}

/// Requests a cached column.
fn find_column(f: &mut Function, _cx: &PassContext) -> PassResult {
    for _ in 0..TIMES {
        black_box(f.liveness()?);
    }
    Ok(())
}

/// Requests one of the host's analyses after an edit.
fn edit_and_ask(f: &mut Function, _cx: &PassContext) -> PassResult {
    f.set_function_attr("bench", 1)?;
    black_box(f.liveness()?);
    Ok(())
}

/// Edits without a request.
fn edit(f: &mut Function, _cx: &PassContext) -> PassResult {
    f.set_function_attr("bench", 1)?;
    Ok(())
}

/// An instrument with empty callbacks.
struct Idle;

impl Instrument for Idle {
    fn new(_cx: &PassContext) -> Result<Self, PassError> {
        Ok(Idle)
    }
}

plugin! {
    name: "bench",
    passes: [
        /// Does nothing.
        function "bench.transform.Empty" => empty { opt_level: 0, thread_safe: true },
        /// Reads each op.
        function "bench.transform.Visit" => visit { opt_level: 0, thread_safe: true },
        /// Replaces each Relu with a Gelu.
        function "bench.transform.Rewrite" => rewrite { opt_level: 0, thread_safe: true },
        /// Requests a cached analysis.
        function "bench.transform.Find" => find { opt_level: 0, thread_safe: true },
        /// Requests a cached column.
        function "bench.transform.FindColumn" => find_column { opt_level: 0, thread_safe: true },
        /// Requests a column after an edit.
        function "bench.transform.EditAndAsk" => edit_and_ask { opt_level: 0, thread_safe: true },
        /// Edits without a request.
        function "bench.transform.Edit" => edit { opt_level: 0, thread_safe: true },
    ],
    instruments: [
        /// Has empty callbacks.
        "bench.idle" => Idle,
    ],
}
