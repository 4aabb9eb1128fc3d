//! Passes that the benchmarks load: empty, reading, rewriting.

use std::hint::black_box;

use passdock_plugin_api::prelude::*;

/// Nothing.
fn empty(_f: &mut Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

/// Looks at each op's name and at how many operands it has.
fn visit(f: &mut Function, _cx: &PassContext) -> PassResult {
    let mut sum = 0;
    for op in f.iter() {
        sum += f.operand_count(op) + f.symbol(op).index();
    }
    black_box(sum);
    Ok(())
}

/// Replaces each Relu by a Gelu.
fn rewrite(f: &mut Function, _cx: &PassContext) -> PassResult {
    let gelu = f.intern("onnx.Gelu")?;
    for op in f.ops_named("onnx.Relu") {
        if let Some(x) = f.operand(op, 0) {
            f.replace_op(op, OpBuilder::new(gelu).operand(x).untyped_results(1))?;
        }
    }
    Ok(())
}

plugin! {
    name: "bench",
    passes: [
        /// Nothing.
        function "bench.transform.Empty" => empty { opt_level: 0, thread_safe: true },
        /// Looks at each op.
        function "bench.transform.Visit" => visit { opt_level: 0, thread_safe: true },
        /// Replaces each Relu by a Gelu.
        function "bench.transform.Rewrite" => rewrite { opt_level: 0, thread_safe: true },
    ],
}
export_plugin!(PLUGIN);
