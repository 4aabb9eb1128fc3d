//! `passdock diff`: regions, op order, and small differences.

use expect_test::expect;

use crate::diff::{check, run};

const BRANCHES: &str = r#"module {
  fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) {
    %0 = onnx.If(%c) : f32[n]
      region then_branch {
        %1 = onnx.Relu(%x) : f32[n]
        %2 = onnx.Neg(%1) : f32[n]
        yield %2
      }
      region else_branch {
        %3 = onnx.Neg(%x) : f32[n]
        yield %3
      }
    return %0
  }
}
"#;

#[test]
fn changed_ops_in_regions() {
    check(
        BRANCHES,
        &BRANCHES.replace("%3 = onnx.Neg(%x)", "%3 = onnx.Abs(%x)"),
        expect![[r#"
            fn @main
              ops: 1 changed
                ~ %3 = onnx.Abs(%x) : f32[n]   in else_branch of %0 = onnx.If
                    onnx.Neg → onnx.Abs
            ops: 1 changed
        "#]],
    );
    let shorter = BRANCHES.replace("        %2 = onnx.Neg(%1) : f32[n]\n", "");
    check(
        BRANCHES,
        &shorter.replace("yield %2", "yield %1"),
        expect![[r#"
            fn @main: 4 → 3 ops
              ops: 1 removed
                - %2 = onnx.Neg(%1) : f32[n]   in then_branch of %0 = onnx.If
                    yield, operand 0: %2 → %1
            ops: 1 removed
        "#]],
    );
    check(
        BRANCHES,
        "module { fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) { return %x } }",
        expect![[r#"
            fn @main: 4 → 0 ops
              ops: 1 removed
                - %0 = onnx.If(%c) : f32[n] with 3 ops inside
                    output %y: %0 → %x
            ops: 1 removed
        "#]],
    );
}

#[test]
fn changed_region_outputs() {
    let ports = BRANCHES.replace("then_branch {", "then_branch -> (%out: f32[n]) {");
    check(
        &ports,
        &ports.replace("%out: f32[n]", "%y2: f32[m]"),
        expect![[r#"
            fn @main
              renamed: 1 value
                ~ `out` → `y2`
              types of values: 1 changed
                ~ result 0 of then_branch of %0 = onnx.If: f32[n] → f32[m]
            values: 1 renamed, 1 retyped
        "#]],
    );
}

#[test]
fn small_changes_are_reported() {
    // An omitted operand, the end of a long string, the default of a parameter.
    let clip = |operands: &str| {
        format!(
            "module {{ fn @f(%x: f32[n], %m: f32[]) -> (%y: f32[n]) {{\n\
             %c = onnx.Clip({operands}) : f32[n]\nreturn %c }} }}"
        )
    };
    check(
        &clip("%x, _, %m"),
        &clip("%x, %m"),
        expect![[r#"
        fn @f
          ops: 1 changed
            ~ %c = onnx.Clip(%x, %m) : f32[n]
                operand 1: none → %m
                operand 2: %m → none
        ops: 1 changed
    "#]],
    );
    let note = |end: char| {
        let text = "long ".repeat(100);
        format!("module {{ fn @f() attributes {{note = \"{text}{end}\"}} {{ return }} }}")
    };
    assert_eq!(run(&note('a'), &note('b'), "-q").status, 1);
    let param = |default: &str| {
        format!("module {{ fn @f() attributes {{param alpha{default}}} {{ return }} }}")
    };
    check(
        &param(""),
        &param(" = 0.5"),
        expect![[r#"
        fn @f
          ~ attribute alpha: no default → 0.5
        settings: 1 changed
    "#]],
    );
    // An omitted operand at the end is equal to none.
    assert_eq!(run(&clip("%x, %m, _"), &clip("%x, %m"), "").status, 0);
}

#[test]
fn op_order_matters_only_in_loop_functions() {
    let graph = |first: &str, second: &str| {
        format!(
            "module {{ fn @main(%x: f32[n]) -> (%y: f32[n]) {{\n{first}\n{second}\n\
             %c = onnx.Add(%a, %b) : f32[n]\nreturn %c }} }}"
        )
    };
    let (a, b) = ("%a = onnx.Relu(%x) : f32[n]", "%b = onnx.Neg(%x) : f32[n]");
    let ran = run(&graph(a, b), &graph(b, a), "");
    assert_eq!(ran.status, 0);
    expect![[r#"
        fn @main
          moved: 1 op; the order does not matter in this function
            ~ %b = onnx.Neg
    "#]]
    .assert_eq(&ran.stdout);
    let prim = |first: &str, second: &str| {
        format!("module {{ prim @f(%a: buffer<f32[2]>) {{\n{first}\n{second}\n}} }}")
    };
    let (a, b) = ("tir.store(1.0, %a, 0)", "tir.store(2.0, %a, 0)");
    check(
        &prim(a, b),
        &prim(b, a),
        expect![[r#"
            fn @f
              moved: 1 op; the order matters in this function
                ~ tir.store(2.0, …)
            ops: 1 moved
        "#]],
    );
}
