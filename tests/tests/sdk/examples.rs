//! The examples of the SDK's documentation.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::{InstrumentSetup, PassContext, Sequential};
use passdock_ir::text;

use crate::{CHAIN, check, outcome, registry};

#[test]
fn examples_of_passes_do_what_they_say() {
    check(
        "doc.transform.FuseDoubleRelu",
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
    let silu = CHAIN.replacen("onnx.Relu", "onnx.Sigmoid", 1);
    let silu = silu.replace("onnx.Relu(%0)", "onnx.Mul(%0, %x)");
    check(
        "doc.transform.FuseSilu",
        &silu,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Sigmoid(%x) : f32[2,3]
            %1 = acme.Silu(%x) {alpha = 1.0} : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
    check(
        "doc.transform.FuseGelu",
        r#"module {
  fn @main(%x: f32[2,3,4]) -> (%y: f32[4,2,3]) opset("" = 20) {
    %half = const f32[] 0.5
    %root = const f32[] 1.4142135
    %one = const f32[] 1.0
    %0 = onnx.Transpose(%x) {perm = [1, 2, 0]} : f32[3,4,2]
    %1 = onnx.Transpose(%0) {perm = [1, 2, 0]} : f32[4,2,3]
    %2 = onnx.Mul(%half, %1) : f32[4,2,3]
    %3 = onnx.Div(%1, %root) : f32[4,2,3]
    %4 = onnx.Erf(%3) : f32[4,2,3]
    %5 = onnx.Add(%4, %one) : f32[4,2,3]
    %6 = onnx.Mul(%5, %2) : f32[4,2,3]
    return %6
  }
}
"#,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3,4]) -> (%y: f32[4,2,3]) opset("" = 20) {
            %0 = onnx.Transpose(%x) {perm = [2, 0, 1]} : f32[4,2,3]
            %1 = onnx.Gelu(%0) : f32[4,2,3]
            return %1
          }
        }
    "#]],
    );
    let sum = CHAIN.replace("Add", "Sum");
    check(
        "doc.transform.SumToAdd",
        &sum,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
    let unused = CHAIN.replace("return %2", "return %0");
    check(
        "doc.transform.EraseUnused",
        &unused,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            return %0
          }
        }
    "#]],
    );
    for same in ["MakeType", "WarnOfMemory", "NoLoops"] {
        assert_eq!(outcome(&[&format!("doc.transform.{same}")], CHAIN), CHAIN);
    }
    check(
        "doc.transform.MakeOnes",
        CHAIN,
        expect![[r#"
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %ones = const f32[2,3] splat(1.0)
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
    let untyped = CHAIN.replace(" : f32[2,3]\n", "\n");
    assert_eq!(outcome(&["doc.transform.InferAll"], &untyped), CHAIN);
    check(
        "doc.transform.ShowHeights",
        CHAIN,
        expect![[r#"
        the longest path has Some(3) ops
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %0 = onnx.Relu(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
    let old = CHAIN.replacen("onnx.Relu", "acme.Old", 1);
    let old = old.replace("17)", "17, \"acme\" = 1)");
    check(
        "doc.transform.WarnOfOld",
        &old,
        expect![[r#"
        `acme.Old` will go away
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17, "acme" = 1) {
            %0 = acme.Old(%x) : f32[2,3]
            %1 = onnx.Relu(%0) : f32[2,3]
            %2 = onnx.Add(%1, %1) : f32[2,3]
            return %2
          }
        }
    "#]],
    );
}

#[test]
fn examples_of_visitors_do_what_they_say() {
    let lone = "module { fn @main(%x: f32[2]) { %0 = onnx.Relu(%x) return %0 } }";
    check(
        "doc.transform.Print",
        lone,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) {
            %0 = onnx.Relu(%x)
            return %0
          }
        }
    "#]],
    );
    check(
        "doc.transform.ForbidCalls",
        lone,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) {
            %0 = onnx.Relu(%x)
            return %0
          }
        }
    "#]],
    );
    let nested = "module {
      fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) {
        %0 = if(%c) : f32[2]
          region then_branch { %1 = call @f(%x) yield %1 }
          region else_branch { yield %x }
        return %0
      }
      fn @f(%x: f32[2]) { return %x }
    }";
    check(
        "doc.transform.ForbidCalls",
        nested,
        expect![[r#"
        error[pass-failed]: There is a call, maybe deep inside.
         |
         = in pass doc.transform.ForbidCalls of plugin `SDK`, function @main"#]],
    );
    let ifs = nested.replace("call @f(%x)", "onnx.Relu(%x)");
    check(
        "doc.transform.CollapseIfs",
        &ifs,
        expect![[r#"
        module {
          fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) {
            %0 = onnx.Relu(%x)
            return %0
          }
          fn @f(%x: f32[2]) {
            return %x
          }
        }
    "#]],
    );
}

#[test]
fn an_example_says_what_is_constant() {
    let tuples = "module {
      fn @main(%x: f32[1]) -> (%a, %b) {
        %one = const f32[1] [1.0]
        %all = tuple(%one, %one)
        %nested = tuple(%all, %one)
        %some = tuple(%nested, %x)
        return %nested, %some
      }
    }";
    check(
        "doc.transform.MarkConstant",
        tuples,
        expect![[r#"
        module {
          fn @main(%x: f32[1]) -> (%a, %b) attributes {constant_results = 1} {
            %one = const f32[1] [1.0]
            %all = tuple(%one, %one)
            %nested = tuple(%all, %one)
            %some = tuple(%nested, %x)
            return %nested, %some
          }
        }
    "#]],
    );
}

/// The documents' case: each function that the pass is given becomes the one that it has.
#[test]
fn a_pass_answers_a_function_of_its_own() {
    let two = "module {
      fn @main(%x: f32[10,20]) -> (%y: f32[10,20]) opset(\"\" = 17) {
        %a = onnx.Log(%x) : f32[10,20]
        %y = onnx.Add(%a, %x) : f32[10,20]
        return %y
      }
      fn @other(%a: f32[2]) -> (%b: f32[2]) opset(\"\" = 17) { return %a }
    }";
    check(
        "doc.transform.TestReplaceFunc",
        two,
        expect![[r#"
        module {
          fn @main(%x: f32[10,20]) -> (%y: f32[10,20]) opset("" = 17) {
            %0 = onnx.Neg(%x)
            return %0
          }
          fn @other(%a: f32[2]) -> (%b: f32[2]) opset("" = 17) {
            %0 = onnx.Neg(%a)
            return %0
          }
        }
    "#]],
    );
    let none = two.replace("%a: f32[2]", "%a: f32[2], %c: f32[2]");
    check(
        "doc.transform.TestReplaceFunc",
        &none,
        expect![[r#"
        error[pass-failed]: The body of op0 (return) doesn't fit it: it has parameters for 1 operands, the op has 2.
         |
         | return %a
         | ^^^^^^^^^
         |
         = in pass doc.transform.TestReplaceFunc of plugin `SDK`, function @other, op0 (return)"#]],
    );
}

#[test]
fn examples_on_modules_do_what_they_say() {
    let calls = "module {
      fn @main(%x: f32[2]) -> (%y) { %y = call @leaf(%x) return %y }
      fn @leaf(%x: f32[2]) { return %x }
      fn @nobody(%x: f32[2]) { return %x }
    }";
    check(
        "doc.transform.AddRelu",
        calls,
        expect![[r#"
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
    "#]],
    );
    check(
        "doc.transform.Stamp",
        calls,
        expect![[r#"
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
    "#]],
    );
    check(
        "doc.transform.MarkLeaves",
        calls,
        expect![[r#"
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
    "#]],
    );
    check(
        "doc.transform.RemoveUncalled",
        calls,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y) {
            %y = call @leaf(%x)
            return %y
          }
          fn @leaf(%x: f32[2]) {
            return %x
          }
        }
    "#]],
    );
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
    check(
        fold,
        source,
        expect![[r#"
        module {
          fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %0 = const f32[2] [0.0, 0.880797]
            return %0
          }
        }
    "#]],
    );
    check(
        "relax.transform.DecomposeOps",
        source,
        expect![[r#"
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
    "#]],
    );
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
    let passes = passes
        .iter()
        .map(|name| registry.get_pass(name).expect("a pass"));
    let passes = Sequential::new(passes);
    let module = text::parse(CHAIN).expect("the test's own text");
    let ran = context.scope(|cx| {
        let after = passes.call(module);
        for report in cx.instrument_reports() {
            let report = report.expect("a report");
            said.lock()
                .unwrap()
                .push(format!("{}: {}", report.name, report.text));
        }
        after
    });
    ran.expect("they work");
    let said = said.lock().unwrap();
    said.join("\n")
}

#[test]
fn examples_of_instruments_do_what_they_say() {
    let passes = [
        "doc.transform.MakeType",
        "doc.transform.AddRelu",
        "doc.transform.Stamp",
    ];
    expect!["sdk.growth: doc.transform.AddRelu"].assert_eq(&watched("sdk.growth", "", &passes));
    expect![[r#"
        doc.transform.AddRelu was the last pass
        sequential was the last pass
        sdk.budget: 2 ops were added"#]]
    .assert_eq(&watched("sdk.budget", "ops = 1", &passes));
    expect!["sdk.budget: 2 ops were added"].assert_eq(&watched("sdk.budget", "", &passes));
}

#[test]
fn examples_of_outlining_do_what_they_say() {
    let layers = r#"module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        %0 = onnx.Relu(%x) {block = 1} : f32[2] loc("layer1/relu")
        %1 = onnx.Neg(%0) {block = 1} : f32[2] loc("layer1/neg")
        %2 = onnx.Abs(%1) : f32[2] loc("layer2/abs")
        return %2
      }
    }"#;
    check(
        "doc.transform.OutlineLayers",
        layers,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "layers" = 1) {
            %0 = layers.layer1(%x) : f32[2]
            %1 = layers.layer2(%0) : f32[2]
            return %1
          }
          fn @layers.layer1(%x: f32[2]) -> (_: f32[2]) opset("" = 17, "layers" = 1) {
            %0 = onnx.Relu(%x) {block = 1} : f32[2] loc("layer1/relu")
            %1 = onnx.Neg(%0) {block = 1} : f32[2] loc("layer1/neg")
            return %1
          }
          fn @layers.layer2(%0: f32[2]) -> (_: f32[2]) opset("" = 17, "layers" = 1) {
            %1 = onnx.Abs(%0) : f32[2] loc("layer2/abs")
            return %1
          }
        }
    "#]],
    );
    check(
        "doc.transform.OutlineMarked",
        layers,
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %0 = acme.Block(%x) : f32[2] loc("block")
            %1 = onnx.Abs(%0) : f32[2] loc("layer2/abs")
            return %1
          }
          fn @acme.Block(%x: f32[2]) -> (_: f32[2]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Relu(%x) {block = 1} : f32[2] loc("layer1/relu")
            %1 = onnx.Neg(%0) {block = 1} : f32[2] loc("layer1/neg")
            return %1
          }
        }
    "#]],
    );
}
