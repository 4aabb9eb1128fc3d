//! Cases of `AnnotateTarget`, `MergeRegions` and `PartitionGraph`.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use passdock_plugin_api::OptionValue;

use crate::support;

const ANNOTATE: &str = "relax.transform.AnnotateTarget";
const MERGE: &str = "relax.transform.MergeRegions";
const PARTITION: &str = "relax.transform.PartitionGraph";

/// Options of `AnnotateTarget`: these ops.
fn takes(ops: &[&str]) -> Vec<(String, OptionValue)> {
    let ops = ops.iter().map(|op| OptionValue::String((*op).to_owned()));
    vec![
        ("target".into(), OptionValue::String("npu".into())),
        ("domain".into(), OptionValue::String("acme".into())),
        ("ops".into(), OptionValue::List(ops.collect())),
    ]
}

/// Runs passes with these options of `AnnotateTarget`: what they say, and then the text.
fn run_with(passes: &[&str], options: Vec<(String, OptionValue)>, source: &str) -> String {
    run_in(&support::registry(), passes, options, source)
}

fn run_in(
    registry: &passdock::Registry,
    passes: &[&str],
    options: Vec<(String, OptionValue)>,
    source: &str,
) -> String {
    let said = Arc::new(Mutex::new(String::new()));
    let sink = said.clone();
    let text = passdock::testing::run_on_text(registry, passes, source, |context| {
        let context = context.config("relax.AnnotateTarget", OptionValue::Table(options));
        context.on_diagnostic(move |diagnostic| {
            let said = diagnostic.render(false);
            let line = said.lines().next().unwrap_or_default();
            *sink.lock().expect("nobody else holds it") += &format!("{line}\n");
        })
    });
    let said = said.lock().expect("the passes are done");
    said.clone() + &text
}

#[track_caller]
fn check(passes: &[&str], ops: &[&str], source: &str, expected: Expect) {
    expected.assert_eq(&run_with(passes, takes(ops), source));
}

const DIAMOND: &str = r#"module {
  fn @main(%x: f32[4]) -> (%e: f32[4]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[4] loc("a")
    %b = onnx.Softmax(%a) : f32[4] loc("b")
    %c = onnx.Neg(%a) : f32[4] loc("c")
    %d = onnx.Add(%b, %c) : f32[4] loc("d")
    %e = onnx.Neg(%d) : f32[4] loc("e")
    return %e
  }
}"#;

#[test]
fn what_leaves_a_region_and_comes_back_ends_it() {
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Exp", "onnx.Neg", "onnx.Add"],
        DIAMOND,
        expect![[r#"
            note[relax::partitioned]: `npu` takes 4 ops: onnx.Neg 2, onnx.Add 1, onnx.Exp 1.
            note[relax::partitioned]: No target takes 1 op: onnx.Softmax 1.
            module {
              fn @main(%x: f32[4]) -> (%e: f32[4]) opset("" = 17, "acme" = 1) {
                %a, %c = acme.npu_main_0(%x) : f32[4], f32[4] loc("a", "c")
                %b = onnx.Softmax(%a) : f32[4] loc("b")
                %e = acme.npu_main_1(%b, %c) : f32[4] loc("d", "e")
                return %e
              }
              fn @acme.npu_main_0(%x: f32[4]) -> (%a: f32[4], %c: f32[4]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
                %a = onnx.Exp(%x) : f32[4] loc("a")
                %c = onnx.Neg(%a) : f32[4] loc("c")
                return %a, %c
              }
              fn @acme.npu_main_1(%b: f32[4], %c: f32[4]) -> (%e: f32[4]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_1"} {
                %d = onnx.Add(%b, %c) : f32[4] loc("d")
                %e = onnx.Neg(%d) : f32[4] loc("e")
                return %e
              }
            }
        "#]],
    );
}

#[test]
fn what_has_no_way_outside_is_one_region() {
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Exp", "onnx.Neg", "onnx.Add", "onnx.Softmax"],
        DIAMOND,
        expect![[r#"
            note[relax::partitioned]: `npu` takes 5 ops: onnx.Neg 2, onnx.Add 1, onnx.Exp 1, onnx.Softmax 1.
            module {
              fn @main(%x: f32[4]) -> (%e: f32[4]) opset("" = 17, "acme" = 1) {
                %e = acme.npu_main_0(%x) : f32[4] loc("a", "b", "c", "d", "e")
                return %e
              }
              fn @acme.npu_main_0(%x: f32[4]) -> (%e: f32[4]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
                %a = onnx.Exp(%x) : f32[4] loc("a")
                %b = onnx.Softmax(%a) : f32[4] loc("b")
                %c = onnx.Neg(%a) : f32[4] loc("c")
                %d = onnx.Add(%b, %c) : f32[4] loc("d")
                %e = onnx.Neg(%d) : f32[4] loc("e")
                return %e
              }
            }
        "#]],
    );
}

#[test]
fn nothing_is_taken_without_a_reason() {
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Conv"],
        DIAMOND,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%e: f32[4]) opset("" = 17) {
                %a = onnx.Exp(%x) : f32[4] loc("a")
                %b = onnx.Softmax(%a) : f32[4] loc("b")
                %c = onnx.Neg(%a) : f32[4] loc("c")
                %d = onnx.Add(%b, %c) : f32[4] loc("d")
                %e = onnx.Neg(%d) : f32[4] loc("e")
                return %e
              }
            }
        "#]],
    );
    support::check_stays(MERGE, DIAMOND);
    support::check_stays(PARTITION, DIAMOND);
}

#[test]
fn a_region_gives_all_that_others_use() {
    // What stands between and uses a result of the region goes behind it.
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Exp", "onnx.Neg", "onnx.Abs"],
        r#"module {
  fn @main(%x: f32[4]) -> (%d: f32[4], %f: f32[4], %g: f32[4]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[4]
    %b = onnx.Softmax(%a) : f32[4]
    %f = onnx.Softmax(%b) : f32[4]
    %c = onnx.Neg(%a) : f32[4]
    %d = onnx.Abs(%c) : f32[4]
    %g = onnx.Softmax(%x) : f32[4]
    return %d, %f, %g
  }
}"#,
        expect![[r#"
            note[relax::partitioned]: `npu` takes 3 ops: onnx.Abs 1, onnx.Exp 1, onnx.Neg 1.
            note[relax::partitioned]: No target takes 3 ops: onnx.Softmax 3.
            module {
              fn @main(%x: f32[4]) -> (%d: f32[4], %f: f32[4], %g: f32[4]) opset("" = 17, "acme" = 1) {
                %a, %d = acme.npu_main_0(%x) : f32[4], f32[4]
                %b = onnx.Softmax(%a) : f32[4]
                %f = onnx.Softmax(%b) : f32[4]
                %g = onnx.Softmax(%x) : f32[4]
                return %d, %f, %g
              }
              fn @acme.npu_main_0(%x: f32[4]) -> (%a: f32[4], %d: f32[4]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
                %a = onnx.Exp(%x) : f32[4]
                %c = onnx.Neg(%a) : f32[4]
                %d = onnx.Abs(%c) : f32[4]
                return %a, %d
              }
            }
        "#]],
    );
}

#[test]
fn ops_in_regions_are_taken_there() {
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Exp", "onnx.Neg", "onnx.If"],
        r#"module {
  fn @main(%c: bool[], %x: f32[2]) -> (%r: f32[2]) opset("" = 17) {
    %a = onnx.Exp(%x) : f32[2]
    %r = onnx.If(%c) : f32[2]
      region then_branch {
        %d = onnx.Neg(%a) : f32[2]
        %e = onnx.Exp(%d) : f32[2]
        yield %e
      }
      region else_branch {
        yield %a
      }
    return %r
  }
}"#,
        expect![[r#"
            note[relax::not-taken]: `npu` doesn't take 1 op: they have regions.
            note[relax::partitioned]: `npu` takes 3 ops: onnx.Exp 2, onnx.Neg 1.
            note[relax::partitioned]: No target takes 1 op: onnx.If 1.
            module {
              fn @main(%c: bool[], %x: f32[2]) -> (%r: f32[2]) opset("" = 17, "acme" = 1) {
                %a = acme.npu_main_0(%x) : f32[2]
                %r = onnx.If(%c) : f32[2]
                  region then_branch {
                    %e = acme.npu_main_1(%a) : f32[2]
                    yield %e
                  }
                  region else_branch {
                    yield %a
                  }
                return %r
              }
              fn @acme.npu_main_0(%x: f32[2]) -> (%a: f32[2]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
                %a = onnx.Exp(%x) : f32[2]
                return %a
              }
              fn @acme.npu_main_1(%a: f32[2]) -> (%e: f32[2]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_1"} {
                %d = onnx.Neg(%a) : f32[2]
                %e = onnx.Exp(%d) : f32[2]
                return %e
              }
            }
        "#]],
    );
}

#[test]
fn targets_stay_apart() {
    support::check_all(
        &[MERGE, PARTITION],
        r#"module {
  fn @main(%x: f32[4]) -> (%d: f32[4]) opset("" = 17, "a" = 1, "b" = 1) {
    %a = a.exp(%x) : f32[4]
    %b = b.exp(%a) : f32[4]
    %c = b.exp(%b) : f32[4]
    %d = a.exp(%c) : f32[4]
    return %d
  }
  fn @a.exp(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) attributes {Target = "one"} {
    %y = onnx.Exp(%x) : f32[4]
    return %y
  }
  fn @b.exp(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) attributes {Target = "two"} {
    %y = onnx.Exp(%x) : f32[4]
    return %y
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[4]) -> (%d: f32[4]) opset("" = 17, "a" = 1, "b" = 1) {
                %a = a.one_main_0(%x) : f32[4]
                %c = b.two_main_0(%a) : f32[4]
                %d = a.one_main_1(%c) : f32[4]
                return %d
              }
              fn @a.one_main_0(%x: f32[4]) -> (%a: f32[4]) opset("" = 17, "a" = 1, "b" = 1) attributes {Codegen = "one", global_symbol = "one_main_0"} {
                %a = onnx.Exp(%x) : f32[4]
                return %a
              }
              fn @b.two_main_0(%a: f32[4]) -> (%c: f32[4]) opset("" = 17, "a" = 1, "b" = 1) attributes {Codegen = "two", global_symbol = "two_main_0"} {
                %b = onnx.Exp(%a) : f32[4]
                %c = onnx.Exp(%b) : f32[4]
                return %c
              }
              fn @a.one_main_1(%c: f32[4]) -> (%d: f32[4]) opset("" = 17, "a" = 1, "b" = 1) attributes {Codegen = "one", global_symbol = "one_main_1"} {
                %d = onnx.Exp(%c) : f32[4]
                return %d
              }
            }
        "#]],
    );
}

#[test]
fn constants_are_passed_or_bound() {
    let numbers = vec!["0.5"; 80].join(", ");
    let source = format!(
        r#"module {{
  fn @main(%x: f32[80]) -> (%b: f32[80]) opset("" = 17, "a" = 1) {{
    %w = const f32[80] [{numbers}]
    %b = a.mul(%x, %w) : f32[80]
    return %b
  }}
  fn @a.mul(%x: f32[80], %w: f32[80]) -> (%y: f32[80]) opset("" = 17) attributes {{Target = "npu"}} {{
    %y = onnx.Mul(%x, %w) : f32[80]
    return %y
  }}
}}"#
    );
    let run = |options: &str| {
        let made = support::run_options(PARTITION, options, &source);
        let lines = made.lines().filter(|line| !line.contains("blob 0"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    expect![[r#"
        module {
          fn @main(%x: f32[80]) -> (%b: f32[80]) opset("" = 17, "a" = 1) {
            %w = const f32[80] blob(0)
            %b = a.npu_main_0(%x, %w) : f32[80]
            return %b
          }
          fn @a.npu_main_0(%x: f32[80], %w: f32[80]) -> (%b: f32[80]) opset("" = 17, "a" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
            %b = onnx.Mul(%x, %w) : f32[80]
            return %b
          }
        }
    "#]].assert_eq(&run("bind_constants = false"));
    expect![[r#"
        module {
          fn @main(%x: f32[80]) -> (%b: f32[80]) opset("" = 17, "a" = 1) {
            %b = a.npu_main_0(%x) : f32[80]
            return %b
          }
          fn @a.npu_main_0(%x: f32[80]) -> (%b: f32[80]) opset("" = 17, "a" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
            %w = const f32[80] blob(0)
            %b = onnx.Mul(%x, %w) : f32[80]
            return %b
          }
        }
    "#]].assert_eq(&run("bind_constants = true"));
}

#[test]
fn composites_are_taken_whole() {
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Abs"],
        r#"module {
  fn @main(%x: f32[4]) -> (%b: f32[4], %c: f32[4]) opset("" = 17, "npu" = 1, "gpu" = 1) {
    %a = onnx.Abs(%x) : f32[4]
    %b = npu.softer(%a) : f32[4]
    %c = gpu.softer(%a) : f32[4]
    return %b, %c
  }
  fn @npu.softer(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) attributes {Composite = "npu.softer"} {
    %e = onnx.Exp(%x) : f32[4]
    %y = onnx.Neg(%e) : f32[4]
    return %y
  }
  fn @gpu.softer(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) attributes {Composite = "gpu.softer"} {
    %e = onnx.Exp(%x) : f32[4]
    %y = onnx.Neg(%e) : f32[4]
    return %y
  }
}"#,
        expect![[r#"
            note[relax::partitioned]: `npu` takes 2 ops: npu.softer 1, onnx.Abs 1.
            note[relax::partitioned]: No target takes 1 op: gpu.softer 1.
            module {
              fn @main(%x: f32[4]) -> (%b: f32[4], %c: f32[4]) opset("" = 17, "npu" = 1, "gpu" = 1, "acme" = 1) {
                %a, %b = acme.npu_main_0(%x) : f32[4], f32[4]
                %c = gpu.softer(%a) : f32[4]
                return %b, %c
              }
              fn @npu.softer(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) attributes {Composite = "npu.softer"} {
                %e = onnx.Exp(%x) : f32[4]
                %y = onnx.Neg(%e) : f32[4]
                return %y
              }
              fn @gpu.softer(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) attributes {Composite = "gpu.softer"} {
                %e = onnx.Exp(%x) : f32[4]
                %y = onnx.Neg(%e) : f32[4]
                return %y
              }
              fn @acme.npu_main_0(%x: f32[4]) -> (%a: f32[4], %b: f32[4]) opset("" = 17, "npu" = 1, "gpu" = 1, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
                %a = onnx.Abs(%x) : f32[4]
                %b = npu.softer(%a) : f32[4]
                return %a, %b
              }
            }
        "#]],
    );
}

#[test]
fn what_is_not_taken_has_a_reason() {
    let options = vec![
        ("target".into(), OptionValue::String("npu".into())),
        (
            "traits".into(),
            OptionValue::List(vec![OptionValue::String("elementwise".into())]),
        ),
        (
            "dtypes".into(),
            OptionValue::List(vec![OptionValue::String("f32".into())]),
        ),
        ("static_shapes".into(), OptionValue::Bool(true)),
    ];
    let source = r#"module {
  fn @main(%x: f32[4], %i: i64[4], %n: f32[n], %u: ?) -> (%a: f32[4], %b: i64[4], %c: f32[n], %d) opset("" = 17) {
    %a = onnx.Neg(%x) : f32[4]
    %b = onnx.Neg(%i) : i64[4]
    %c = onnx.Neg(%n) : f32[n]
    %d = onnx.Neg(%u)
    return %a, %b, %c, %d
  }
}"#;
    expect![[r#"
        note[relax::not-taken]: `npu` doesn't take 1 op: `dtypes` hasn't their element types.
        note[relax::not-taken]: `npu` doesn't take 1 op: not all of their sizes are known.
        note[relax::not-taken]: `npu` doesn't take 1 op: their types aren't known to be tensors.
        module {
          fn @main(%x: f32[4], %i: i64[4], %n: f32[n], %u: ?) -> (%a: f32[4], %b: i64[4], %c: f32[n], %d) opset("" = 17, "npu" = 1) {
            %a = npu.neg(%x) : f32[4]
            %b = onnx.Neg(%i) : i64[4]
            %c = onnx.Neg(%n) : f32[n]
            %d = onnx.Neg(%u)
            return %a, %b, %c, %d
          }
          fn @npu.neg(%x: f32[4]) -> (%a: f32[4]) opset("" = 17, "npu" = 1) attributes {Target = "npu"} {
            %a = onnx.Neg(%x) : f32[4]
            return %a
          }
        }
    "#]].assert_eq(&run_with(&[ANNOTATE], options, source));
}

#[test]
fn an_operator_of_a_later_opset_may_be_named() {
    // One file of options serves models of several opsets; opset 13 has neither.
    let options = r#"target = "npu", ops = ["onnx.Exp", "onnx.LayerNormalization", "onnx.Gelu"]"#;
    let source = r#"module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 13) { %y = onnx.Exp(%x) : f32[2] return %y }
    }"#;
    let after = support::run_options(ANNOTATE, options, source);
    assert!(after.contains("npu.exp(%x)"), "{after}");
}

#[test]
fn options_that_say_nothing_are_refused() {
    let said = |options| support::run_options(ANNOTATE, options, DIAMOND);
    expect![[r#"
        error[config]: The option `target` says nothing: it is the name of what takes the ops.
         |
         = in pass relax.transform.AnnotateTarget of plugin relax"#]]
    .assert_eq(&said(r#"ops = ["onnx.Exp"]"#));
    expect![[r#"
        error[config]: The option `ops` names `onnx.Epx`, which is no operator. Did you mean `onnx.Exp`?
         |
         = in pass relax.transform.AnnotateTarget of plugin relax"#]].assert_eq(&said(r#"target = "npu", ops = ["onnx.Epx"]"#));
    expect![[r#"
        error[config]: The option `dtypes` names `float32`, which is no element type; they are called as in IR text: `f32`, `i64`, `bool`.
         |
         = in pass relax.transform.AnnotateTarget of plugin relax"#]].assert_eq(&said(r#"target = "npu", dtypes = ["float32"]"#));
    expect![[r#"
        error[config]: The option `traits` names `fast`; there are `elementwise`, `injective`, `reduction` and `out-fusable`.
         |
         = in pass relax.transform.AnnotateTarget of plugin relax"#]].assert_eq(&said(r#"target = "npu", traits = ["fast"]"#));
}

mod vendor {
    //! A plugin that says of ONNX's operators, which are another plugin's, what its accelerator takes.

    use passdock_plugin_api::prelude::*;

    fn short_rows(call: &OpCall) -> OpResult {
        match call.operand_type(0).shape().as_deref() {
            Some([.., 1..=8]) => Ok(()),
            _ => Err("their rows are longer than 8".into()),
        }
    }

    plugin! {
        name: "vendor",
        ops: [
            OpDef::extending("onnx.Softmax", 1).supports(&["npu"], short_rows),
            OpDef::extending("onnx.Exp", 1).supports(&["npu"], |_| Ok(())),
            OpDef::extending("onnx.Neg", 1).supports(&["gpu"], |_| Ok(())),
        ],
    }
}

#[test]
fn op_definitions_say_what_a_target_takes() {
    let registry = support::registry();
    registry.load_static(vendor::PLUGIN).expect("a good plugin");
    let source = r#"module {
  fn @main(%x: f32[4], %y: f32[9]) -> (%d: f32[4], %e: f32[9]) opset("" = 17) {
    %a = onnx.Neg(%x) : f32[4]
    %b = onnx.Exp(%a) : f32[4]
    %d = onnx.Softmax(%b) : f32[4]
    %e = onnx.Softmax(%y) : f32[9]
    return %d, %e
  }
}"#;
    let target = |name: &str| vec![("target".to_owned(), OptionValue::String(name.to_owned()))];
    let run = |passes, name| run_in(&registry, passes, target(name), source);
    expect![[r#"
        note[relax::not-taken]: `npu` doesn't take 1 op: their rows are longer than 8.
        note[relax::partitioned]: `npu` takes 2 ops: onnx.Exp 1, onnx.Softmax 1.
        note[relax::partitioned]: No target takes 2 ops: onnx.Neg 1, onnx.Softmax 1.
        module {
          fn @main(%x: f32[4], %y: f32[9]) -> (%d: f32[4], %e: f32[9]) opset("" = 17, "npu" = 1) {
            %a = onnx.Neg(%x) : f32[4]
            %d = npu.npu_main_0(%a) : f32[4]
            %e = onnx.Softmax(%y) : f32[9]
            return %d, %e
          }
          fn @npu.npu_main_0(%a: f32[4]) -> (%d: f32[4]) opset("" = 17, "npu" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
            %b = onnx.Exp(%a) : f32[4]
            %d = onnx.Softmax(%b) : f32[4]
            return %d
          }
        }
    "#]].assert_eq(&run(&[ANNOTATE, MERGE, PARTITION], "npu"));
    // A definition's reason counts, too, where the pipeline names the op.
    let mut named = target("npu");
    let ops = vec![OptionValue::String("onnx.Softmax".to_owned())];
    named.push(("ops".to_owned(), OptionValue::List(ops)));
    let said = run_in(&registry, &[ANNOTATE], named, source);
    assert!(
        said.contains("doesn't take 1 op: their rows are longer than 8."),
        "{said}"
    );
    // Whatever nobody speaks for stays.
    assert_eq!(run(&[ANNOTATE], "dsp"), run(&[], "dsp"));
}

/// The second run takes more, and would write over the first one's file.
#[test]
fn partitions_of_an_earlier_run_keep_their_names() {
    let source = |op: &str| {
        format!(
            r#"module {{
  fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {{
    %a = acme.npu_main_0(%x) : f32[4]
    %z = {op}(%a) : f32[4]
    return %z
  }}
  fn @acme.npu_main_0(%x: f32[4]) -> (%a: f32[4]) opset("" = 17) attributes {{Codegen = "npu", global_symbol = "npu_main_0"}} {{
    %a = onnx.Exp(%x) : f32[4]
    return %a
  }}
}}"#
        )
    };
    check(
        &[ANNOTATE, MERGE, PARTITION],
        &["onnx.Neg"],
        &source("onnx.Neg"),
        expect![[r#"
            note[relax::partitioned]: `npu` takes 1 op: onnx.Neg 1.
            note[relax::partitioned]: No target takes 1 op: acme.npu_main_0 1.
            module {
              fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {
                %a = acme.npu_main_0(%x) : f32[4]
                %z = acme.npu_main_1(%a) : f32[4]
                return %z
              }
              fn @acme.npu_main_0(%x: f32[4]) -> (%a: f32[4]) opset("" = 17) attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
                %a = onnx.Exp(%x) : f32[4]
                return %a
              }
              fn @acme.npu_main_1(%a: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) attributes {Codegen = "npu", global_symbol = "npu_main_1"} {
                %z = onnx.Neg(%a) : f32[4]
                return %z
              }
            }
        "#]],
    );
    let stays = source("onnx.Abs");
    let before = passdock::testing::run_on_text(&support::registry(), &[], &stays, |cx| cx);
    let after = run_with(&[ANNOTATE, MERGE, PARTITION], takes(&["onnx.Neg"]), &stays);
    assert_eq!(before, after);
}
