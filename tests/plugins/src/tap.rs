//! An instrument for tests that reports all its callbacks, and can fail in one or veto a pass.

use passdock_plugin_api::prelude::*;

options! {
    /// The options of the instrument.
    struct TapOptions {
        /// The name in its reports.
        label: String = "tap",
        /// The callback in which it fails.
        fails: String = "",
        /// The callback in which it panics.
        panics: String = "",
        /// The callback in which it emits an error and goes on.
        complains: String = "",
        /// The pass that it vetoes.
        veto: String = "",
        /// Whether it looks into `@main` before each pass.
        looks: bool = false,
    }
}

/// Emits a note for each callback, and reports their number.
pub struct Tap {
    options: TapOptions,
    calls: std::cell::Cell<u32>,
}

impl Tap {
    fn record(&self, cx: &PassContext, callback: &str, what: &str) -> PassResult {
        self.calls.set(self.calls.get() + 1);
        let event = format!("{} {callback} {what}", self.options.label);
        cx.emit(&Diagnostic::note(event.trim_end()));
        self.act(callback, cx)
    }

    fn act(&self, callback: &str, cx: &PassContext) -> PassResult {
        let options = &self.options;
        if options.complains == callback {
            cx.emit(&Diagnostic::error("this won't do"));
        }
        if options.panics == callback {
            panic!("this is a bug");
        }
        match options.fails == callback {
            true => Err(PassError::new("it is broken")),
            false => Ok(()),
        }
    }
}

/// Describes the module's number of ops, and the pass.
fn seen(m: &Module, info: &PassInfo) -> String {
    let ops: u32 = m.functions().map(|function| function.op_count).sum();
    let required: Vec<&str> = info.required().collect();
    let plugin = info.plugin.unwrap_or("-");
    let PassInfo {
        name, opt_level, ..
    } = info;
    format!("{name}, level {opt_level}, of {plugin}, requires {required:?}, {ops} ops")
}

impl Instrument for Tap {
    fn new(cx: &PassContext) -> Result<Self, PassError> {
        let tap = Tap {
            options: cx.options()?,
            calls: std::cell::Cell::new(0),
        };
        tap.act("new", cx).map(|()| tap)
    }

    fn enter_pass_ctx(&mut self, cx: &PassContext) -> PassResult {
        self.record(cx, "enter", &format!("level {}", cx.opt_level()))
    }

    fn exit_pass_ctx(&mut self, cx: &PassContext) -> PassResult {
        self.record(cx, "exit", "")
    }

    fn should_run(
        &mut self,
        _m: &Module,
        info: &PassInfo,
        cx: &PassContext,
    ) -> Result<bool, PassError> {
        self.record(cx, "should_run", info.name)?;
        Ok(info.name != self.options.veto)
    }

    fn run_before_pass(&mut self, m: &Module, info: &PassInfo, cx: &PassContext) -> PassResult {
        if self.options.looks {
            let main = m.snapshot("main")?;
            let relus = main.ops_named("onnx.Relu").count();
            cx.emit(&Diagnostic::note(format!("{relus} relus in @main")));
        }
        self.record(cx, "before", &seen(m, info))
    }

    fn run_after_pass(&mut self, m: &Module, info: &PassInfo, cx: &PassContext) -> PassResult {
        self.record(cx, "after", &seen(m, info))
    }

    fn pass_failed(
        &mut self,
        m: &Module,
        info: &PassInfo,
        error: &str,
        cx: &PassContext,
    ) -> PassResult {
        self.record(cx, "failed", &format!("{}: {error}", seen(m, info)))
    }

    fn report(&self) -> String {
        if self.options.panics == "report" {
            panic!("this is a bug");
        }
        format!("{} heard {} things", self.options.label, self.calls.get())
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if self.options.panics == "drop" {
            panic!("this is a bug");
        }
    }
}

plugin! {
    name: "tap",
    passes: [
        /// Does nothing.
        function "tap.transform.Nothing" => nothing { opt_level: 1 },
        /// Does nothing; it requires a pass and a Sequential.
        module "tap.transform.Needs" => nothing_at_all {
            required: ["relax.transform.InferType", "tap.Rest"],
        },
        /// Runs a pass and a Sequential.
        module "tap.transform.Runs" => runs,
    ],
    sequentials: [
        /// Merges and folds.
        "tap.Cleanup" => [
            "relax.transform.EliminateCommonSubexpr",
            "relax.transform.FoldConstant" { max_growth: 512 },
            "tap.Rest",
        ] { opt_level: 1, required: ["relax.transform.InferType"] },
        /// Removes unused entities.
        "tap.Rest" => ["relax.transform.DeadCodeElimination", "tap.Late"],
        /// Runs only at optimization level 3.
        "tap.Late" => ["tap.transform.Nothing"] { opt_level: 3 },
    ],
    instruments: [
        /// Reports all callbacks.
        "tap.tap" => Tap { options: TapOptions },
    ],
}

fn nothing(_f: &mut Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

fn nothing_at_all(_m: &mut Module, _cx: &PassContext) -> PassResult {
    Ok(())
}

fn runs(m: &mut Module, cx: &PassContext) -> PassResult {
    m.run_pass(cx, "tap.transform.Needs")?;
    m.run_pass(cx, "tap.Cleanup")
}
