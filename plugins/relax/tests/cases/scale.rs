//! Modules with many ops: passes terminate, and take linear time.

use std::fmt::Write;

use crate::support;

/// Returns the number of ops of each function.
fn sizes(text: &str) -> Vec<usize> {
    let functions = text.split("  fn @").skip(1);
    functions
        .map(|f| f.lines().filter(|line| line.starts_with("    %")).count())
        .collect()
}

#[test]
fn fused_group_is_limited_to_256_ops() {
    let ops = 600;
    let mut source = String::from("module { fn @main(%v0: f32[2]) opset(\"\" = 17) {\n");
    for at in 1..=ops {
        writeln!(source, "%v{at} = onnx.Neg(%v{}) : f32[2]", at - 1).expect("text");
    }
    write!(source, "return %v{ops} }} }}").expect("text");
    let result = support::run("relax.transform.FuseOps", &source);
    assert_eq!(sizes(&result), [3, 256, 88]);
}

/// Each function calls the next one twice: fully inlined, that would be 2^40 ops.
#[test]
fn inlining_stops_at_max_ops() {
    let mut source = String::from(
        "module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17, \"acme\" = 1) {\n\
         %y = acme.F0(%x) : f32[2] return %y }\n",
    );
    for at in 0..40 {
        let next = match at {
            39 => "onnx.Neg".to_owned(),
            at => format!("acme.F{}", at + 1),
        };
        source += &format!(
            "fn @acme.F{at}(%x) -> (%y) opset(\"\" = 17, \"acme\" = 1) {{\n\
             %a = {next}(%x) %y = {next}(%a) return %y }}\n"
        );
    }
    source += "}";
    let pass = "relax.transform.InlineFunctions";
    let result = support::run_options(pass, "max_ops = 1000", &source);
    let ops = result.lines().filter(|line| line.contains(" = ")).count();
    assert!((1000..3000).contains(&ops), "{ops} ops");
}

/// This takes minutes in quadratic time.
#[test]
fn long_chains_are_simplified_in_linear_time() {
    let ops = 20_000;
    let mut source = String::from(
        "module { fn @main(%x: f32[8,8]) opset(\"\" = 17) {\n\
         %a = const i64[2] [0, 0]\n%b = const i64[2] [8, 8]\n%c = const f32[] 1.0\n\
         %v0 = onnx.Neg(%x) : f32[8,8]\n",
    );
    for at in 0..ops {
        let op = match at % 4 {
            0 => format!("onnx.Transpose(%v{at})"),
            1 => format!("onnx.Add(%v{at}, %c)"),
            2 => format!("onnx.Slice(%v{at}, %a, %b)"),
            _ => format!("onnx.Clip(%v{at}, %c)"),
        };
        writeln!(source, "%v{} = {op} : f32[8,8]", at + 1).expect("text");
    }
    write!(source, "return %v{ops} }} }}").expect("text");
    let after = support::run("relax.transform.SimplifyExpr", &source);
    assert_eq!(after.matches("onnx.Slice").count(), 0);
    assert_eq!(after.matches("onnx.Transpose").count(), 0);
}
