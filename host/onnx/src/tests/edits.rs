//! Edited modules: only the edited parts of the file change.

use expect_test::expect;
use passdock_abi::{DType, Dim, ValueId};
use passdock_ir::{AttrData, ConstantData, Function, NewAttr, NewOp, NewPort, Position, TypeData};

use super::build::{
    Msg, constant, floats, function, graph, graph_attr, info, int_attr, model, node, node_with,
};
use super::show::show;
use super::{bytes_of, fresh_bytes_of, main_of, op, read, value};
use crate::format::schema::{graph as graphs, model as models, node as nodes, opset};

/// Shows a model after an edit, and checks that the result with and without spans is the same.
#[track_caller]
pub(super) fn check(bytes: &[u8], edit: impl FnOnce(&mut Function), expected: expect_test::Expect) {
    let mut module = read(bytes).unwrap();
    edit(main_of(&mut module));
    let written = bytes_of(&module);
    expected.assert_eq(&show(&written));
    assert_eq!(show(&fresh_bytes_of(&module)), show(&written));
    // The output can be read, and is unchanged when written again.
    let reread = read(&written).unwrap();
    assert_eq!(bytes_of(&reread), written);
}

pub(super) fn chain() -> Vec<u8> {
    let list = [
        node("a = Relu(x) #first").text(6, "doc"),
        node_with("b = Softmax(a) #second", [&int_attr("axis", 1)])
            .msg(9, &Msg::new().text(1, "k")),
        node("y = Neg(b) #third"),
    ];
    let body =
        graph(&list, &["x: 2"], &["y: 2"]).all(graphs::VALUE_INFO, &[info("a: 2"), info("b: 2")]);
    model(10, &body).0
}

#[test]
fn erasing_an_op_erases_its_value_info() {
    check(
        &chain(),
        |f| f.replace_op_with(op(f, "b"), &[value(f, "a")]).unwrap(),
        expect![[r#"
            g(x) -> (y)
              a = Relu(x) #first field 6
              y = Neg(a) #third
              info a
        "#]],
    );
}

#[test]
fn edited_node_keeps_its_other_fields() {
    check(
        &chain(),
        |f| {
            let axis = f.symbols().intern("axis");
            let keep = f.symbols().intern("keep");
            let b = op(f, "b");
            f.set_attr(b, &NewAttr::new(axis, AttrData::Int(-1)))
                .unwrap();
            f.set_attr(b, &NewAttr::new(keep, AttrData::String(b"yes")))
                .unwrap();
        },
        expect![[r#"
            g(x) -> (y)
              a = Relu(x) #first field 6
              b = Softmax(a) #second axis=-1 keep="yes" field 9
              y = Neg(b) #third
              info a
              info b
        "#]],
    );
}

#[test]
fn new_ops_are_written_in_program_order() {
    check(
        &chain(),
        |f| {
            let (abs, ty) = (
                f.symbols().intern("com.acme.Abs"),
                f.value(value(f, "a")).ty,
            );
            let operands = [value(f, "a")];
            let new = NewOp {
                operands: &operands,
                result_types: &[ty],
                ..NewOp::new(abs)
            };
            let created = f.create_op(&new, Position::before(op(f, "b"))).unwrap();
            let created = f.result(created, 0).unwrap();
            f.set_operand(op(f, "b"), 0, created).unwrap();
        },
        expect![[r#"
            g(x) -> (y)
              a = Relu(x) #first field 6
              Abs_6 = com.acme.Abs(a)
              b = Softmax(Abs_6) #second axis=1 field 9
              y = Neg(b) #third
              info a
              info b
        "#]],
    );
}

#[test]
fn replacement_inherits_name_and_value_info() {
    check(
        &chain(),
        |f| {
            let elu = f.symbols().intern("onnx.Elu");
            let operands = [value(f, "x")];
            let new = NewOp {
                operands: &operands,
                result_types: &[passdock_abi::TypeId::NONE],
                ..NewOp::new(elu)
            };
            f.replace_op(op(f, "a"), &new).unwrap();
        },
        expect![[r#"
            g(x) -> (y)
              a = Elu(x) #first field 6
              b = Softmax(a) #second axis=1 field 9
              y = Neg(b) #third
              info a
              info b
        "#]],
    );
}

#[test]
fn moved_ops_are_written_in_program_order() {
    let list = [
        node("a = Relu(x)").text(6, "doc"),
        node("b = Neg(x)"),
        node("y = Add(a, b)"),
    ];
    check(
        &model(10, &graph(&list, &["x"], &["y"])).0,
        |f| f.move_op(op(f, "b"), Position::before(op(f, "a"))).unwrap(),
        expect![[r#"
            g(x) -> (y)
              b = Neg(x)
              a = Relu(x) field 6
              y = Add(a, b)
        "#]],
    );
}

/// An output keeps its name when its value is replaced.
#[test]
fn outputs_keep_their_names() {
    let list = [
        node("a = Relu(x)"),
        node("y = Identity(a)"),
        node("z = Identity(x)"),
        node("v = Identity(a)"),
        node("u = Neg(y)"),
    ];
    check(
        &model(10, &graph(&list, &["x"], &["y", "z", "v", "u"])).0,
        |f| {
            for (name, by) in [("y", "a"), ("z", "x"), ("v", "a")] {
                f.replace_op_with(op(f, name), &[value(f, by)]).unwrap();
            }
        },
        expect![[r#"
            g(x) -> (y, z, v, u)
              y = Relu(x)
              u = Neg(y)
              z = Identity(x) #Identity_z
              v = Identity(y) #Identity_v
        "#]],
    );
}

/// The value that had an output's name may still be used.
#[test]
fn value_with_name_of_output_is_renamed() {
    let list = [node("y = Relu(x)"), node("z = Neg(y)"), node("w = Abs(x)")];
    check(
        &model(10, &graph(&list, &["x"], &["y", "z"])).0,
        |f| {
            let (w, z) = (value(f, "w"), value(f, "z"));
            let ports = ["y", "z"].map(|name| NewPort {
                name,
                ty: passdock_abi::TypeId::NONE,
            });
            f.set_results(f.body(), &[w, z], &ports).unwrap();
        },
        expect![[r#"
            g(x) -> (y, z)
              y_6 = Relu(x)
              z = Neg(y_6)
              y = Abs(x)
        "#]],
    );
}

fn add_scalar(f: &mut Function, data: f32) -> ValueId {
    let ty = f.add_type(TypeData::Tensor(DType::F32, Some(&[Dim::constant(1)])));
    let data = ConstantData::inline(data.to_le_bytes());
    f.add_constant(ty, data, passdock_abi::RegionId::NONE, "folded")
        .unwrap()
}

#[test]
fn new_constants_are_initializers_or_nodes() {
    let list = [
        node("a = Add(x, w)"),
        constant("k", &[1.0]),
        node("y = Mul(a, k)"),
    ];
    let body = graph(&list, &["x", "w"], &["y"]).msg(graphs::INITIALIZER, &floats("w", &[1.0]));
    let edit = |f: &mut Function| {
        let folded = add_scalar(f, 2.0);
        add_scalar(f, 3.0);
        f.set_operand(op(f, "a"), 0, folded).unwrap();
        f.set_operand(op(f, "y"), 1, folded).unwrap();
        let k = f.value(value(f, "k")).constant;
        f.erase_constant(k).unwrap();
    };
    check(
        &model(10, &body).0,
        edit,
        expect![[r#"
            g(x, w) -> (y)
              a = Add(folded, w)
              y = Mul(a, folded)
              init w: 4 bytes
              init folded: 4 bytes
        "#]],
    );
    check(
        &model(3, &body).0,
        edit,
        expect![[r#"
            g(x, w) -> (y)
              folded = Constant() value
              a = Add(folded, w)
              y = Mul(a, folded)
              init w: 4 bytes
        "#]],
    );
}

/// A constant that is a node moves before its first user.
#[test]
fn constant_node_moves_before_its_first_user() {
    let list = [
        constant("j", &[1.0]),
        node("a = Add(x, j)"),
        constant("k", &[1.0]),
        node("y = Mul(a, k)"),
    ];
    check(
        &model(10, &graph(&list, &["x"], &["y"])).0,
        |f| {
            let (j, k) = (value(f, "j"), value(f, "k"));
            f.replace_uses(j, k).unwrap();
            f.erase_constant(f.value(j).constant).unwrap();
        },
        expect![[r#"
            g(x) -> (y)
              k = Constant() value
              a = Add(x, k)
              y = Mul(a, k)
        "#]],
    );
}

#[test]
fn edit_in_one_branch_keeps_the_other() {
    let branch =
        |name: &str, list: &[Msg]| graph_attr(name, &graph(list, &[], &["o"]).text(10, "doc"));
    let list = [
        node("c = Cond(x)"),
        node_with(
            "y = If(c) #if",
            [
                &branch("then_branch", &[node("t = Neg(x)"), node("o = Relu(t)")]),
                &branch(
                    "else_branch",
                    &[constant("k", &[1.0]), node("o = Mul(x, k)")],
                ),
            ],
        ),
    ];
    check(
        &model(10, &graph(&list, &["x"], &["y"])).0,
        |f| {
            let t = op(f, "t");
            f.replace_op_with(t, &[value(f, "x")]).unwrap();
        },
        expect![[r#"
            g(x) -> (y)
              c = Cond(x)
              y = If(c) #if then_branch else_branch
                g() -> (o)
                  o = Relu(x)
                  field 10: 3 bytes
                g() -> (o)
                  k = Constant() value
                  o = Mul(x, k)
                  field 10: 3 bytes
        "#]],
    );
}

/// Nodes of a branch replace their `If` unchanged, with their constants and declarations. Names that have another
/// meaning in the outer graph change.
#[test]
fn inlined_branch_is_written_to_the_graph() {
    let then = graph(
        &[
            constant("k2", &[3.0]),
            node("t = Add(k2, k) #first").text(6, "doc"),
            node_with("z = Neg(t) #second", [&int_attr("axis", 1)]),
            node("a = Abs(z)"),
        ],
        &[],
        &["a"],
    )
    .all(graphs::INITIALIZER, &[floats("k", &[1.0, 2.0])])
    .all(graphs::VALUE_INFO, &[info("t: 2"), info("z: 2")]);
    let els = graph(&[node("t = Neg(x)")], &[], &["t"]);
    let list = [
        node("b = Add(x, w)"),
        node_with(
            "r = If(c) #if",
            [
                &graph_attr("then_branch", &then),
                &graph_attr("else_branch", &els),
            ],
        ),
        node("z = Mul(r, b) #last"),
    ];
    let body = graph(&list, &["x: 2", "c"], &["z"])
        .all(graphs::INITIALIZER, &[floats("w", &[1.0, 2.0])])
        .all(graphs::VALUE_INFO, &[info("b: 2")]);
    check(
        &model(10, &body).0,
        |f| {
            let if_op = op(f, "r");
            let region = f.regions_of(if_op).next().unwrap();
            f.inline_region(region, &[]).unwrap();
            let terminator = f.terminator(region).unwrap();
            let value = f.operand(terminator, 0);
            f.replace_op_with(if_op, &[value]).unwrap();
        },
        expect![[r#"
            g(x, c) -> (z)
              b = Add(x, w)
              k2 = Constant() value
              t_1 = Add(k2, k) #first field 6
              z_1 = Neg(t_1) #second axis=1
              a = Abs(z_1)
              z = Mul(a, b) #last
              init w: 8 bytes
              init k: 8 bytes
              info b
              info t_1
              info z_1
        "#]],
    );
}

#[test]
fn functions_are_added_and_removed() {
    let call = node("y = Twice(x)").text(nodes::DOMAIN, "local");
    let twice = function("local", "Twice", &[node("b = Add(a, a)")], &["a"], &["b"]);
    let bytes = model(10, &graph(&[call], &["x"], &["y"]))
        .msg(
            models::OPSET_IMPORT,
            &Msg::new()
                .text(opset::DOMAIN, "local")
                .int(opset::VERSION, 1),
        )
        .msg(models::FUNCTIONS, &twice)
        .0;
    let mut module = read(&bytes).unwrap();
    let symbols = module.symbols().clone();
    let name = symbols.intern("local.Twice");
    let mut thrice = Function::clone(module.function(name).unwrap());
    module
        .function_mut(name)
        .unwrap()
        .set_name(value(&thrice, "b"), "sum")
        .unwrap();
    expect![[r#"
        g(x) -> (y)
          y = local.Twice(x)
        fn local.Twice(a) -> (b)
          b = Add(a, a)
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
    let f = main_of(&mut module);
    f.replace_uses(value(f, "y"), value(f, "x")).unwrap();
    module.remove(name).unwrap();
    thrice = Function::new(
        symbols.clone(),
        thrice.kind(),
        symbols.intern("local.Thrice"),
    );
    let relu = symbols.intern("onnx.Relu");
    let body = thrice.body();
    let a = thrice
        .add_arg(
            body,
            &NewPort {
                name: "a",
                ty: passdock_abi::TypeId::NONE,
            },
        )
        .unwrap();
    let new = NewOp {
        operands: &[a],
        result_types: &[passdock_abi::TypeId::NONE],
        ..NewOp::new(relu)
    };
    let created = thrice.create_op(&new, Position::end(body)).unwrap();
    let result = thrice.result(created, 0).unwrap();
    thrice
        .set_results(
            body,
            &[result],
            &[NewPort {
                name: "b",
                ty: passdock_abi::TypeId::NONE,
            }],
        )
        .unwrap();
    thrice.set_opset(symbols.intern(""), 17);
    module.insert(thrice).unwrap();
    expect![[r#"
        g(x) -> (y)
          y_4 = local.Twice(x)
          y = Identity(x) #Identity_y
        fn local.Thrice(a) -> (b)
          b = Relu(a)
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
}

/// A node that the writer adds needs an opset import.
#[test]
fn added_identity_imports_its_opset() {
    let domain_node = node("a = F(x)").text(nodes::DOMAIN, "d");
    let import = Msg::new().text(opset::DOMAIN, "d").int(opset::VERSION, 1);
    let bytes = Msg::new()
        .int(models::IR_VERSION, 8)
        .msg(models::GRAPH, &graph(&[domain_node], &["x"], &["a"]))
        .msg(models::OPSET_IMPORT, &import);
    let mut module = read(&bytes.0).unwrap();
    let f = main_of(&mut module);
    f.replace_op_with(op(f, "a"), &[value(f, "x")]).unwrap();
    let reread = read(&bytes_of(&module)).unwrap();
    let f = reread.function_named("main").unwrap();
    assert_eq!(f.opset(passdock_abi::symbol::EMPTY), Some(18));
}

#[test]
fn op_unknown_to_onnx_is_rejected() {
    let mut module = read(&chain()).unwrap();
    let f = main_of(&mut module);
    let tuple = NewOp {
        result_types: &[passdock_abi::TypeId::NONE],
        ..NewOp::new(passdock_abi::symbol::TUPLE)
    };
    f.create_op(&tuple, Position::before(op(f, "b"))).unwrap();
    let error = crate::write(&module, crate::EncodeOptions::default())
        .err()
        .unwrap();
    expect!["op4 (tuple): ONNX has no op `tuple`; lower or remove it before exporting"]
        .assert_eq(&error.to_string());
}

#[test]
fn regions_become_graph_attributes() {
    let text = "module { fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {
        %0 = onnx.If(%c) : f32[2]
          region then_branch -> (%t: f32[2]) { %t = onnx.Relu(%x) : f32[2] yield %t }
          region else_branch -> (%e: f32[2]) { %e = onnx.Neg(%x) : f32[2] yield %e }
        return %0
    } }";
    let module = passdock_ir::text::parse(text).unwrap();
    let written = bytes_of(&module);
    expect![[r#"
        main(c, x) -> (y)
          y = If(c) then_branch else_branch
            then_branch() -> (t)
              t = Relu(x)
            else_branch() -> (e)
              e = Neg(x)
    "#]]
    .assert_eq(&show(&written));
    let reread = passdock_ir::text::print(&read(&written).unwrap());
    assert!(
        reread.contains("{then_branch = region, else_branch = region}"),
        "{reread}"
    );
    let unnamed = text.replace("region then_branch", "region");
    let module = passdock_ir::text::parse(&unnamed).unwrap();
    let error = crate::write(&module, Default::default()).err().unwrap();
    expect!["op0 (onnx.If): a region of the op has no name, which ONNX requires"]
        .assert_eq(&error.to_string());
}

/// In ONNX, an output with the name of an input or of another output is the same value.
#[test]
fn conflicting_output_names_are_rejected() {
    let error_of = |outputs: &[&str], edit: fn(&mut Function)| {
        let list = [node("y = Relu(x)")];
        let mut module = read(&model(10, &graph(&list, &["x"], outputs)).0).unwrap();
        edit(main_of(&mut module));
        let error = crate::write(&module, Default::default()).err();
        error.unwrap().to_string()
    };
    let errors = [
        error_of(&["x"], |f| {
            let terminator = f.terminator(f.body()).unwrap();
            f.set_operand(terminator, 0, value(f, "y")).unwrap();
        }),
        error_of(&["y", "y"], |f| {
            let terminator = f.terminator(f.body()).unwrap();
            f.set_operand(terminator, 1, value(f, "x")).unwrap();
        }),
    ];
    expect![[r#"
        an input and an output of the main graph are named "x", but are different values; rename the output
        two outputs of a graph are named "y", but are different values; rename one of them
    "#]].assert_eq(&(errors.join("\n") + "\n"));
    // The inputs of a loop's body are matched by position.
    let body = graph(&[node("q = Neg(p)")], &["p"], &["p"]);
    let list = [node_with("y = Loop(x)", [&graph_attr("body", &body)])];
    let mut module = read(&model(10, &graph(&list, &["x"], &["y"])).0).unwrap();
    let f = main_of(&mut module);
    let region = f.regions_of(op(f, "y")).next().unwrap();
    let terminator = f.terminator(region).unwrap();
    f.set_operand(terminator, 0, value(f, "q")).unwrap();
    expect![[r#"
        g(x) -> (y)
          y = Loop(x) body
            g(p_6) -> (p)
              p = Neg(p_6)
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
}
