//! Many ops, deep regions, values with many users: no recursion, and no quadratic time.

use std::fmt::Write;

use passdock::model_file::parse_text;
use passdock_ir::Module;
use passdock_tools::diff::{self, Change, Summary};

const OPS: usize = 50_000;

/// Builds a chain in which each op uses the previous one and the parameter.
fn chain(kind: impl Fn(usize) -> Option<&'static str>) -> Module {
    let mut text = String::from("module { fn @f(%x: f32[n]) -> (%y: f32[n]) {\n");
    let mut last = "%x".to_owned();
    for at in 0..OPS {
        if let Some(kind) = kind(at) {
            // Writing to a string doesn't fail.
            _ = writeln!(text, "%{at} = {kind}({last}, %x) : f32[n]");
            last = format!("%{at}");
        }
    }
    _ = write!(text, "return {last} }} }}");
    parse_text("chain.ir", &text).expect("valid IR")
}

fn compare(a: &Module, b: &Module) -> Summary {
    diff::compare(a, b).expect("in-memory data").summary()
}

#[test]
fn few_changes_in_many_ops() {
    let kind = |at: usize| Some(["t.A", "t.B", "t.C", "t.D", "t.E"][at % 5]);
    let a = chain(kind);
    assert_eq!(compare(&a, &chain(kind)), Summary::default());
    let b = chain(|at| match at {
        1_001 | 20_002 => None,
        40_000 => Some("t.Other"),
        at => kind(at),
    });
    let expected = Summary {
        ops_removed: 2,
        ops_changed: 1,
        ..Summary::default()
    };
    assert_eq!(compare(&a, &b), expected);
}

#[test]
fn op_with_many_operands() {
    let text = |count: usize| {
        let mut text = String::from("module { fn @f(%x: f32[n]) -> (%y: f32[n]) {\n");
        let mut operands = String::new();
        for at in 0..count {
            // Writing to a string doesn't fail.
            _ = writeln!(text, "%{at} = t.A(%x) {{at = {at}}} : f32[n]");
            _ = write!(operands, "{}%{at}", if at == 0 { "" } else { ", " });
        }
        text + &format!("%{count} = t.Concat({operands}) : f32[n]\nreturn %{count} }} }}")
    };
    let read = |text: &str| parse_text("wide.ir", text).expect("valid IR");
    let text = text(OPS);
    let without_op = text
        .replace("%7 = t.A(%x) {at = 7} : f32[n]\n", "")
        .replace(" %7,", "");
    let expected = Summary {
        ops_removed: 1,
        ..Summary::default()
    };
    assert_eq!(compare(&read(&text), &read(&without_op)), expected);
}

#[test]
fn modules_without_common_ops() {
    let a = chain(|_| Some("t.A"));
    let b = chain(|at| (at % 2 == 0).then_some("t.B"));
    // The first op has the same operands in both modules.
    let expected = Summary {
        ops_added: OPS / 2 - 1,
        ops_removed: OPS - 1,
        ops_changed: 1,
        ..Summary::default()
    };
    assert_eq!(compare(&a, &b), expected);
}

#[test]
fn every_third_of_equal_ops_removed() {
    let a = chain(|_| Some("t.A"));
    let b = chain(|at| (at % 3 > 0).then_some("t.A"));
    let summary = compare(&a, &b);
    assert_eq!((summary.ops_added, summary.ops_changed), (0, 0));
    assert_eq!(summary.ops_removed, OPS / 3 + 1);
}

#[test]
fn op_kinds_in_random_order() {
    let random = |seed: usize| {
        chain(move |at| {
            let mixed = (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize);
            Some(["t.A", "t.B", "t.C", "t.D"][(mixed ^ mixed >> 29) >> 40 & 3])
        })
    };
    let summary = compare(&random(0), &random(1 << 20));
    assert_eq!(summary.ops_added, summary.ops_removed);
}

/// Builds nested regions, each of which uses a value of the body.
fn deep(levels: usize, innermost: &str) -> Module {
    let mut text =
        String::from("module { fn @f(%c: bool[]) -> (%y: f32[]) {\n%z = onnx.Const() : f32[]\n");
    for level in 0..levels {
        _ = writeln!(text, "%r{level} = onnx.If(%c, %z) : f32[] region {{");
    }
    _ = writeln!(text, "%last = {innermost}(%z) : f32[] yield %last");
    for level in (0..levels).rev() {
        let word = if level == 0 { "return" } else { "yield" };
        _ = writeln!(text, "}} {word} %r{level}");
    }
    text.push_str("} }");
    parse_text("deep.ir", &text).expect("valid IR")
}

#[test]
fn deeply_nested_regions() {
    let (a, b) = (deep(10_000, "onnx.Relu"), deep(10_000, "onnx.Neg"));
    assert_eq!(compare(&a, &a.clone()), Summary::default());
    let diff = diff::compare(&a, &b).expect("in-memory data");
    let [op] = &diff.functions[0].ops[..] else {
        panic!("{:#?}", diff.functions[0].ops);
    };
    assert_eq!(
        (op.change, op.op.as_str()),
        (Change::Changed, "%last = onnx.Neg(%z) : f32[]")
    );
    assert_eq!(op.region.as_deref(), Some("a region of %r9999 = onnx.If"));
}
