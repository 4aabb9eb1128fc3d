//! Models with an IR version below 4, whose initializers are inputs.

use expect_test::expect;
use passdock_abi::{Constant, FunctionKind, LocId};
use passdock_ir::text;

use super::build::{floats, graph, graph_attr, model, node, node_with};
use super::detached::text_of;
use super::show::show;
use super::{bytes_of, main_of, op, read, value};
use crate::format::schema::graph as graphs;

/// Before IR version 4, an initializer's input is part of the interface, even if it is unused.
#[test]
fn initializer_inputs_are_kept() {
    let body = graph(&[node("y = Add(x, w)")], &["x", "w"], &["y"]).all(
        graphs::INITIALIZER,
        &[floats("w", &[1.0]), floats("gone", &[2.0])],
    );
    let bytes = model(3, &body).0;
    let mut module = read(&bytes).unwrap();
    let f = main_of(&mut module);
    let (y, x) = (op(f, "y"), value(f, "x"));
    f.set_operand(y, 1, x).unwrap();
    for name in ["w", "gone"] {
        f.erase_constant(f.value(value(f, name)).constant).unwrap();
    }
    expect![[r#"
        g(x, w) -> (y)
          y = Add(x, x)
          init w: 4 bytes
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
}

/// Functions need a later IR version, in which an initializer's input would make it a parameter. The inputs are removed
/// and the constants stay constants, even in an untouched graph and after conversion to text.
#[test]
fn adding_functions_keeps_constants_of_old_models() {
    let inner = graph(&[node("z = Add(x, v)")], &["v"], &["z"])
        .all(graphs::INITIALIZER, &[floats("v", &[3.0])]);
    let branched = node_with("b = If(w)", [&graph_attr("then_branch", &inner)]);
    let nodes = [branched, node("y = Add(b, w)")];
    let body = graph(&nodes, &["x", "w", "unused"], &["y"]).all(
        graphs::INITIALIZER,
        &[floats("w", &[1.0]), floats("unused", &[2.0])],
    );
    let bytes = model(3, &body).0;
    let parsed = text::parse(&text_of(&bytes)).unwrap();
    for (mut module, is_touched) in [
        (read(&bytes).unwrap(), false),
        (read(&bytes).unwrap(), true),
        (parsed, true),
    ] {
        let symbols = module.symbols().clone();
        let mut new =
            passdock_ir::Function::new(symbols.clone(), FunctionKind::GRAPH, symbols.intern("d.F"));
        let region = new.body();
        new.set_results(region, &[], &[]).unwrap();
        module.insert(new).unwrap();
        let f = main_of(&mut module);
        if is_touched {
            let y = op(f, "y");
            f.set_loc(y, LocId::NONE).unwrap();
        }
        let bytes = bytes_of(&module);
        let mut reread = read(&bytes).unwrap();
        assert_eq!(reread.metadata()[0].1, "8");
        expect![[r#"
            g(x) -> (y)
              b = If(w) then_branch
                g() -> (z)
                  z = Add(x, v)
                  init v: 4 bytes
              y = Add(b, w)
              init w: 4 bytes
              init unused: 4 bytes
            fn d.F() -> ()
        "#]]
        .assert_eq(&show(&bytes));
        let f = main_of(&mut reread);
        assert_eq!(f.args(f.body()).len(), 1);
    }
}

/// The input that is kept reserves its name. A new value with that name is renamed.
#[test]
fn new_value_is_renamed_if_an_input_has_its_name() {
    let body = graph(&[node("y = Add(x, w)")], &["x", "w"], &["y"])
        .all(graphs::INITIALIZER, &[floats("w", &[1.0])]);
    let mut module = read(&model(3, &body).0).unwrap();
    let f = main_of(&mut module);
    let (y, w) = (op(f, "y"), value(f, "w"));
    let constant = f.value(w).constant;
    let ty = f.value(w).ty;
    let data = passdock_ir::ConstantData::inline(2.0_f32.to_le_bytes());
    let new = f.add_constant(ty, data, f.body(), "new").unwrap();
    f.set_operand(y, 1, new).unwrap();
    f.erase_constant(constant).unwrap();
    f.set_name(new, "w").unwrap();
    expect![[r#"
        g(x, w) -> (y)
          w_5 = Constant() value
          y = Add(x, w_5)
          init w: 4 bytes
    "#]]
    .assert_eq(&show(&bytes_of(&module)));
}

/// Before IR version 4, an initializer's input is kept, with its bytes.
#[test]
fn constants_of_inputs_are_marked_kept() {
    let list = [node("y = Add(x, w)"), node("z = Add(y, v)")];
    let body = graph(&list, &["x", "w"], &["z"]).all(
        graphs::INITIALIZER,
        &[floats("w", &[1.0]), floats("v", &[2.0])],
    );
    let flags = |version| {
        let mut module = read(&model(version, &body).0).unwrap();
        let f = main_of(&mut module);
        let is_kept =
            |name| f.constant(f.value(value(f, name)).constant).flags & Constant::KEPT != 0;
        ["w", "v"].map(is_kept)
    };
    assert_eq!(flags(3), [true, false]);
    assert_eq!(flags(4), [false, false]);
}
