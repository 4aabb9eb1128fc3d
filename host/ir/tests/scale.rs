//! A million ops, ten thousand levels: success or a clear error, without recursion and in linear time.

use std::fmt::Write;

use expect_test::expect;
use passdock_ir::text::{self, PrintOptions};
use passdock_ir::verify::verify_module;

const OPS: usize = 1_000_000;

/// A chain of ops; each uses the one before and the first.
fn long(ops: usize) -> String {
    let mut text = String::from(
        "module {\n  fn @f(%x: f32[n,64]) -> (%y: f32[n,64]) {\n    %0 = onnx.Relu(%x) : f32[n,64]\n",
    );
    for at in 1..ops {
        let before = at - 1;
        // Writing to a string can't fail.
        _ = writeln!(
            text,
            "    %{at} = onnx.Add(%{before}, %0) {{axis = {at}}} : f32[n,64]"
        );
    }
    _ = write!(text, "    return %{}\n  }}\n}}\n", ops - 1);
    text
}

/// Nested regions; each uses a value of the body.
fn deep(levels: usize) -> String {
    let mut text = String::from(
        "module {\n  fn @f(%c: bool[]) -> (%y: f32[]) {\n    %0 = onnx.Const() : f32[]\n",
    );
    for level in 0..levels {
        _ = writeln!(text, "%r{level} = onnx.If(%c, %0) : f32[] region {{");
    }
    text.push_str("yield %0\n");
    for level in (0..levels).rev() {
        let terminator = if level == 0 { "return" } else { "yield" };
        _ = writeln!(text, "}} {terminator} %r{level}");
    }
    text.push_str("  }\n}\n");
    text
}

#[test]
fn million_ops_are_handled() {
    let source = long(OPS);
    let module = text::parse(&source).expect("valid IR");
    assert_eq!(module.op_count(), OPS);
    assert_eq!(text::print(&module), source);
    let mut written = Vec::new();
    text::write_module(&mut written, &module, &PrintOptions::default()).expect("written");
    assert_eq!(written, source.as_bytes());
    verify_module(&module).expect("valid IR");
    let name = module.names().next().expect("one function");
    let mut copy = module.clone();
    let function = copy.function_mut(name).expect("one function");
    assert_eq!(function.walk(function.body()).count(), OPS + 1);
    // All ops but the first become dead, in reverse order.
    let first = function.ops_in(function.body()).next().expect("an op");
    let first = function.result(first, 0).expect("a result");
    let ops: Vec<_> = function.ops_in(function.body()).skip(1).collect();
    for &op in ops[..ops.len() - 1].iter().rev() {
        function.replace_op_with(op, &[first]).expect("replaced");
    }
    assert!(function.needs_compaction());
    function.compact();
    verify_module(&copy).expect("valid IR");
    assert_eq!(copy.op_count(), 1);
    assert_eq!(module.op_count(), OPS);
}

#[test]
fn ten_thousand_levels_are_handled() {
    let module = text::parse(&deep(10_000)).expect("valid IR");
    let printed = text::print(&module);
    let reparsed = text::parse(&printed).expect("printed IR");
    assert_eq!(text::print(&reparsed), printed);
    verify_module(&module).expect("valid IR");
    let name = module.names().next().expect("one function");
    let mut copy = module.clone();
    let function = copy.function_mut(name).expect("one function");
    assert_eq!(function.walk(function.body()).count(), 20_002);
    function.compact();
    verify_module(&copy).expect("valid IR");
    let function = copy.function_mut(name).expect("one function");
    let mut ops = function.ops_in(function.body());
    let (value, op) = (ops.next().expect("an op"), ops.next().expect("an op"));
    drop(ops);
    let value = function.result(value, 0).expect("a result");
    function.replace_op_with(op, &[value]).expect("replaced");
    verify_module(&copy).expect("valid IR");
    assert_eq!(copy.op_count(), 1);
}

#[test]
fn region_depth_is_limited() {
    let error = text::parse(&deep(10_001)).expect_err("too deep");
    expect!["10004:35: region nested deeper than 10000 levels"].assert_eq(&error.to_string());
}

#[test]
fn nested_types_and_dims_are_limited() {
    let wrap = |ty: &str| format!("module {{ fn @f(%x: {ty}) {{ return }} }}");
    let seq = |depth: usize| wrap(&format!("{}?{}", "seq<".repeat(depth), ">".repeat(depth)));
    text::parse(&seq(64)).expect("valid IR");
    let error = text::parse(&seq(100_000)).expect_err("too deep");
    expect!["1:280: type nested deeper than 64 levels"].assert_eq(&error.to_string());
    let product = |terms: usize| wrap(&format!("f32[{}n]", "n*".repeat(terms - 1)));
    let module = text::parse(&product(256)).expect("valid IR");
    verify_module(&module).expect("valid IR");
    let error = text::parse(&product(257)).expect_err("too many terms");
    expect!["1:24: dim divides by zero, overflows, or has too many terms"]
        .assert_eq(&error.to_string());
    let parens = wrap(&format!(
        "f32[{}n{}]",
        "(".repeat(100_000),
        ")".repeat(100_000)
    ));
    let error = text::parse(&parens).expect_err("too deep");
    expect!["1:281: dim nested deeper than 256 levels"].assert_eq(&error.to_string());
}

#[test]
fn name_length_is_limited() {
    let source = format!(
        "module {{ fn @f(%{}: ?) {{ return }} }}",
        "x".repeat((1 << 20) + 1)
    );
    let error = text::parse(&source).expect_err("too long");
    expect!["1:16: name has 1048577 bytes; the limit is 1048576"].assert_eq(&error.to_string());
}

/// Long lists of all parts of an op or a function: no lookup is linear.
#[test]
fn long_lists_are_handled() {
    let count = 50_000;
    let list = |item: &dyn Fn(usize) -> String| {
        let items: Vec<String> = (0..count).map(item).collect();
        items.join(", ")
    };
    let params = list(&|at| format!("%p{at}: tuple<f32[{at}]>"));
    let operands = list(&|at| format!("%p{at}"));
    let results = list(&|at| format!("%r{at}"));
    let types = list(&|at| format!("tuple<f32[{at}], ?>"));
    let attrs = list(&|at| format!("a{at} = region"));
    let indices = list(&|at| format!("region {at}"));
    let regions: String = (0..count)
        .map(|at| format!("region a{at}(%x: seq<f32[{at},2]>) {{ yield %x }}\n"))
        .collect();
    let source = format!(
        "module {{ fn @f({params}) {{ {results} = onnx.X({operands}) \
         {{{attrs}, all = [{indices}]}} : {types}\n{regions} return {results} }} }}"
    );
    let module = text::parse(&source).expect("valid IR");
    verify_module(&module).expect("valid IR");
    let printed = text::print(&module);
    let reparsed = text::parse(&printed).expect("printed IR");
    assert_eq!(text::print(&reparsed), printed);
}
