//! Passes that fold scales into weights, or combine products, next to groups of ops for which runtimes have one
//! kernel.

use crate::support;

const BACKWARD: &str = "relax.transform.BackwardFoldScaleAxis";
const FORWARD: &str = "relax.transform.ForwardFoldScaleAxis";

/// Returns a module with weights before and after a group. `opset` is older than the group's operator.
fn around(opset: i64, body: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[b,s,2]) -> (%y: f32[b,s,2]) opset("" = {opset}) {{
    %w = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %v = const f32[2,2] [5.0, 6.0, 7.0, 8.0]
    %half = const f32[] 0.5
    %one = const f32[] 1.0
    %two = const f32[] 2.0
    %three = const f32[] 3.0
    %root = const f32[] 1.4142135
    %short_root = const f32[] 1.41421
    %cube = const f32[] 0.044715
    %factor = const f32[] 0.7978846
    %eps = const f32[] 0.00001
    %scale = const f32[2] [2.0, 10.0]
    %bias = const f32[2] [0.5, 0.25]
    %h = onnx.MatMul(%x, %w) : f32[b,s,2]
{body}
    %z = onnx.MatMul(%y, %v) : f32[b,s,2]
    return %z
  }}
}}"#
    )
}

/// Formats the op of a line `name = Op(operands) {attributes}`, with a result of the width.
fn lines(text: &str) -> String {
    let line = |line: &str| {
        let (name, op) = line.trim().split_once(" = ").expect("a name and an op");
        let width = if op.starts_with("ReduceMean") || "ae re q".split(' ').any(|one| one == name) {
            1
        } else {
            2
        };
        format!("    %{name} = onnx.{op} : f32[b,s,{width}]")
    };
    let lines: Vec<String> = text.split(';').map(line).collect();
    lines.join("\n")
}

const GELUS: [&str; 8] = [
    "d = Div(%h, %root); e = Erf(%d); a = Add(%e, %one); m = Mul(%h, %a); y = Mul(%m, %half)",
    "d = Div(%h, %short_root); e = Erf(%d); a = Add(%one, %e); m = Mul(%a, %h); y = Mul(%half, %m)",
    "d = Div(%h, %root); e = Erf(%d); a = Add(%e, %one); m = Mul(%h, %half); y = Mul(%m, %a)",
    "d = Div(%h, %root); e = Erf(%d); a = Add(%e, %one); m = Mul(%a, %half); y = Mul(%h, %m)",
    "d = Div(%h, %root); e = Erf(%d); a = Add(%e, %one); m = Mul(%h, %a); y = Div(%m, %two)",
    "p = Pow(%h, %three); c = Mul(%p, %cube); s = Add(%h, %c); u = Mul(%s, %factor); t = Tanh(%u); a = Add(%t, \
     %one); m = Mul(%h, %a); y = Mul(%m, %half)",
    "p = Mul(%h, %h); p3 = Mul(%p, %h); c = Mul(%p3, %cube); s = Add(%h, %c); u = Mul(%s, %factor); t = Tanh(%u); a \
     = Add(%t, %one); m = Mul(%h, %a); y = Mul(%m, %half)",
    "c = Mul(%h, %cube); p = Mul(%c, %h); s = Add(%p, %one); f = Mul(%h, %factor); u = Mul(%f, %s); t = Tanh(%u); a \
     = Add(%t, %one); m = Mul(%h, %a); y = Mul(%m, %half)",
];

/// Normalizations of `%d`.
const DEVIATIONS: [&str; 3] = [
    "q = Sqrt(%ae); n = Div(%d, %q)",
    "q = Sqrt(%ae); re = Reciprocal(%q); n = Mul(%d, %re)",
    "q = Sqrt(%ae); re = Div(%one, %q); n = Mul(%re, %d)",
];

const TAILS: [&str; 3] = [
    "y = Mul(%n, %scale)",
    "t = Mul(%scale, %n); y = Add(%t, %bias)",
    "t = Mul(%n, %scale); y = Add(%bias, %t)",
];

#[test]
fn gelu_is_not_split() {
    for opset in [13, 17, 19] {
        for gelu in GELUS {
            let source = around(opset, &lines(gelu));
            support::check_unchanged(FORWARD, &source);
            support::check_unchanged(BACKWARD, &source);
        }
    }
}

#[test]
fn layer_norm_is_not_split() {
    let mean = |of: &str| format!("ReduceMean(%{of}) {{axes = [-1], keepdims = 1}}");
    for (square, deviation) in [
        ("Pow(%d, %two)", 0),
        ("Mul(%d, %d)", 0),
        ("Pow(%d, %two)", 1),
        ("Pow(%d, %two)", 2),
    ] {
        for tail in TAILS {
            for layer in [true, false] {
                let centered = match layer {
                    true => format!("mu = {}; d = Sub(%h, %mu)", mean("h")),
                    false => "d = Relu(%h)".to_owned(),
                };
                let text = format!(
                    "{centered}; sq = {square}; va = {}; ae = Add(%va, %eps); {}; {tail}",
                    mean("sq"),
                    DEVIATIONS[deviation],
                );
                for opset in [13, 16] {
                    let source = around(opset, &lines(&text));
                    support::check_unchanged(FORWARD, &source);
                    support::check_unchanged(BACKWARD, &source);
                }
            }
        }
    }
}

#[test]
fn mul_outside_a_kernel_group_is_folded() {
    // Next to a gate of another function, and to a GELU with another user of an intermediate value.
    for text in [
        "d = Div(%h, %three); e = Erf(%d); a = Add(%e, %one); m = Mul(%h, %a); y = Mul(%m, %half)",
        "d = Div(%h, %root); e = Erf(%d); a = Add(%e, %one); k = Mul(%a, %e); m = Mul(%h, %k); y = Mul(%m, %half)",
    ] {
        let folded = support::run(FORWARD, &around(17, &lines(text)));
        assert_eq!(
            folded.matches("onnx.Mul(").count(),
            text.matches(" Mul(").count() - 1,
            "{folded}"
        );
    }
    // A scale after a complete GELU.
    let text = format!("{}; y = Mul(%g, %scale)", GELUS[0].replace("y =", "g ="));
    let folded = support::run(FORWARD, &around(17, &lines(&text)));
    assert_eq!(folded.matches("onnx.Mul(").count(), 2, "{folded}");
}

#[test]
fn attention_projections_after_layer_norm_are_not_combined() {
    let layer = "mu = ReduceMean(%h) {axes = [-1], keepdims = 1}; d = Sub(%h, %mu); sq = Pow(%d, %two); \
                 va = ReduceMean(%sq) {axes = [-1], keepdims = 1}; ae = Add(%va, %eps); q = Sqrt(%ae); n = Div(%d, \
                 %q); \
                 t = Mul(%n, %scale); l = Add(%t, %bias)";
    let heads = |x: &str| {
        let mut text = "    %heads = const i64[4] [0, 0, 2, 1]\n".to_owned();
        for name in ["i", "j", "k"] {
            text += &format!(
                "    %{name}w = const f32[2,2] [1.0, 2.0, 3.0, 4.0]
    %{name}b = const f32[2] [1.0, 2.0]
    %{name}0 = onnx.MatMul({x}, %{name}w) : f32[b,s,2]
    %{name}1 = onnx.Add(%{name}0, %{name}b) : f32[b,s,2]
    %{name}2 = onnx.Reshape(%{name}1, %heads) : f32[b,s,2,1]\n"
            );
        }
        text + "    %ij = onnx.Add(%i2, %j2) : f32[b,s,2,1]
    %ijk = onnx.Add(%ij, %k2) : f32[b,s,2,1]
    %flat = const i64[3] [0, 0, 2]
    %y = onnx.Reshape(%ijk, %flat) : f32[b,s,2]"
    };
    let source = around(11, &format!("{}\n{}", lines(layer), heads("%l")));
    let pass = "relax.transform.CombineParallelMatmul";
    support::check_unchanged(pass, &source);
    // Products of another value are combined.
    let combined = support::run(pass, &around(11, &heads("%h")));
    assert_eq!(combined.matches("onnx.Split").count(), 1, "{combined}");
}
