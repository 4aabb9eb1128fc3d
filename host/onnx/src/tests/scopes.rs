//! Scopes of names: order, captures, shadowing, functions.

use expect_test::{Expect, expect};
use passdock_ir::Position;

use super::build::{
    Msg, constant, floats, function, graph, graph_attr, int_attr, model, node, node_with,
};
use super::show::show;
use super::{bytes_of, fresh_bytes_of, main_of, op, read, value};
use crate::format::schema::{graph as graphs, model as models, node as nodes};

/// Returns the ops of a model's functions, in program order.
fn ops(bytes: &[u8]) -> String {
    let module = read(bytes).unwrap();
    assert_eq!(bytes_of(&module), bytes);
    let mut out = String::new();
    for f in module.functions() {
        for op in f.walk(f.body()) {
            let depth = f.depth(f.op(op).parent) as usize;
            let operands: Vec<String> = f
                .operands(op)
                .iter()
                .map(|slot| name(f, slot.value))
                .collect();
            let results: Vec<String> = f.results(op).map(|value| name(f, value)).collect();
            let (indent, op) = ("  ".repeat(depth), f.text(f.op(op).name));
            out += &format!(
                "{indent}{} = {op}({})\n",
                results.join(", "),
                operands.join(", ")
            );
        }
    }
    out
}

fn name(f: &passdock_ir::Function, value: passdock_abi::ValueId) -> String {
    if value.is_none() {
        "_".to_owned()
    } else {
        f.describe(value)
    }
}

#[track_caller]
fn check(graph: &Msg, expected: Expect) {
    expected.assert_eq(&ops(&model(10, graph).0));
}

#[test]
fn unsorted_graph_is_sorted_on_read() {
    let inner = graph(&[node("p = Neg(q)"), node("q = Abs(late)")], &[], &["p"]);
    let list = [
        node("y = Add(b, a)"),
        node_with("b = If(c)", [&graph_attr("then_branch", &inner)]),
        node("a = Relu(x)"),
        node("late = Neg(a)"),
        node("c = Cond(x)"),
    ];
    let body = graph(&list, &["x"], &["y"]);
    check(
        &body,
        expect![[r#"
            %a = onnx.Relu(%x)
            %late = onnx.Neg(%a)
            %c = onnx.Cond(%x)
            %b = onnx.If(%c)
              %q = onnx.Abs(%late)
              %p = onnx.Neg(%q)
               = yield(%p)
            %y = onnx.Add(%b, %a)
             = return(%y)
        "#]],
    );
    // A touched graph is written in program order. Untouched inner graphs keep their order.
    let mut module = read(&model(10, &body).0).unwrap();
    let f = main_of(&mut module);
    f.set_operand(op(f, "y"), 1, value(f, "x")).unwrap();
    expect![[r#"
        g(x) -> (y)
          a = Relu(x)
          late = Neg(a)
          c = Cond(x)
          b = If(c) then_branch
            g() -> (p)
              p = Neg(q)
              q = Abs(late)
          y = Add(b, x)
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
}

#[test]
fn inner_names_may_shadow_outer_ones() {
    let inner = graph(&[node("a = Neg(a)"), node("b = Relu(a)")], &[], &["b"]);
    let list = [
        node("a = Relu(x)"),
        node_with(
            "b = If(a)",
            [
                &graph_attr("then_branch", &inner),
                &graph_attr("else_branch", &inner),
            ],
        ),
        node("y = Add(a, b)"),
    ];
    let body = graph(&list, &["x"], &["y"]);
    check(
        &body,
        expect![[r#"
            %a = onnx.Relu(%x)
            %b = onnx.If(%a)
              %"a.1" = onnx.Neg(%a)
              %b = onnx.Relu(%"a.1")
               = yield(%b)
              %"a.2" = onnx.Neg(%a)
              %b = onnx.Relu(%"a.2")
               = yield(%b)
            %y = onnx.Add(%a, %b)
             = return(%y)
        "#]],
    );
    // In the file the names don't change, whatever else does.
    let mut module = read(&model(10, &body).0).unwrap();
    let f = main_of(&mut module);
    let inside = op(f, "a.1");
    let loc = f.add_name_loc("touched");
    f.set_loc(inside, loc).unwrap();
    let relu = f.op(inside).next;
    f.set_loc(relu, loc).unwrap();
    expect![[r#"
        g(x) -> (y)
          a = Relu(x)
          b = If(a) then_branch else_branch
            g() -> (b)
              a = Neg(a) #touched
              b = Relu(a) #touched_2
            g() -> (b)
              a = Neg(a)
              b = Relu(a)
          y = Add(a, b)
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
    assert_eq!(show(&fresh_bytes_of(&module)), show(&bytes_of(&module)));
}

/// The inner `a` may not capture a use of the outer one.
#[test]
fn shadowing_name_does_not_capture_outer_uses() {
    let inner = graph(&[node("a = Neg(a)"), node("b = Relu(a)")], &[], &["b"]);
    let list = [
        node("a = Relu(x)"),
        node_with("y = If(a)", [&graph_attr("then_branch", &inner)]),
    ];
    let mut module = read(&model(10, &graph(&list, &["x"], &["y"])).0).unwrap();
    let f = main_of(&mut module);
    let outer = value(f, "a");
    let relu = f.op(op(f, "a.1")).next;
    f.set_operand(relu, 0, outer).unwrap();
    let written = bytes_of(&module);
    expect![[r#"
        g(x) -> (y)
          a = Relu(x)
          y = If(a) then_branch
            g() -> (b)
              a.1 = Neg(a)
              b = Relu(a)
    "#]]
    .assert_eq(&show(&written));
    assert_eq!(show(&fresh_bytes_of(&module)), show(&written));
}

#[test]
fn loop_bodies_have_arguments_and_constants() {
    let body = graph(
        &[
            constant("one", &[1.0]),
            node("next = Add(state, one)"),
            node("scan = Mul(next, w)"),
        ],
        &["i", "cond", "state"],
        &["cond", "next", "scan"],
    )
    .msg(graphs::INITIALIZER, &floats("w", &[2.0]));
    let list = [node_with(
        "last, scans = Loop(, , x)",
        [&graph_attr("body", &body), &int_attr("k", 1)],
    )];
    check(
        &graph(&list, &["x"], &["last", "scans"]),
        expect![[r#"
            %last, %scans = onnx.Loop(_, _, %x)
              %next = onnx.Add(%state, %one)
              %scan = onnx.Mul(%next, %w)
               = yield(%cond, %next, %scan)
             = return(%last, %scans)
        "#]],
    );
}

/// Also if the function is called like a standard op.
#[test]
fn local_function_overrides_a_standard_op() {
    let list = [constant("k", &[1.0]), node("y = Relu(k)")];
    let local = function("", "Constant", &[node("b = Zero()")], &[], &["b"]);
    let bytes = model(10, &graph(&list, &[], &["y"]))
        .msg(models::FUNCTIONS, &local)
        .0;
    expect![[r#"
        %k = onnx.Constant()
        %y = onnx.Relu(%k)
         = return(%y)
        %b = onnx.Zero()
         = return(%b)
    "#]]
    .assert_eq(&ops(&bytes));
}

#[test]
fn unusual_names_are_quoted() {
    let list = [
        node("a = Relu(x)").text(nodes::DOMAIN, "onnx"),
        node("b = A.B(a)")
            .text(nodes::DOMAIN, "x.y")
            .text(nodes::OVERLOAD, "v2"),
    ];
    check(
        &graph(&list, &["x"], &["b"]),
        expect![[r##"
            %a = "onnx".Relu(%x)
            %b = x.y."A.B"#v2(%a)
             = return(%b)
        "##]],
    );
}

/// An op moved out of a branch keeps its metadata, and gets a name that is unused in the outer graph.
#[test]
fn inlined_ops_get_unused_names() {
    let branch = |list: &[Msg]| graph(list, &[], &["o"]);
    let then = branch(&[node("t = Neg(x)"), node("o = Relu(t)")]);
    let list = [
        node("c = Cond(x)"),
        node_with(
            "y = If(c)",
            [
                &graph_attr("then_branch", &then),
                &graph_attr("else_branch", &then),
            ],
        ),
        node("z = Neg(y)"),
    ];
    let mut module = read(&model(10, &graph(&list, &["x"], &["z"])).0).unwrap();
    let f = main_of(&mut module);
    let y = op(f, "y");
    let region = f.regions_of(y).next().unwrap();
    let inline = passdock_ir::CloneRegion {
        source: None,
        region,
        at: Position::before(y),
        args: &[],
        captures: &[],
    };
    let results = f.clone_region(&inline).unwrap();
    f.replace_op_with(y, &results).unwrap();
    expect![[r#"
        g(x) -> (z)
          c = Cond(x)
          t_1 = Neg(x)
          o_1 = Relu(t_1)
          z = Neg(o_1)
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
}

/// A constant is visible in its whole graph, so its name shadows an outer one in graphs before it.
#[test]
fn constant_is_renamed_if_an_earlier_graph_has_its_name() {
    let inner = graph(&[constant("c", &[1.0]), node("t = Neg(c)")], &[], &["t"]);
    let list = [
        node_with("a = If(x)", [&graph_attr("then_branch", &inner)]),
        constant("c", &[2.0]),
        node("y = Add(a, c)"),
    ];
    let bytes = model(10, &graph(&list, &["x"], &["y"])).0;
    let module = read(&bytes).unwrap();
    assert_eq!(passdock_ir::verify::verify_module(&module), Ok(()));
    assert_eq!(fresh_bytes_of(&module).len(), bytes.len());
    check(
        &graph(&list, &["x"], &["y"]),
        expect![[r#"
            %a = onnx.If(%x)
              %t = onnx.Neg(%c)
               = yield(%t)
            %y = onnx.Add(%a, %"c.1")
             = return(%y)
        "#]],
    );
}

/// An omitted result has no name, so no node depends on it.
#[test]
fn unsorted_graph_with_omitted_operands_and_results() {
    let inner = graph(&[node("t = Clip(late, , late)")], &[], &["t"]);
    check(
        &graph(
            &[
                node_with("y, = If(, late)", [&graph_attr("then_branch", &inner)]),
                node("late, = Two(x, , x)"),
            ],
            &["x"],
            &["y"],
        ),
        expect![[r#"
            %late, value v2 = onnx.Two(%x, _, %x)
            %y, value v4 = onnx.If(_, %late)
              %t = onnx.Clip(%late, _, %late)
               = yield(%t)
             = return(%y)
        "#]],
    );
}
