//! Duplicate, unusual and missing fields are preserved when other parts change.

use passdock_ir::{Function, NewOp};

use super::build::{Msg, attr, constant, floats, graph, info, model, node, node_with};
use super::real::sorted_fields;
use super::{bytes_of, fresh_bytes_of, main_of, op, read, value};
use crate::format::schema::{
    annotation, attr_type, entry, graph as graphs, model as models, node as nodes, opset, tensor,
};

/// Renames the node that defines `y` to `new`, the name that it has in `expected`.
#[track_caller]
fn renamed(given: &Msg, expected: &Msg) {
    let mut module = read(&given.0).unwrap();
    let f = main_of(&mut module);
    let loc = f.add_name_loc("new");
    f.set_loc(op(f, "y"), loc).unwrap();
    assert_eq!(
        sorted_fields(&bytes_of(&module)),
        sorted_fields(&expected.0)
    );
    assert!(bytes_of(&module) == expected.0);
}

#[test]
fn an_attribute_of_no_graphs_is_one() {
    let none = attr("branches", attr_type::GRAPHS, |msg| msg);
    let with = |name: &str| {
        let list = [node_with(&format!("y = Op(x) #{name}"), [&none])];
        model(10, &graph(&list, &["x: 2"], &["y: 2"]))
    };
    let given = with("old");
    assert_eq!(
        sorted_fields(&fresh_bytes_of(&read(&given.0).unwrap())),
        sorted_fields(&given.0)
    );
    renamed(&given, &with("new"));
}

#[test]
fn what_is_said_twice_of_a_value_stays_twice() {
    let with = |name: &str| {
        let list = [node("m = Relu(x)"), node(&format!("y = Neg(m) #{name}"))];
        let notes = [
            info("m: 2"),
            info("nowhere: 1"),
            info("m: 2").text(3, "again"),
        ];
        model(
            10,
            &graph(&list, &["x: 2"], &["y: 2"]).all(graphs::VALUE_INFO, &notes),
        )
    };
    let given = with("old");
    assert_eq!(
        sorted_fields(&fresh_bytes_of(&read(&given.0).unwrap())),
        sorted_fields(&given.0)
    );
    renamed(&given, &with("new"));
}

#[test]
fn the_last_of_two_texts_is_the_one_that_changes() {
    let with = |name: &str| {
        let relu = Msg::new()
            .text(nodes::INPUT, "x")
            .text(nodes::OUTPUT, "y")
            .text(nodes::NAME, "first")
            .text(nodes::OP_TYPE, "Old")
            .text(nodes::NAME, name)
            .text(nodes::OP_TYPE, "Relu");
        let body = Msg::new().text(graphs::NAME, "first");
        let body = body.raw(&graph(&[relu], &["x: 2"], &["y: 2"]).0);
        model(10, &body)
    };
    renamed(&with("old"), &with("new"));
}

#[test]
fn an_import_without_a_version_has_none() {
    let body = graph(&[node("y = Relu(x)")], &["x: 2"], &["y: 2"]);
    let bytes = Msg::new()
        .int(models::IR_VERSION, 10)
        .msg(models::GRAPH, &body)
        .msg(models::OPSET_IMPORT, &Msg::new().text(opset::DOMAIN, ""));
    assert_eq!(
        sorted_fields(&fresh_bytes_of(&read(&bytes.0).unwrap())),
        sorted_fields(&bytes.0)
    );
}

/// Erases all constants without users.
fn erase_unused(f: &mut Function) {
    let all: Vec<_> = f
        .live_constants()
        .map(|(id, constant)| (id, constant.value))
        .collect();
    for (id, value) in all {
        if value.is_some() && f.value(value).use_count == 0 {
            f.erase_constant(id).unwrap();
        }
    }
}

#[test]
fn initializers_that_annotations_name_stay() {
    let pair = |value: &str| {
        Msg::new()
            .text(entry::KEY, "SCALE_TENSOR")
            .text(entry::VALUE, value)
    };
    let note = Msg::new()
        .text(1, "y")
        .msg(annotation::PARAMETERS, &pair("scale"));
    let with = |initializers: &[Msg]| {
        let body = graph(&[node("y = Relu(x)")], &["x: 2"], &["y: 2"]);
        let body = body.all(graphs::INITIALIZER, initializers);
        model(10, &body.msg(graphs::QUANTIZATION_ANNOTATION, &note))
    };
    let given = with(&[floats("scale", &[0.5]), floats("unused", &[1.0])]);
    let mut module = read(&given.0).unwrap();
    erase_unused(main_of(&mut module));
    assert!(bytes_of(&module) == with(&[floats("scale", &[0.5])]).0);
}

#[test]
fn a_constant_stays_before_the_op_that_is_replaced() {
    let list = [
        constant("a", &[1.0]),
        constant("b", &[2.0]),
        constant("c", &[3.0]),
        node("y = Sum(b, x)"),
    ];
    let given = model(10, &graph(&list, &["x: 1"], &["y: 1"]));
    let mut module = read(&given.0).unwrap();
    let f = main_of(&mut module);
    let (old, sum) = (op(f, "y"), f.symbols().intern("onnx.Sum"));
    let new = NewOp {
        operands: &[value(f, "b"), value(f, "x")],
        result_types: &[passdock_abi::TypeId::NONE],
        ..NewOp::new(sum)
    };
    f.replace_op(old, &new).unwrap();
    assert!(bytes_of(&module) == given.0);
}

/// The storage of a sparse initializer doesn't matter to its users.
#[test]
fn a_sparse_initializer_is_a_plain_tensor() {
    let positions = Msg::new()
        .int(tensor::DIMS, 1)
        .int(tensor::DATA_TYPE, 7)
        .int(7, 2);
    let sparse = Msg::new()
        .msg(1, &floats("s", &[1.0]))
        .msg(2, &positions)
        .int(3, 4);
    let body = graph(&[node("y = Identity(s)")], &[], &["y: 4"]);
    let bytes = model(10, &body.msg(graphs::SPARSE_INITIALIZER, &sparse)).0;
    let mut module = read(&bytes).unwrap();
    let f = main_of(&mut module);
    let (s, y) = (value(f, "s"), value(f, "y"));
    assert_eq!(f.value(s).ty, f.value(y).ty);
    f.replace_op_with(op(f, "y"), &[s]).unwrap();
    bytes_of(&module);
}

#[test]
fn a_renamed_value_keeps_what_is_said_of_it() {
    let with = |[m, k, w]: [&str; 3]| {
        let list = [
            node(&format!("{m} = Relu(x)")),
            constant(k, &[1.0]),
            node(&format!("y = Sum({m}, {k}, {w})")),
        ];
        let body = graph(&list, &["x: 1"], &["y: 1"]);
        let body = body.msg(graphs::INITIALIZER, &floats(w, &[2.0]));
        let notes = [m, k, w].map(|name| info(&format!("{name}: 1")).text(3, "doc"));
        model(10, &body.all(graphs::VALUE_INFO, &notes))
    };
    let given = with(["m", "k", "w"]);
    let mut module = read(&given.0).unwrap();
    let f = main_of(&mut module);
    let values = ["m", "k", "w"].map(|name| value(f, name));
    // The names are rotated; each value keeps its documentation.
    for (value, name) in values.into_iter().zip(["a", "b", "c"]) {
        f.set_name(value, name).unwrap();
    }
    for (value, name) in values.into_iter().zip(["k", "w", "m"]) {
        f.set_name(value, name).unwrap();
    }
    assert_eq!(
        sorted_fields(&bytes_of(&module)),
        sorted_fields(&with(["k", "w", "m"]).0)
    );
}

#[test]
fn an_output_that_is_there_twice_is_made_once() {
    let body = graph(
        &[node("y = Relu(x)")],
        &["x: 2"],
        &["y: 2", "x: 2", "y: 2", "x: 2"],
    );
    let given = model(10, &body);
    let mut module = read(&given.0).unwrap();
    let f = main_of(&mut module);
    f.set_name(value(f, "y"), "other").unwrap();
    assert!(bytes_of(&module) == given.0);
    // An input can't share its name, so the outputs need a node that defines theirs.
    let f = main_of(&mut module);
    f.set_name(value(f, "x"), "in").unwrap();
    let copies = [node("y = Relu(in)"), node("x = Identity(in) #Identity_x")];
    let outputs = ["y: 2", "x: 2", "y: 2", "x: 2"];
    let expected = model(10, &graph(&copies, &["in: 2"], &outputs));
    assert_eq!(
        sorted_fields(&bytes_of(&module)),
        sorted_fields(&expected.0)
    );
}
