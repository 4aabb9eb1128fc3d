//! Edits that can't be expressed as text: unassigned ids, and data of the wrong size.

use expect_test::expect;
use passdock_abi::{ConstId, RegionId, Status, SymbolId, TypeId, ValueId};
use passdock_ir::{
    AttrData, ConstantData, Function, NewAttr, NewOp, NewPort, Position, text, verify,
};

use crate::{check_rejected, function, op, source, value};

#[test]
fn unknown_ids_are_rejected() {
    let unknown = SymbolId(1 << 20);
    check_rejected(
        |f| f.create_op(&NewOp::new(unknown), Position::end(f.body())),
        Status::STALE,
        expect!["sym1048576 is not a symbol of the module"],
    );
    check_rejected(
        |f| f.set_attr(op(f, "onnx.Relu"), &NewAttr::new(unknown, AttrData::Int(1))),
        Status::STALE,
        expect!["sym1048576 is not a symbol of the module"],
    );
    check_rejected(
        |f| {
            let tensor = AttrData::Tensor(ConstId(9));
            f.set_attr(
                op(f, "onnx.Relu"),
                &NewAttr::new(f.symbols().intern("t"), tensor),
            )
        },
        Status::STALE,
        expect!["function `@f` has no constant const9"],
    );
    check_rejected(
        |f| f.inline_region(RegionId(9), &[]),
        Status::STALE,
        expect!["function `@f` has no region region9"],
    );
    check_rejected(
        |f| f.replace_symbols(&[(SymbolId(9999), passdock_abi::Dim::constant(1))]),
        Status::STALE,
        expect!["sym9999 is not a symbol of the module"],
    );
    check_rejected(
        |f| {
            let port = NewPort {
                name: "y",
                ty: TypeId::NONE,
            };
            f.set_results(f.body(), &[value(f, "a")], &[port, port])
        },
        Status::INVALID,
        expect!["expected one port per result, at most 16777216; found 1 values and 2 ports"],
    );
}

#[test]
fn constant_data_must_match_its_type() {
    check_rejected(
        |f| {
            let ty = f.value(value(f, "x")).ty;
            f.add_constant(ty, ConstantData::inline([0; 4]), RegionId::NONE, "k")
        },
        Status::REJECTED,
        expect!["wrong data size: expected 8 bytes for 2 elements of `f32`, found 4"],
    );
    check_rejected(
        |f| f.add_constant(TypeId(0), ConstantData::inline([]), RegionId::NONE, "k"),
        Status::REJECTED,
        expect!["a constant must be a scalar or a tensor with a static shape"],
    );
    let mut module = source();
    let f = function(&mut module, "f");
    let w = f.as_constant(value(f, "w")).expect("a constant");
    let (ty, data) = (f.constant(w).ty, f.constant_data(w).clone());
    let tensor = f.add_tensor(ty, data, RegionId::NONE).expect("valid data");
    let error = f.erase_constant(tensor).expect_err("not a value");
    expect!["cannot erase constant const1: it is the tensor of an attribute"]
        .assert_eq(&error.message);
}

/// A no-op edit doesn't change the version.
#[test]
fn removing_an_unknown_domain_is_no_change() {
    let mut module = source();
    let f = function(&mut module, "f");
    let version = f.version();
    f.remove_opset(f.symbols().intern("acme"))
        .expect("no change");
    assert_eq!(f.version(), version);
}

#[test]
fn dim_symbols_are_listed() {
    let text = "module { fn @f(%x: f32[n,m], %s: seq<f32[n*4]>, %d: f32[k]) { return } }";
    let mut module = text::parse(text).expect("valid IR");
    let f = function(&mut module, "f");
    let params = f.args(f.body()).map(|param| f.value(param).ty);
    let symbols = f.dim_symbols(params);
    let names: Vec<&str> = symbols.iter().map(|&id| f.text(id)).collect();
    assert_eq!(names, ["n", "m", "k"]);
}

#[test]
fn attribute_keeps_tensor_of_erased_constant() {
    let source = r#"module {
  fn @f(%c: bool[], %s: i64[1]) -> (%y: f32[2]) {
    %k = const f32[1] [1.0]
    %r = onnx.If(%c) {then_branch = region} : f32[2]
      region then_branch {
        %w = const f32[1] [2.0]
        %t = onnx.ConstantOfShape(%s) {value = tensor f32[1] [3.0]} : f32[2]
        yield %t
      }
    %a = onnx.Neg(%r) : f32[2]
    return %a
  }
}
"#;
    let mut module = text::parse(source).expect("valid IR");
    let f = function(&mut module, "f");
    let if_op = op(f, "onnx.If");
    let [outer, nested] = ["k", "w"].map(|name| f.value(value(f, name)).constant);
    let tensor_attr = ConstId(f.attrs(op(f, "onnx.ConstantOfShape"))[0].bits as u32);
    let name = |f: &Function, name: &str| f.symbols().intern(name);
    for (attr, tensor) in [("a", outer), ("b", nested), ("c", tensor_attr)] {
        let attr = NewAttr::new(name(f, attr), AttrData::Tensor(tensor));
        f.set_attr(op(f, "onnx.Neg"), &attr).expect("an attribute");
    }
    let tensors = AttrData::Tensors(&[outer, nested, tensor_attr]);
    let all = [NewAttr::new(name(f, "all"), tensors)];
    let new = NewOp {
        operands: &[value(f, "s")],
        result_types: &[f.value(value(f, "t")).ty],
        attrs: &all,
        ..NewOp::new(name(f, "onnx.Other"))
    };
    let created = f
        .create_op(&new, Position::before(if_op))
        .expect("valid data");
    let created: Vec<ValueId> = f.results(created).collect();
    f.replace_op_with(if_op, &created).expect("replaced");
    f.erase_constant(outer).expect("unused");
    verify::verify_module(&module).expect("valid after edits");
    expect![[r#"
        module {
          fn @f(%c: bool[], %s: i64[1]) -> (%y: f32[2]) {
            %r = onnx.Other(%s) {all = [tensor f32[1] [1.0], tensor f32[1] [2.0], tensor f32[1] [3.0]]} : f32[2]
            %a = onnx.Neg(%r) {a = tensor f32[1] [1.0], b = tensor f32[1] [2.0], c = tensor f32[1] [3.0]} : f32[2]
            return %a
          }
        }
    "#]].assert_eq(&text::print(&module));
    let mut compacted = module.clone();
    function(&mut compacted, "f").compact();
    assert_eq!(text::print(&compacted), text::print(&module));
}
