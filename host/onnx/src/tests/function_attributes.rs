//! Attributes of functions, which are stored as metadata of the graph and of the functions.

use expect_test::{ExpectFile, expect, expect_file};
use passdock_abi::{FunctionKind, OpId, TypeId};
use passdock_ir::{AttrData, CloneOps, Function, Module, NewAttr, NewPort, Position, text};

use super::build::{Msg, function, graph, info, model, node};
use super::{bytes_of, fresh_bytes_of, main_of, read};
use crate::format::schema::{doc, graph as graphs, model as models};
use crate::{detach, remarks};

fn parse(source: &str) -> Module {
    text::parse(source).unwrap_or_else(|error| panic!("{error}"))
}

fn entry(key: &str, value: &str) -> Msg {
    Msg::new().text(1, key).text(2, value)
}

/// Returns the entries of the main graph's metadata.
fn metadata(bytes: &[u8]) -> String {
    let module = detach(&read(bytes).unwrap()).unwrap();
    let mut lines = Vec::new();
    let message = crate::format::wire::Message::whole(bytes);
    for graph in crate::format::fields::bodies(message, models::GRAPH) {
        for pair in crate::format::fields::bodies(graph.unwrap(), doc::GRAPH[1]) {
            let pair = pair.unwrap();
            let text = |number| {
                let bytes = crate::format::wire::string_of(pair, number).unwrap();
                String::from_utf8_lossy(bytes).into_owned()
            };
            lines.push(format!("{} = {}\n", text(1), text(2)));
        }
    }
    // The self-contained module has the same facts as the file.
    let back = bytes_of(&module);
    assert_eq!(
        super::real::sorted_fields(&back),
        super::real::sorted_fields(bytes)
    );
    lines.concat()
}

/// Builds a model whose main graph has this metadata.
fn with_metadata(ir_version: i64, pairs: &[(&str, &str)]) -> Vec<u8> {
    let graph = graph(&[node("y = Relu(x)")], &["x"], &["y"]);
    let pairs: Vec<Msg> = pairs.iter().map(|(key, value)| entry(key, value)).collect();
    model(ir_version, &graph.all(doc::GRAPH[1], &pairs)).0
}

/// Returns the main function's attributes in IR text.
fn attributes(module: &Module) -> String {
    let text = text::print(&detach(module).unwrap());
    let line = text.lines().find(|line| line.contains("@main"));
    let (_, attributes) = line.unwrap().split_once("attributes").unwrap();
    attributes.to_owned()
}

fn set(module: &mut Module, name: &str, value: AttrData<'_>) {
    let name = module.symbols().intern(name);
    let main = main_of(module);
    main.set_attr(OpId::NONE, &NewAttr::new(name, value))
        .unwrap();
}

#[test]
fn function_attributes_round_trip() {
    let source = r#"module {
  metadata "onnx.ir_version" = "10"
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) loc("main")
    attributes {SkipOptimization = 1, f = 0.1, s = "a\"\xff", i = [1, -2], none = strings[], g = floats[]} {
    %y = acme.F(%x) : f32[2]
    return %y
  }
  fn @acme.F(%x: ?) -> (%y) opset("" = 17) attributes {param alpha, Compiler = "tensor rt", fs = [inf, 0x7fc00001]} {
    %y = onnx.Relu(%x)
    return %y
  }
}
"#;
    let module = parse(source);
    assert_eq!(remarks(&module), []);
    for bytes in [bytes_of(&module), fresh_bytes_of(&module)] {
        let module = read(&bytes).unwrap();
        let printed = text::print(&detach(&module).unwrap());
        assert_eq!(printed, source.replace("\n    attributes", " attributes"));
        assert!(bytes_of(&module) == bytes);
        expect![[r#"
            passdock.attribute.SkipOptimization = 1
            passdock.attribute.f = 0.1
            passdock.attribute.s = "a\"\xff"
            passdock.attribute.i = [1, -2]
            passdock.attribute.none = strings[]
            passdock.attribute.g = floats[]
        "#]]
        .assert_eq(&metadata(&bytes));
    }
}

#[test]
fn edits_change_only_edited_attributes() {
    let bytes = with_metadata(
        10,
        &[
            ("passdock.attribute.b", " 2 "),
            ("author", "someone"),
            ("passdock.attribute.a", "1"),
            ("passdock.attribute.c", "nonsense"),
            ("passdock.attribute.a", "3"),
            ("passdock.attribute.d", "4"),
        ],
    );
    let mut module = read(&bytes).unwrap();
    expect![" {b = 2, a = 3, d = 4} {"].assert_eq(&attributes(&module));
    assert!(bytes_of(&module) == bytes);
    _ = metadata(&bytes);
    set(&mut module, "a", AttrData::Float(1.0));
    set(&mut module, "new", AttrData::Int(5));
    let d = module.symbols().intern("d");
    main_of(&mut module).remove_attr(OpId::NONE, d).unwrap();
    expect![[r#"
        passdock.attribute.b =  2 
        author = someone
        passdock.attribute.a = 1
        passdock.attribute.c = nonsense
        passdock.attribute.a = 1.0
        passdock.attribute.new = 5
    "#]]
    .assert_eq(&metadata(&bytes_of(&module)));
}

#[test]
fn metadata_order_is_preserved() {
    let bytes = with_metadata(
        10,
        &[
            ("z", "1"),
            ("passdock.attribute.SkipOptimization", "1"),
            ("a", "2"),
            ("passdock.attribute.x", "[1]"),
        ],
    );
    let text = text::print(&detach(&read(&bytes).unwrap()).unwrap());
    assert!(!text.contains("passdock.attribute"), "{text}");
    let back = bytes_of(&parse(&text));
    assert_eq!(metadata(&back), metadata(&bytes));
}

/// Metadata with a parameter's name doesn't set the parameter.
#[test]
fn parameter_is_not_set_by_metadata() {
    let f = function("acme", "F", &[node("w = Relu(v)")], &["v"], &["w"])
        .text(crate::format::schema::function::ATTRIBUTE, "alpha")
        .msg(doc::FUNCTION[1], &entry("passdock.attribute.alpha", "1"));
    let main = graph(&[node("y = Relu(x)")], &["x"], &["y"]);
    let bytes = model(10, &main).msg(models::FUNCTIONS, &f).0;
    let mut module = read(&bytes).unwrap();
    let name = module.symbols().intern("acme.F");
    let added = module.symbols().intern("added");
    let f = module.function_mut(name).unwrap();
    f.set_attr(OpId::NONE, &NewAttr::new(added, AttrData::Int(1)))
        .unwrap();
    let back = text::print(&detach(&read(&bytes_of(&module)).unwrap()).unwrap());
    let header = back.lines().find(|line| line.contains("acme.F")).unwrap();
    expect![[r#"
        fn @acme.F(%v: ?) -> (%w) opset("" = 17) meta {"passdock.attribute.alpha" = "1"}
        extra("0a044a021011") attributes {param alpha, added = 1} {
    "#]]
    .assert_eq(&(header.trim().replace(" extra", "\nextra") + "\n"));
}

#[track_caller]
fn check_remarks(source: &str, expected: ExpectFile) {
    let lines = remarks(&parse(source)).into_iter().map(|part| {
        let function = part.function.unwrap_or_default();
        format!("{function}: {} {}\n", part.message, part.help)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn dropped_attributes_are_reported() {
    let body = "{ %y = onnx.Relu(%x) return %y }";
    check_remarks(
        &format!(
            r#"module {{ metadata "team" = "vision"
            fn @main(%x) -> (%y) attributes {{param p = 1, t = tensor f32[1] [1.0],
              ty = type f32[n], SkipOptimization = 1}} {body}
            fn @acme.F(%x) -> (%y) attributes {{param p = 1, ts = [type f32[n]]}} {body} }}"#
        ),
        expect_file!["function_attributes/dropped_attributes_are_reported.txt"],
    );
    check_remarks(
        &format!(
            r#"module {{ metadata "onnx.ir_version" = "9"
            fn @main(%x) -> (%y) attributes {{SkipOptimization = 1}} {body} }}"#
        ),
        expect_file!["function_attributes/dropped_attributes_are_reported_2.txt"],
    );
}

/// Before IR version 10, such metadata is an unknown field and is preserved.
#[test]
fn attribute_metadata_of_old_files_is_preserved() {
    let bytes = with_metadata(9, &[("passdock.attribute.a", "1")]);
    let mut module = read(&bytes).unwrap();
    set(&mut module, "b", AttrData::Int(1));
    assert_eq!(metadata(&bytes_of(&module)), "passdock.attribute.a = 1\n");
}

/// The documentation and metadata in a value info are copied with the value to another function, like those of ops.
#[test]
fn documentation_of_values_is_cloned() {
    let documented = info("a:2")
        .text(doc::VALUE_INFO[0], "warm")
        .msg(doc::VALUE_INFO[1], &entry("unit", "K"));
    let nodes = [node("a = Relu(x)"), node("y = Neg(a)")];
    let graph = graph(&nodes, &["x:2"], &["y:2"]).msg(graphs::VALUE_INFO, &documented);
    let mut module = read(&model(10, &graph).0).unwrap();
    let main = main_of(&mut module).clone();
    let ops: Vec<OpId> = main.ops_in(main.body()).take(2).collect();
    let name = module.symbols().intern("acme.F");
    let mut f = Function::new(module.symbols().clone(), FunctionKind::GRAPH, name);
    let port = |name| NewPort {
        name,
        ty: TypeId::NONE,
    };
    let param = f.add_arg(f.body(), &port("x")).unwrap();
    let copy = CloneOps {
        ops: &ops,
        source: Some(&main),
        at: Position::end(f.body()),
        captures: &[passdock_abi::Capture {
            value: main.args(main.body()).next().unwrap(),
            replacement: param,
        }],
    };
    let copies = f.clone_ops(&copy).unwrap();
    (f.set_results(f.body(), &copies[1..], &[port("y")])).unwrap();
    module.insert(f).unwrap();
    let printed = text::print(&detach(&read(&bytes_of(&module)).unwrap()).unwrap());
    expect![[r#"
        module {
          metadata "onnx.ir_version" = "10"
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) loc("g") {
            %a doc("warm") meta {unit = "K"} = onnx.Relu(%x) : !f32[2]
            %y = onnx.Neg(%a) : f32[2]
            return %y
          }
          fn @acme.F(%x: ?) -> (%y) {
            %a doc("warm") meta {unit = "K"} = onnx.Relu(%x) : !f32[2]
            %y = onnx.Neg(%a)
            return %y
          }
        }
    "#]]
    .assert_eq(&printed);
}
