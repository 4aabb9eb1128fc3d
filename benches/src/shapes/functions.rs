//! Functions that call one another, and loop-level functions.

use std::fmt::Write;

use super::regions::LEVELS;
use super::straight::{list, main_of, summed, symbols};

/// `@main`, with functions of the model's own behind it.
pub(super) fn with_functions(main: &str, functions: &str) -> String {
    let main = main.replacen("= 17)", "= 17, \"local\" = 1)", 1);
    let main = main.trim_end().strip_suffix('}').unwrap_or_default();
    format!("{main}{functions}}}\n")
}

pub(super) fn function(at: usize, body: &str) -> String {
    format!(
        "fn @local.F{at}(%x) -> (%y) opset(\"\" = 17, \"local\" = 1) {{\n%r = {body}\nreturn %r\n}}\n"
    )
}

pub(super) fn functions(n: usize) -> String {
    let n = n / 2;
    let main = summed(n, "", |at| format!("%v{at} = local.F{at}(%x) : f32[4]\n"));
    let all: String = (0..n).map(|at| function(at, "onnx.Relu(%x)")).collect();
    with_functions(&main, &all)
}

pub(super) fn dead_functions(n: usize) -> String {
    let main = main_of("%r = onnx.Relu(%x) : f32[4]\n", "%r");
    let all: String = (0..n).map(|at| function(at, "onnx.Relu(%x)")).collect();
    with_functions(&main, &all)
}

pub(super) fn half_dead_functions(n: usize) -> String {
    let n = n / 2;
    let main = summed(n / 2, "", |at| {
        format!("%v{at} = local.F{}(%x) : f32[4]\n", 2 * at)
    });
    let all: String = (0..n).map(|at| function(at, "onnx.Relu(%x)")).collect();
    with_functions(&main, &all)
}

pub(super) fn calls(n: usize) -> String {
    let main = summed(n, "", |at| format!("%v{at} = local.F0(%x) : f32[4]\n"));
    with_functions(&main, &function(0, "onnx.Relu(%x)"))
}

pub(super) fn typed_calls(n: usize) -> String {
    let main = symbols(n).replace("onnx.Neg", "local.F0");
    with_functions(&main, &function(0, "onnx.Neg(%x)"))
}

pub(super) fn call_chain(n: usize) -> String {
    let main = main_of("%r = local.F0(%x) : f32[4]\n", "%r");
    let body = |at: usize| match at + 1 == n {
        true => "onnx.Relu(%x)".to_owned(),
        false => format!("local.F{}(%x)\n%s = onnx.Neg(%r)", at + 1),
    };
    let all: String = (0..n).map(|at| function(at, &body(at))).collect();
    with_functions(&main, &all)
}

pub(super) fn attribute_params(n: usize) -> String {
    let given = list(n, |at| format!("a{at} = {at}"));
    let main = main_of(&format!("%r = local.F0(%x) {{{given}}} : f32[4]\n"), "%r");
    let taken = list(n, |at| format!("param a{at} = 0"));
    let first = "onnx.Neg(%x) {b = ref(a0, int)}\n";
    let more = (1..n).map(|at| format!("%v{at} = onnx.Neg(%x) {{b = ref(a{at}, int)}}\n"));
    let body = function(0, &(first.to_owned() + &more.collect::<String>()));
    let body = body.replace("= 1)", &format!("= 1) attributes {{{taken}}}"));
    with_functions(&main, &body)
}

/// A loop-level function.
pub(super) fn prim(lines: &str) -> String {
    format!("module {{\nprim @main(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {{\n{lines}}}\n}}\n")
}

pub(super) fn body(at: usize, index: &str) -> String {
    format!("%v{at} = tir.load(%a, {index}) : f32\ntir.store(%v{at}, %b, {index})\n")
}

pub(super) fn loops(n: usize) -> String {
    let each = |at| {
        format!(
            "for %i{at} in 0..2 unroll {{\n{}}}\n",
            body(at, &format!("%i{at}"))
        )
    };
    prim(&(0..n / 3).map(each).collect::<String>())
}

pub(super) fn once_in_once(n: usize) -> String {
    let levels = (n / 10).clamp(1, LEVELS);
    let mut lines = String::new();
    for at in 0..levels {
        put!(lines, "for %i{at} in 0..1 unroll {{");
        (0..4).for_each(|part| lines += &body(4 * at + part, &format!("%i{at}")));
    }
    prim(&(lines + &"}\n".repeat(levels)))
}

pub(super) fn long_loop(n: usize) -> String {
    prim(&format!(
        "for %i in 0..{n} unroll {{\n{}}}\n",
        body(0, "%i")
    ))
}

pub(super) fn wide_loop(n: usize) -> String {
    let all: String = (0..n / 2).map(|at| body(at, "%i")).collect();
    prim(&format!("for %i in 0..1 unroll {{\n{all}}}\n"))
}
