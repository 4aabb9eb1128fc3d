//! What the SDK answers, and what comes of its edits.

use expect_test::expect;

use crate::{CHAIN, check, outcome};

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
    check(
        "sdk.transform.Refused",
        CHAIN,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 2) {
                %0 = onnx.Relu(%x) : f32[2,3]
                %1 = onnx.Relu(%0) : f32[2,3]
                %2 = onnx.Add(%1, %1) : f32[2,3]
                return %2
              }
            }
        "#]],
    );
}

#[test]
fn values_and_ops_are_replaced() {
    check(
        "sdk.transform.ReplaceWithValues",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]],
    );
    check(
        "sdk.transform.ReplaceByOp",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = acme.Gelu(%0, _) {alpha = 0.5} : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
    check(
        "sdk.transform.SetOperands",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%0, %1, _) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
    check(
        "sdk.transform.Mutates",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%x, %x) : f32[2,3]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn what_is_erased_is_skipped_and_never_another() {
    check(
        "sdk.transform.Iterate",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%x, %x) : f32[2,3]
            return %1
          }
        }
    "#]],
    );
    check(
        "sdk.transform.Stale",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn attributes_come_back() {
    check(
        "sdk.transform.Attributes",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) attributes {labels = ["a", "", "ü"]} {
            %0 = onnx.Relu(%x) {axis = 7, alpha = 0.25, mode = "same", pads = [1, 2], scales = [0.5]} : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
}

#[test]
fn ten_thousand_levels_need_no_stack() {
    // A thread with less stack than a recursion would need.
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let run = thread.spawn(|| check_unchanged(&["Deep", "WorksOut"]));
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
fn a_question_leaves_slices_where_they_are() {
    let moved = outcome(&["sdk.transform.SlicesStay"], CHAIN);
    assert!(moved.contains("loc(\"moved\")"), "{moved}");
}

#[test]
fn modules_are_edited() {
    check(
        "sdk.transform.SnapshotsStay",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) attributes {k = 1} {
            %0 = onnx.Add(%x, %x) : f32[2,3]
            return %0
          }
        }
    "#]],
    );
    check(
        "sdk.transform.Copy",
        CHAIN,
        expect![[r#"
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
    "#]],
    );
    check(
        "sdk.transform.RunOthers",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Add(%0, %0) : f32[2,3]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn failures_carry_their_sentence_and_place() {
    check(
        "sdk.transform.Fails",
        CHAIN,
        expect![[r#"
        error[pass-failed]: this Relu is one too many
         --> test.ir:3:5
          |
        3 |     %0 = onnx.Relu(%x) : f32[2,3]
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass sdk.transform.Fails of plugin `SDK`, function @main, op0 (onnx.Relu)"#]],
    );
    check(
        "sdk.transform.EditsWrongly",
        CHAIN,
        expect![[r#"
        error[pass-failed]: op0 (onnx.Relu) has 1 results and 0 values were given to replace them.
         --> test.ir:3:5
          |
        3 |     %0 = onnx.Relu(%x) : f32[2,3]
          |     ^^^^^^^^^^^^^^^^^^
          |
          = in pass sdk.transform.EditsWrongly of plugin `SDK`, function @main, op0 (onnx.Relu)"#]],
    );
    let first = outcome(&["sdk.transform.Panics"], CHAIN);
    assert_eq!(outcome(&["sdk.transform.Panics"], CHAIN), first);
    expect![[r#"
        error[pass-panicked]: The pass panicked at tests/plugins/sdk/src/failing.rs:22:13: something.
         |
         = in pass sdk.transform.Panics of plugin `SDK`, function @main"#]].assert_eq(&first);
    check(
        "sdk.transform.PanicsWithABomb",
        CHAIN,
        expect![[r#"
        error[pass-panicked]: The pass panicked at tests/plugins/sdk/src/failing.rs:36:5: a panic whose payload isn't text.
         |
         = in pass sdk.transform.PanicsWithABomb of plugin `SDK`, function @main"#]],
    );
    check(
        "sdk.transform.ReadsStale",
        CHAIN,
        expect![[r#"
        error[pass-panicked]: The pass panicked at tests/plugins/sdk/src/failing.rs:42:7: op1 names nothing in this function: it was erased, or belongs to another function; ask `is_live` about an id that was kept across edits.
         |
         = in pass sdk.transform.ReadsStale of plugin `SDK`, function @main"#]],
    );
    // Outside, panics are what they were.
    let panic = std::panic::catch_unwind(|| panic!("mine")).expect_err("it panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
}
