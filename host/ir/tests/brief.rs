//! Brief text: short lines, and shared numbers in two texts.

use expect_test::expect;
use passdock_ir::text::{self, PrintOptions};

const SOURCE: &str = r#"module {
  metadata "author" = "somebody who has a very long name, longer than the line that is left for it"
  fn @f(%x: !f32[n,64], %"a parameter with a name that is too long": f32[n]) -> (%"/model/out": f32[n,64]) {
    %"/layer.0/weight" = const f32[64,64] splat(0.5) loc("weight")
    %few = const i64[3] [1, 2, 3] node
    %many = const i64[12] [100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000, 1, 2, 3]
    %"/layer.0/MatMul_output_0" = onnx.MatMul(%x, %"/layer.0/weight") : f32[n,64] loc("MatMul")
      doc("what it is for")
    %0 = onnx.Pad(%"/layer.0/MatMul_output_0", %few) {mode = "constant", pads = [1, 2, 3],
      names = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd"]} : f32[n,64]
    %c = onnx.If(%0) : f32[n,64]
      region then_branch {
        %"/inner" = onnx.Relu(%0) : f32[n,64]
        yield %"/inner"
      }
    return %c
  }
}
"#;

fn brief() -> PrintOptions<'static> {
    PrintOptions {
        brief: true,
        ..PrintOptions::default()
    }
}

#[test]
fn brief_text_has_numbers_and_short_lines() {
    let module = text::parse(SOURCE).expect("valid IR");
    let printed = text::print_with(&module, &brief());
    expect![[r#"
        ; Brief text, which cannot be parsed: names, long data and other details are omitted.
        module {
          metadata "author" = "somebody who has a very long name, long…"
          fn @f(%x: f32[n,64], %0: f32[n]) -> (%"/model/out": f32[n,64]) {
            %1 = const f32[64,64] splat(0.5)
            %2 = const i64[12] elided(96)
            %3 = const i64[3] [1, 2, 3]
            %4 = onnx.MatMul(%x, %1) : f32[n,64]
            %5 = onnx.Pad(%4, %3) {mode = "constant", pads = [1,2,3],
                names = ["aaaaaaaaaa","bbbbbbbbbb","cccccccccc",…]} : f32[n,64]
            %6 = onnx.If(%5) : f32[n,64]
              region then_branch {
                %7 = onnx.Relu(%5) : f32[n,64]
                yield %7
              }
            return %6
          }
        }
    "#]]
    .assert_eq(&printed);
    let longest = printed.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "{longest:?}");
}

#[test]
fn equal_values_of_two_texts_have_equal_numbers() {
    let old = "module { fn @f(%x: f32[2]) { %a = onnx.Abs(%x) %0 = onnx.Neg(%a) %b = onnx.Exp(%0) return %b } }";
    let new = "module { fn @f(%x: f32[2]) { %a = onnx.Abs(%x) %n = onnx.Log(%a) %b = onnx.Exp(%n) return %b } }";
    let modules = [old, new].map(|source| text::parse(source).expect("valid IR"));
    let [old, new] = [0, 1].map(|at| modules[at].functions().next().map(|f| &**f));
    expect![[r#"
        fn @f(%x: f32[2]) {
          %0 = onnx.Abs(%x)
          %1 = onnx.Neg(%0)
          %2 = onnx.Exp(%1)
          return %2
        }

        fn @f(%x: f32[2]) {
          %0 = onnx.Abs(%x)
          %1 = onnx.Log(%0)
          %2 = onnx.Exp(%1)
          return %2
        }
    "#]]
    .assert_eq(&text::print_brief_pair(old, new).join("\n"));
    expect![[r#"

        fn @f(%x: f32[2]) {
          %0 = onnx.Abs(%x)
          %1 = onnx.Log(%0)
          %2 = onnx.Exp(%1)
          return %2
        }
    "#]]
    .assert_eq(&text::print_brief_pair(None, new).join("\n"));
}
