//! Cases of calls that stand for an op, in another layout or approximated: they are as the op is, and their bodies stay.

use expect_test::{Expect, expect};
use passdock_plugin_api::OptionValue;
use passdock_plugin_api::OptionValue::{List, String as Text};

use crate::support;

const FUSE: &str = "relax.transform.FuseOps";
const ANNOTATE: &str = "relax.transform.AnnotateTarget";

/// A convolution with the channels last, and what is behind it; sizes aren't those of the body.
const LAID: &str = r#"module {
  fn @main(%x: f32[1,8,8,3], %w: f32[4,3,1,1]) -> (%z: f32[1,8,8,4]) opset("" = 17, "passdock.layout" = 1) {
    %c = passdock.layout.Conv_NHWC(%x, %w) : f32[1,8,8,4]
    %y = onnx.Relu(%c) : f32[1,8,8,4]
    %z = onnx.Softmax(%y) : f32[1,8,8,4]
    return %z
  }
  fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17) {
    %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
    %3 = onnx.Conv(%2, %1)
    %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
    return %4
  }
}"#;

/// An approximation that calls another, and what is around it.
const FAST: &str = r#"module {
  fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "passdock.fast" = 1) {
    %a = onnx.Neg(%x) : f32[4]
    %b = passdock.fast.fast_sigmoid(%a) : f32[4]
    %z = onnx.Relu(%b) : f32[4]
    return %z
  }
  fn @passdock.fast.fast_sigmoid(%x: ?) opset("" = 17, "passdock.fast" = 1) {
    %1 = const f32[] 1.0
    %n = onnx.Neg(%x)
    %e = passdock.fast.fast_exp(%n)
    %s = onnx.Add(%e, %1)
    %y = onnx.Div(%1, %s)
    return %y
  }
  fn @passdock.fast.fast_exp(%x: ?) opset("" = 17) {
    %0 = const f32[] 2.718
    %y = onnx.Pow(%0, %x)
    return %y
  }
}"#;

#[track_caller]
fn check(pass: &str, source: &str, expected: Expect) {
    support::check(pass, source, expected);
}

/// What `AnnotateTarget` makes of a module.
fn annotated(option: &str, named: &str, source: &str) -> String {
    let named = List(vec![Text(named.to_owned())]);
    let target = ("target".to_owned(), Text("npu".to_owned()));
    let options = OptionValue::Table(vec![target, (option.to_owned(), named)]);
    support::run_saying(ANNOTATE, "relax.AnnotateTarget", options, source)
}

#[test]
fn an_op_in_another_layout_fuses_as_it_does_in_its_own() {
    check(
        FUSE,
        LAID,
        expect![[r#"
        module {
          fn @main(%x: f32[1,8,8,3], %w: f32[4,3,1,1]) -> (%z: f32[1,8,8,4]) opset("" = 17, "passdock.layout" = 1, "passdock.fused" = 1) {
            %y = passdock.fused.fused_conv_nhwc_relu(%x, %w) : f32[1,8,8,4]
            %z = onnx.Softmax(%y) : f32[1,8,8,4]
            return %z
          }
          fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17) {
            %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
            %3 = onnx.Conv(%2, %1)
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
            return %4
          }
          fn @passdock.fused.fused_conv_nhwc_relu(%x: f32[1,8,8,3], %w: f32[4,3,1,1]) -> (%y: f32[1,8,8,4]) opset("" = 17, "passdock.layout" = 1, "passdock.fused" = 1) attributes {Primitive = 1} {
            %c = passdock.layout.Conv_NHWC(%x, %w) : f32[1,8,8,4]
            %y = onnx.Relu(%c) : f32[1,8,8,4]
            return %y
          }
        }
    "#]],
    );
}

#[test]
fn an_approximation_fuses_as_what_it_is_made_of() {
    check(
        FUSE,
        FAST,
        expect![[r#"
        module {
          fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "passdock.fast" = 1, "passdock.fused" = 1) {
            %z = passdock.fused.fused_neg_fast_sigmoid_relu(%x) : f32[4]
            return %z
          }
          fn @passdock.fast.fast_sigmoid(%x: ?) opset("" = 17, "passdock.fast" = 1) {
            %0 = const f32[] 1.0
            %n = onnx.Neg(%x)
            %e = passdock.fast.fast_exp(%n)
            %s = onnx.Add(%e, %0)
            %y = onnx.Div(%0, %s)
            return %y
          }
          fn @passdock.fast.fast_exp(%x: ?) opset("" = 17) {
            %0 = const f32[] 2.718
            %y = onnx.Pow(%0, %x)
            return %y
          }
          fn @passdock.fused.fused_neg_fast_sigmoid_relu(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "passdock.fast" = 1, "passdock.fused" = 1) attributes {Primitive = 1} {
            %a = onnx.Neg(%x) : f32[4]
            %b = passdock.fast.fast_sigmoid(%a) : f32[4]
            %z = onnx.Relu(%b) : f32[4]
            return %z
          }
        }
    "#]],
    );
}

#[test]
fn what_fused_with_them_comes_back() {
    for source in [LAID, FAST] {
        let run = |passes: &[&str]| {
            passdock::testing::run_on_text(&support::registry(), passes, source, |cx| cx)
        };
        let defuse = "relax.transform.DefuseOps";
        assert_eq!(run(&[]), run(&[FUSE, defuse]));
    }
}

/// A body with an effect, or one of a domain that is the model's own.
#[test]
fn other_calls_do_not_fuse() {
    for (from, to) in [
        ("onnx.Conv(%2, %1)", "acme.Conv(%2, %1)"),
        ("passdock.layout", "acme.layout"),
    ] {
        let source = LAID.replace(from, to);
        support::check_stays(FUSE, &source);
    }
}

#[test]
fn a_target_takes_the_call_of_an_op_that_it_takes() {
    let taken = annotated("ops", "onnx.Conv", LAID);
    expect![[r#"
        module {
          fn @main(%x: f32[1,8,8,3], %w: f32[4,3,1,1]) -> (%z: f32[1,8,8,4]) opset("" = 17, "passdock.layout" = 1, "npu" = 1) {
            %c = npu.conv_nhwc(%x, %w) : f32[1,8,8,4]
            %y = onnx.Relu(%c) : f32[1,8,8,4]
            %z = onnx.Softmax(%y) : f32[1,8,8,4]
            return %z
          }
          fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17) {
            %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
            %3 = onnx.Conv(%2, %1)
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
            return %4
          }
          fn @npu.conv_nhwc(%x: f32[1,8,8,3], %w: f32[4,3,1,1]) -> (%c: f32[1,8,8,4]) opset("" = 17, "passdock.layout" = 1, "npu" = 1) attributes {Target = "npu"} {
            %c = passdock.layout.Conv_NHWC(%x, %w) : f32[1,8,8,4]
            return %c
          }
        }
    "#]].assert_eq(&taken);
    let named = annotated("ops", "passdock.layout.Conv_NHWC", LAID);
    assert_eq!(taken, named);
    let trait_named = annotated("traits", "out-fusable", LAID);
    assert!(trait_named.contains("@npu.conv_nhwc"), "{trait_named}");
}

#[test]
fn a_target_takes_an_approximation_whole() {
    expect![[r#"
        module {
          fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "passdock.fast" = 1, "npu" = 1) {
            %a = npu.neg(%x) : f32[4]
            %b = npu.fast_sigmoid(%a) : f32[4]
            %z = npu.relu(%b) : f32[4]
            return %z
          }
          fn @passdock.fast.fast_sigmoid(%x: ?) opset("" = 17, "passdock.fast" = 1) {
            %0 = const f32[] 1.0
            %n = onnx.Neg(%x)
            %e = passdock.fast.fast_exp(%n)
            %s = onnx.Add(%e, %0)
            %y = onnx.Div(%0, %s)
            return %y
          }
          fn @passdock.fast.fast_exp(%x: ?) opset("" = 17) {
            %0 = const f32[] 2.718
            %y = onnx.Pow(%0, %x)
            return %y
          }
          fn @npu.neg(%x: f32[4]) -> (%a: f32[4]) opset("" = 17, "passdock.fast" = 1, "npu" = 1) attributes {Target = "npu"} {
            %a = onnx.Neg(%x) : f32[4]
            return %a
          }
          fn @npu.fast_sigmoid(%a: f32[4]) -> (%b: f32[4]) opset("" = 17, "passdock.fast" = 1, "npu" = 1) attributes {Target = "npu"} {
            %b = passdock.fast.fast_sigmoid(%a) : f32[4]
            return %b
          }
          fn @npu.relu(%b: f32[4]) -> (%z: f32[4]) opset("" = 17, "passdock.fast" = 1, "npu" = 1) attributes {Target = "npu"} {
            %z = onnx.Relu(%b) : f32[4]
            return %z
          }
        }
    "#]].assert_eq(&annotated("traits", "elementwise", FAST));
}

/// Neither the call nor what is in the body.
#[test]
fn a_target_leaves_the_call_of_an_op_that_it_does_not_take() {
    for (option, named, source) in [
        ("ops", "onnx.Transpose", LAID),
        ("traits", "injective", LAID),
        ("ops", "onnx.Pow", FAST),
    ] {
        let before = passdock::testing::run_on_text(&support::registry(), &[], source, |cx| cx);
        assert_eq!(before, annotated(option, named, source));
    }
}

mod vendor {
    //! A plugin that says which convolutions its accelerator takes.

    use passdock_plugin_api::prelude::*;

    fn of_three_channels(call: &OpCall) -> OpResult {
        match call.operand_type(0).shape().as_deref() {
            Some([_, 3, ..]) => Ok(()),
            sizes => Err(format!("their operand is of {sizes:?}").into()),
        }
    }

    plugin! {
        name: "vendor",
        ops: [OpDef::extending("onnx.Conv", 1).supports(&["npu"], of_three_channels)],
    }
}

/// The definition is asked about the op, which has the sizes that the call has.
#[test]
fn definitions_say_whether_a_target_takes_what_a_call_stands_for() {
    let registry = support::registry();
    registry.load_static(vendor::PLUGIN).expect("a good plugin");
    let run = |source: &str| {
        passdock::testing::run_on_text(&registry, &[ANNOTATE], source, |context| {
            let target = ("target".to_owned(), Text("npu".to_owned()));
            context.config("relax.AnnotateTarget", OptionValue::Table(vec![target]))
        })
    };
    let target_of = |text: &str| text.matches("Target = \"npu\"").count();
    assert_eq!(target_of(&run(LAID)), 1, "{}", run(LAID));
    let other = LAID.replace("8,3]", "8,5]").replace("4,3,1", "4,5,1");
    assert_eq!(target_of(&run(&other)), 0, "{}", run(&other));
    assert!(!run(LAID).contains("scratch"));
}

#[test]
fn patterns_find_them_by_their_names() {
    let pattern = "onnx.Relu(passdock.layout.Conv_NHWC(%x, %w))";
    let options = |pattern: &str| format!("patterns = [\"npu.conv_relu: {pattern}\"]");
    let pass = "relax.transform.FuseOpsByPattern";
    let found = support::run_options(pass, &options(pattern), LAID);
    assert!(found.contains("@npu.conv_relu(%x: f32[1,8,8,3]"), "{found}");
    // What is in the body isn't an op of the model.
    let inside = "onnx.Conv(onnx.Transpose(%x), %w)";
    let found = support::run_options(pass, &options(inside), LAID);
    assert!(
        found.starts_with("module") && !found.contains("Composite"),
        "{found}"
    );
}
