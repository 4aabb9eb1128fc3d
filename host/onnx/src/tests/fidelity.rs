//! Unchanged modules are written as the same file.

use super::build::{
    Msg, attr, constant, floats, function, graph, graph_attr, info, int_attr, model, node,
    node_with,
};
use super::{bytes_of, fresh_bytes_of, read};
use crate::format::schema::{
    attr as attrs, attr_type, function as functions, graph as graphs, model as models,
    node as nodes, tensor,
};
use crate::format::wire::put_float;

/// Fields that no version of ONNX has: one of each wire type, a group, and a length with redundant bytes.
const UNKNOWN: &[u8] = &[
    0xc0, 0x3e, 7, 0xc1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8, 0xc2, 0xbe, 0x80, 0, 0x82, 0, 9, 9, 0xc5,
    0x3e, 1, 2, 3, 4, 0xc3, 0x3e, 0x08, 1, 0xc4, 0x3e,
];

/// Builds a model with most features, and with unknown fields in all messages.
pub(super) fn rich() -> Vec<u8> {
    let entry = Msg::new().text(1, "key").text(2, "value");
    let float = attr("alpha", attr_type::FLOAT, |msg| {
        let mut bytes = Vec::new();
        put_float(&mut bytes, attrs::F, 0.25_f32.to_bits());
        msg.raw(&bytes)
    });
    let plain = [
        float.raw(UNKNOWN).text(13, "doc"),
        int_attr("axis", -1),
        attr("mode", attr_type::STRING, |msg| {
            msg.bytes(attrs::S, b"not \xff UTF-8")
        }),
        attr("pads", attr_type::INTS, |msg| {
            msg.int(attrs::INTS, 1).int(attrs::INTS, -2)
        }),
        attr("packed", attr_type::INTS, |msg| {
            msg.bytes(attrs::INTS, &[1, 2, 0x81, 1])
        }),
        attr("scales", attr_type::FLOATS, |msg| {
            msg.bytes(attrs::FLOATS, &[0, 0, 0x80, 0x3f])
        }),
        attr("names", attr_type::STRINGS, |msg| {
            msg.text(attrs::STRINGS, "a").text(attrs::STRINGS, "")
        }),
        attr("t", attr_type::TENSOR, |msg| {
            msg.msg(attrs::T, &floats("named", &[1.0]).raw(UNKNOWN))
        }),
        attr("ts", attr_type::TENSORS, |msg| {
            msg.msg(attrs::TENSORS, &floats("", &[]))
        }),
        attr("ty", attr_type::TYPE_PROTO, |msg| {
            msg.msg(attrs::TP, &Msg::new().text(6, "D"))
        }),
        attr("empty", attr_type::INTS, |msg| msg),
        // As in old files, without a type.
        Msg::new().text(attrs::NAME, "untyped").int(attrs::I, 3),
        attr("zero", attr_type::INT, |msg| msg),
        attr("odd", 99, |msg| msg.int(77, 1)),
        attr("sparse", attr_type::SPARSE_TENSOR, |msg| {
            msg.msg(attrs::SPARSE_TENSOR, &Msg::new())
        }),
        int_attr("axis", 5),
    ];
    let inner = graph(&[node("y = Neg(x)"), constant("c", &[2.0])], &[], &["y"]).raw(UNKNOWN);
    let branches = [
        graph_attr("then_branch", &inner),
        graph_attr("else_branch", &graph(&[node("z = Add(w, x)")], &[], &["z"])),
    ];
    let value_ints = attr("value_ints", attr_type::INTS, |msg| msg.int(attrs::INTS, 4));
    let value_strings = attr("value_strings", attr_type::STRINGS, |msg| {
        msg.text(attrs::STRINGS, "s")
    });
    let list = [
        node_with("a, , b = Op(x, , w, ) #first", &plain)
            .text(nodes::DOMAIN, "com.acme")
            .text(6, "doc")
            .msg(9, &entry)
            .raw(UNKNOWN),
        node("r = Relu(a)")
            .text(nodes::DOMAIN, "")
            .text(nodes::OVERLOAD, ""),
        node("q = Relu(r)").text(nodes::DOMAIN, "ai.onnx"),
        constant("k", &[1.0, 2.0]).text(6, "doc").raw(UNKNOWN),
        node_with("ki = Constant()", [&value_ints]),
        node_with("ks = Constant() #strings", [&value_strings]),
        node_with("i = If(b)", &branches),
        node("out = Twice(i, sp, typed, def)").text(nodes::DOMAIN, "local"),
    ];
    let typed = Msg::new()
        .int(tensor::DIMS, 2)
        .int(tensor::DATA_TYPE, 7)
        .text(tensor::NAME, "typed")
        .int(tensor::INT64_DATA, -1)
        .int(tensor::INT64_DATA, 1 << 60);
    let sparse = Msg::new()
        .msg(1, &floats("sp", &[1.0]))
        .msg(2, &Msg::new().int(1, 1).int(2, 7).int(7, 2))
        .int(3, 4);
    let body = graph(&list, &["x: n 3", "def: 1"], &["out", "x"])
        .all(
            graphs::INITIALIZER,
            &[
                floats("w", &[3.0]).text(12, "doc"),
                typed,
                floats("def", &[0.5]),
            ],
        )
        .msg(graphs::SPARSE_INITIALIZER, &sparse)
        .all(
            graphs::VALUE_INFO,
            &[
                info("r: n"),
                info("nowhere: 1"),
                info("a: 2 m").raw(UNKNOWN),
            ],
        )
        .text(10, "doc")
        .msg(14, &Msg::new().text(1, "a"))
        .msg(16, &entry)
        .raw(UNKNOWN);
    let reference = Msg::new()
        .text(attrs::NAME, "axis")
        .text(attrs::REF_ATTR_NAME, "axis")
        .int(attrs::TYPE, 2);
    let twice = function(
        "local",
        "Twice",
        &[node_with("o = Cast(p)", [&reference])],
        &["p", "q", "s", "t"],
        &["o"],
    )
    .text(functions::ATTRIBUTE, "axis")
    .msg(functions::ATTRIBUTE_PROTO, &int_attr("beta", 2))
    .msg(functions::VALUE_INFO, &info("o: 1"))
    .text(8, "doc")
    .raw(UNKNOWN);
    model(10, &body)
        .text(models::PRODUCER_NAME, "")
        .text(6, "doc")
        .msg(
            models::OPSET_IMPORT,
            &Msg::new().text(1, "com.acme").int(2, 1),
        )
        .msg(14, &entry)
        .msg(20, &Msg::new().msg(2, &graph(&[], &[], &[])))
        .msg(models::FUNCTIONS, &twice)
        .raw(UNKNOWN)
        .0
}

#[test]
fn unchanged_model_is_written_byte_for_byte() {
    let bytes = rich();
    let module = read(&bytes).unwrap();
    assert_eq!(bytes_of(&module), bytes);
}

/// A model that is encoded again has equal fields.
#[test]
fn encoding_without_spans_preserves_all_fields() {
    let bytes = rich();
    let module = read(&bytes).unwrap();
    let fresh = fresh_bytes_of(&module);
    assert_eq!(
        super::real::sorted_fields(&fresh),
        super::real::sorted_fields(&bytes)
    );
    let reencoded = fresh_bytes_of(&read(&fresh).unwrap());
    assert_eq!(reencoded, fresh);
}

/// The IR of the model.
#[test]
fn ir_of_model_is_complete() {
    let module = read(&rich()).unwrap();
    let keys: Vec<&str> = module
        .metadata()
        .iter()
        .map(|pair| pair.0.as_str())
        .collect();
    assert_eq!(keys, ["onnx.ir_version", "onnx.producer_name"]);
    let text = passdock_ir::text::print(&module);
    expect_test::expect_file!["rich.ir"].assert_eq(&text);
}

/// Conversion to IR text drops the spans and keeps the interface, even for an old model.
#[test]
fn model_round_trips_through_text() {
    for ir_version in [3, 10] {
        let body = graph(
            &[
                constant("k", &[1.0]),
                node("y = Add(x, w)"),
                node("b = Mul(k, y)"),
                node_with(
                    "z = If(b)",
                    [&graph_attr(
                        "then_branch",
                        &graph(&[node("n = Neg(y)")], &[], &["n"]),
                    )],
                ),
            ],
            &["x: 2", "w: 1"],
            &["z: 2"],
        );
        let bytes = model(
            ir_version,
            &body.msg(graphs::INITIALIZER, &floats("w", &[3.0])),
        )
        .0;
        let text = passdock_ir::text::print(&read(&bytes).unwrap());
        let module = passdock_ir::text::parse(&text).unwrap();
        let shown = super::show::show(&bytes_of(&module));
        assert_eq!(shown, super::show::show(&bytes));
    }
}
