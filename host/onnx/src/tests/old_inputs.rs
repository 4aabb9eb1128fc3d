//! Models from before IR version 4, whose initializers are inputs.

use expect_test::expect;
use passdock_abi::Constant;

use super::build::{floats, graph, model, node};
use super::show::show;
use super::{bytes_of, main_of, op, read, value};
use crate::format::schema::graph as graphs;

/// Before IR version 4 an initializer's input is part of the interface, used or not.
#[test]
fn an_old_models_inputs_all_stay() {
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

/// The input that stays has its name: what a pass gives that name gets another one.
#[test]
fn a_new_value_doesnt_get_the_name_of_an_input_that_stays() {
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

/// Before IR version 4 an initializer's entry among the inputs stays, and with it its bytes.
#[test]
fn constants_that_the_interface_keeps_are_marked() {
    let list = [node("y = Add(x, w)"), node("z = Add(y, v)")];
    let body = graph(&list, &["x", "w"], &["z"]).all(
        graphs::INITIALIZER,
        &[floats("w", &[1.0]), floats("v", &[2.0])],
    );
    let kept = |version| {
        let mut module = read(&model(version, &body).0).unwrap();
        let f = main_of(&mut module);
        let is_kept =
            |name| f.constant(f.value(value(f, name)).constant).flags & Constant::KEPT != 0;
        ["w", "v"].map(is_kept)
    };
    assert_eq!(kept(3), [true, false]);
    assert_eq!(kept(4), [false, false]);
}
