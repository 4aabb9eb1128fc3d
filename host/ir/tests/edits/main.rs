//! Effects and errors of edits, and isolation of snapshots.

mod inline;
mod script;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod values;

use expect_test::{Expect, expect};
use passdock_abi::{OpId, RegionId, Status, SymbolId, TypeId, ValueId};
use passdock_ir::{Edit, Function, Module, NewOp, NewPort, Position, text, verify};

const SOURCE: &str = r#"module {
  fn @f(%x: f32[2], %c: bool[]) -> (%y: f32[2]) {
    %w = const f32[2] [1.0, 2.0]
    %a = onnx.Relu(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    %i = onnx.Shape(%x) : i64[1]
    %r = onnx.If(%c) {then_branch = region} : f32[2]
      region then_branch(%p: f32[2]) {
        %t = onnx.Add(%b, %p) : f32[2]
        yield %t
      }
    return %r
  }
  fn @g(%x: f32[2]) {
    %o = onnx.Loop(%x) : f32[2]
      region body(%p: f32[2]) {
        %q = onnx.Add(%p, %x) : f32[2]
        yield %q
      }
    return %o
  }
}
"#;

pub(crate) fn source() -> Module {
    text::parse(SOURCE).expect("valid IR")
}

pub(crate) fn function<'m>(module: &'m mut Module, name: &str) -> &'m mut Function {
    let name = module.symbols().find(name).expect("a name");
    module.function_mut(name).expect("a function of this name")
}

pub(crate) fn op(f: &Function, name: &str) -> OpId {
    let mut ops = f.walk(f.body());
    ops.find(|&op| f.text(f.op(op).name) == name)
        .expect("an op of this name")
}

pub(crate) fn value(f: &Function, name: &str) -> ValueId {
    let named = |id: &ValueId| {
        let name_of = f.value(*id).name;
        name_of.is_some() && f.text(name_of) == name
    };
    let ids = (0..f.value_ids()).map(|at| ValueId(at as u32));
    ids.filter(|&id| f.live_value(id).is_ok())
        .find(named)
        .expect("a value of this name")
}

pub(crate) fn inner(f: &Function, name: &str) -> RegionId {
    let mut regions = f.regions_of(op(f, name));
    regions.next().expect("a region")
}

/// Tries an edit of `@f` that is rejected: checks its message, and that nothing changed.
#[track_caller]
pub(crate) fn check_rejected<T: std::fmt::Debug>(
    edit: impl FnOnce(&mut Function) -> Edit<T>,
    status: Status,
    expected: Expect,
) {
    let mut module = source();
    let f = function(&mut module, "f");
    let version = f.version();
    let error = edit(f).expect_err("rejected");
    assert_eq!(f.version(), version, "a rejected edit changes nothing");
    expected.assert_eq(&error.message);
    assert_eq!(error.status, status);
    assert_eq!(text::print(&module), SOURCE);
    verify::verify_module(&module).expect("unchanged");
}

pub(crate) fn new_op(f: &Function, name: &str) -> NewOp<'static> {
    NewOp::new(f.symbols().intern(name))
}

#[test]
fn stale_ids_are_errors() {
    let erase_shape = |f: &mut Function| {
        let shape = op(f, "onnx.Shape");
        f.erase_op(shape).expect("unused");
        shape
    };
    let mut module = source();
    let f = function(&mut module, "f");
    let value = f.result(op(f, "onnx.Shape"), 0).expect("one");
    let erased = erase_shape(f);
    let errors = [
        f.erase_op(erased).unwrap_err(),
        f.erase_op(OpId(77)).unwrap_err(),
        f.set_operand(erased, 0, ValueId::NONE).unwrap_err(),
        f.set_operand(op(f, "onnx.Neg"), 0, value).unwrap_err(),
        f.replace_uses(ValueId(99), value).unwrap_err(),
        f.set_name(value, "n").unwrap_err(),
        f.set_type(value, TypeId(0)).unwrap_err(),
        f.add_arg(
            RegionId(9),
            &NewPort {
                name: "",
                ty: TypeId::NONE,
            },
        )
        .unwrap_err(),
        f.set_type(ValueId(0), TypeId(99)).unwrap_err(),
        f.erase_constant(passdock_abi::ConstId(9)).unwrap_err(),
        f.create_op(&NewOp::new(SymbolId(0)), Position::before(erased))
            .unwrap_err(),
    ];
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(errors.iter().all(|error| error.status == Status::STALE));
    expect![[r#"
        op2 was erased
        function `@f` has no op op77
        op2 was erased
        v5 was erased
        function `@f` has no value v99
        v5 was erased
        v5 was erased
        function `@f` has no region region9
        function `@f` has no type type99
        function `@f` has no constant const9
        op2 was erased"#]]
    .assert_eq(&text.join("\n"));
}
