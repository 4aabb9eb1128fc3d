//! K. Built-in instruments.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use passdock::instruments::{
    DumpIr, Names, PassTimingInstrument, PrintChanged, PrintIr, Sink, print_ir,
};
use passdock::{PassContext, Sequential, create_host_pass};

use crate::common::{Log, info, module};

/// The text with every number replaced.
fn numberless(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' | '.' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

#[test]
fn r129_a_tree_one_line_a_pass() {
    let log = Log::new();
    let timing = Arc::new(PassTimingInstrument::new());
    let inner = Sequential::new([log.pass(info("a")), log.pass(info("b"))]).name("inner");
    let sequential = Sequential::new([inner.into_pass(), log.pass(info("c"))]).name("outer");
    let cx = PassContext::builder()
        .shared_instrument(timing.clone())
        .build()
        .unwrap();
    cx.scope(|_| {
        sequential.call(module())?;
        // Two names, as the format has a percentage of all and one of the pass above.
        expect![[r#"
            outer: #us [#us] (#%; #%)
            	inner: #us [#us] (#%; #%)
            		a: #us [#us] (#%; #%)
            		b: #us [#us] (#%; #%)
            	c: #us [#us] (#%; #%)
        "#]]
        .assert_eq(&numberless(&timing.render()));
        Ok(())
    })
    .unwrap();
    // Rule 130: afterwards there is nothing.
    assert_eq!(timing.render(), "");
}

#[test]
fn r131_vetoed_and_disabled_passes_do_not_appear() {
    let log = Log::new();
    let timing = Arc::new(PassTimingInstrument::new());
    let cx = PassContext::builder()
        .disabled_pass(["a"])
        .shared_instrument(timing.clone())
        .instrument(log.tap("tap").vetoes("b"))
        .build()
        .unwrap();
    cx.scope(|_| {
        let passes = ["a", "b", "c"].map(|name| log.pass(info(name)));
        Sequential::new(passes).call(module())?;
        expect![[r#"
            sequential: #us [#us] (#%; #%)
            	c: #us [#us] (#%; #%)
        "#]]
        .assert_eq(&numberless(&timing.render()));
        Ok(())
    })
    .unwrap();
}

#[test]
fn r132_a_failed_pass_is_closed_and_marked() {
    let log = Log::new();
    let timing = Arc::new(PassTimingInstrument::new());
    let cx = PassContext::builder()
        .shared_instrument(timing.clone())
        .build()
        .unwrap();
    cx.scope(|_| {
        Sequential::new([log.fail(info("a"))])
            .call(module())
            .unwrap_err();
        log.pass(info("b")).call(module())?;
        expect![[r#"
            sequential: #us [#us] (#%; #%) failed
            	a: #us [#us] (#%; #%) failed
            b: #us [#us] (#%; #%)
        "#]]
        .assert_eq(&numberless(&timing.render()));
        Ok(())
    })
    .unwrap();
}

#[test]
fn r133_each_instance_keeps_its_own() {
    let log = Log::new();
    let outer = Arc::new(PassTimingInstrument::new());
    let inner = Arc::new(PassTimingInstrument::new());
    let cx = PassContext::builder()
        .shared_instrument(outer.clone())
        .build()
        .unwrap();
    let nested = PassContext::builder()
        .shared_instrument(inner.clone())
        .build()
        .unwrap();
    cx.scope(|_| {
        log.pass(info("a")).call(module())?;
        nested.scope(|_| {
            log.pass(info("b")).call(module())?;
            expect!["b: #us [#us] (#%; #%)\n"].assert_eq(&numberless(&inner.render()));
            Ok(())
        })?;
        expect!["a: #us [#us] (#%; #%)\n"].assert_eq(&numberless(&outer.render()));
        Ok(())
    })
    .unwrap();
}

/// What instruments print while a pass changes the module and another doesn't.
fn printed(
    add: impl FnOnce(passdock::ContextBuilder, Sink) -> passdock::ContextBuilder,
    expected: Expect,
) {
    let log = Log::new();
    let text = Arc::new(Mutex::new(String::new()));
    let out = text.clone();
    let sink: Sink = Arc::new(move |text| out.lock().unwrap().push_str(text));
    let cx = add(PassContext::builder(), sink).build().unwrap();
    let loop_only = create_host_pass(info("keep"), |module, _| {
        let mut module = module.clone();
        for name in ["main", "other"] {
            let name = module.symbols().intern(name);
            if module.function(name).is_some() {
                module.remove(name).map_err(|e| {
                    passdock::PassError::new(passdock::ErrorKind::Failed, e.message)
                })?;
            }
        }
        Ok(module)
    });
    cx.scope(|_| Sequential::new([loop_only, log.pass(info("same"))]).call(module()))
        .unwrap();
    expected.assert_eq(&text.lock().unwrap());
}

#[test]
fn r135_print_before_and_after_all() {
    printed(
        |cx, sink| cx.instrument(PrintIr::new(Names::None, Names::All, sink)),
        expect![[r#"
            After Running Pass: The meta data of the pass - pass name: keep, opt_level: 0, required passes: []
            module {
              prim @loop(%a: buffer<f32[8]>) {
              }
            }

            After Running Pass: The meta data of the pass - pass name: same, opt_level: 0, required passes: []
            module {
              prim @loop(%a: buffer<f32[8]>) {
              }
            }

            After Running Pass: The meta data of the pass - pass name: sequential, opt_level: 0, required passes: []
            module {
              prim @loop(%a: buffer<f32[8]>) {
              }
            }

        "#]],
    );
}

#[test]
fn r136_print_the_named_passes() {
    let only = |name: &str| Names::These(vec![name.to_owned()]);
    printed(
        |cx, sink| cx.instrument(PrintIr::new(only("same"), only("keep"), sink)),
        expect![[r#"
            Print IR after: keep
            module {
              prim @loop(%a: buffer<f32[8]>) {
              }
            }

            Print IR before: same
            module {
              prim @loop(%a: buffer<f32[8]>) {
              }
            }

        "#]],
    );
}

#[test]
fn print_what_changed() {
    printed(
        |cx, sink| cx.instrument(PrintChanged::new(sink)),
        expect![[r#"
        Changed by keep:
        --- @main
        +++ @main
        @@ -1,4 +0,0 @@
        -fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        -  %0 = onnx.Relu(%x) : f32[2]
        -  return %0
        -}
        --- @other
        +++ @other
        @@ -1,4 +0,0 @@
        -fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        -  %0 = onnx.Neg(%x) : f32[2]
        -  return %0
        -}

    "#]],
    );
}

#[test]
fn r137_r138_dumps() {
    let dir = tempfile::tempdir().unwrap();
    let files = || {
        let mut names: Vec<String> = std::fs::read_dir(dir.path().join("ir"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.join(" ")
    };
    let run = |refresh: bool, names: &[&str]| {
        let dump = DumpIr::new(dir.path().join("ir"));
        let dump = if refresh { dump.refresh() } else { dump };
        let log = Log::new();
        let cx = PassContext::builder().instrument(dump).build().unwrap();
        let passes = names.iter().map(|name| match name.strip_prefix('!') {
            Some(name) => log.fail(info(name)),
            None => log.pass(info(name)),
        });
        let _ = cx.scope(|_| {
            passes
                .into_iter()
                .try_fold(module(), |m, p| match p.call(m.clone()) {
                    Err(_) => Ok(m),
                    ok => ok,
                })
        });
    };
    run(false, &["a", "!b", "c:d"]);
    assert_eq!(files(), "000_a.ir 002_c_d.ir");
    run(true, &["e"]);
    assert_eq!(files(), "000_e.ir");
    std::fs::write(dir.path().join("ir/mine.txt"), "").unwrap();
    run(true, &["f"]);
    assert_eq!(
        files(),
        "000_e.ir 000_f.ir mine.txt",
        "a directory with other files is kept"
    );
}

#[test]
fn r140_print_ir_stands_anywhere_and_changes_nothing() {
    let text = Arc::new(Mutex::new(String::new()));
    let out = text.clone();
    let sink: Sink = Arc::new(move |text| out.lock().unwrap().push_str(text));
    let pass = print_ir("here", sink);
    assert_eq!(pass.info(), &info("PrintIR"));
    let before = module();
    assert!(
        Sequential::new([pass])
            .call(before.clone())
            .unwrap()
            .is_same(&before)
    );
    let printed = text.lock().unwrap();
    assert_eq!(
        printed.strip_prefix("PrintIR(here):\n"),
        Some(passdock_ir::text::print(&before).as_str())
    );
}
