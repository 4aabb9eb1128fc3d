//! The SDK in the host: passes written with it assert what it answers, and what they make is compared
//! here; so do the examples of its documentation.
//!
//! The plugin is loaded from its library: the one that cargo built beside this test, or the one that
//! `PASSDOCK_SDK_PASSES` names, which rustc 1.63 built (`cargo xtask test`).
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use passdock::{InstrumentSetup, LoadOptions, PassContext, Registry, Sequential};
use passdock_ir::text;

const CHAIN: &str = r#"module {
  fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2,3]
    %1 = onnx.Relu(%0) : f32[2,3]
    %2 = onnx.Add(%1, %1) : f32[2,3]
    return %2
  }
}
"#;

fn library() -> PathBuf {
    match std::env::var_os("PASSDOCK_SDK_PASSES") {
        Some(library) => library.into(),
        None => passdock_tests::library("passdock_sdk_passes"),
    }
}

/// The standard plugins, and the one of the SDK's passes.
fn registry() -> Registry {
    let registry = passdock_tests::standard_registry();
    let loaded = registry.load_plugin(&library(), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{error}"));
    registry
}

/// What comes out of passes, or the failure, and what they said.
fn outcome(passes: &[&str], source: &str) -> String {
    let said = Arc::new(Mutex::new(Vec::new()));
    let hear = said.clone();
    let answer = passdock::testing::run_on_text(&registry(), passes, source, |context| {
        context.on_diagnostic(move |diagnostic| hear.lock().unwrap().push(diagnostic.message))
    });
    let mut lines = std::mem::take(&mut *said.lock().unwrap());
    lines.push(answer);
    let text = lines.join("\n");
    text.replace(&library().display().to_string(), "SDK")
}

#[track_caller]
fn check(pass: &str, source: &str, after: Expect) {
    after.assert_eq(&outcome(&[pass], source));
}

/// Checks that passes, each in a run of its own on this thread, leave the chain as it is.
#[track_caller]
fn check_unchanged(passes: &[&str]) {
    for pass in passes {
        let name = format!("sdk.transform.{pass}");
        assert_eq!(outcome(&[&name], CHAIN), CHAIN, "{pass}");
    }
}

#[test]
fn a_function_reads_as_it_is() {
    check_unchanged(&["Keep", "Visits", "Columns", "Types"]);
}

#[test]
fn refused_edits_change_nothing() {
    check("sdk.transform.Refused", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
}

#[test]
fn values_and_ops_are_replaced() {
    check("sdk.transform.ReplaceWithValues", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]]);
    check("sdk.transform.ReplaceByOp", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = acme.Gelu(%0, _) {alpha = 0.5} : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
    check("sdk.transform.SetOperands", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%0, %1, _) : f32[2,3]
            return %2
          }
        }
    "#]]);
    check("sdk.transform.Mutates", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%x, %x) : f32[2,3]
            return %1
          }
        }
    "#]]);
}

#[test]
fn what_is_erased_is_skipped_and_never_another() {
    check("sdk.transform.Iterate", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%x, %x) : f32[2,3]
            return %1
          }
        }
    "#]]);
    check("sdk.transform.Stale", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]]);
}

#[test]
fn attributes_come_back() {
    check("sdk.transform.Attributes", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) attributes {labels = ["a", "", "ü"]} {
            %0 = onnx.Relu(%x) {axis = 7, alpha = 0.25, mode = "same", pads = [1, 2], scales = [0.5]} : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
}

#[test]
fn ten_thousand_levels_need_no_stack() {
    // A thread with less stack than a recursion would need.
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let run = thread.spawn(|| check_unchanged(&["Deep"]));
    run.expect("a thread").join().expect("it works");
}

#[test]
fn analyses_are_kept_for_a_version() {
    let changed = outcome(&["sdk.transform.Analyses"], CHAIN);
    assert!(changed.contains("{k = 2}"), "{changed}");
    check_unchanged(&["AnalysesAreGone"]);
}

#[test]
fn iterators_end_with_what_they_go_over() {
    check_unchanged(&["KeepIterators", "KeptIteratorsEnd"]);
    let changed = outcome(&["sdk.transform.ForgetHandles"], CHAIN);
    assert!(changed.contains("k = 1"), "{changed}");
    check_unchanged(&["KeptIteratorsEnd"]);
}

#[test]
fn modules_are_edited() {
    check("sdk.transform.SnapshotsStay", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) attributes {k = 1} {
            %0 = onnx.Add(%x, %x) : f32[2,3]
            return %0
          }
        }
    "#]]);
    check("sdk.transform.Copy", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
          fn @copy(%x: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            %3 = onnx.Relu(%2) : f32[2,3]
            %4 = onnx.Relu(%3) : f32[2,3]
            %5 = onnx.Add(%4, %4) : f32[2,3]
            return %5
          }
        }
    "#]]);
    check("sdk.transform.RunOthers", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]]);
}

#[test]
fn failures_carry_their_sentence_and_place() {
    check("sdk.transform.Fails", CHAIN, expect![[r#"
        error[pass-failed]: this Relu is one too many
         --> test.ir:3:5
          |
        3 |     %0 = onnx.Relu(%x) : f32[2,3]
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass sdk.transform.Fails of plugin `SDK`, function @main, op0 (onnx.Relu)"#]]);
    check("sdk.transform.EditsWrongly", CHAIN, expect![[r#"
        error[pass-failed]: op0 (onnx.Relu) has 1 results and 0 values were given to replace them.
         --> test.ir:3:5
          |
        3 |     %0 = onnx.Relu(%x) : f32[2,3]
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass sdk.transform.EditsWrongly of plugin `SDK`, function @main, op0 (onnx.Relu)"#]]);
    let first = outcome(&["sdk.transform.Panics"], CHAIN);
    assert_eq!(outcome(&["sdk.transform.Panics"], CHAIN), first);
    expect![[r#"
        error[pass-panicked]: The pass panicked at tests/plugins/sdk/src/failing.rs:22:13: something.
         |
         = in pass sdk.transform.Panics of plugin `SDK`, function @main"#]].assert_eq(&first);
    check("sdk.transform.PanicsWithABomb", CHAIN, expect![[r#"
        error[pass-panicked]: The pass panicked at tests/plugins/sdk/src/failing.rs:36:5: a panic whose payload isn't text.
         |
         = in pass sdk.transform.PanicsWithABomb of plugin `SDK`, function @main"#]]);
    check("sdk.transform.ReadsStale", CHAIN, expect![[r#"
        error[pass-panicked]: The pass panicked at tests/plugins/sdk/src/failing.rs:42:7: op1 names nothing in this function: it was erased, or belongs to another function; ask `is_live` about an id that was kept across edits.
         |
         = in pass sdk.transform.ReadsStale of plugin `SDK`, function @main"#]]);
    // Outside, panics are what they were.
    let panic = std::panic::catch_unwind(|| panic!("mine")).expect_err("it panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
}

#[test]
fn examples_of_passes_do_what_they_say() {
    check("doc.transform.FuseDoubleRelu", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]]);
    let silu = CHAIN.replacen("onnx.Relu", "onnx.Sigmoid", 1);
    let silu = silu.replace("onnx.Relu(%0)", "onnx.Mul(%0, %x)");
    check("doc.transform.FuseSilu", &silu, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Sigmoid(%x) : f32[2,3]
            %1 = acme.Silu(%x) {alpha = 1.0} : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
    let sum = CHAIN.replace("Add", "Sum");
    check("doc.transform.SumToAdd", &sum, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
    let unused = CHAIN.replace("return %2", "return %0");
    check("doc.transform.EraseUnused", &unused, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            return %0
          }
        }
    "#]]);
    for same in ["MakeType", "WarnOfMemory", "NoLoops"] {
        assert_eq!(outcome(&[&format!("doc.transform.{same}")], CHAIN), CHAIN);
    }
    check("doc.transform.MakeOnes", CHAIN, expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %ones = const f32[2,3] splat(1.0)
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
    let untyped = CHAIN.replace(" : f32[2,3]\n", "\n");
    assert_eq!(outcome(&["doc.transform.InferAll"], &untyped), CHAIN);
    check("doc.transform.ShowHeights", CHAIN, expect![[r#"
        the longest path has Some(3) ops
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
    let old = CHAIN.replacen("onnx.Relu", "acme.Old", 1);
    let old = old.replace("17)", "17, \"acme\" = 1)");
    check("doc.transform.WarnOfOld", &old, expect![[r#"
        `acme.Old` will go away
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = acme.Old(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]]);
}

#[test]
fn examples_of_visitors_do_what_they_say() {
    let lone = "module { fn @main(%x: f32[2]) { %0 = onnx.Relu(%x) return %0 } }";
    check("doc.transform.Print", lone, expect![[r#"
        module {
          fn @main(%x: f32[2]) {
            %0 = onnx.Relu(%x)
            return %0
          }
        }
    "#]]);
    check("doc.transform.ForbidCalls", lone, expect![[r#"
        module {
          fn @main(%x: f32[2]) {
            %0 = onnx.Relu(%x)
            return %0
          }
        }
    "#]]);
    let nested = "module {
      fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) {
        %0 = if(%c) : f32[2]
          region then_branch { %1 = call @f(%x) yield %1 }
          region else_branch { yield %x }
        return %0
      }
      fn @f(%x: f32[2]) { return %x }
    }";
    check("doc.transform.ForbidCalls", nested, expect![[r#"
        error[pass-failed]: There is a call, maybe deep inside.
         |
         = in pass doc.transform.ForbidCalls of plugin `SDK`, function @main"#]]);
    let ifs = nested.replace("call @f(%x)", "onnx.Relu(%x)");
    check("doc.transform.CollapseIfs", &ifs, expect![[r#"
        module {
          fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) {
            %0 = onnx.Relu(%x)
            return %0
          }
          fn @f(%x: f32[2]) {
            return %x
          }
        }
    "#]]);
}

#[test]
fn examples_on_modules_do_what_they_say() {
    let calls = "module {
      fn @main(%x: f32[2]) -> (%y) { %y = call @leaf(%x) return %y }
      fn @leaf(%x: f32[2]) { return %x }
      fn @nobody(%x: f32[2]) { return %x }
    }";
    check("doc.transform.AddRelu", calls, expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y) {
            %y = call @leaf(%x)
            return %y
          }
          fn @leaf(%x: f32[2]) {
            return %x
          }
          fn @nobody(%x: f32[2]) {
            return %x
          }
          fn @relu(%x: ?) opset("" = 17) {
            %0 = onnx.Relu(%x)
            return %0
          }
        }
    "#]]);
    check("doc.transform.Stamp", calls, expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y) attributes {ops = 2} {
            %y = call @leaf(%x)
            return %y
          }
          fn @leaf(%x: f32[2]) attributes {ops = 1} {
            return %x
          }
          fn @nobody(%x: f32[2]) attributes {ops = 1} {
            return %x
          }
        }
    "#]]);
    check("doc.transform.MarkLeaves", calls, expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y) {
            %y = call @leaf(%x)
            return %y
          }
          fn @leaf(%x: f32[2]) attributes {acme_leaf = 1} {
            return %x
          }
          fn @nobody(%x: f32[2]) attributes {acme_leaf = 1} {
            return %x
          }
        }
    "#]]);
    check("doc.transform.RemoveUncalled", calls, expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y) {
            %y = call @leaf(%x)
            return %y
          }
          fn @leaf(%x: f32[2]) {
            return %x
          }
        }
    "#]]);
}

#[test]
fn the_example_of_an_operator_is_folded_and_decomposed() {
    let source = r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %x = const f32[2] [0.0, 1.0]
    %0 = acme.Silu(%x) {beta = 2.0}
    return %0
  }
}
"#;
    let fold = "relax.transform.FoldConstant";
    check(fold, source, expect![[r#"
        module {
          fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %0 = const f32[2] [0.0, 0.880797]
            return %0
          }
        }
    "#]]);
    check("relax.transform.DecomposeOps", source, expect![[r#"
        module {
          fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %x = const f32[2] [0.0, 1.0]
            %0 = onnx.Constant() {value_float = 2.0} : f32[]
            %1 = onnx.Mul(%x, %0) : f32[2]
            %2 = onnx.Sigmoid(%1) : f32[2]
            %3 = onnx.Mul(%x, %2) : f32[2]
            return %3
          }
        }
    "#]]);
}

/// What an instrument reports, and what it said, of a Sequential.
fn watched(instrument: &str, options: &str, passes: &[&str]) -> String {
    let registry = registry();
    let options = options.parse().expect("options are TOML");
    let setup = InstrumentSetup::new(&registry);
    let instrument = registry.get_instrument(instrument, &options, &setup);
    let said = Arc::new(Mutex::new(Vec::new()));
    let hear = said.clone();
    let context = PassContext::builder()
        .registry(&registry)
        .shared_instrument(instrument.expect("an instrument"))
        .on_diagnostic(move |diagnostic| hear.lock().unwrap().push(diagnostic.message))
        .build()
        .expect("a context");
    let passes = passes.iter().map(|name| registry.get_pass(name).expect("a pass"));
    let passes = Sequential::new(passes);
    let module = text::parse(CHAIN).expect("the test's own text");
    let ran = context.scope(|cx| {
        let after = passes.call(module);
        for report in cx.instrument_reports() {
            let report = report.expect("a report");
            said.lock().unwrap().push(format!("{}: {}", report.name, report.text));
        }
        after
    });
    ran.expect("they work");
    let said = said.lock().unwrap().join("\n");
    said
}

#[test]
fn examples_of_instruments_do_what_they_say() {
    let passes = ["doc.transform.MakeType", "doc.transform.AddRelu", "doc.transform.Stamp"];
    expect!["sdk.growth: doc.transform.AddRelu"].assert_eq(&watched("sdk.growth", "", &passes));
    expect![[r#"
        doc.transform.AddRelu was the last pass
        sequential was the last pass
        sdk.budget: 4 ops were added"#]].assert_eq(&watched("sdk.budget", "ops = 1", &passes));
    expect!["sdk.budget: 4 ops were added"].assert_eq(&watched("sdk.budget", "", &passes));
}
