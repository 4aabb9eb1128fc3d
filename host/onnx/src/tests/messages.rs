//! Errors for invalid files: the node or tensor, the problem, and the byte offset.

use expect_test::{ExpectFile, expect_file};

use super::build::{Msg, attr, graph, info, model, node, node_with};
use super::{main_of, read};
use crate::format::schema::{
    attr as attrs, attr_type, graph as graphs, model as models, node as nodes, opset, tensor, ty,
    ty_item, value_info,
};
use crate::format::wire::{put_bytes, put_head};

fn error(graph: &Msg) -> String {
    read(&model(10, graph).0).unwrap_err().to_string()
}

#[track_caller]
fn check(errors: &[String], expected: ExpectFile) {
    expected.assert_eq(&(errors.join("\n") + "\n"));
}

/// Builds a graph that adds a tensor `w` to its input.
fn with_tensor(tensor: &Msg) -> Msg {
    graph(&[node("y = Add(x, w)")], &["x"], &["y"]).msg(graphs::INITIALIZER, tensor)
}

/// Builds a tensor `w` without data.
fn header(dims: &[i64], code: i64) -> Msg {
    let msg = Msg::new()
        .text(tensor::NAME, "w")
        .int(tensor::DATA_TYPE, code);
    dims.iter()
        .fold(msg, |msg, &dim| msg.int(tensor::DIMS, dim))
}

fn with_raw(dims: &[i64], code: i64, raw: &[u8]) -> String {
    error(&with_tensor(
        &header(dims, code).bytes(tensor::RAW_DATA, raw),
    ))
}

#[test]
fn raw_data_of_wrong_length_is_rejected() {
    let value = attr("value", attr_type::TENSOR, |msg| {
        let tensor = header(&[2], 1).bytes(tensor::RAW_DATA, &[0; 9]);
        msg.msg(attrs::T, &tensor)
    });
    let plain = node_with("y = Scatter(x) #s", [&value]);
    let constant = node_with("y = Constant() #c", [&value]);
    check(
        &[
            with_raw(&[2], 1, &[0; 7]),
            with_raw(&[2], 1, &[0; 9]),
            with_raw(&[3], 22, &[0; 3]),
            with_raw(&[1], 8, b"text"),
            with_raw(&[2, -1], 1, &[]),
            with_raw(&[1 << 32, 1 << 32], 1, &[]),
            with_raw(&[i64::MAX], 1, &[]),
            error(&graph(&[plain], &["x"], &["y"])),
            error(&graph(&[constant], &[], &["y"])),
        ],
        expect_file!["messages/raw_data_of_wrong_length_is_rejected.txt"],
    );
}

/// Typed data is decoded on demand. A shape that is larger than the data allocates nothing.
#[test]
fn typed_data_of_wrong_length_is_rejected() {
    let data_error = |tensor: &Msg| {
        let mut module = read(&model(10, &with_tensor(tensor)).0).unwrap();
        let f = main_of(&mut module);
        let (id, _) = f.live_constants().next().unwrap();
        f.constant_data(id).bytes().unwrap_err()
    };
    check(
        &[
            data_error(&header(&[3], 1).bytes(tensor::FLOAT_DATA, &[0; 8])),
            data_error(&header(&[3], 1).bytes(tensor::FLOAT_DATA, &[0; 7])),
            data_error(&header(&[1], 7).bytes(tensor::INT64_DATA, &[0xff; 11])),
            data_error(&header(&[1 << 59], 1).bytes(tensor::FLOAT_DATA, &[0; 8])),
            error(&with_tensor(
                &header(&[2], 8).bytes(tensor::STRING_DATA, b"one"),
            )),
        ],
        expect_file!["messages/typed_data_of_wrong_length_is_rejected.txt"],
    );
}

#[test]
fn invalid_external_data_is_rejected() {
    let external = |entries: &[(&str, &str)]| {
        let tensor = header(&[2], 1).int(tensor::DATA_LOCATION, 1);
        let tensor = entries.iter().fold(tensor, |tensor, (key, value)| {
            let entry = Msg::new().text(1, key).text(2, value);
            tensor.msg(tensor::EXTERNAL_DATA, &entry)
        });
        error(&with_tensor(&tensor))
    };
    let file = ("location", "w.bin");
    check(
        &[
            external(&[("offset", "0")]),
            external(&[file, ("offset", "-1")]),
            external(&[file, ("length", "-8")]),
            external(&[file, ("offset", "18446744073709551616")]),
            external(&[file, ("offset", "0x10")]),
            external(&[file, ("length", "")]),
            external(&[file, ("length", "9")]),
        ],
        expect_file!["messages/invalid_external_data_is_rejected.txt"],
    );
}

/// Overlong numbers, groups, and lengths beyond the end, in a node and in its fields.
#[test]
fn broken_wire_format_is_rejected() {
    let in_node = |bytes: &[u8]| {
        let broken = node("y = Relu(x) #r").raw(bytes);
        error(&graph(&[broken], &["x"], &["y"]))
    };
    let in_attribute = |bytes: &[u8]| {
        let broken = Msg::new().text(attrs::NAME, "axis").raw(bytes);
        let broken = node_with("y = Relu(x) #r", [&broken]);
        error(&graph(&[broken], &["x"], &["y"]))
    };
    let endless = [&[0x18][..], &[0xff; 10], &[1]].concat();
    let group = [&[0x9b, 6][..], &[0x08, 1]].concat();
    let groups = [0x9b, 6].repeat(200);
    let beyond = [0x22, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let strings = [&endless[..], &group, &groups, &beyond];
    let errors = strings.map(|bytes| [in_node(bytes), in_attribute(bytes)]);
    check(
        &errors.concat(),
        expect_file!["messages/broken_wire_format_is_rejected.txt"],
    );
    // A complete group is preserved.
    let whole = node("y = Relu(x)").raw(&[0x9b, 6, 0x08, 1, 0x9c, 6]);
    let bytes = model(10, &graph(&[whole], &["x"], &["y"])).0;
    assert!(super::bytes_of(&read(&bytes).unwrap()) == bytes);
}

/// Builds nested messages, each the last field of the enclosing one: a prefix and then the inner message.
fn nested(levels: usize, inner: Vec<u8>, wrap: impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    let mut len = inner.len() as u64;
    let prefixes = (0..levels).map(|_| {
        let prefix = wrap(len);
        len += prefix.len() as u64;
        prefix
    });
    let mut prefixes: Vec<Vec<u8>> = prefixes.collect();
    prefixes.reverse();
    [prefixes.concat(), inner].concat()
}

/// A hundred thousand levels are a short error, and take little time.
#[test]
fn excessive_nesting_is_rejected() {
    let head = |number: u32, fixed: &Msg, len: u64| {
        let mut bytes = fixed.0.clone();
        put_head(&mut bytes, number, len);
        bytes
    };
    let leaf = graph(&[node("y = Relu(x)")], &[], &["y"]);
    let graphs_in_graphs = nested(100_000, leaf.0, |len| {
        let attribute = Msg::new().text(attrs::NAME, "g").int(attrs::TYPE, 5);
        let attribute = head(attrs::G, &attribute, len);
        let len = len + attribute.len() as u64;
        let node = head(nodes::ATTRIBUTE, &node("y = If(x)"), len);
        let len = len + node.len() as u64;
        let graph = head(
            graphs::NODE,
            &Msg::new().msg(graphs::OUTPUT, &info("y")),
            len,
        );
        [graph, node, attribute].concat()
    });
    let too_deep = Msg(graphs_in_graphs).msg(graphs::INPUT, &info("x"));
    let types = nested(100_000, Vec::new(), |len| {
        let item = head(ty_item::ELEM_TYPE, &Msg::new(), len);
        let len = len + item.len() as u64;
        [head(ty::SEQUENCE, &Msg::new(), len), item].concat()
    });
    let input = Msg::new()
        .text(value_info::NAME, "x")
        .bytes(value_info::TYPE, &types);
    let deep_type = graph(&[node("y = Relu(x)")], &[], &["y"]).msg(graphs::INPUT, &input);
    check(
        &[error(&too_deep), error(&deep_type)],
        expect_file!["messages/excessive_nesting_is_rejected.txt"],
    );
}

/// Large numbers of parts, and long names, are limited only by the file.
#[test]
fn large_counts_are_rejected() {
    let mut dims = header(&[], 1);
    for _ in 0..100_000 {
        dims = dims.int(tensor::DIMS, 1);
    }
    let name = "n".repeat((1 << 20) + 1);
    let import = |i| Msg::new().text(opset::DOMAIN, &format!("domain{i}"));
    let imports: Vec<Msg> = (0..2000).map(import).collect();
    let opsets = model(10, &graph(&[], &[], &[])).all(models::OPSET_IMPORT, &imports);
    let mut packed = Vec::new();
    put_bytes(&mut packed, tensor::DIMS, &[1; 100_000]);
    check(
        &[
            error(&with_tensor(&dims.bytes(tensor::RAW_DATA, &[0; 3]))).replace("1, ", ""),
            error(&with_tensor(
                &header(&[], 1).raw(&packed).bytes(tensor::RAW_DATA, &[0; 3]),
            )),
            read(&opsets.0).unwrap_err().to_string(),
            error(&graph(
                &[node(&format!("y = Relu(x) #{name}"))],
                &["x"],
                &["y"],
            )),
        ],
        expect_file!["messages/large_counts_are_rejected.txt"],
    );
}
