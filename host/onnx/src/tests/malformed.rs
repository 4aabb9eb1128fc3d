//! Malformed files: they are an error or a module, and never a crash.

use expect_test::expect;

use super::build::{Msg, attr, floats, function, graph, graph_attr, info, model, node, node_with};
use super::fidelity::rich;
use super::{bytes_of, fresh_bytes_of, read};
use crate::format::schema::{
    attr as attrs, attr_type, graph as graphs, model as models, node as nodes, tensor,
};
use crate::format::wire::put_bytes;

/// Checks that a file, if it can be read, is written unchanged and can be encoded again.
fn check_bytes(bytes: &[u8]) -> bool {
    let Ok(module) = read(bytes) else {
        return false;
    };
    assert!(bytes_of(&module) == bytes);
    if let Ok(fresh) = crate::write(&module, super::FRESH) {
        // Missing data is an error here.
        let _ = fresh.to_bytes();
    }
    for f in module.functions() {
        for (id, _) in f.live_constants() {
            let _ = f.constant_data(id).bytes();
        }
    }
    true
}

#[test]
fn truncated_files_do_not_crash() {
    let bytes = rich();
    assert!(check_bytes(&bytes));
    for len in 0..bytes.len() {
        check_bytes(&bytes[..len]);
    }
}

#[test]
fn changed_bytes_do_not_crash() {
    let bytes = rich();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut read = 0;
    for _ in 0..20_000 {
        let mut changed = bytes.clone();
        for _ in 0..1 + next(3) {
            let at = next(changed.len());
            changed[at] = next(256) as u8;
        }
        read += usize::from(check_bytes(&changed));
    }
    assert!(read > 1000, "{read}");
}

/// Removes or duplicates each byte, so that lengths don't match.
#[test]
fn removed_and_duplicated_bytes_do_not_crash() {
    let bytes = rich();
    for at in 0..bytes.len() {
        let mut shorter = bytes.clone();
        shorter.remove(at);
        check_bytes(&shorter);
        let mut longer = bytes.clone();
        longer.insert(at, bytes[at]);
        check_bytes(&longer);
    }
}

fn error(graph: &Msg) -> String {
    read(&model(10, graph).0).unwrap_err().to_string()
}

#[test]
fn errors_name_problem_and_position() {
    let relu = || [node("y = Relu(x)")];
    let sized = |dims: &[i64], raw: &[u8]| {
        let msg = Msg::new().int(tensor::DATA_TYPE, 1).text(tensor::NAME, "w");
        let msg = dims
            .iter()
            .fold(msg, |msg, &dim| msg.int(tensor::DIMS, dim));
        graph(&relu(), &["x"], &["y"]).msg(graphs::INITIALIZER, &msg.bytes(tensor::RAW_DATA, raw))
    };
    let bad_inner = graph(&[node("z = Relu(nothing)")], &[], &["z"]);
    let cases = [
        error(&graph(&[node("y = Relu(z) #r")], &["x"], &["y"])),
        error(&graph(&relu(), &["x"], &["z"])),
        error(&graph(
            &[node("y = Relu(x)"), node("y = Relu(x)")],
            &["x"],
            &["y"],
        )),
        error(&graph(
            &[node("a = Relu(b)"), node("b = Relu(a)")],
            &["x"],
            &["a"],
        )),
        error(&graph(
            &[node_with(
                "y = If(x) #if",
                [&graph_attr("then", &bad_inner)],
            )],
            &["x"],
            &["y"],
        )),
        error(&sized(&[2], &[0; 4])),
        error(&sized(&[-1], &[])),
        error(&sized(&[i64::MAX, 4], &[])),
        error(&graph(
            &[node_with("y = Relu(x)", [&Msg::new().int(attrs::I, 1)])],
            &["x"],
            &["y"],
        )),
        error(&graph(&relu(), &["x"], &["y"]).bytes(graphs::INPUT, &[10, 1, 0xff])),
        error(&graph(&relu(), &["x", "x"], &["y"])),
        error(&graph(&relu(), &["x"], &["y"]).bytes(graphs::NODE, &[10, 9, 1])),
        read(&[]).unwrap_err().to_string(),
        read(b"not a model").unwrap_err().to_string(),
        read(&[0x3a, 0x7f]).unwrap_err().to_string(),
    ];
    expect![["
        `model.onnx`: graph.node[0] (Relu 'r'): undefined name \"z\" (at byte 8)
        `model.onnx`: graph.output[0]: undefined output \"z\" (at byte 36)
        `model.onnx`: graph.node[1] (Relu): duplicate definition of \"y\" (at byte 20)
        `model.onnx`: graph.node[0]: the node depends on its own result (at byte 6)
        `model.onnx`: graph.node[0] (If 'if').node[0] (Relu): undefined name \"nothing\" (at byte 34)
        `model.onnx`: graph.initializer[0] ('w'): expected 8 bytes of data for the tensor's shape, found 4 (at byte \
          58)
        `model.onnx`: graph.initializer[0] ('w'): invalid tensor shape [-1]: negative or too large (at byte 49)
        `model.onnx`: graph.initializer[0] ('w'): invalid tensor shape [9223372036854775807, 4]: negative or too \
          large (at byte 49)
        `model.onnx`: graph.node[0] (Relu).attribute[0]: an attribute has no name (at byte 20)
        `model.onnx`: graph.input[1] ('�'): a name is not UTF-8 (at byte 51)
        `model.onnx`: graph.input[1] ('x'): duplicate definition of \"x\" (at byte 36)
        `model.onnx`: graph.node[1]: a length exceeds the rest of its message (at byte 50)
        `model.onnx`: expected a binary ONNX model, found an empty file
        `model.onnx`: expected a binary ONNX model, found a text file
        `model.onnx`: truncated, or not an ONNX model: a length exceeds the rest of its message (at byte 1)
    "]].assert_eq(&(cases.join("\n") + "\n"));
}

/// Ten thousand levels of nested graphs.
#[test]
fn nesting_depth_is_limited() {
    let nest = |levels: usize| {
        let mut body = graph(&[node("y = Relu(x)")], &[], &["y"]).0;
        for _ in 0..levels {
            let mut attribute = Msg::new().text(attrs::NAME, "g").int(attrs::TYPE, 5).0;
            put_bytes(&mut attribute, attrs::G, &body);
            let mut outer = node("y = If(x)").0;
            put_bytes(&mut outer, nodes::ATTRIBUTE, &attribute);
            body = graph(&[Msg(outer)], &[], &["y"]).0;
        }
        model(10, &Msg(body).msg(graphs::INPUT, &info("x"))).0
    };
    let bytes = nest(9_999);
    let module = read(&bytes).unwrap();
    assert!(bytes_of(&module) == bytes);
    assert_eq!(fresh_bytes_of(&module).len(), bytes.len());
    drop(module);
    let error = read(&nest(10_001)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("region nested deeper than 10000 levels"),
        "{}",
        error.what
    );
}

/// Small files with many parts take little time to read or to reject.
#[test]
fn run_time_is_not_quadratic() {
    let count = 20_000;
    let attributes = vec![attr("a", attr_type::INT, |msg| msg.int(attrs::I, 1)); 5000];
    let error = error(&graph(
        &[node_with("y = Relu(x)", &attributes)],
        &["x"],
        &["y"],
    ));
    assert!(error.contains("more than 4096 attributes"), "{error}");
    let inputs: Vec<String> = (0..count).map(|i| format!("i{i}")).collect();
    let weights = inputs
        .iter()
        .map(|name| floats(name, &[]))
        .collect::<Vec<_>>();
    let infos = inputs.iter().map(|name| info(name)).collect::<Vec<_>>();
    let list = inputs
        .iter()
        .map(|name| node(&format!("o{name} = Relu({name})")));
    let body = Msg::new()
        .all(graphs::NODE, &list.collect::<Vec<_>>())
        .all(graphs::INPUT, &infos)
        .all(graphs::INITIALIZER, &weights)
        .all(graphs::VALUE_INFO, &infos);
    for ir_version in [3, 10] {
        let bytes = model(ir_version, &body).0;
        let module = read(&bytes).unwrap();
        assert!(bytes_of(&module) == bytes);
        assert_eq!(fresh_bytes_of(&module).len(), bytes.len());
    }
    let local = |i| {
        function(
            "d",
            &format!("F{i}"),
            &[node("b = R(a)"), node("a = R(x)")],
            &["x"],
            &["b"],
        )
    };
    let functions: Vec<Msg> = (0..count).map(local).collect();
    let bytes = model(10, &graph(&[], &[], &[]))
        .all(models::FUNCTIONS, &functions)
        .0;
    assert!(bytes_of(&read(&bytes).unwrap()) == bytes);
    let shadows = (0..count).map(|_| graph_attr("g", &graph(&[node("x = Neg(x)")], &[], &["x"])));
    let ifs: Vec<Msg> = shadows
        .enumerate()
        .map(|(i, g)| node_with(&format!("r{i} = If(x)"), [&g]))
        .collect();
    let bytes = model(10, &graph(&ifs, &["x"], &[])).0;
    assert!(bytes_of(&read(&bytes).unwrap()) == bytes);
}

#[test]
fn duplicate_functions_are_rejected() {
    let local = function("d", "F", &[], &[], &[]);
    let bytes = model(10, &graph(&[], &[], &[]))
        .all(models::FUNCTIONS, [&local, &local])
        .0;
    let error = read(&bytes).unwrap_err();
    assert!(error.what.contains("two functions d.F"), "{error}");
}
