//! Passes that break the rules for passes, for the tests of faults.

mod odd_op;
mod planted;

use passdock_plugin_api::prelude::*;
use planted::{PanicOnErf, counts, panics_on_erf, rewrites, swaps_sub};

/// Panics after an edit.
fn panics(f: &mut Function, _cx: &PassContext) -> PassResult {
    erase_last(f)?;
    let none = f.ops().find(|_| false);
    let _ = none.expect("the weights have to be there");
    Ok(())
}

/// Fails on an op, after an edit.
fn fails(f: &mut Function, _cx: &PassContext) -> PassResult {
    erase_last(f)?;
    let op = f.ops().next().ok_or("there is no op")?;
    Err(PassError::new("This op has an axis that is out of range.").at(op))
}

/// Emits an error and continues.
fn complains(f: &mut Function, cx: &PassContext) -> PassResult {
    let op = f.ops().next().ok_or("there is no op")?;
    cx.emit(
        &Diagnostic::warning("This op is slow.")
            .at(op)
            .code("bad::slow"),
    );
    cx.emit(
        &Diagnostic::error("This op is wrong.")
            .at(op)
            .code("bad::wrong")
            .help("Remove it."),
    );
    Ok(())
}

/// Emits a fatal error.
fn gives_up(f: &mut Function, cx: &PassContext) -> PassResult {
    erase_last(f)?;
    let op = f.ops().next().ok_or("there is no op")?;
    let diagnostic = Diagnostic::error("This op can't be lowered.").code("bad::lower");
    Err(cx.emit_fatal(&diagnostic.at(OpSpan::name(op))))
}

/// Emits a diagnostic with labels on parts of ops in two functions.
fn points(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let names: Vec<String> = m.functions().map(|f| m.text(f.name).to_owned()).collect();
    let mut diagnostic = Diagnostic::warning("These ops don't fit together.")
        .code("bad::fit")
        .with_note("They did once.")
        .with_note("Nobody knows when.")
        .help("Retrain the model.");
    for name in names {
        let f = m.edit(&name)?;
        for op in f.ops().take(2) {
            diagnostic = diagnostic
                .label(OpSpan::operand(op, 0).within(f), "takes this")
                .label(OpSpan::attr(op, "axis").within(f), "an axis");
        }
    }
    cx.emit(&diagnostic);
    Ok(())
}

/// Writes to the host's memory, without an edit.
fn scribbles(f: &mut Function, _cx: &PassContext) -> PassResult {
    // SAFETY: the view is valid as long as the handle. The write is illegal on purpose.
    unsafe {
        let ops = (*f.as_raw().view)
            .ops
            .base
            .cast::<passdock_plugin_api::abi::Op>()
            .cast_mut();
        (*ops).next.0 = 1 << 30;
    }
    Ok(())
}

/// Stores an analysis that panics on drop.
fn keeps_bomb(f: &mut Function, cx: &PassContext) -> PassResult {
    f.analysis::<Bomb>(cx).map(drop)
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("it went off");
    }
}

impl Analysis for Bomb {
    fn compute(_f: &Function, _cx: &PassContext) -> Result<Bomb, PassError> {
        Ok(Bomb)
    }
}

/// Runs a pass that emits errors, and returns its failure.
fn runs_complain(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.transform.Complain")
}

/// Runs a pass that fails, and returns its failure.
fn runs_fail(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.transform.Fail")
}

/// Runs a pass that doesn't exist.
fn runs_unknown(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.transform.Mising")
}

/// Runs a pass without the option that it needs.
fn runs_without_option(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.transform.NeedOption")
}

options! {
    /// The options of [`needs_option`].
    struct NeedOption {
        /// Any number.
        size: i64,
    }
}

/// Reads its option.
fn needs_option(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    cx.options::<NeedOption>().map(drop)
}

/// Runs itself.
fn runs_itself(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.transform.RunItself")
}

/// Runs a Sequential that contains the pass itself.
fn runs_around(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.Loop")
}

/// Runs a pass that requires the pass itself.
fn runs_requirer(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "bad.transform.RequireRunRequirer")
}

/// Changes the function's results without declaring it.
fn changes_interface(f: &mut Function, _cx: &PassContext) -> PassResult {
    let body = f.body();
    Ok(f.set_results(body, &[])?)
}

/// As `changes_interface`, as a module pass.
fn changes_main(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let main = m.edit("main")?;
    changes_interface(main, cx)
}

/// Raises the opset of `@main` without declaring it.
fn changes_opset(m: &mut Module<'_>, _cx: &PassContext) -> PassResult {
    for entry in m.functions() {
        m.edit(entry.name)?.set_opset("", 18)?;
    }
    Ok(())
}

/// Uses an op that it has erased.
fn uses_stale(f: &mut Function, _cx: &PassContext) -> PassResult {
    let op = f.ops().next().ok_or("there is no op")?;
    let operand = f.operand(op, 0).ok_or("the op has no operand")?;
    f.replace_op_with(op, &[operand])?;
    Ok(f.erase_op(op)?)
}

/// Removes a function that has callers.
fn removes_callee(m: &mut Module<'_>, _cx: &PassContext) -> PassResult {
    for entry in m.functions() {
        if m.text(entry.name) != "main" {
            m.remove(entry.name)?;
        }
    }
    Ok(())
}

/// Changes the model's results: replaces an op with another of the same shape.
fn changes_results(f: &mut Function, _cx: &PassContext) -> PassResult {
    for (old, new) in [("onnx.Relu", "onnx.Neg"), ("onnx.Add", "onnx.Sub")] {
        let new = f.intern(new)?;
        if let Some(op) = f.ops_named(old).next() {
            let operands: Vec<ValueId> = f.operands(op).collect();
            let builder = OpBuilder::new(new).operands(operands).untyped_results(1);
            f.replace_op(op, builder)?;
            return Ok(());
        }
    }
    Ok(())
}

/// Creates an op of an unknown domain.
fn uses_unknown_op(f: &mut Function, _cx: &PassContext) -> PassResult {
    let fast = f.intern("bad.FastRelu")?;
    f.set_opset("bad", 1)?;
    for op in f.ops_named("onnx.Relu") {
        if let Some(x) = f.operand(op, 0) {
            f.replace_op(op, OpBuilder::new(fast).operand(x).untyped_results(1))?;
        }
    }
    Ok(())
}

/// Creates an op without a domain, which ONNX doesn't allow.
fn uses_plain_op(f: &mut Function, _cx: &PassContext) -> PassResult {
    let fast = f.intern("fast_relu")?;
    for op in f.ops_named("onnx.Relu") {
        if let Some(x) = f.operand(op, 0) {
            f.replace_op(op, OpBuilder::new(fast).operand(x).untyped_results(1))?;
        }
    }
    Ok(())
}

/// Replaces that op with the original one.
fn lowers_unknown_op(f: &mut Function, _cx: &PassContext) -> PassResult {
    let relu = f.intern("onnx.Relu")?;
    for op in f.ops_named("bad.FastRelu") {
        if let Some(x) = f.operand(op, 0) {
            f.replace_op(op, OpBuilder::new(relu).operand(x).untyped_results(1))?;
        }
    }
    Ok(())
}

fn erase_last(f: &mut Function) -> PassResult {
    let op = f
        .ops()
        .next_back()
        .and_then(|last| f.previous_op(last))
        .ok_or("there is no op")?;
    if let (1, Some(operand)) = (f.result_count(op), f.operand(op, 0)) {
        f.replace_op_with(op, &[operand])?;
    }
    Ok(())
}

plugin! {
    name: "bad",
    passes: [
        /// Panics after an edit.
        function "bad.transform.Panic" => panics { opt_level: 0 },
        /// Fails on an op after an edit.
        function "bad.transform.Fail" => fails { opt_level: 0 },
        /// Emits an error diagnostic.
        function "bad.transform.Complain" => complains { opt_level: 0 },
        /// Emits a fatal error.
        function "bad.transform.GiveUp" => gives_up { opt_level: 0 },
        /// Emits a diagnostic with labels on several ops.
        module "bad.transform.Point" => points { opt_level: 0 },
        /// Runs a pass that emits an error.
        module "bad.transform.RunComplain" => runs_complain { opt_level: 0 },
        /// Runs a pass that fails.
        module "bad.transform.RunFail" => runs_fail { opt_level: 0 },
        /// Runs an unknown pass.
        module "bad.transform.RunUnknown" => runs_unknown { opt_level: 0 },
        /// Runs a pass without the option that it needs.
        module "bad.transform.RunWithoutOption" => runs_without_option { opt_level: 0 },
        /// Requires its option to be set.
        module "bad.transform.NeedOption" => needs_option { opt_level: 0, options: NeedOption },
        /// Runs itself, without end.
        module "bad.transform.RunItself" => runs_itself { opt_level: 0 },
        /// Emits an error, for several functions in parallel.
        function "bad.transform.ComplainTogether" => complains { opt_level: 0, thread_safe: true },
        /// Runs a Sequential that contains it.
        module "bad.transform.RunLoop" => runs_around { opt_level: 0 },
        /// Runs a pass that requires it.
        module "bad.transform.RunRequirer" => runs_requirer { opt_level: 0 },
        /// Requires the pass that runs it.
        module "bad.transform.RequireRunRequirer" => runs_fail {
            opt_level: 0,
            required: ["bad.transform.RunRequirer"],
        },
        /// Changes the interface without declaring it.
        function "bad.transform.ChangeInterface" => changes_interface { opt_level: 0 },
        /// Changes the interface of the module without declaring it.
        module "bad.transform.ChangeMain" => changes_main { opt_level: 0 },
        /// Changes an opset without declaring it.
        module "bad.transform.ChangeOpset" => changes_opset { opt_level: 0 },
        /// Uses an op that it has erased.
        function "bad.transform.UseStale" => uses_stale { opt_level: 0 },
        /// Changes the model's results.
        function "bad.transform.ChangeResults" => changes_results { opt_level: 0 },
        /// Creates ops of an unknown domain.
        function "bad.transform.UseUnknownOp" => uses_unknown_op { opt_level: 0 },
        /// Creates ops that ONNX doesn't allow.
        function "bad.transform.UsePlainOp" => uses_plain_op { opt_level: 0 },
        /// Replaces them with the original ops.
        function "bad.transform.LowerUnknownOp" => lowers_unknown_op { opt_level: 0 },
        /// Removes functions that have callers.
        module "bad.transform.RemoveCallee" => removes_callee { opt_level: 0 },
        /// Requires an unknown pass.
        function "bad.transform.RequireMissing" => fails { opt_level: 0, required: ["bad.transform.Mising"] },
        /// Requires another plugin's Sequential.
        function "bad.transform.RequireSequential" => fails { opt_level: 0, required: ["tap.Rest"] },
        /// Requires a pass that requires it.
        function "bad.transform.CycleA" => fails { opt_level: 0, required: ["bad.transform.CycleB"] },
        /// Requires a pass that requires it.
        function "bad.transform.CycleB" => fails { opt_level: 0, required: ["bad.transform.CycleA"] },
        /// Swaps the operands of some `Sub`s.
        function "bad.transform.SwapSub" => swaps_sub { opt_level: 0 },
        /// Rewrites by rules, of which some are incorrect.
        function "bad.transform.Rewrite" => rewrites { opt_level: 0 },
        /// Counts its runs.
        function "bad.transform.Count" => counts { opt_level: 0 },
        /// Panics on some `Erf`s.
        function "bad.transform.PanicOnErf" => panics_on_erf {
            opt_level: 0,
            required: ["bad.transform.Count"],
            options: PanicOnErf,
        },
        /// Stores an analysis that panics on drop.
        function "bad.transform.KeepBomb" => keeps_bomb { opt_level: 0 },
        /// Writes to the host's memory.
        function "bad.transform.Scribble" => scribbles { opt_level: 0 },
    ],
    sequentials: [
        /// Contains an unknown pass.
        "bad.Missing" => ["relax.transform.FoldConstant", "relax.transform.FoldConstants"],
        /// Contains a Sequential that contains it.
        "bad.Hen" => ["relax.transform.FoldConstant", "bad.Egg"],
        /// Contains a Sequential that contains it.
        "bad.Egg" => ["bad.Hen"],
        /// Contains a pass with an unknown option.
        "bad.Option" => ["relax.transform.FoldConstant" { max_growht: 512 }],
        /// Contains a pass that runs it.
        "bad.Loop" => ["bad.transform.RunLoop"],
        /// Contains a Sequential with a pass that fails.
        "bad.Failing" => ["relax.transform.FoldConstant", "bad.Deep", "relax.transform.InferType"],
        /// Contains a pass that changes the model's results.
        "bad.Changing" => ["relax.transform.InferType", "bad.transform.ChangeResults", "bad.transform.UseUnknownOp"],
        /// Contains a pass that fails.
        "bad.Deep" => ["relax.transform.CanonicalizeBindings", "bad.transform.Fail"],
    ],
    ops: [odd_op::ODD],
}
