//! Properties of files that the IR doesn't model.

use super::build::{Msg, floats, graph, info, model, node};
use super::{bytes_of, read};
use crate::format::schema::{graph as graphs, model as models, tensor};
use crate::{FileFacts, SparseFacts, file_facts, sparse_facts};

fn property(key: &str, value: &str) -> Msg {
    Msg::new().text(1, key).text(2, value)
}

#[test]
fn metadata_is_listed_in_file_order() {
    let body = graph(&[node("y = Neg(x)")], &["x"], &["y"]);
    let file = model(10, &body)
        .msg(models::METADATA_PROPS, &property("b", "1"))
        .msg(models::METADATA_PROPS, &property("a", "{\"x\": 2}"));
    let module = read(&file.0).unwrap();
    let facts = file_facts(&module).unwrap().unwrap();
    assert_eq!(
        facts,
        FileFacts {
            metadata: vec![
                ("b".to_owned(), "1".to_owned()),
                ("a".to_owned(), "{\"x\": 2}".to_owned())
            ],
            initializer_inputs: 0
        }
    );
    assert!(bytes_of(&module) == file.0);
    assert_eq!(file_facts(&passdock_ir::Module::new()), Ok(None));
}

#[test]
fn malformed_metadata_is_an_error() {
    let body = graph(&[node("y = Neg(x)")], &["x"], &["y"]);
    let file = model(10, &body)
        .msg(models::METADATA_PROPS, &property("a", "b"))
        .bytes(models::METADATA_PROPS, &[0x0a, 9, b'x']);
    let error = file_facts(&read(&file.0).unwrap()).unwrap_err().to_string();
    assert!(
        error.starts_with("`model.onnx`: metadata_props[1]: a length exceeds the rest"),
        "{error}"
    );
}

#[test]
fn initializer_inputs_are_counted() {
    for (ir_version, params, entries) in [(3, 1, 1), (10, 2, 0)] {
        let body = graph(&[node("y = Add(x, w)")], &["x"], &["y"])
            .msg(graphs::INPUT, &info("w: 2"))
            .msg(graphs::INITIALIZER, &floats("w", &[1.0, 2.0]))
            .msg(graphs::INITIALIZER, &floats("v", &[1.0, 2.0]));
        let module = read(&model(ir_version, &body).0).unwrap();
        let facts = file_facts(&module).unwrap().unwrap();
        assert_eq!(facts.initializer_inputs, entries);
        let f = module.function_named("main").unwrap();
        assert_eq!(f.args(f.body()).len(), params);
    }
}

fn sparse(values: &Msg, indices: &[i64], dims: &[i64]) -> Msg {
    let indices = indices
        .iter()
        .fold(Msg::new(), |msg, &dim| msg.int(tensor::DIMS, dim))
        .int(tensor::DATA_TYPE, 7);
    let sparse = Msg::new().msg(1, values).msg(2, &indices);
    dims.iter().fold(sparse, |msg, &dim| msg.int(3, dim))
}

#[test]
fn sparse_constants_report_their_size() {
    let value = sparse(&floats("w", &[1.0, 2.0, 3.0]), &[3, 2], &[100, 10]);
    let body = graph(&[node("y = Add(x, w)")], &["x"], &["y"]);
    let body = body.msg(graphs::SPARSE_INITIALIZER, &value);
    let module = read(&model(10, &body).0).unwrap();
    let f = module.function_named("main").unwrap();
    let op = f.ops_in(f.body()).next().unwrap();
    let attribute = f.bytes_in(f.attrs(op)[0].list);
    assert_eq!(
        sparse_facts(attribute),
        Ok(SparseFacts {
            dtype: passdock_abi::DType::F32,
            elements: 1000,
            stored: 3,
            bytes: 3 * 4 + 6 * 8,
        })
    );
    for (bytes, expected) in [
        (&b""[..], "the attribute has no sparse tensor"),
        (&[0xb2, 1, 9], "a length exceeds"),
        (&[0xb2, 1, 0], "the sparse tensor has no values"),
    ] {
        let error = sparse_facts(bytes).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let huge = sparse(&floats("w", &[]), &[0], &[i64::MAX, i64::MAX]);
    let attribute = Msg::new().msg(crate::format::schema::attr::SPARSE_TENSOR, &huge);
    let error = sparse_facts(&attribute.0).unwrap_err().to_string();
    assert!(error.contains("negative or too large"), "{error}");
}
