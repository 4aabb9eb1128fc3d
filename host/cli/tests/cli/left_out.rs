//! What the IR says and an ONNX file has no field for: carried, or left out with a warning.

use expect_test::expect;

use crate::support::Bench;

/// A function that passes are to leave alone, in a file of an IR version.
fn skipped(ir_version: u32) -> String {
    format!(
        r#"module {{
  metadata "onnx.ir_version" = "{ir_version}"
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) attributes {{SkipOptimization = 1}} {{
    %a = const f32[2] [1.0, 2.0]
    %s = onnx.Add(%a, %a)
    %y = onnx.Mul(%x, %s) : f32[2]
    return %y
  }}
}}
"#
    )
}

#[test]
fn a_function_that_skips_optimization_does_so_in_a_file_too() {
    let bench = Bench::new();
    bench.write("m.ir", skipped(10));
    let ran = bench.passdock("convert m.ir m.onnx");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for model in ["m.ir", "m.onnx"] {
        let ran = bench.passdock(&format!(
            "run {model} --passes relax.transform.FoldConstant -o out.ir"
        ));
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{model}");
        assert_eq!(bench.read("out.ir"), skipped(10), "{model}");
    }
}

#[test]
fn what_a_file_has_no_place_for_is_warned_of() {
    let bench = Bench::new();
    bench.write("m.ir", skipped(9));
    let ran = bench.passdock("convert m.ir m.onnx");
    assert_eq!(ran.status, 0);
    expect![[r#"
        warning[left-out]: The attribute `SkipOptimization` of @main isn't written: the model's `ir_version` is 9, and graphs and functions have metadata since 10.
         |
         = in function @main
         = help: Write the result as `.ir`, which keeps all attributes, or raise the `metadata "onnx.ir_version"` of the text.
    "#]].assert_eq(&ran.stderr);
    let ran = bench.passdock("run m.ir --passes relax.transform.FoldConstant -o m.onnx");
    assert_eq!(ran.status, 0);
    expect![[r#"
        warning[left-out]: The attribute `SkipOptimization` of @main isn't written: the model's `ir_version` is 9, and graphs and functions have metadata since 10.
         |
         = in function @main
         = help: Write the result as `.ir`, which keeps all attributes, or raise the `metadata "onnx.ir_version"` of the text.
    "#]].assert_eq(&ran.stderr);
    let ran = bench.passdock("convert m.ir out.ir");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
}
