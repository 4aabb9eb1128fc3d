//! A plugin's instrument, linked in and loaded from its library. In both cases its callbacks have the same order as
//! those of host instruments.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use passdock::Frame;
use passdock::PassCall;
use passdock::plugin::Origin;
use passdock::{
    InstrumentRef, InstrumentResult, InstrumentSetup, LoadOptions, Module, PassContext, PassError,
    PassInfo, PassInstrument, PassRef, Registry, Sequential, create_module_pass,
};
use passdock_ir::text;

const TEXT: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }
}
"#;

fn module() -> Module {
    text::parse(TEXT).unwrap_or_else(|error| panic!("{error:?}"))
}

fn library() -> PathBuf {
    passdock_tests::library("passdock_tap")
}

/// Returns a registry with the tap linked in, and one with its library.
fn both() -> [Registry; 2] {
    let linked = Registry::new();
    linked
        .load_static(passdock_test_plugins::tap::PLUGIN)
        .expect("a plugin");
    let loaded = Registry::new();
    let options = LoadOptions::default();
    loaded.load_plugin(&library(), &options).expect("a plugin");
    [linked, loaded]
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, event: impl Into<String>) {
        self.0.lock().unwrap().push(event.into());
    }
}

/// A host instrument like the tap.
struct Host(Log);

impl PassInstrument for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.0.add("host enter");
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.0.add("host exit");
        Ok(())
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        let PassCall { info, .. } = *call;
        self.0.add(format!("host should_run {}", info.name));
        Ok(true)
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { info, .. } = *call;
        self.0.add(format!("host before {}", info.name));
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { info, .. } = *call;
        self.0.add(format!("host after {}", info.name));
        Ok(())
    }

    fn pass_failed(&self, call: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        let PassCall { info, .. } = *call;
        self.0.add(format!("host failed {}", info.name));
        Ok(())
    }
}

fn tap(registry: &Registry, options: &str) -> InstrumentRef {
    let options = options.parse().expect("options are TOML");
    let setup = InstrumentSetup::new(registry);
    registry
        .get_instrument("tap.tap", &options, &setup)
        .expect("an instrument")
}

/// Returns the log of a pass under a tap with each of these options. A `|` means the host's instrument.
fn events(registry: &Registry, taps: &[&str], pass: &PassRef) -> String {
    let log = Log::default();
    let events = log.clone();
    let mut context = PassContext::builder()
        .registry(registry)
        .on_diagnostic(move |diagnostic| {
            assert!(diagnostic.severity != passdock::Severity::Note || diagnostic.plugin.is_some());
            events.add(diagnostic.message);
        });
    for options in taps {
        context = match *options {
            "|" => context.instrument(Host(log.clone())),
            options => context.shared_instrument(tap(registry, options)),
        };
    }
    let context = context.build().expect("a context");
    let result = context.scope(|cx| {
        let after = pass.call(module());
        for report in cx.instrument_reports() {
            match report {
                Ok(report) => log.add(format!("report of {}: {}", report.name, report.text)),
                Err(error) => log.add(error.to_string()),
            }
        }
        after
    });
    match result {
        Ok(_) => log.add("ok"),
        Err(error) => log.add(error.to_string()),
    }
    let events = log.0.lock().unwrap().join("\n");
    let path = library().display().to_string();
    let events = events.replace(&format!("`{path}`"), "TAP");
    events.replace(&Origin::Static("tap".to_owned()).to_string(), "TAP")
}

#[track_caller]
fn check(taps: &[&str], pass: impl Fn(&Registry) -> PassRef, expected: Expect) {
    let [linked, loaded] = both().map(|registry| {
        let text = events(&registry, taps, &pass(&registry));
        // The location of a panic is irrelevant.
        let lines =
            text.lines().map(
                |line| match line.split_once(" at tests/plugins/src/tap.rs") {
                    Some((before, after)) => {
                        let after = after.split_once(": ").map_or(after, |(_, after)| after);
                        format!("{before} at PLACE: {after}")
                    }
                    None => line.to_owned(),
                },
            );
        lines.collect::<Vec<_>>().join("\n")
    });
    expected.assert_eq(&linked);
    assert_eq!(linked, loaded, "the library does otherwise");
}

fn nothing(registry: &Registry) -> PassRef {
    registry.get_pass("tap.transform.Nothing").expect("a pass")
}

/// Returns a pass that adds an op and runs another pass.
fn grows(_: &Registry) -> PassRef {
    let info = PassInfo::new("grows").required(["tap.transform.Nothing"]);
    create_module_pass(info, |m, cx| {
        let main = m.edit("main")?;
        let relu = main.ops_named("onnx.Relu").next().ok_or("no Relu")?;
        let operand = main.operand(relu, 0).ok_or("no operand")?;
        main.create_op(
            passdock_plugin_api::OpBuilder::new("onnx.Neg").operands([operand]),
            passdock_plugin_api::Position::before(relu),
        )?;
        m.run_pass(cx, "tap.transform.Nothing")
    })
}

fn fails(_: &Registry) -> PassRef {
    create_module_pass(PassInfo::new("fails"), |_, _| Err("it is broken".into()))
}

#[test]
fn callbacks_follow_list_order() {
    check(
        &["", "|", "looks = true"],
        nothing,
        expect![[r#"
        tap enter level 2
        host enter
        tap enter level 2
        tap should_run tap.transform.Nothing
        host should_run tap.transform.Nothing
        tap should_run tap.transform.Nothing
        tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
        host before tap.transform.Nothing
        1 relus in @main
        tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
        tap after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
        host after tap.transform.Nothing
        tap after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
        report of tap.tap: tap heard 4 things
        report of tap.tap: tap heard 4 things
        tap exit
        host exit
        tap exit
        ok"#]],
    );
}

#[test]
fn nested_passes_and_their_results_are_visible() {
    let sequential = |registry: &Registry| Sequential::new([grows(registry)]).into_pass();
    check(
        &["", "|"],
        sequential,
        expect![[r#"
        tap enter level 2
        host enter
        tap should_run sequential
        host should_run sequential
        tap before sequential, level 0, of -, requires [], 2 ops
        host before sequential
        tap should_run tap.transform.Nothing
        host should_run tap.transform.Nothing
        tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
        host before tap.transform.Nothing
        tap after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
        host after tap.transform.Nothing
        tap should_run grows
        host should_run grows
        tap before grows, level 0, of -, requires ["tap.transform.Nothing"], 2 ops
        host before grows
        tap should_run tap.transform.Nothing
        host should_run tap.transform.Nothing
        tap before tap.transform.Nothing, level 1, of tap, requires [], 3 ops
        host before tap.transform.Nothing
        tap after tap.transform.Nothing, level 1, of tap, requires [], 3 ops
        host after tap.transform.Nothing
        tap after grows, level 0, of -, requires ["tap.transform.Nothing"], 3 ops
        host after grows
        tap after sequential, level 0, of -, requires [], 3 ops
        host after sequential
        report of tap.tap: tap heard 13 things
        tap exit
        host exit
        ok"#]],
    );
}

#[test]
fn vetoed_pass_does_not_run() {
    let sequential = |registry: &Registry| Sequential::new([nothing(registry)]).into_pass();
    check(
        &["veto = 'tap.transform.Nothing'", "|"],
        sequential,
        expect![[r#"
            tap enter level 2
            host enter
            tap should_run sequential
            host should_run sequential
            tap before sequential, level 0, of -, requires [], 2 ops
            host before sequential
            tap should_run tap.transform.Nothing
            host should_run tap.transform.Nothing
            tap after sequential, level 0, of -, requires [], 2 ops
            host after sequential
            report of tap.tap: tap heard 5 things
            tap exit
            host exit
            ok"#]],
    );
}

#[test]
fn pass_failure_is_reported() {
    check(
        &["", "|", "label = 'second'\nfails = 'failed'"],
        fails,
        expect![["
            tap enter level 2
            host enter
            second enter level 2
            tap should_run fails
            host should_run fails
            second should_run fails
            tap before fails, level 0, of -, requires [], 2 ops
            host before fails
            second before fails, level 0, of -, requires [], 2 ops
            tap failed fails, level 0, of -, requires [], 2 ops: Error in pass fails: it is broken
            host failed fails
            second failed fails, level 0, of -, requires [], 2 ops: Error in pass fails: it is broken
            report of tap.tap: tap heard 4 things
            report of tap.tap: second heard 4 things
            tap exit
            host exit
            second exit
            Error in pass fails: it is broken (instrument `tap.tap` of plugin TAP failed in pass_failed: it is \
              broken)"]],
    );
}

#[test]
fn each_callback_may_fail() {
    let tried = |callback: &str| format!("fails = '{callback}'");
    for (callback, expected) in [
        (
            "new",
            expect![[r#"
                first enter level 2
                first exit
                the context continues without instruments because one failed
                cannot create instrument `tap.tap` of plugin TAP: it is broken"#]],
        ),
        (
            "enter",
            expect![[r#"
                first enter level 2
                tap enter level 2
                first exit
                the context continues without instruments because one failed
                instrument `tap.tap` of plugin TAP failed in enter_pass_ctx: it is broken"#]],
        ),
        (
            "should_run",
            expect![["
                first enter level 2
                tap enter level 2
                host enter
                first should_run tap.transform.Nothing
                tap should_run tap.transform.Nothing
                report of tap.tap: first heard 2 things
                report of tap.tap: tap heard 2 things
                first exit
                tap exit
                host exit
                Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP failed in \
                  should_run: it is broken"]],
        ),
        (
            "before",
            expect![["
                first enter level 2
                tap enter level 2
                host enter
                first should_run tap.transform.Nothing
                tap should_run tap.transform.Nothing
                host should_run tap.transform.Nothing
                first before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                first failed tap.transform.Nothing, level 1, of tap, requires [], 2 ops: instrument `tap.tap` of \
                  plugin TAP failed in run_before_pass: it is broken
                report of tap.tap: first heard 4 things
                report of tap.tap: tap heard 3 things
                first exit
                tap exit
                host exit
                Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP failed in \
                  run_before_pass: it is broken"]],
        ),
        (
            "after",
            expect![["
                first enter level 2
                tap enter level 2
                host enter
                first should_run tap.transform.Nothing
                tap should_run tap.transform.Nothing
                host should_run tap.transform.Nothing
                first before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                host before tap.transform.Nothing
                first after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                tap after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                host failed tap.transform.Nothing
                report of tap.tap: first heard 4 things
                report of tap.tap: tap heard 4 things
                first exit
                tap exit
                host exit
                Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP failed in \
                  run_after_pass: it is broken"]],
        ),
        (
            "exit",
            expect![[r#"
                first enter level 2
                tap enter level 2
                host enter
                first should_run tap.transform.Nothing
                tap should_run tap.transform.Nothing
                host should_run tap.transform.Nothing
                first before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                host before tap.transform.Nothing
                first after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                tap after tap.transform.Nothing, level 1, of tap, requires [], 2 ops
                host after tap.transform.Nothing
                report of tap.tap: first heard 4 things
                report of tap.tap: tap heard 4 things
                first exit
                tap exit
                the context continues without instruments because one failed
                instrument `tap.tap` of plugin TAP failed in exit_pass_ctx: it is broken"#]],
        ),
    ] {
        check(
            &["label = 'first'", &tried(callback), "|"],
            nothing,
            expected,
        );
    }
}

#[test]
fn each_callback_may_panic() {
    let last = |callback: &str, pass: fn(&Registry) -> PassRef| {
        let [linked, loaded] = both().map(|registry| {
            let option = format!("panics = '{callback}'");
            let events = events(&registry, &[&option], &pass(&registry));
            let line = |line: &str| line.contains("this is a bug").then(|| line.to_owned());
            events.lines().find_map(line).expect("a panic")
        });
        assert_eq!(linked, loaded);
        linked
    };
    let callbacks = [
        "new",
        "enter",
        "should_run",
        "before",
        "after",
        "report",
        "exit",
    ];
    let mut messages: Vec<String> = callbacks.map(|callback| last(callback, nothing)).to_vec();
    messages.push(last("failed", fails));
    expect![["
        cannot create instrument `tap.tap` of plugin TAP: it panicked at tests/plugins/src/tap.rs:43:13: this is a bug
        instrument `tap.tap` of plugin TAP panicked in enter_pass_ctx at tests/plugins/src/tap.rs:43:13: this is a bug
        Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP panicked in \
          should_run at tests/plugins/src/tap.rs:43:13: this is a bug
        Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP panicked in \
          run_before_pass at tests/plugins/src/tap.rs:43:13: this is a bug
        Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP panicked in \
          run_after_pass at tests/plugins/src/tap.rs:43:13: this is a bug
        instrument `tap.tap` of plugin TAP panicked in report at tests/plugins/src/tap.rs:115:13: this is a bug
        instrument `tap.tap` of plugin TAP panicked in exit_pass_ctx at tests/plugins/src/tap.rs:43:13: this is a bug
        Error in pass fails: it is broken (instrument `tap.tap` of plugin TAP panicked in pass_failed at \
          tests/plugins/src/tap.rs:43:13: this is a bug)"]]
    .assert_eq(&messages.join("\n"));
}

#[test]
fn emitted_error_fails_the_callback() {
    check(
        &["complains = 'before'", "|"],
        nothing,
        expect![["
            tap enter level 2
            host enter
            tap should_run tap.transform.Nothing
            host should_run tap.transform.Nothing
            tap before tap.transform.Nothing, level 1, of tap, requires [], 2 ops
            this won't do
            report of tap.tap: tap heard 3 things
            tap exit
            host exit
            Error in pass tap.transform.Nothing of plugin TAP: instrument `tap.tap` of plugin TAP failed in \
              run_before_pass: it emitted error diagnostics: this won't do"]],
    );
}

#[test]
fn instances_do_not_share_state() {
    let [registry, _] = both();
    let (one, two) = (tap(&registry, ""), tap(&registry, "label = 'two'"));
    let cx = PassContext::builder()
        .registry(&registry)
        .shared_instrument(one.clone())
        .on_diagnostic(|_| ())
        .build()
        .expect("a context");
    cx.scope(|_| nothing(&registry).call(module()))
        .expect("it runs");
    assert_eq!(shown(&one).as_deref(), Some("tap heard 5 things"));
    assert_eq!(shown(&two).as_deref(), Some("two heard 0 things"));
}

fn shown(instrument: &InstrumentRef) -> Option<String> {
    let report = instrument.report_in(&PassContext::current().frame());
    report.expect("a report")
}

#[test]
fn plugin_is_loaded_on_enter_and_unregistered_with_instruments() {
    let [_, registry] = both();
    let plugin = registry.plugins().remove(0);
    assert!(registry.instruments().iter().any(|i| i.name == "tap.tap"));
    let tap = tap(&registry, "");
    assert!(!plugin.is_loaded());
    tap.enter_pass_ctx(&PassContext::current().frame())
        .expect("it enters");
    assert!(plugin.is_loaded());

    registry.unregister_plugin("tap").expect("it is there");
    let options = passdock::toml::Table::new();
    let missing = registry.get_instrument("tap.tap", &options, &InstrumentSetup::new(&registry));
    let error = missing.err().expect("it is missing");
    assert_eq!(error.message, "no instrument is named `tap.tap`");
    // An instrument that is still referenced isn't dropped.
    tap.exit_pass_ctx(&PassContext::current().frame())
        .expect("it exits");
}

#[test]
fn duplicate_instrument_is_rejected() {
    let [registry, _] = both();
    let error = registry.load_plugin(&library(), &LoadOptions::default());
    let text = error.expect_err("the same names").to_string();
    let path = library().display().to_string();
    expect!["instrument `tap.tap` is already registered by plugin `tap` (built in); rename or remove one of them (the \
            other is in plugin `FILE`)"].assert_eq(&text.replace(&path, "FILE"));
}
