//! Modules that the writer rejects, because the reader would: with an error, before a file is created.

use expect_test::{Expect, expect, expect_file};
use passdock_abi::{OpId, SymbolId, ValueId};
use passdock_ir::{AttrData, Function, Module, NewAttr, NewOp, Position, text};

use super::build::{Msg, function, graph, model, node};
use super::{bytes_of, main_of, op, read, value};
use crate::format::schema::{
    attr, attr_type, function as functions, graph as graphs, model as models, opset, value_info,
};
use crate::{EncodeOptions, recursion, remarks, write};

fn parse(source: &str) -> Module {
    text::parse(source).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads a model `y = Relu(x)` from a file.
fn relu() -> Module {
    read(&model(10, &graph(&[node("y = Relu(x)")], &["x"], &["y"])).0).unwrap()
}

#[track_caller]
fn check_error(module: &Module, expected: Expect) {
    let error = write(module, EncodeOptions::default()).err();
    expected.assert_eq(&error.map_or("written".to_owned(), |error| error.to_string()));
}

fn set(module: &mut Module, op: OpId, name: &str, value: AttrData<'_>) {
    let name = module.symbols().intern(name);
    let f = main_of(module);
    f.set_attr(op, &NewAttr::new(name, value)).unwrap();
}

/// Checks the modules of `rejected.txt` against the errors below them.
#[test]
fn invalid_modules_are_rejected() {
    let mut actual = String::new();
    for case in include_str!("rejected.txt").split("# ").skip(1) {
        let (title, rest) = case.split_once('\n').unwrap();
        let (source, _) = rest.split_once("\n! ").unwrap();
        let error = write(&parse(source), EncodeOptions::default())
            .err()
            .unwrap();
        actual += &format!("# {title}\n{source}\n! {error}\n\n");
    }
    expect_file!["rejected.txt"].assert_eq(&(actual.trim_end().to_owned() + "\n"));
}

#[test]
fn too_many_domains_are_rejected() {
    let mut module = relu();
    for number in 0..2000 {
        let domain = module.symbols().intern(&format!("domain{number}"));
        main_of(&mut module).set_opset(domain, 1);
    }
    check_error(
        &module,
        expect!["the model: cannot import 2001 domains; the limit is 1024"],
    );
    let violations = passdock_ir::verify::verify(main_of(&mut module)).unwrap_err();
    expect!["@main: the function has opsets of 2001 domains; the limit is 1024 [function]"]
        .assert_eq(&violations[0].to_string());
}

#[test]
fn invalid_opaque_attributes_are_rejected() {
    let tensor = Msg::new()
        .text(attr::NAME, "a")
        .int(attr::TYPE, attr_type::SPARSE_TENSOR.into())
        .msg(attr::SPARSE_TENSOR, &Msg::new());
    let number = Msg::new().text(attr::NAME, "a").int(attr::I, 1);
    for (name, bytes, expected) in [
        (
            "a",
            &[0xff, 0xff][..],
            expect![
                "op0 (onnx.Relu): invalid `opaque` attribute `a`: not a valid `AttributeProto`"
            ],
        ),
        (
            "a",
            &[],
            expect![
                "op0 (onnx.Relu): invalid `opaque` attribute `a`: not a valid `AttributeProto`"
            ],
        ),
        (
            "b",
            &tensor.0,
            expect![[
                r#"op0 (onnx.Relu): invalid `opaque` attribute `b`: its bytes have the name "a""#
            ]],
        ),
        (
            "a",
            &number.0,
            expect![
                "op0 (onnx.Relu): invalid `opaque` attribute `a`: its value has a regular attribute kind"
            ],
        ),
        ("a", &tensor.0, expect!["written"]),
    ] {
        let mut module = relu();
        let relu = op(main_of(&mut module), "y");
        set(&mut module, relu, name, AttrData::Opaque(bytes));
        check_error(&module, expected);
    }
}

#[test]
fn too_many_attributes_are_rejected() {
    let mut module = relu();
    let relu = op(main_of(&mut module), "y");
    for number in 0..5000 {
        set(&mut module, relu, &format!("a{number}"), AttrData::Int(1));
    }
    check_error(
        &module,
        expect!["op0 (onnx.Relu): a node cannot have more than 4096 attributes, found 5000"],
    );
}

#[test]
fn op_names_must_be_canonical() {
    let mut module = relu();
    let mut errors = String::new();
    for name in ["a b.F", "ai.onnx.Relu", "acme..F"] {
        let name = module.symbols().intern(name);
        let f = main_of(&mut module);
        let created = f.create_op(&NewOp::new(name), Position::end(f.body()));
        errors += &(created.unwrap_err().message + "\n");
    }
    expect![[r#"
        name "a b.F" is not canonical: expected `"a b".F`
        name "ai.onnx.Relu" is not canonical: expected `onnx.Relu`
        name "acme..F" is not canonical: expected `"acme.".F`
    "#]]
    .assert_eq(&errors);
}

#[test]
fn unknown_element_types_are_preserved() {
    // An unknown code is one of a later ONNX.
    let later =
        parse("module { fn @main(%x: dtype99[2]) -> (%y) { %y = onnx.Relu(%x) return %y } }");
    read(&bytes_of(&later)).unwrap();
    // Invalid parts of the file are copied unless they are touched.
    let invalid = Msg::new().msg(1, &Msg::new().int(1, 0x8000));
    let invalid = Msg::new()
        .text(value_info::NAME, "x")
        .msg(value_info::TYPE, &invalid);
    let graph = graph(&[node("y = Relu(x)")], &[], &["y"]).msg(graphs::INPUT, &invalid);
    let mut module = read(&model(10, &graph).0).unwrap();
    let relu = op(main_of(&mut module), "y");
    set(&mut module, relu, "a", AttrData::Int(1));
    read(&bytes_of(&module)).unwrap();
}

#[test]
fn recursive_functions_are_rejected_when_touched() {
    // Invalid parts of the file are copied unless they are touched.
    let f = function(
        "acme",
        "F",
        &[node("w = F(v)").text(7, "acme")],
        &["v"],
        &["w"],
    );
    let bytes = model(10, &graph(&[node("y = Relu(x)")], &["x"], &["y"]))
        .msg(models::FUNCTIONS, &f)
        .0;
    let mut module = read(&bytes).unwrap();
    let cycle = recursion(&module).unwrap();
    assert_eq!(cycle, "@acme.F calls @acme.F");
    assert!(bytes_of(&module) == bytes);
    let relu = op(main_of(&mut module), "y");
    set(&mut module, relu, "a", AttrData::Int(1));
    bytes_of(&module);
    let name = module.symbols().intern("acme.F");
    let f = module.function_mut(name).unwrap();
    let call = op(f, "w");
    let a = f.symbols().intern("a");
    f.set_attr(call, &NewAttr::new(a, AttrData::Int(1)))
        .unwrap();
    check_error(
        &module,
        expect![
            "ONNX functions cannot be recursive, but @acme.F calls @acme.F; remove one of the calls before exporting"
        ],
    );
}

/// Returns the imports in a file: those of the model, then those of its functions.
fn imports(bytes: &[u8]) -> String {
    let message = crate::format::wire::Message::whole(bytes);
    let text = |message, number| {
        let mut opsets = Vec::new();
        for import in crate::format::fields::bodies(message, number) {
            crate::format::opsets::read_opset(import.unwrap(), &mut opsets).unwrap();
        }
        format!("{opsets:?}\n")
    };
    let mut lines = text(message, models::OPSET_IMPORT);
    for function in crate::format::fields::bodies(message, models::FUNCTIONS) {
        lines += &text(function.unwrap(), functions::OPSET_IMPORT);
    }
    lines
}

/// A function in which a pass adds a call of another function, whose domain isn't imported.
#[test]
fn domains_of_called_functions_are_imported() {
    let f = function("acme", "F", &[node("w = Relu(v)")], &["v"], &["w"]);
    let import = |domain| {
        Msg::new()
            .text(opset::DOMAIN, domain)
            .int(opset::VERSION, 1)
    };
    let call = node("y = F(x)").text(crate::format::schema::node::DOMAIN, "acme");
    let bytes = model(10, &graph(&[call], &["x"], &["y"]))
        .msg(models::OPSET_IMPORT, &import("acme"))
        .msg(models::FUNCTIONS, &f)
        .0;
    let mut module = read(&bytes).unwrap();
    let added = r#"fn @new.G(%x) -> (%y) opset("" = 17) { %y = onnx.Abs(%x) return %y }"#;
    let mut added = text::parse_body(added, module.symbols().clone()).unwrap();
    // Created by a pass.
    added.set_opset(passdock_abi::symbol::EMPTY, 17);
    module.insert(added).unwrap();
    let names = ["acme.F", "new.G"].map(|name| module.symbols().intern(name));
    let f = module.function_mut(names[0]).unwrap();
    let (relu, v) = (op(f, "w"), value(f, "v"));
    replace(f, relu, names[1], v);
    expect![[r#"
        [("", 17), ("acme", 1), ("new", 1)]
        [("", 17), ("new", 1)]
        [("", 17)]
    "#]]
    .assert_eq(&imports(&bytes_of(&module)));
    assert_eq!(remarks(&module), []);
    // Main is untouched: its bytes are those of the file.
    assert!(!main_of(&mut module).is_touched());
}

fn replace(f: &mut Function, op: OpId, name: SymbolId, operand: ValueId) {
    let ty = f.value(f.result(op, 0).unwrap()).ty;
    let (operands, types) = ([operand], [ty]);
    let new = NewOp {
        operands: &operands,
        result_types: &types,
        ..NewOp::new(name)
    };
    f.replace_op(op, &new).unwrap();
}

#[test]
fn missing_imports_are_reported() {
    let module = parse(
        r#"module {
        fn @main(%x) -> (%y) opset("" = 17) { %a = acme.F(%x) %b = com.Op(%a) %y = com.Op2(%b) return %y }
        fn @acme.F(%x) -> (%y) { %y = onnx.Relu(%x) return %y } }"#,
    );
    let found = remarks(&module).into_iter();
    let lines: Vec<String> = found.map(|remark| remark.message + "\n").collect();
    expect![[r#"
        @main imports no opset of domain "acme" of `acme.F`, so runtimes may reject the model
        @main imports no opset of domain "com" of `com.Op`, so runtimes may reject the model
        @acme.F imports no opset of domain "" of `onnx.Relu`, so runtimes may reject the model
    "#]]
    .assert_eq(&lines.concat());
}

/// A pass may set a name of the maximum length. A number that the writer appends fits.
#[test]
fn longest_names_can_be_read_back() {
    let mut module = relu();
    let long = "n".repeat(passdock_ir::symbols::MAX_SYMBOL_BYTES);
    let f = main_of(&mut module);
    let loc = f.add_name_loc(&long);
    let relu = op(f, "y");
    let name = f.op(relu).name;
    for _ in 0..3 {
        let x = value(f, "x");
        let (operands, types) = ([x], [f.value(x).ty]);
        let new = NewOp {
            operands: &operands,
            result_types: &types,
            ..NewOp::new(name)
        };
        let created = f.create_op(&new, Position::before(relu)).unwrap();
        f.set_loc(created, loc).unwrap();
    }
    read(&bytes_of(&module)).unwrap();
}
