//! FuseOpsByPattern, after TVM's `tests/python/relax/test_transform_fuse_ops_by_pattern.py`.

use super::check_found;

#[test]
fn conv2d_relu() {
    check_found(
        r#"patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3], %w2: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %b = onnx.Relu(%a)
         %c = onnx.Conv(%b, %w2)
         %d = onnx.Relu(%c)
         return %d",
        &["Conv Relu", "Conv Relu"],
    );
}

#[test]
fn multiple_patterns() {
    check_found(
        r#"patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))", "npu.conv: onnx.Conv(%x, %w)"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3], %w2: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %c = onnx.Conv(%a, %w2)
         %d = onnx.Relu(%c)
         return %d",
        &["Conv", "Conv Relu"],
    );
}

#[test]
fn order() {
    check_found(
        r#"patterns = ["npu.conv: onnx.Conv(%x, %w)", "npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3], %w2: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %b = onnx.Relu(%a)
         %c = onnx.Conv(%b, %w2)
         %d = onnx.Relu(%c)
         return %d",
        &["Conv", "Conv"],
    );
}

#[test]
fn branch_tuple_output() {
    check_found(
        r#"patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))"], inner_results = true"#,
        "%x: f32[1,64,56,56], %w: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w)
         %r = onnx.Relu(%a)
         %g1 = onnx.Gelu(%r)
         %g2 = onnx.Gelu(%a)
         %o = onnx.Add(%g1, %g2)
         return %o",
        &["Conv Relu"],
    );
}

#[test]
fn cyclic_dependency() {
    let pattern = r#"patterns = ["npu.cra: onnx.Add(onnx.Relu(onnx.Conv(%x, %w)), %y)"]"#;
    // Of inner results, too, none may come back through an op outside.
    for options in [
        pattern.to_owned(),
        format!("{pattern}, inner_results = true"),
    ] {
        check_found(
            &options,
            "%x: f32[1,64,56,56], %w: f32[64,64,3,3]",
            "%a = onnx.Conv(%x, %w)
             %r = onnx.Relu(%a)
             %g = onnx.Gelu(%a)
             %o = onnx.Add(%r, %g)
             return %o",
            &[],
        );
    }
}

#[test]
fn no_op() {
    check_found(
        r#"patterns = ["npu.n: onnx.Neg(%x)"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %b = onnx.Relu(%a)
         return %b",
        &[],
    );
}

#[test]
fn ignore_call_tir() {
    check_found(
        r#"patterns = ["npu.conv: onnx.Conv(%x, %w)"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %b = acme.Relu(%a) : f32[1,64,56,56]
         return %b",
        &["Conv"],
    );
}

#[test]
fn unused() {
    check_found(
        r#"patterns = ["npu.conv: onnx.Conv(%x, %w)"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %b = onnx.Relu(%x)
         return %a",
        &["Conv"],
    );
}

#[test]
fn check_pattern() {
    check_found(
        r#"patterns = ["npu.conv: onnx.Conv(%x, %w) where rank(%x) == 3"]"#,
        "%x: f32[1,64,56,56], %w1: f32[64,64,3,3]",
        "%a = onnx.Conv(%x, %w1) {pads = [1, 1, 1, 1]}
         %b = onnx.Relu(%a)
         return %b",
        &[],
    );
}

#[test]
fn split() {
    check_found(
        r#"patterns = ["npu.split: %p, %q = onnx.Split(%x)"]"#,
        "%x: f32[16,32]",
        "%a, %b = onnx.Split(%x) {axis = 1}
         %z = onnx.Add(%a, %b)
         return %z",
        &["Split"],
    );
}

#[test]
fn split_and_add() {
    check_found(
        r#"rules = ["rule npu.split { %p, %q = onnx.Split(%x) onnx.Add(%p, %q) }"]"#,
        "%x: f32[16,32]",
        "%a, %b = onnx.Split(%x) {axis = 1}
         %z = onnx.Add(%a, %b)
         return %z",
        &["Split Add"],
    );
}

#[test]
fn clip() {
    check_found(
        r#"patterns = ["npu.clip: onnx.Clip(%x, %a, %b)"]"#,
        "%x: f32[10,10]",
        "%l0 = const f32[] 0.0
         %h4 = const f32[] 4.0
         %l1 = const f32[] 1.0
         %h3 = const f32[] 3.0
         %a = onnx.Clip(%x, %l0, %h4)
         return %a",
        &["Clip"],
    );
}

#[test]
fn clips() {
    check_found(
        r#"patterns = ["npu.clip: onnx.Clip(%x, %a, %b)"]"#,
        "%x: f32[10,10]",
        "%l0 = const f32[] 0.0
         %h4 = const f32[] 4.0
         %l1 = const f32[] 1.0
         %h3 = const f32[] 3.0
         %a = onnx.Clip(%x, %l0, %h4)
         %b = onnx.Clip(%x, %l1, %h3)
         return %a, %b",
        &["Clip", "Clip"],
    );
}

#[test]
fn matmul_add3() {
    check_found(
        r#"patterns = ["npu.mmbr: onnx.Add(onnx.Add(onnx.MatMul(%x, %y), %b), %r)", "npu.mm: onnx.MatMul(%x, %y)"]"#,
        "%x: f16[32,8], %y: f16[8,8], %x2: f16[32,8], %y2: f16[8,8], %bias: f16[8], %res: f16[32,8]",
        "%m = onnx.MatMul(%x2, %y2)
         %l = onnx.MatMul(%x, %y)
         %l1 = onnx.Add(%l, %bias)
         %l2 = onnx.Add(%l1, %m)
         %o = onnx.Add(%l2, %res)
         return %o",
        &["MatMul", "MatMul Add Add"],
    );
}

#[test]
fn intermediate_var() {
    check_found(
        r#"patterns = ["npu.tmma: onnx.Add(%b, onnx.MatMul(%x, onnx.Transpose(%w)))", "npu.tmm: onnx.MatMul(%x, onnx.Transpose(%w))"]"#,
        "%x: f16[1,16], %w: f16[16,16]",
        "%w1 = onnx.Transpose(%w)
         %y = onnx.MatMul(%x, %w1)
         %y1 = onnx.Identity(%y)
         %o = onnx.Add(%x, %y1)
         return %o",
        &["Transpose MatMul"],
    );
}

#[test]
fn matmul_symbolic() {
    check_found(
        r#"patterns = ["npu.mm: onnx.MatMul(%x, %w)"]"#,
        "%x: f16[batch,1024], %w1: f16[1024,1024], %w2: f16[1024,m]",
        "%a = onnx.MatMul(%x, %w1)
         %b = onnx.MatMul(%x, %w2)
         return %a, %b",
        &["MatMul", "MatMul"],
    );
}

#[test]
fn maximal() {
    check_found(
        r#"patterns = ["npu.mmac: onnx.Clip(onnx.Add(onnx.MatMul(%x, %y), %b), %l, %h)", "npu.mma: onnx.Add(onnx.MatMul(%x, %y), %b)"]"#,
        "%x: i32[32,8], %y: i32[8,8], %b: i32[8]",
        "%lo = const i32[] -128
         %hi = const i32[] 127
         %a = onnx.MatMul(%x, %y)
         %d = onnx.Add(%a, %b)
         %c = onnx.Clip(%d, %lo, %hi)
         return %c",
        &["MatMul Add Clip"],
    );
}

#[test]
fn branch() {
    check_found(
        r#"patterns = ["npu.mmt: onnx.MatMul(%x, onnx.Transpose(%w))", "npu.mm: onnx.MatMul(%x, %w)"]"#,
        "%x: f16[1024,1024], %w: f16[1024,1024], %t: bool[]",
        "%o = onnx.If(%t) : f16[1024,1024]
         region then_branch {
         %wt = onnx.Transpose(%w)
         %m = onnx.MatMul(%x, %wt)
         yield %m
         }
         region else_branch {
         %n = onnx.MatMul(%x, %w)
         yield %n
         }
         return %o",
        &["Transpose MatMul", "MatMul"],
    );
}
