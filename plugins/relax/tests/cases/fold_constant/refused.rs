//! Constants that those who use them couldn't take. An op in a branch that isn't taken is no mistake until
//! it is run; a runtime that sees what is wrong with it refuses the whole model.

use expect_test::expect;

use super::{check, check_stays, said, support};

/// An op that can't be right with a value which is computed on constants: it stays computed.
#[track_caller]
fn refused(version: i64, x: &str, value: &str, user: &str) -> String {
    let results = match user {
        user if user.contains("Split(") || user.contains("TopK") => "%5, %6",
        _ => "%5",
    };
    let source = format!(
        r#"module {{
  fn @main({x}, %c: bool[], %y: f32[]) -> (%z: f32[]) opset("" = {version}) {{
    %0 = const {value}
    %a = const i64[1] [0]
    %b = const i64[1] [1]
    %p = const i64[2] [1, 1]
    %1 = onnx.If(%c) : f32[]
      region then_branch {{
        %v = onnx.Max(%0)
        {results} = {user}
        %7 = onnx.Neg(%y) : f32[]
        yield %7
      }}
      region else_branch {{
        %8 = onnx.Abs(%y) : f32[]
        yield %8
      }}
    return %1
  }}
}}"#
    );
    let (text, said) = said(&source);
    assert!(text.contains("%v = onnx.Max("), "{user}: {text}{said}");
    said
}

#[test]
fn what_would_make_its_user_wrong_stays_computed() {
    let cases = [
        (17, "%x: i64[2,3]", "i64[] 0", "onnx.Div(%x, %v)"),
        (17, "%x: u8[2,3]", "u8[1,3] [1, 0, 2]", "onnx.Div(%x, %v)"),
        (17, "%x: i32[?,3]", "i32[] 0", "onnx.Mod(%x, %v) {fmod = 1}"),
        (17, "%x: f32[2,3]", "i64[1] [-2]", "onnx.Reshape(%x, %v)"),
        (17, "%x: f32[*]", "i64[2] [-1, -1]", "onnx.Reshape(%x, %v)"),
        (17, "%x: f32[2,3]", "i64[2] [4, -1]", "onnx.Reshape(%x, %v)"),
        (
            17,
            "%x: f32[n,m]",
            "i64[3] [2, 3, 0]",
            "onnx.Reshape(%x, %v)",
        ),
        (
            17,
            "%x: f32[*]",
            "i64[2] [0, -1]",
            "onnx.Reshape(%x, %v) {allowzero = 1}",
        ),
        (17, "%x: f32[2,3]", "i64[2] [5, 5]", "onnx.Expand(%x, %v)"),
        (
            17,
            "%x: f32[2,3]",
            "i64[1] [0]",
            "onnx.Slice(%x, %a, %b, %a, %v)",
        ),
        (
            17,
            "%x: f32[n,m]",
            "i64[1] [7]",
            "onnx.Slice(%x, %a, %b, %v)",
        ),
        (
            17,
            "%x: f32[n,m]",
            "i64[2] [0, 1]",
            "onnx.Slice(%x, %v, %b)",
        ),
        (17, "%x: f32[2,3]", "i64[2] [1, 5]", "onnx.Split(%x, %v)"),
        (17, "%x: f32[n,m]", "i64[2] [1, 1]", "onnx.Pad(%x, %v)"),
        (18, "%x: f32[n,m]", "i64[1] [2]", "onnx.Pad(%x, %p, _, %v)"),
        (17, "%x: f32[n,m]", "i64[1] [2]", "onnx.Tile(%x, %v)"),
        (17, "%x: f32[2,3]", "i64[1] [0]", "onnx.Squeeze(%x, %v)"),
        (
            17,
            "%x: f32[n,m]",
            "i64[2] [0, 0]",
            "onnx.Unsqueeze(%x, %v)",
        ),
        (17, "%x: f32[n,m]", "i64[1] [7]", "onnx.ReduceSum(%x, %v)"),
        (17, "%x: f32[2,3]", "i64[1] [9]", "onnx.TopK(%x, %v)"),
        (17, "%x: f32[n,m]", "i64[] 7", "onnx.CumSum(%x, %v)"),
        (
            17,
            "%x: f32[n,m]",
            "i64[1] [-1]",
            "onnx.ConstantOfShape(%v)",
        ),
        (17, "%x: f32[n,m]", "i64[] 0", "onnx.HannWindow(%v)"),
        (
            17,
            "%x: f32[n,m]",
            "f32[2] [1.0, 0.0]",
            "onnx.Resize(%x, _, %v)",
        ),
        (
            9,
            "%x: f32[n,m]",
            "f32[2] [1.0, 0.5]",
            "onnx.Upsample(%x, %v)",
        ),
        (
            18,
            "%x: f32[n,m]",
            "i64[1] [3]",
            "onnx.CenterCropPad(%x, %v)",
        ),
        (20, "%x: f32[n,m,1]", "i64[] 7", "onnx.DFT(%x, _, %v)"),
        (
            17,
            "%x: f32[2,3]",
            "i64[1] [5]",
            "onnx.SplitToSequence(%x, %v)",
        ),
    ];
    let said: String = cases
        .iter()
        .map(|(version, x, value, user)| refused(*version, x, value, user))
        .collect();
    expect![[r#"
        1 onnx.Max (%v): onnx.Div couldn't take its value: it divides by zero.
        1 onnx.Max (%v): onnx.Div couldn't take its value: it divides by zero.
        1 onnx.Max (%v): onnx.Mod couldn't take its value: it divides by zero.
        1 onnx.Max (%v): onnx.Reshape couldn't take its value: -2 isn't a size.
        1 onnx.Max (%v): onnx.Reshape couldn't take its value: the shape leaves 2 dims open.
        1 onnx.Max (%v): onnx.Reshape couldn't take its value: 6 elements aren't a multiple of 4.
        1 onnx.Max (%v): onnx.Reshape couldn't take its value: there is no dim 2 to keep.
        1 onnx.Max (%v): onnx.Reshape couldn't take its value: nothing says what -1 stands for beside a dim of 0.
        1 onnx.Max (%v): onnx.Expand couldn't take its value: 2 and 5 don't broadcast.
        1 onnx.Max (%v): onnx.Slice couldn't take its value: a step of 0 goes nowhere.
        1 onnx.Max (%v): onnx.Slice couldn't take its value: axis 7 is out of range for rank 2.
        1 onnx.Max (%v): onnx.Slice couldn't take its value: 2 starts and 1 ends.
        1 onnx.Max (%v): onnx.Split couldn't take its value: lengths of 6 in all for 2.
        1 onnx.Max (%v): onnx.Pad couldn't take its value: 2 pads for 2 axes.
        1 onnx.Max (%v): onnx.Pad couldn't take its value: axis 2 is out of range for rank 2.
        1 onnx.Max (%v): onnx.Tile couldn't take its value: 1 repeats for 2 dims.
        1 onnx.Max (%v): onnx.Squeeze couldn't take its value: a dim of 2 can't be squeezed.
        1 onnx.Max (%v): onnx.Unsqueeze couldn't take its value: axis 0 is named twice.
        1 onnx.Max (%v): onnx.ReduceSum couldn't take its value: axis 7 is out of range for rank 2.
        1 onnx.Max (%v): onnx.TopK couldn't take its value: 9 of 3 elements are chosen.
        1 onnx.Max (%v): onnx.CumSum couldn't take its value: axis 7 is out of range for rank 2.
        1 onnx.ConstantOfShape: [-1] isn't a shape.
        1 onnx.Max (%v): onnx.ConstantOfShape couldn't take its value: -1 isn't a size.
        1 onnx.HannWindow: its size isn't a positive number.
        1 onnx.Max (%v): onnx.HannWindow couldn't take its value: a window of 0.
        1 onnx.Max (%v): onnx.Resize couldn't take its value: 0 isn't a scale.
        1 onnx.Max (%v): onnx.Upsample couldn't take its value: 0.5 isn't a scale.
        1 onnx.Max (%v): onnx.CenterCropPad couldn't take its value: a shape of 1 for all dims.
        1 onnx.Max (%v): onnx.DFT couldn't take its value: axis 7 is out of range for rank 3.
        1 onnx.Max (%v): onnx.SplitToSequence couldn't take its value: 2 and 5 should be the same size.
    "#]].assert_eq(&said);
}

#[test]
fn a_copy_of_a_constant_stays_too() {
    let source = r#"module {
  fn @main(%x: i64[2], %c: bool[]) -> (%y: i64[2]) opset("" = 17) {
    %zero = const i64[] 0
    %0 = onnx.If(%c) : i64[2]
      region then_branch {
        %1 = onnx.Identity(%zero) : i64[]
        %2 = onnx.Div(%x, %1) : i64[2]
        yield %2
      }
      region else_branch {
        %3 = onnx.Neg(%x) : i64[2]
        yield %3
      }
    return %0
  }
}"#;
    check_stays(
        source,
        expect![[r#"
        1 onnx.Identity: onnx.Div couldn't take its value: it divides by zero.
    "#]],
    );
    support::check_stays("relax.transform.CanonicalizeBindings", source);
}

#[test]
fn a_field_and_a_decided_branch_that_would_be_refused_stay() {
    check_stays(
        r#"module {
  fn @main(%x: i64[2], %c: bool[]) -> (%y: i64[2]) opset("" = 17) {
    %zero = const i64[] 0
    %yes = const bool[] true
    %t = tuple(%zero, %x) : tuple<i64[], i64[2]>
    %f = tuple_get(%t) {index = 0} : i64[]
    %d = onnx.If(%yes) : i64[]
      region then_branch {
        %own = const i64[] 0
        yield %own
      }
      region else_branch {
        yield %f
      }
    %0 = onnx.If(%c) : i64[2]
      region then_branch {
        %1 = onnx.Div(%x, %f) : i64[2]
        %2 = onnx.Mod(%1, %d) : i64[2]
        yield %2
      }
      region else_branch {
        yield %x
      }
    return %0
  }
}"#,
        expect![[r#"
            1 onnx.If (%d): onnx.Mod couldn't take its value: it divides by zero.
            1 tuple_get (%f): onnx.Div couldn't take its value: it divides by zero.
        "#]],
    );
}

#[test]
fn what_leads_to_it_is_folded() {
    check(
        r#"module {
  fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
    %ten = const i64[] 10
    %0 = onnx.Add(%ten, %ten) : i64[]
    %1 = onnx.Sub(%0, %0) : i64[]
    %2 = onnx.Add(%1, %ten) : i64[]
    %3 = onnx.Div(%x, %1) : i64[2]
    %4 = onnx.Div(%3, %2) : i64[2]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[] 20
                %1 = const i64[] 10
                %2 = onnx.Sub(%0, %0) : i64[]
                %3 = onnx.Div(%x, %2) : i64[2]
                %4 = onnx.Div(%3, %1) : i64[2]
                return %4
              }
            }
            ; 1 onnx.Sub: onnx.Div couldn't take its value: it divides by zero.
        "#]],
    );
}
