//! Passes for the tests of the rules of the pass infrastructure, as a plugin.
//!
//! Each pass emits a note for what it does, so that it is in the host's log. Tests that run with these passes check
//! that a pass's name, level and requirements are those that the test declares.

use passdock_plugin_api::Severity;
use passdock_plugin_api::prelude::*;

/// The code of the notes that are events.
pub const EVENT: &str = "event";

fn note(cx: &PassContext, event: &str) {
    cx.emit(&Diagnostic::note(event).code(EVENT));
}

fn logs_run(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    note(cx, "run");
    Ok(())
}

/// Counts its runs in an attribute of `@main`.
fn changes(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    note(cx, "change");
    let main = m.edit("main")?;
    let count = match main.function_attr("count") {
        Some(Attr::Int(count)) => count,
        _ => 0,
    };
    Ok(main.set_function_attr("count", count + 1)?)
}

fn fails(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    changes(m, cx)?;
    Err("it is broken".into())
}

fn visits(_f: &mut Function, cx: &PassContext) -> PassResult {
    note(cx, "visit");
    Ok(())
}

fn marks(f: &mut Function, cx: &PassContext) -> PassResult {
    note(cx, "mark");
    Ok(f.set_function_attr("mark", 1)?)
}

fn fails_on_other(f: &mut Function, cx: &PassContext) -> PassResult {
    marks(f, cx)?;
    match f.function_name() {
        "other" => Err("it is broken".into()),
        _ => Ok(()),
    }
}

fn warns(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    cx.emit(&Diagnostic::warning("This is odd.").code("odd"));
    note(cx, "went on");
    Ok(())
}

fn warns_then_fails(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    cx.emit(&Diagnostic::warning("This is odd.").code("odd"));
    Err("it is broken".into())
}

fn warns_of_prim(_f: &mut Function, cx: &PassContext) -> PassResult {
    cx.emit(&Diagnostic::warning("This is odd.").code("odd"));
    note(cx, "went on");
    Ok(())
}

fn complains(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    cx.emit(&Diagnostic::error("This is wrong.").code("wrong"));
    note(cx, "went on");
    Ok(())
}

fn reports_bug(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    cx.emit(&Diagnostic::new(Severity::BUG, "This can't be.").code("bug"));
    note(cx, "went on");
    Ok(())
}

options! {
    /// The options of `Mill`.
    pub struct Mill {
        /// The value in the pass's note.
        pub grist: String,
    }
}

fn mill(_m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let mill: Mill = cx.options()?;
    note(cx, &format!("grind {} in", mill.grist));
    Ok(())
}

options! {
    /// The options of `Understands`.
    pub struct Heard {
        /// A string, which a future host may pass as a value of another type.
        pub word: String = "",
    }
}

/// Emits notes for kinds of entities that only a future host has.
fn understands(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    note(
        cx,
        &format!("a pass of kind {:?}", cx.find_pass("of.the.Future")),
    );
    for entry in m.functions() {
        note(cx, &format!("a function of kind {:?}", entry.kind));
    }
    let main = m.edit("main")?;
    let value = *main.params().first().ok_or("no parameter")?;
    if let Err(error) = main.set_value_name(value, "of the future") {
        note(cx, &error.to_string());
    }
    let heard: Heard = cx.options()?;
    note(cx, &heard.word);
    Ok(())
}

/// Emits its backtrace.
fn traces(_f: &mut Function, cx: &PassContext) -> PassResult {
    let backtrace = std::backtrace::Backtrace::force_capture();
    note(cx, &backtrace.to_string());
    Ok(())
}

plugin! {
    name: "conformance",
    passes: [
        /// Emits a note that it ran.
        module "t.transform.First" => logs_run,
        /// Emits a note that it ran.
        module "t.transform.Last" => logs_run,
        /// Emits a note that it ran; other passes require it.
        module "t.transform.Leaf" => logs_run,
        /// Has level 1.
        module "t.transform.Level1" => logs_run { opt_level: 1 },
        /// Has level 2.
        module "t.transform.Level2" => logs_run { opt_level: 2 },
        /// Has level 3.
        module "t.transform.Level3" => logs_run { opt_level: 3 },
        /// Has a level above that of any context.
        module "t.transform.Level9" => logs_run { opt_level: 9 },
        /// Requires a pass.
        module "t.transform.NeedsLeaf" => logs_run { required: ["t.transform.Leaf"] },
        /// Requires a pass that requires another.
        module "t.transform.Top" => logs_run { required: ["t.transform.NeedsLeaf"] },
        /// Requires two passes, in this order.
        module "t.transform.NeedsTwo" => logs_run { required: ["t.transform.Leaf", "t.transform.First"] },
        /// Requires a pass twice.
        module "t.transform.NeedsTwice" => logs_run { required: ["t.transform.Leaf", "t.transform.Leaf"] },
        /// The left side of a diamond of requirements.
        module "t.transform.Left" => logs_run { required: ["t.transform.Leaf"] },
        /// The right side of the diamond.
        module "t.transform.Right" => logs_run { required: ["t.transform.Leaf"] },
        /// The top of the diamond.
        module "t.transform.Diamond" => logs_run { required: ["t.transform.Left", "t.transform.Right"] },
        /// Requires a pass of a high level.
        module "t.transform.NeedsLevel9" => logs_run { required: ["t.transform.Level9"] },
        /// Requires an unknown pass.
        module "t.transform.NeedsMissing" => logs_run { required: ["t.transform.Leafs"] },
        /// Requires itself.
        module "t.transform.Narcissus" => logs_run { required: ["t.transform.Narcissus"] },
        /// Requires `Pong`, which requires it.
        module "t.transform.Ping" => logs_run { required: ["t.transform.Pong"] },
        /// Requires `Ping`, which requires it.
        module "t.transform.Pong" => logs_run { required: ["t.transform.Ping"] },
        /// Requires the Sequential that contains it.
        module "t.transform.InLoop" => logs_run { required: ["t.transform.Loop"] },
        /// Has an option without a default.
        module "t.transform.Mill" => mill { options: Mill, config: "t.Mill" },
        /// Requires a pass that needs an option.
        module "t.transform.NeedsMill" => logs_run { required: ["t.transform.Mill"] },
        /// Changes the module.
        module "t.transform.Changes" => changes,
        /// Changes the module, then fails.
        module "t.transform.Fails" => fails,
        /// Emits a note for each graph function.
        function "t.transform.Visits" => visits,
        /// Emits a note for each prim function.
        prim_function "t.transform.VisitsPrim" => visits,
        /// Emits notes for kinds of entities that only a future host has.
        module "t.transform.Understands" => understands { options: Heard },
        /// Emits its backtrace.
        function "t.transform.Traces" => traces,
        /// Changes each graph function.
        function "t.transform.Marks" => marks,
        /// Changes each graph function and fails on one.
        function "t.transform.FailsOnOther" => fails_on_other,
        /// Emits a warning.
        module "t.transform.Warns" => warns,
        /// Emits a warning and fails.
        module "t.transform.WarnsThenFails" => warns_then_fails,
        /// Emits a warning for each prim function.
        prim_function "t.transform.WarnsOfPrim" => warns_of_prim,
        /// Emits an error and continues.
        module "t.transform.Complains" => complains,
        /// Emits a bug and continues.
        module "t.transform.ReportsBug" => reports_bug,
    ],
}
