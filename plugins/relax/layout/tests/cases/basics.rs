//! ConvertLayout: the functions that it makes, other functions, regions, constants, options.

use expect_test::expect;
use passdock_plugin_api::OptionValue;

use crate::laid::{check, whole};
use crate::support::{check_options, check_stays as check_pass_stays, run_options, run_saying};

const PASS: &str = "relax.transform.ConvertLayout";
const NHWC: &str = r#"desired_layouts = { "onnx.Conv" = ["NHWC", "default"] }"#;

#[test]
fn equal_ops_share_a_function() {
    expect![[r#"
        module {
          fn @main(%x: f32[1,4,n,m], %w: f32[4,4,3,3], %v: f32[4,4,1,1], %b: f32[4]) opset("" = 17, "acme" = 1, "passdock.layout" = 1) {
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,n,m,4]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,n,m,4]
            %2 = passdock.layout.Conv_NHWC(%1, %w) : f32[1,n,m,4]
            %3 = passdock.layout.Conv_NHWC_1(%2, %w) : f32[1,n-2,m-2,4]
            %4 = passdock.layout.Conv_NHWC_1(%3, %v) : f32[1,n-2,m-2,4]
            %5 = passdock.layout.Conv_NHWC_2(%4, %v, %b) : f32[1,n-2,m-2,4]
            %g = onnx.Transpose(%5) {perm = [0, 3, 1, 2]} : f32[1,4,n-2,m-2]
            return %g
          }
          fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17, "acme" = 1, "passdock.layout" = 1) {
            %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
            %3 = onnx.Conv(%2, %1) {pads = [1, 1, 1, 1]}
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
            return %4
          }
          fn @passdock.layout.Conv_NHWC_1(%0: ?, %1: ?) opset("" = 17, "acme" = 1, "passdock.layout" = 1) {
            %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
            %3 = onnx.Conv(%2, %1)
            %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
            return %4
          }
          fn @passdock.layout.Conv_NHWC_2(%0: ?, %1: ?, %2: ?) opset("" = 17, "acme" = 1, "passdock.layout" = 1) {
            %3 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
            %4 = onnx.Conv(%3, %1, %2)
            %5 = onnx.Transpose(%4) {perm = [0, 2, 3, 1]}
            return %5
          }
        }
    "#]].assert_eq(&whole(
        "onnx.Conv NHWC",
        "%x: f32[1,4,n,m], %w: f32[4,4,3,3], %v: f32[4,4,1,1], %b: f32[4]",
        "%c = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}
         %d = onnx.Conv(%c, %w) {pads = [1, 1, 1, 1]}
         %e = onnx.Conv(%d, %w)
         %f = onnx.Conv(%e, %v)
         %g = onnx.Conv(%f, %v, %b)
         return %g",
    ));
}

#[test]
fn functions_have_layouts_of_their_own() {
    check_options(
        PASS,
        NHWC,
        r#"module {
          fn @main(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
            %y = acme.Block(%x, %w) : f32[1,4,5,5]
            return %y
          }
          fn @acme.Block(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17) {
            %y = onnx.Conv(%x, %w) : f32[1,4,5,5]
            return %y
          }
        }"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
                %y = acme.Block(%x, %w) : f32[1,4,5,5]
                return %y
              }
              fn @acme.Block(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "passdock.layout" = 1) {
                %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,4]
                %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,4]
                %y = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
                return %y
              }
              fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17, "passdock.layout" = 1) {
                %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
                %3 = onnx.Conv(%2, %1)
                %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
                return %4
              }
            }
        "#]],
    );
}

/// An attribute that is a parameter of the function is one of what is made, too.
#[test]
fn attribute_parameters() {
    check_options(
        PASS,
        NHWC,
        r#"module {
          fn @main(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
            %y = acme.Block(%x, %w) {steps = [2, 2]} : f32[1,4,3,3]
            return %y
          }
          fn @acme.Block(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17) attributes {param steps, param alpha = 0.5} {
            %c = onnx.Conv(%x, %w) {strides = ref(steps, ints)} : f32[1,4,?,?]
            %y = onnx.LeakyRelu(%c) {alpha = ref(alpha, float)} : f32[1,4,?,?]
            return %y
          }
        }"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
                %y = acme.Block(%x, %w) {steps = [2, 2]} : f32[1,4,3,3]
                return %y
              }
              fn @acme.Block(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "passdock.layout" = 1) attributes {param steps, param alpha = 0.5} {
                %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,4]
                %1 = passdock.layout.Conv_NHWC(%0, %w) {steps = ref(steps, ints)} : f32[1,?,?,4]
                %2 = onnx.LeakyRelu(%1) {alpha = ref(alpha, float)} : f32[1,?,?,4]
                %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,4,?,?]
                return %y
              }
              fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17, "passdock.layout" = 1) attributes {param steps} {
                %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
                %3 = onnx.Conv(%2, %1) {strides = ref(steps, ints)}
                %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn what_is_made_already_stays() {
    check_pass_options(
        r#"module {
          fn @main(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
            %y = acme.Block(%x, %w) : f32[1,4,5,5]
            return %y
          }
          fn @acme.Block(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17) attributes {Primitive = 1} {
            %y = onnx.Conv(%x, %w) : f32[1,4,5,5]
            return %y
          }
          fn @acme.Other(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17) attributes {SkipOptimization = 1} {
            %y = onnx.Conv(%x, %w) : f32[1,4,5,5]
            return %y
          }
          fn @passdock.layout.Conv(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) -> (%y) opset("" = 17) {
            %y = onnx.Conv(%x, %w) : f32[1,4,5,5]
            return %y
          }
        }"#,
    );
}

#[track_caller]
fn check_pass_options(source: &str) {
    let before = run_options("relax.transform.DeadCodeElimination", "", source);
    let laid = run_options(PASS, NHWC, source);
    let after = run_options("relax.transform.DeadCodeElimination", "", &laid);
    assert_eq!(before, after);
}

/// A branch sees what is outside of it in its layout; what it gives out is as it was.
#[test]
fn regions() {
    check(
        "onnx.Conv NHWC",
        "%x: f32[1,4,5,5], %w: f32[4,4,1,1], %p: bool[]",
        "%c = onnx.Conv(%x, %w)
         %y = onnx.If(%p)
           region then_branch {
             %r = onnx.Relu(%c)
             %d = onnx.Conv(%r, %w)
             yield %d
           }
           region else_branch {
             yield %c
           }
         return %y",
        expect![[r#"
            %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,5,5,4]
            %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,5,5,4]
            %c = onnx.Transpose(%1) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            %y = onnx.If(%p) : f32[1,4,5,5]
            region then_branch {
            %2 = onnx.Relu(%1) : f32[1,5,5,4]
            %3 = passdock.layout.Conv_NHWC(%2, %w) : f32[1,5,5,4]
            %d = onnx.Transpose(%3) {perm = [0, 3, 1, 2]} : f32[1,4,5,5]
            yield %d
            }
            region else_branch {
            yield %c
            }
            return %y
        "#]],
    );
}

/// Weights are packed once, and their own form goes.
#[test]
fn constants() {
    check(
        "onnx.Conv NHWC HWIO",
        "%x: f32[1,1,5,5]",
        "%w = const f32[2,1,1,2] [1.0, 2.0, 3.0, 4.0]
         %b = const f32[2,1,1] [0.5, 0.25]
         %k = const f32[1,4] [1.0, 2.0, 3.0, 4.0]
         %c = onnx.Conv(%x, %w)
         %a = onnx.Add(%c, %b)
         %d = onnx.Mul(%a, %k)
         %y = onnx.Conv(%x, %w)
         return %d, %y",
        expect![[r#"
            %0 = const i64[4] [1, 5, 5, 1]
            %1 = const f32[1,2,1,2] [1.0, 3.0, 2.0, 4.0]
            %2 = const f32[1,1,2] [0.5, 0.25]
            %3 = const f32[1,4,1] [1.0, 2.0, 3.0, 4.0]
            %4 = onnx.Reshape(%x, %0) : f32[1,5,5,1]
            %5 = passdock.layout.Conv_NHWC_HWIO(%4, %1) : f32[1,5,4,2]
            %6 = onnx.Add(%5, %2) : f32[1,5,4,2]
            %7 = onnx.Mul(%6, %3) : f32[1,5,4,2]
            %d = onnx.Transpose(%7) {perm = [0, 3, 1, 2]} : f32[1,2,5,4]
            %8 = passdock.layout.Conv_NHWC_HWIO(%4, %1) : f32[1,5,4,2]
            %y = onnx.Transpose(%8) {perm = [0, 3, 1, 2]} : f32[1,2,5,4]
            return %d, %y
        "#]],
    );
}

/// A chain of ops that all follow has a `Transpose` at each end.
#[test]
fn a_chain() {
    let mut body = String::from("%v0 = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]}\n");
    for at in 0..20 {
        let next = at + 1;
        body += &match at % 5 {
            0 => format!("%v{next} = onnx.Relu(%v{at})\n"),
            1 => format!("%v{next} = onnx.Add(%v{at}, %v0)\n"),
            2 => format!("%v{next} = onnx.Conv(%v{at}, %w) {{pads = [1, 1, 1, 1]}}\n"),
            3 => format!(
                "%v{next} = onnx.MaxPool(%v{at}) {{kernel_shape = [3, 3], pads = [1, 1, 1, 1]}}\n"
            ),
            _ => format!("%v{next} = onnx.Softmax(%v{at}) {{axis = 1}}\n"),
        };
    }
    body += "return %v20";
    for layouts in ["onnx.Conv NHWC", "onnx.Conv NWHC", "onnx.Conv NHWC4c"] {
        let laid = whole(layouts, "%x: f32[1,4,9,9], %w: f32[4,4,3,3]", &body);
        let main = laid.split("  fn @passdock").next().unwrap_or_default();
        let count = main.matches("onnx.Transpose").count();
        let expected = match layouts {
            "onnx.Conv NHWC" => 2,
            "onnx.Conv NWHC" => 0,
            // Softmaxes along what is cut have their operands led back.
            _ => 2 + 2 * 3,
        };
        assert_eq!(count, expected, "{layouts}:\n{main}");
    }
}

#[test]
fn a_chain_leads_back() {
    let registry = crate::support::registry();
    let source = whole(
        "onnx.Conv NHWC",
        "%x: f32[1,4,9,9], %w: f32[4,4,3,3]",
        "%c = onnx.Conv(%x, %w)
         %r = onnx.Relu(%c)
         %d = onnx.Conv(%r, %w)
         %a = onnx.Concat(%d, %d) {axis = 1}
         %y = onnx.GlobalAveragePool(%a)
         return %y",
    );
    let passes = [
        "relax.transform.InlineFunctions",
        "relax.transform.InferType",
        "relax.transform.SimplifyExpr",
        "relax.transform.DeadCodeElimination",
    ];
    let back = passdock::testing::run_on_text(&registry, &passes, &source, |context| context);
    expect![[r#"
        module {
          fn @main(%x: f32[1,4,9,9], %w: f32[4,4,3,3]) opset("" = 17, "acme" = 1) {
            %0 = onnx.Conv(%x, %w) : f32[1,4,7,7]
            %1 = onnx.Relu(%0) : f32[1,4,7,7]
            %2 = onnx.Conv(%1, %w) : f32[1,4,5,5]
            %3 = onnx.Concat(%2, %2) {axis = 1} : f32[1,8,5,5]
            %y = onnx.GlobalAveragePool(%3) : f32[1,8,1,1]
            return %y
          }
        }
    "#]]
    .assert_eq(&back);
}

#[test]
fn no_layouts_no_change() {
    check_pass_stays(
        PASS,
        r#"module { fn @main(%x: f32[1,4,5,5], %w: f32[4,4,1,1]) opset("" = 17) {
          %y = onnx.Conv(%x, %w) : f32[1,4,5,5]
          return %y
        } }"#,
    );
}

#[test]
fn options_that_are_none() {
    let source = r#"module { fn @main(%x: f32[1]) opset("" = 17) { return %x } }"#;
    for (options, expected) in [
        (
            r#"desired_layouts = { "onnx.Conv" = "NHWC" }"#,
            expect![[r#"
                error[config]: desired_layouts."onnx.Conv" is "NHWC", and should be a list of layouts, one for each operand: ["NHWC", "default"].
                 |
                 = in pass relax.transform.ConvertLayout of plugin relax"#]],
        ),
        (
            r#"desired_layouts = { "onnx.Conv" = ["NHWC", 4] }"#,
            expect![[r#"
                error[config]: desired_layouts."onnx.Conv"[1] is 4, and should be a layout.
                 |
                 = in pass relax.transform.ConvertLayout of plugin relax"#]],
        ),
        (
            r#"desired_layouts = { "onnx.Conv" = ["default", "NHWCc"] }"#,
            expect![[r#"
                error[config]: desired_layouts."onnx.Conv"[1] is no layout: the layout `NHWCc` has a block `c` without a size: `4c`.
                 |
                 = in pass relax.transform.ConvertLayout of plugin relax"#]],
        ),
        (
            r#"desired_layouts = { "onnx.Conv" = ["NCHW->NHW"] }"#,
            expect![[r#"
                error[config]: desired_layouts."onnx.Conv"[0] is no layout: the layout `NCHW->NHW` has no place for the axis `C`.
                 |
                 = in pass relax.transform.ConvertLayout of plugin relax"#]],
        ),
    ] {
        expected.assert_eq(&run_options(PASS, options, source));
    }
}

/// A function is brought into layouts by itself, however often it is called.
#[test]
fn altered_functions() {
    let registry = crate::vendor::registry();
    let source = r#"module {
      fn @main(%x: f32[1,8,4,4], %w: f32[8,8,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
        %a = acme.Block(%x, %w) : f32[1,8,4,4]
        %y = acme.Block(%a, %w) : f32[1,8,4,4]
        return %y
      }
      fn @acme.Block(%x: f32[1,8,4,4], %w: f32[8,8,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
        %c = onnx.Conv(%x, %w) : f32[1,8,4,4]
        %y = onnx.Relu(%c) : f32[1,8,4,4]
        return %y
      }
    }"#;
    let pass = ["relax.transform.AlterOpLayout"];
    let once = passdock::testing::run_on_text(&registry, &pass, source, |context| context);
    expect![[r#"
        module {
          fn @main(%x: f32[1,8,4,4], %w: f32[8,8,1,1]) -> (%y) opset("" = 17, "acme" = 1) {
            %a = acme.Block(%x, %w) : f32[1,8,4,4]
            %y = acme.Block(%a, %w) : f32[1,8,4,4]
            return %y
          }
          fn @acme.Block(%x: f32[1,8,4,4], %w: f32[8,8,1,1]) -> (%y) opset("" = 17, "acme" = 1, "passdock.layout" = 1) {
            %0 = const i64[5] [1, 2, 4, 4, 4]
            %1 = const i64[6] [2, 4, 2, 4, 1, 1]
            %2 = const i64[4] [1, 8, 4, 4]
            %3 = onnx.Reshape(%w, %1) : f32[2,4,2,4,1,1]
            %4 = onnx.Transpose(%3) {perm = [0, 2, 4, 5, 3, 1]} : f32[2,2,1,1,4,4]
            %5 = onnx.Reshape(%x, %0) : f32[1,2,4,4,4]
            %6 = onnx.Transpose(%5) {perm = [0, 1, 3, 4, 2]} : f32[1,2,4,4,4]
            %7 = passdock.layout.Conv_NCHW4c_OIHW4i4o(%6, %4) : f32[1,2,4,4,4]
            %8 = onnx.Relu(%7) : f32[1,2,4,4,4]
            %9 = onnx.Transpose(%8) {perm = [0, 1, 4, 2, 3]} : f32[1,2,4,4,4]
            %y = onnx.Reshape(%9, %2) : f32[1,8,4,4]
            return %y
          }
          fn @passdock.layout.Conv_NCHW4c_OIHW4i4o(%0: ?, %1: ?) opset("" = 17, "acme" = 1, "passdock.layout" = 1) {
            %2 = const i64[4] [1, 8, 4, 4]
            %3 = const i64[4] [8, 8, 1, 1]
            %4 = const i64[5] [1, 2, 4, 4, 4]
            %5 = onnx.Transpose(%0) {perm = [0, 1, 4, 2, 3]}
            %6 = onnx.Reshape(%5, %2)
            %7 = onnx.Transpose(%1) {perm = [0, 5, 1, 4, 2, 3]}
            %8 = onnx.Reshape(%7, %3)
            %9 = onnx.Conv(%6, %8)
            %10 = onnx.Reshape(%9, %4)
            %11 = onnx.Transpose(%10) {perm = [0, 1, 3, 4, 2]}
            return %11
          }
        }
    "#]].assert_eq(&once);
    let passes = [pass[0], pass[0]];
    let twice = passdock::testing::run_on_text(&registry, &passes, source, |context| context);
    assert_eq!(once, twice);
}

/// What is mistyped is told, not passed over.
#[test]
fn operators_that_are_not_there_are_refused() {
    let source = r#"module {
      fn @main(%x: f32[1,3,4,4], %w: f32[4,3,1,1]) -> (%y: f32[1,4,4,4]) opset("" = 17, "acme" = 1) {
        %y = onnx.Conv(%x, %w) : f32[1,4,4,4]
        return %y
      }
    }"#;
    let said = |name: &str| {
        run_options(
            PASS,
            &format!(r#"desired_layouts = {{ "{name}" = ["NHWC", "default"] }}"#),
            source,
        )
    };
    expect![[r#"
        error[config]: The option `desired_layouts` names `Conv`, which is no operator. Did you mean `onnx.Conv`?
         |
         = in pass relax.transform.ConvertLayout of plugin relax"#]].assert_eq(&said("Conv"));
    expect![[r#"
        error[config]: The option `desired_layouts` names `onnx.Cnov`, which is no operator. Did you mean `onnx.Conv`?
         |
         = in pass relax.transform.ConvertLayout of plugin relax"#]].assert_eq(&said("onnx.Cnov"));
    // A later opset has it.
    assert!(said("onnx.GroupNormalization").starts_with("module"));
    // Another model may have the first, and a plugin may define the second.
    assert!(said("onnx.MaxPool").starts_with("module"));
    assert!(said("acme.Conv").starts_with("module"));
}

#[test]
fn a_wish_that_is_not_met_is_noted() {
    let options = |layouts: &[&str]| {
        let layouts = layouts.iter().map(|one| OptionValue::String((*one).into()));
        let layouts = OptionValue::List(layouts.collect());
        let desired = OptionValue::Table(vec![("onnx.Conv".into(), layouts)]);
        OptionValue::Table(vec![("desired_layouts".into(), desired)])
    };
    let source = r#"module {
      fn @main(%x: f32[1,3,4,4], %w: f32[4,3,1,1]) -> (%y: f32[1,4,4,4]) opset("" = 17) {
        %y = onnx.Conv(%x, %w) : f32[1,4,4,4]
        return %y
      }
    }"#;
    let said = |layouts: &[&str]| {
        let text = run_saying(PASS, "relax.ConvertLayout", options(layouts), source);
        text[..text.find("module {").unwrap_or(0)].to_owned()
    };
    // Three channels are no block of 16.
    expect![[r#"
        note[relax::keeps-layout]: An operand of this op stays in its own layout: it isn't whole blocks of OIHW16i16o, as far as is known.
         --> test.ir:3:14
          |
        3 |         %y = onnx.Conv(%x, %w) : f32[1,4,4,4]
          |              ^^^^^^^^^
          |
          = in pass relax.transform.ConvertLayout of plugin relax, function @main, op0 (onnx.Conv)
    "#]].assert_eq(&said(&["NHWC", "OIHW16i16o"]));
    expect![[""]].assert_eq(&said(&["NHWC", "HWIO"]));
}

/// Three channels aren't whole blocks, so that the first gives what the second takes: the names tell them apart.
#[test]
fn names_say_which_side_is_in_a_layout() {
    let text = whole(
        "onnx.Conv NCHW4c",
        "%x: f32[1,3,4,4], %w: f32[4,3,1,1], %v: f32[4,4,1,1], %u: f32[2,4,1,1]",
        "%a = onnx.Conv(%x, %w)
         %b = onnx.Conv(%a, %v)
         %c = onnx.Conv(%b, %u)
         return %c",
    );
    let calls = text
        .lines()
        .filter(|line| line.contains("= passdock.layout."));
    let calls: Vec<&str> = calls.map(str::trim).collect();
    expect![[r#"
        %0 = passdock.layout.Conv_to_NCHW4c(%x, %w) : f32[1,1,4,4,4]
        %1 = passdock.layout.Conv_NCHW4c(%0, %v) : f32[1,1,4,4,4]
        %c = passdock.layout.Conv_NCHW4c_to_default(%1, %u) : f32[1,2,4,4]"#]]
    .assert_eq(&calls.join("\n"));
}
