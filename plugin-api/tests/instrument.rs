//! An instrument, as a host calls it through the plugin's table.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::testing::mock::{Failure, Watch};
use passdock_plugin_api::OptionValue;

options! {
    /// What is watched.
    pub struct GrowthOptions {
        /// Passes that may not run.
        veto: String = "",
        /// The callback that fails.
        fails: String = "",
        /// The callback that panics.
        panics: String = "",
    }
}

/// Notes the passes that add ops.
struct Growth {
    options: GrowthOptions,
    before: u32,
    log: Vec<String>,
}

impl Growth {
    fn heard(&mut self, callback: &str, what: &str) -> PassResult {
        self.log.push(format!("{} {}", callback, what));
        assert_ne!(self.options.panics, callback, "as it was told");
        if self.options.fails == callback {
            return Err(PassError::new(format!("no {}", callback)));
        }
        Ok(())
    }
}

fn ops(m: &Module) -> u32 {
    m.functions().map(|function| function.op_count).sum()
}

impl Instrument for Growth {
    fn new(cx: &PassContext) -> Result<Self, PassError> {
        let mut growth = Growth {
            options: cx.options()?,
            before: 0,
            log: Vec::new(),
        };
        growth.heard("new", "").map(|()| growth)
    }

    fn enter_pass_ctx(&mut self, _cx: &PassContext) -> PassResult {
        self.heard("enter_pass_ctx", "")
    }

    fn exit_pass_ctx(&mut self, _cx: &PassContext) -> PassResult {
        self.heard("exit_pass_ctx", "")
    }

    fn should_run(
        &mut self,
        m: &Module,
        info: &PassInfo,
        _cx: &PassContext,
    ) -> Result<bool, PassError> {
        let main = m.snapshot("main")?;
        self.heard(
            "should_run",
            &format!("{} relus", main.ops_named("onnx.Relu").count()),
        )?;
        Ok(info.name != self.options.veto)
    }

    fn run_before_pass(&mut self, m: &Module, info: &PassInfo, _cx: &PassContext) -> PassResult {
        self.before = ops(m);
        self.heard("run_before_pass", info.name)
    }

    fn run_after_pass(&mut self, m: &Module, info: &PassInfo, cx: &PassContext) -> PassResult {
        if ops(m) > self.before {
            cx.emit(&Diagnostic::note(format!("{} grew the module", info.name)));
        }
        self.heard("run_after_pass", info.name)
    }

    fn pass_failed(
        &mut self,
        _m: &Module,
        _info: &PassInfo,
        error: &str,
        _cx: &PassContext,
    ) -> PassResult {
        self.heard("pass_failed", error)
    }

    fn report(&self) -> String {
        assert_ne!(self.options.panics, "report", "as it was told");
        self.log.join("\n")
    }
}

plugin! {
    name: "acme",
    version: "1.0.0",
    instruments: [
        /// Notes the passes that add ops.
        "acme.growth" => Growth { options: GrowthOptions },
        "acme.growth-again" => Growth,
    ],
}

fn watch(options: &[(&str, &str)]) -> Result<Watch, Failure> {
    let options: Vec<_> = options
        .iter()
        .map(|(name, value)| (*name, OptionValue::String((*value).to_owned())))
        .collect();
    Watch::new(&PLUGIN, "acme.growth", &options)
}

fn add_relu(f: &mut Function) {
    let mut b = FunctionBuilder::new(f);
    let value = b.value("onnx.Relu", []).unwrap();
    b.finish(&[value]).unwrap();
}

#[test]
fn every_callback_gets_what_it_is_about() {
    let mut growth = watch(&[("veto", "acme.transform.Bad")]).unwrap();
    growth.enter_pass_ctx().unwrap();
    assert!(growth.should_run("acme.transform.Good").unwrap());
    growth.run_before_pass("acme.transform.Good").unwrap();
    growth.edit(add_relu);
    growth.run_after_pass("acme.transform.Good").unwrap();
    assert!(!growth.should_run("acme.transform.Bad").unwrap());
    growth
        .pass_failed("acme.transform.Ugly", "It is ugly.")
        .unwrap();
    growth.exit_pass_ctx().unwrap();
    assert_eq!(
        growth.report().unwrap(),
        "new \nenter_pass_ctx \nshould_run 0 relus\nrun_before_pass acme.transform.Good\n\
         run_after_pass acme.transform.Good\nshould_run 1 relus\npass_failed It is ugly.\n\
         exit_pass_ctx "
    );
    assert_eq!(
        growth.take_messages(),
        ["acme.transform.Good grew the module"]
    );
}

#[test]
fn instances_share_nothing() {
    let mut one = watch(&[]).unwrap();
    let mut two = watch(&[]).unwrap();
    one.enter_pass_ctx().unwrap();
    assert_eq!(two.report().unwrap(), "new ");
    assert_eq!(one.report().unwrap(), "new \nenter_pass_ctx ");
}

/// Each callback, called with these options.
fn all(options: &[(&str, &str)]) -> Vec<String> {
    let mut heard = Vec::new();
    let mut growth = match watch(options) {
        Ok(growth) => growth,
        Err(failure) => return vec![failure.message],
    };
    let mut hear = |result: Result<(), Failure>| heard.extend(result.err().map(|f| f.message));
    hear(growth.enter_pass_ctx());
    hear(growth.should_run("p").map(drop));
    hear(growth.run_before_pass("p"));
    hear(growth.run_after_pass("p"));
    hear(growth.pass_failed("p", ""));
    hear(growth.report().map(drop));
    hear(growth.exit_pass_ctx());
    heard
}

#[test]
fn a_callback_that_fails_says_why() {
    for callback in [
        "new",
        "enter_pass_ctx",
        "should_run",
        "run_before_pass",
        "run_after_pass",
        "pass_failed",
        "exit_pass_ctx",
    ] {
        assert_eq!(all(&[("fails", callback)]), [format!("no {}", callback)]);
        let panics = all(&[("panics", callback)]);
        assert_eq!(panics.len(), 1, "{:?}", panics);
        assert!(panics[0].contains("as it was told"), "{}", panics[0]);
    }
    let panics = all(&[("panics", "report")]);
    assert!(panics[0].contains("as it was told"), "{}", panics[0]);
}

#[test]
fn the_manifest_lists_instruments_with_their_options() {
    let text = PLUGIN.manifest_text();
    let expected = r#"
[[instrument]]
name = "acme.growth"
summary = "Notes the passes that add ops."
[[instrument.option]]
name = "veto"
type = "string"
default = ""
doc = "Passes that may not run."
"#;
    assert!(text.contains(expected), "{}", text);
    assert!(text.ends_with("\n[[instrument]]\nname = \"acme.growth-again\"\n"));
}
