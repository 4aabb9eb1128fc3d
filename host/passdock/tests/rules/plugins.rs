//! Passes of a statically linked plugin, which takes the same path as a loaded one.

use expect_test::expect;
use passdock::analyses::EffectAnalysis;
use passdock::{PassContext, Registry, Sequential, create_host_pass};
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{Diagnostic, PassContext as Cx, options, plugin};

use crate::common::{Log, REJECTING, error, info, module};

options! {
    /// The options of `Say`.
    pub struct Say {
        /// The number of repetitions.
        times: i64 = 1,
        /// The text.
        text: String = "hello",
    }
}

options! {
    /// The options of `Mill`.
    pub struct Mill {
        /// The kind of grain.
        grain: String,
    }
}

fn say(_: &mut Module, cx: &Cx) -> PassResult {
    let say: Say = cx.options()?;
    cx.emit(&Diagnostic::note(format!("{} x {}", say.times, say.text)));
    Ok(())
}

fn mill(_: &mut Module, _: &Cx) -> PassResult {
    Ok(())
}

fn fails(f: &mut Function, _: &Cx) -> PassResult {
    f.set_function_attr("touched", 1)?;
    let op = f.ops_named("onnx.Neg").next();
    match op {
        Some(op) => Err(PassError::new("It has no axis.").at(op)),
        None => Ok(()),
    }
}

fn panics(f: &mut Function, _: &Cx) -> PassResult {
    f.set_function_attr("touched", 1)?;
    panic!("this is a bug")
}

fn unfinished(module: &mut Module, _: &Cx) -> PassResult {
    module.create("unfinished", FunctionKind::GRAPH, None)?;
    Ok(())
}

fn widens(f: &mut Function, _: &Cx) -> PassResult {
    let body = f.body();
    let ty = f.type_id(f.params()[0]);
    f.add_arg(body, "more", ty)?;
    Ok(())
}

fn runs_others(module: &mut Module, cx: &Cx) -> PassResult {
    let known = [
        "acme.transform.Say",
        "acme.transform.Fails",
        "acme.transform.None",
    ];
    let kinds: Vec<String> = known
        .iter()
        .map(|name| format!("{:?}", cx.find_pass(name)))
        .collect();
    cx.emit(&Diagnostic::note(kinds.join(", ")));
    cx.emit(&Diagnostic::note(cx.opt_level().to_string()));
    module.run_pass(cx, "acme.transform.Say")?;
    module.run_pass(cx, "acme.transform.Fails")
}

plugin! {
    name: "acme",
    version: "1.0.0",
    passes: [
        /// Emits a note.
        module "acme.transform.Say" => say { options: Say, config: "acme.Say" },
        /// Fails on `onnx.Neg`.
        function "acme.transform.Fails" => fails { thread_safe: true },
        /// Panics.
        function "acme.transform.Panics" => panics,
        /// Creates an unfinished function.
        module "acme.transform.Unfinished" => unfinished,
        /// Adds a parameter, undeclared.
        function "acme.transform.Widens" => widens,
        /// Runs other passes.
        module "acme.transform.RunsOthers" => runs_others,
        /// Has an option without a default.
        module "acme.transform.Mill" => mill { options: Mill },
        /// Requires another pass.
        module "acme.transform.Requires" => say { opt_level: 1, required: ["acme.transform.Say"] },
    ],
}

fn registry() -> Registry {
    let registry = Registry::new();
    registry.load_static(PLUGIN).unwrap();
    registry
}

/// Runs a pass and returns its error. The module must be unchanged.
#[track_caller]
fn failure(pass: &str) -> String {
    let before = module();
    let text = error(registry().get_pass(pass).unwrap().call(before.clone()));
    assert_eq!(
        passdock_ir::text::print(&before),
        passdock_ir::text::print(&module())
    );
    text
}

#[test]
fn entry_with_different_options_does_not_satisfy_required() {
    let registry = registry();
    for options in ["", "text = 'hello'", "text = 'bye'"] {
        let log = Log::new();
        let sink = log.clone();
        let cx = PassContext::builder()
            .registry(&registry)
            .on_diagnostic(move |d| sink.add(d.message));
        let options = options.parse::<toml::Table>().unwrap();
        let say = registry
            .get_pass_with_options("acme.transform.Say", &options)
            .unwrap();
        let requires = registry.get_pass("acme.transform.Requires").unwrap();
        let all = Sequential::new([say, requires]);
        cx.build().unwrap().scope(|_| all.call(module())).unwrap();
        let messages = log.take().join(", ");
        match options.get("text").and_then(|text| text.as_str()) {
            Some("bye") => assert_eq!(messages, "1 x bye, 1 x hello, 1 x hello"),
            _ => assert_eq!(messages, "1 x hello, 1 x hello"),
        }
    }
}

#[test]
fn options_merge_defaults_config_and_pipeline() {
    let log = Log::new();
    for (config, options) in [
        (None, ""),
        (Some("{ times = 2 }"), ""),
        (Some("{ times = 2, text = 'bye' }"), "times = 3"),
    ] {
        let sink = log.clone();
        let registry = registry();
        let mut cx = PassContext::builder()
            .registry(&registry)
            .on_diagnostic(move |d| sink.add(d.message));
        if let Some(config) = config {
            cx = cx.config("acme.Say", config.parse::<toml::Value>().unwrap());
        }
        let options = options.parse::<toml::Table>().unwrap();
        let pass = registry
            .get_pass_with_options("acme.transform.Say", &options)
            .unwrap();
        pass.call_in(module(), &cx.build().unwrap()).unwrap();
    }
    log.check(expect![[r#"
        1 x hello
        2 x hello
        3 x bye"#]]);
    for (options, expected) in [
        (
            "time = 3",
            expect!["unknown field `time` of `acme.transform.Say`; did you mean `times`?"],
        ),
        (
            "times = 'x'",
            expect![[
                r#"invalid value for `times` of `acme.transform.Say`: expected an int, found "x""#
            ]],
        ),
    ] {
        let options = options.parse::<toml::Table>().unwrap();
        let pass = registry().get_pass_with_options("acme.transform.Say", &options);
        expected.assert_eq(&error(pass.map(drop)));
    }
}

#[test]
fn failure_names_plugin_pass_function_and_op() {
    expect!["Error in pass acme.transform.Fails of plugin `acme` (built in), function @other, op0 (onnx.Neg): It has \
        no axis."]
        .assert_eq(&failure("acme.transform.Fails"));
}

#[test]
fn plugin_panic_is_an_error() {
    let text = failure("acme.transform.Panics");
    let start = "Error in pass acme.transform.Panics of plugin `acme` (built in), function @main: the pass panicked at \
        ";
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with(": this is a bug"), "{text}");
}

#[test]
fn invalid_ir_from_a_pass_is_rejected() {
    expect!["Error in pass acme.transform.Unfinished of plugin `acme` (built in), function @unfinished: region0 must \
            end with `return` with one operand for each of its 0 ports"]
    .assert_eq(&failure("acme.transform.Unfinished"));
}

#[test]
fn undeclared_interface_change_is_rejected() {
    expect!["Error in pass acme.transform.Widens of plugin `acme` (built in), function @main: the pass changed the \
            function's interface without declaring it: parameter `more` was added; declare `changes_interface` in \
            the pass's `plugin!` entry"].assert_eq(&failure("acme.transform.Widens"));
}

#[test]
fn plugin_pass_runs_other_passes() {
    let log = Log::new();
    let sink = log.clone();
    let registry = registry();
    let cx = PassContext::builder()
        .registry(&registry)
        .opt_level(3)
        .on_diagnostic(move |d| sink.add(d.message))
        .build()
        .unwrap();
    let pass = registry.get_pass("acme.transform.RunsOthers").unwrap();
    expect!["Error in pass acme.transform.Fails of plugin `acme` (built in), run by acme.transform.RunsOthers, \
        function @other, op0 (onnx.Neg): It has no axis."].assert_eq(&error(pass.call_in(module(), &cx)));
    log.check(expect![[r#"
        1 x hello
        Some(PassKind(3)), Some(PassKind(1)), None
        3"#]]);
}

/// Without the definition the result may be wrong. A host pass fails, too, although it isn't called through a frame.
#[test]
fn unloadable_definition_fails_the_host_pass() {
    let registry = Registry::new();
    registry.load_static(REJECTING).unwrap();
    let pass = create_host_pass(info("asks"), |module, cx| {
        for function in module.functions() {
            cx.analysis::<EffectAnalysis>(module, function);
        }
        Ok(module.clone())
    });
    let cx = PassContext::builder().registry(&registry).build().unwrap();
    let error = error(pass.call_in(module(), &cx));
    assert!(
        error.contains("cannot load plugin `gone` (built in)"),
        "{error}"
    );
}

/// A missing option is an error of the pass that declares it, with its callers. It is no error if the pass doesn't run.
#[test]
fn missing_option_names_pass_plugin_and_caller() {
    let registry = registry();
    let mill = registry.get_pass("acme.transform.Mill").unwrap();
    let outer = {
        let mill = mill.clone();
        create_host_pass(info("outer"), move |module, cx| {
            mill.call_in(module.clone(), cx)
        })
    };
    let cx = PassContext::builder().registry(&registry).build().unwrap();
    let failed = outer.call_in(module(), &cx).unwrap_err();
    expect!["Error in pass acme.transform.Mill of plugin `acme` (built in), run by outer: missing required option \
            `grain` of pass `acme.transform.Mill`; set it where the pipeline lists the pass: `options = { grain = … }`"]
    .assert_eq(&failed.to_string());
    assert_eq!(failed.pass.as_deref(), Some("acme.transform.Mill"));
    assert_eq!(failed.run_by, ["outer"]);

    let log = Log::new();
    let cx = PassContext::builder()
        .registry(&registry)
        .instrument(log.tap("tap").vetoes());
    let cx = cx.build().unwrap();
    cx.scope(|cx| mill.call_in(module(), cx)).unwrap();
    log.check(expect![[r#"
        tap enter
        tap should_run acme.transform.Mill
        tap exit"#]]);
}
