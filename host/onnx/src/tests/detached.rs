//! Lossless conversion to IR text and back, without the file.

use expect_test::{Expect, expect, expect_file};
use passdock_ir::text;

use super::build::{
    Msg, attr, constant, floats, function, graph, graph_attr, info, int_attr, model, node,
    node_with,
};
use super::fidelity::rich;
use super::real::sorted_fields;
use super::{bytes_of, main_of, op, read, value};
use crate::detach;
use crate::format::schema::{
    annotation, attr as attrs, attr_type, function as functions, graph as graphs, model as models,
    node as nodes, opset, tensor, value_info,
};

/// Converts a model to IR text.
pub(super) fn text_of(bytes: &[u8]) -> String {
    text::print(&detach(&read(bytes).unwrap()).unwrap())
}

/// Checks that a model has the same fields after conversion to text and back, and that the text prints the same.
#[track_caller]
fn check_round_trip(bytes: &[u8]) -> String {
    let text = text_of(bytes);
    let module = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(text::print(&module), text);
    let detached = detach(&read(bytes).unwrap()).unwrap();
    let expected = sorted_fields(bytes);
    for module in [module, detached] {
        let back = sorted_fields(&bytes_of(&module));
        let mut lines = expected.lines().zip(back.lines());
        let different = lines.find(|(expected, back)| expected != back);
        assert!(back == expected, "{different:?}\n{text}");
    }
    text
}

fn entry(key: &str, value: &str) -> Msg {
    Msg::new().text(1, key).text(2, value)
}

#[test]
fn all_features_round_trip() {
    expect_file!["detached.ir"].assert_eq(&check_round_trip(&rich()));
}

#[test]
fn documentation_and_metadata_are_printed() {
    let list = [
        node("y = Relu(x) #act")
            .text(6, "rectifies\n\"it\"")
            .msg(9, &entry("namespace", "a/b"))
            .msg(9, &entry("pkg.torch.stack", "File \"m.py\"\n")),
        constant("k", &[1.0]).text(6, ""),
    ];
    let documented = |text: &str| info(text).text(3, "a value").msg(4, &entry("k", ""));
    let list = list.iter().fold(Msg::new(), |msg, node| msg.msg(1, node));
    let body = list
        .text(2, "g")
        .msg(graphs::INPUT, &documented("x: 2"))
        .msg(graphs::OUTPUT, &documented("y: 2"))
        .msg(
            graphs::INITIALIZER,
            &floats("w", &[3.0])
                .text(12, "a weight")
                .msg(16, &entry("a b", "c")),
        )
        .msg(graphs::VALUE_INFO, &documented("w: 1"))
        .text(10, "a graph");
    let bytes = model(10, &body)
        .text(6, "a model")
        .msg(14, &entry("author", "né\u{202e}"))
        .0;
    expect_file!["detached/documented.ir"].assert_eq(&check_round_trip(&bytes));
}

/// Documentation and metadata in an unusual form are preserved in that form.
#[test]
fn unusual_documentation_is_preserved() {
    let twice = node("y = Relu(x)").text(6, "a").text(6, "b");
    let no_text = node("z = Neg(y)").bytes(6, &[0xff]);
    let no_value = node("w = Neg(z)").msg(9, &Msg::new().text(1, "key"));
    let body = graph(&[twice, no_text, no_value], &["x"], &["w"]);
    let text = check_round_trip(&model(10, &body).0);
    assert!(!text.contains("doc(") && !text.contains("meta {"), "{text}");
}

#[test]
fn names_with_special_characters_round_trip() {
    let long = "n".repeat(100_000);
    for name in [
        "a\"b\\c",
        "line\nbreak\r\t",
        "nul\0",
        "\u{202e}bidi",
        "e\u{301}",
        "%x",
        "const",
        "0",
        "_",
        "-1",
        "a.b#c",
        "{",
        "yield",
        "loc(\"x\")",
        "doc",
        "meta",
        "ai.onnx",
        "onnx",
        &long,
    ] {
        let inner = Msg::new()
            .msg(graphs::NODE, &node("inner = Neg(x)"))
            .text(graphs::NAME, name)
            .msg(graphs::OUTPUT, &info("inner"));
        let mut named = int_attr("axis", 1);
        named.0 = Msg::new()
            .text(attrs::NAME, name)
            .int(attrs::I, 2)
            .int(attrs::TYPE, 2)
            .0;
        let list = [
            Msg::new()
                .text(nodes::INPUT, "x")
                .text(nodes::OUTPUT, name)
                .text(nodes::NAME, name)
                .text(nodes::OP_TYPE, name)
                .text(nodes::DOMAIN, name)
                .text(nodes::OVERLOAD, name)
                .msg(nodes::ATTRIBUTE, &named)
                .msg(9, &entry(name, name)),
            node_with("out = If(c)", [&graph_attr("then_branch", &inner)]),
        ];
        let dim = Msg::new().text(2, name).text(3, name);
        let shape = Msg::new().msg(1, &dim);
        let ty = Msg::new()
            .msg(1, &Msg::new().int(1, 1).msg(2, &shape))
            .text(6, name);
        let typed = Msg::new()
            .text(value_info::NAME, name)
            .msg(value_info::TYPE, &ty);
        let body = graph(&list, &["x", "c"], &["out"])
            .msg(graphs::OUTPUT, &typed)
            .msg(graphs::VALUE_INFO, &typed);
        let local = function(name, name, &[node("b = Neg(a)")], &["a"], &["b"])
            .text(functions::ATTRIBUTE, name)
            .text(functions::OVERLOAD, name);
        let import = Msg::new().text(opset::DOMAIN, name).int(opset::VERSION, 1);
        let bytes = model(10, &body)
            .msg(models::FUNCTIONS, &local)
            .msg(models::OPSET_IMPORT, &import)
            .text(models::PRODUCER_NAME, name)
            .msg(14, &entry(name, name));
        check_round_trip(&bytes.0);
    }
}

/// The file's order is kept where it differs from the IR's.
#[test]
fn orders_of_the_file_round_trip() {
    let inner = graph(&[node("p = Neg(q)"), node("q = Abs(late)")], &[], &["p"]);
    let list = [
        node("y = Add(b, a)"),
        node_with("b = If(c)", [&graph_attr("then_branch", &inner)]),
        node("a = Relu(k)"),
        node("late = Neg(a)"),
        constant("k", &[1.0]),
        node("c = Cond(x)"),
    ];
    for ir_version in [3, 10] {
        let body = graph(&list, &["w: 1", "x", "v: 1"], &["y"])
            .all(
                graphs::INITIALIZER,
                &[
                    floats("u", &[1.0]),
                    floats("v", &[2.0]),
                    floats("w", &[3.0]),
                ],
            )
            .all(
                graphs::VALUE_INFO,
                &[
                    info("y"),
                    info("nowhere"),
                    info("c"),
                    info("a"),
                    info("c: 5"),
                    info("k"),
                ],
            );
        check_round_trip(&model(ir_version, &body).0);
    }
}

/// The file's order doesn't apply to nodes that a pass moved.
#[test]
fn moved_nodes_keep_their_new_position() {
    let list = [
        node("a = Relu(x)"),
        node("b = Neg(x)"),
        node("y = Add(a, b)"),
    ];
    let mut module = read(&model(10, &graph(&list, &["x"], &["y"])).0).unwrap();
    let f = main_of(&mut module);
    let before = passdock_ir::Position::before(op(f, "a"));
    f.move_op(op(f, "b"), before).unwrap();
    let shown = super::show::show(&bytes_of(&detach(&module).unwrap()));
    assert_eq!(
        shown,
        "g(x) -> (y)\n  b = Neg(x)\n  a = Relu(x)\n  y = Add(a, b)\n"
    );
}

#[test]
fn tensor_encodings_round_trip() {
    let typed = |name: &str, code: i64, field: u32, bytes: &[u8]| {
        Msg::new()
            .int(tensor::DIMS, 2)
            .int(tensor::DATA_TYPE, code)
            .bytes(field, bytes)
            .text(tensor::NAME, name)
    };
    let odd_floats = [0x7fc0_0001_u32, 0x8000_0000, 0xff80_0000, 0x7fa0_0000];
    let odd_floats: Vec<u8> = odd_floats
        .iter()
        .flat_map(|bits| bits.to_le_bytes())
        .collect();
    let list = [
        typed("f", 1, tensor::FLOAT_DATA, &odd_floats[..8]),
        typed("g", 1, tensor::RAW_DATA, &odd_floats[8..]),
        typed("h", 10, tensor::INT32_DATA, &[0xff, 0xf8, 3, 1]),
        typed("b", 9, tensor::INT32_DATA, &[1, 0]),
        typed("i4", 22, tensor::RAW_DATA, &[0x7f]),
        typed("u4", 21, tensor::INT32_DATA, &[0xf7, 1]),
        typed("d", 11, tensor::DOUBLE_DATA, &[0xff; 16]),
        typed("l", 7, tensor::INT64_DATA, &[1, 0]),
        typed("u", 13, tensor::UINT64_DATA, &[1, 0]),
        typed("s", 8, tensor::STRING_DATA, b"\xff").bytes(tensor::STRING_DATA, b""),
        Msg::new()
            .int(tensor::DIMS, 0)
            .int(tensor::DATA_TYPE, 1)
            .text(tensor::NAME, "none"),
        Msg::new()
            .int(tensor::DIMS, 100)
            .int(tensor::DATA_TYPE, 7)
            .text(tensor::NAME, "many")
            .bytes(tensor::INT64_DATA, &[7; 100]),
        floats("", &[1.0]),
    ];
    let value = |name: &str, code: u32, put: fn(Msg) -> Msg| {
        node_with(&format!("{name} = Constant()"), [&attr(name, code, put)])
    };
    let nodes = [
        value("value_float", attr_type::FLOAT, |msg| {
            msg.raw(&[0x15, 1, 0, 0xc0, 0x7f])
        }),
        value("value_floats", attr_type::FLOATS, |msg| {
            msg.bytes(attrs::FLOATS, &[0; 8])
        }),
        value("value_int", attr_type::INT, |msg| msg.int(attrs::I, 0)),
        value("value_ints", attr_type::INTS, |msg| {
            msg.bytes(attrs::INTS, &[1, 2])
        }),
        value("value_string", attr_type::STRING, |msg| {
            msg.text(attrs::S, "")
        }),
        value("value_strings", attr_type::STRINGS, |msg| {
            msg.text(attrs::STRINGS, "a")
        }),
        value("sparse_value", attr_type::SPARSE_TENSOR, |msg| {
            msg.msg(attrs::SPARSE_TENSOR, &Msg::new().int(3, 4))
        }),
        constant("tensor", &[f32::NAN]),
        node("y = Relu(x)"),
    ];
    let body = graph(&nodes, &["x"], &["y"]).all(graphs::INITIALIZER, &list);
    let text = check_round_trip(&model(10, &body).0);
    assert!(text.contains("%many = const i64[100] blob(0)"), "{text}");
}

#[test]
fn deeply_nested_model_round_trips() {
    let mut inner = graph(&[node("y = Neg(x)").text(6, "deep")], &[], &["y"]);
    for _ in 0..3000 {
        let if_node = node_with("y = If(x)", [&graph_attr("then_branch", &inner)]);
        inner = graph(&[if_node], &[], &["y"]).text(10, "doc");
    }
    let if_node = node_with("y = If(x)", [&graph_attr("then_branch", &inner)]);
    let bytes = model(10, &graph(&[if_node], &["x"], &["y"])).0;
    let text = text_of(&bytes);
    let module = text::parse(&text).unwrap();
    assert_eq!(text::print(&module), text);
    assert_eq!(bytes_of(&module).len(), bytes.len());
}

/// Edits of a model that was read from text preserve everything else.
#[test]
fn edits_of_parsed_text_preserve_other_fields() {
    let list = [
        node("a = Relu(x) #first")
            .text(6, "doc")
            .msg(nodes::ATTRIBUTE, &int_attr("old", 1)),
        node("b = Neg(a)").text(nodes::DOMAIN, ""),
    ];
    let body = graph(&list, &["x"], &["b"])
        .msg(graphs::INITIALIZER, &floats("unused", &[1.0]))
        .msg(graphs::VALUE_INFO, &info("a").text(3, "doc"));
    let mut module = text::parse(&text_of(&model(10, &body).0)).unwrap();
    let f = main_of(&mut module);
    f.set_name(value(f, "a"), "renamed").unwrap();
    let name = f.symbols().intern("onnx.Elu");
    let ty = f.value(value(f, "renamed")).ty;
    let new = passdock_ir::NewOp {
        operands: &[value(f, "x")],
        result_types: &[ty],
        ..passdock_ir::NewOp::new(name)
    };
    f.replace_op(op(f, "renamed"), &new).unwrap();
    expect![[r#"
        g(x) -> (b)
          renamed = Elu(x) #first field 6
          b = Neg(renamed)
          init unused: 4 bytes
          info renamed
    "#]]
    .assert_eq(&super::show::show(&bytes_of(&module)));
    let detached = text::print(&module);
    assert!(
        detached.contains(r#"%renamed doc("doc") = onnx.Elu(%x)"#),
        "{detached}"
    );
}

/// Extras in text may be invalid.
#[test]
fn invalid_extras_are_errors() {
    let check = |line: &str, expected: Expect| {
        let text = format!(
            "module {{ fn @main(%x: f32[1]) -> (%y: f32[1]) opset(\"\" = 17) {{ {line} return %y }} }}"
        );
        let module = text::parse(&text).unwrap();
        let error = crate::write(&module, crate::EncodeOptions::default()).err();
        expected.assert_eq(&error.unwrap().to_string());
    };
    check(
        r#"%y = onnx.Relu(%x) : f32[1] extra("0a022a05")"#,
        expect![
            "op0 (onnx.Relu): invalid ONNX data in `extra`: a length exceeds the rest of its message"
        ],
    );
    check(
        r#"%c = const f32[1] [1.0] extra("0a027001") %y = onnx.Add(%x, %c) : f32[1]"#,
        expect![
            "a constant has `extra` for external data, but is not `external`; remove the `extra`"
        ],
    );
}

/// An initializer that is named only by a quantization annotation is kept.
#[test]
fn initializer_named_by_annotation_is_kept() {
    let pair = entry("SCALE_TENSOR", "scale");
    let note = Msg::new().text(1, "y").msg(annotation::PARAMETERS, &pair);
    let body = graph(&[node("y = Relu(x)")], &["x: 2"], &["y: 2"])
        .all(
            graphs::INITIALIZER,
            &[floats("scale", &[0.5]), floats("unused", &[1.0])],
        )
        .msg(graphs::QUANTIZATION_ANNOTATION, &note);
    let mut module = read(&model(10, &body).0).unwrap();
    let f = main_of(&mut module);
    let constants: Vec<_> = f.live_constants().map(|(id, _)| id).collect();
    constants
        .into_iter()
        .for_each(|id| f.erase_constant(id).unwrap());
    let text = text::print(&detach(&module).unwrap());
    let back = bytes_of(&text::parse(&text).unwrap());
    assert_eq!(sorted_fields(&back), sorted_fields(&bytes_of(&module)));
}

/// Detaching a self-contained module doesn't change it.
#[test]
fn detach_is_idempotent() {
    let once = detach(&read(&rich()).unwrap()).unwrap();
    let twice = detach(&once).unwrap();
    assert_eq!(text::print(&twice), text::print(&once));
    assert_eq!(bytes_of(&twice), bytes_of(&once));
}

/// Functions that passes add raise the IR version to one that has functions.
#[test]
fn new_functions_raise_the_ir_version() {
    let body = graph(&[node("y = Relu(x)")], &["x"], &["y"]);
    let local = function("d", "F", &[node("b = Neg(a)")], &["a"], &["b"]);
    let version = |module: &passdock_ir::Module| {
        let reread = read(&bytes_of(module)).unwrap();
        reread.metadata()[0].1.clone()
    };
    for (name, expected) in [("d.G", "8"), ("d.G#v2", "10")] {
        let bytes = model(7, &body).msg(models::FUNCTIONS, &local).0;
        for mut module in [
            read(&bytes).unwrap(),
            text::parse(&text_of(&bytes)).unwrap(),
        ] {
            assert_eq!(version(&module), "7");
            let symbols = module.symbols().clone();
            let kind = passdock_abi::FunctionKind::GRAPH;
            let mut new = passdock_ir::Function::new(symbols.clone(), kind, symbols.intern(name));
            let body = new.body();
            new.set_results(body, &[], &[]).unwrap();
            module.insert(new).unwrap();
            assert_eq!(version(&module), expected);
        }
    }
}

/// A copy of a sparse initializer is written as an ordinary node.
#[test]
fn copied_sparse_initializer_becomes_a_node() {
    let indices = Msg::new()
        .int(tensor::DIMS, 1)
        .int(tensor::DATA_TYPE, 7)
        .int(7, 2);
    let sparse = Msg::new()
        .msg(1, &floats("s", &[1.0]))
        .msg(2, &indices)
        .int(3, 4);
    let inner =
        graph(&[node("y = Identity(s)")], &[], &["y"]).msg(graphs::SPARSE_INITIALIZER, &sparse);
    let list = [node_with("z = If(c)", [&graph_attr("then_branch", &inner)])];
    let bytes = model(10, &graph(&list, &["c"], &["z"])).0;
    for mut module in [
        read(&bytes).unwrap(),
        text::parse(&text_of(&bytes)).unwrap(),
    ] {
        let f = main_of(&mut module);
        let if_node = op(f, "z");
        let clone = passdock_ir::CloneRegion {
            region: f.regions_of(if_node).next().unwrap(),
            source: None,
            at: passdock_ir::Position::before(if_node),
            args: &[],
            captures: &[],
        };
        let values = f.clone_region(&clone).unwrap();
        f.replace_op_with(if_node, &values).unwrap();
        let shown = super::show::show(&bytes_of(&module));
        let reread = read(&bytes_of(&module)).unwrap();
        assert_eq!(
            text::print(&reread).matches("sparse_value").count(),
            1,
            "{shown}"
        );
    }
}

/// Before IR version 4, an initializer's input is part of the interface and is kept.
#[test]
fn initializer_inputs_outlive_their_constants() {
    let list = [node("a = Add(x, w)"), node("y = Add(a, v)")];
    let body = graph(&list, &["x: 1", "w: 1", "v: 1"], &["y: 1"]).all(
        graphs::INITIALIZER,
        &[floats("v", &[2.0]), floats("w", &[1.0])],
    );
    let mut module = read(&model(3, &body).0).unwrap();
    let f = main_of(&mut module);
    let ty = f.value(value(f, "w")).ty;
    let data = passdock_ir::ConstantData::inline(*b"\0\0\0\0");
    let new = f.add_constant(ty, data, f.body(), "new").unwrap();
    f.set_operand(op(f, "a"), 1, new).unwrap();
    let erased = f.value(value(f, "w")).constant;
    f.erase_constant(erased).unwrap();
    let expected = super::show::show(&bytes_of(&module));
    let text = text::print(&detach(&module).unwrap());
    let back = text::parse(&text).unwrap();
    assert_eq!(super::show::show(&bytes_of(&back)), expected, "{text}");
}
