//! Uses, types, names, constants, regions and copies of them.

use expect_test::expect;
use passdock_abi::{ConstId, DType, Dim, OpId, RegionId, Status, TypeId, ValueId};
use passdock_ir::{
    AttrValue, CloneRegion, ConstantData, Function, NewAttr, NewOp, NewPort, NewRegion, Position,
    TypeSpec, text, verify,
};

use crate::{accept, function, inner, new_op, op, refuse, source, value};

#[test]
fn uses_move_to_what_is_visible_and_doesnt_contradict() {
    refuse(
        |f| f.replace_uses(value(f, "x"), value(f, "b")),
        Status::REFUSED,
        expect!["%b can't replace %x: it isn't visible at its use in op0 (onnx.Relu)."],
    );
    refuse(
        |f| f.replace_uses(value(f, "b"), value(f, "t")),
        Status::REFUSED,
        expect!["%t can't replace %b: it isn't visible at its use in op4 (onnx.Add)."],
    );
    refuse(
        |f| f.replace_uses(value(f, "b"), value(f, "c")),
        Status::REFUSED,
        expect![
            "The type bool[] contradicts f32[2], the type of %b; a type may be refined, not changed."
        ],
    );
    accept(
        |f| f.replace_uses(value(f, "a"), value(f, "w")),
        expect![[r#"
            @@ -4,3 +4,3 @@
                 %a = onnx.Relu(%x) : f32[2]
            -    %b = onnx.Neg(%a) : f32[2]
            +    %b = onnx.Neg(%w) : f32[2]
                 %i = onnx.Shape(%x) : i64[1]
        "#]],
    );
}

#[test]
fn types_and_names() {
    refuse(
        |f| f.set_type(value(f, "a"), f.value(value(f, "i")).ty),
        Status::REFUSED,
        expect![
            "The type i64[1] contradicts f32[2], the type of %a; a type may be refined, not changed."
        ],
    );
    // What a constant's bytes are of isn't forgotten.
    refuse(
        |f| {
            let unknown = f.add_type(TypeSpec::Unknown);
            f.set_type(value(f, "w"), unknown)?;
            f.set_type(value(f, "w"), f.value(value(f, "i")).ty)
        },
        Status::REFUSED,
        expect![
            "The type i64[1] contradicts f32[2], the type of %w; a type may be refined, not changed."
        ],
    );
    accept(
        |f| {
            let n = Dim::symbol(f.symbols().intern("n"));
            let ty = f.add_type(TypeSpec::Tensor(DType::F32, Some(&[n])));
            // What is known and isn't said again stays known; the unknown type forgets it.
            f.set_type(value(f, "a"), ty)?;
            let unknown = f.add_type(TypeSpec::Unknown);
            f.set_type(value(f, "b"), unknown)?;
            f.set_type(value(f, "b"), ty)?;
            // A name that is taken gets a number, a region's too.
            f.set_name(value(f, "a"), "t")?;
            f.set_name(value(f, "i"), "")
        },
        expect![[r#"
            @@ -3,5 +3,5 @@
                 %w = const f32[2] [1.0, 2.0]
            -    %a = onnx.Relu(%x) : f32[2]
            -    %b = onnx.Neg(%a) : f32[2]
            -    %i = onnx.Shape(%x) : i64[1]
            +    %t_1 = onnx.Relu(%x) : f32[2]
            +    %b = onnx.Neg(%t_1) : f32[n]
            +    %0 = onnx.Shape(%x) : i64[1]
                 %r = onnx.If(%c) {then_branch = region} : f32[2]
        "#]],
    );
}

#[test]
fn constants() {
    refuse(
        |f| {
            let ty = f.value(value(f, "x")).ty;
            f.add_constant(ty, ConstantData::inline([0; 4]), RegionId::NONE, "k")
        },
        Status::REFUSED,
        expect!["A constant of 2 elements of f32 takes 8 bytes, and 4 were given."],
    );
    refuse(
        |f| f.add_constant(TypeId(0), ConstantData::inline([]), RegionId::NONE, "k"),
        Status::REFUSED,
        expect!["A constant's type has to be a scalar, or a tensor whose dims are all known."],
    );
    refuse(
        |f| {
            let w = f.as_constant(value(f, "w")).expect("a constant");
            f.replace_uses(value(f, "a"), value(f, "a"))?;
            let ty = f.value(value(f, "a")).ty;
            f.set_default(value(f, "a"), ty, f.constant_data(w).clone())
        },
        Status::REFUSED,
        expect!["%a isn't a parameter, so it can't have a default."],
    );
    let mut module = source();
    let f = function(&mut module, "f");
    f.set_operand(op(f, "onnx.Neg"), 0, value(f, "w"))
        .expect("it is visible");
    let w = f.as_constant(value(f, "w")).expect("a constant");
    let error = f.erase_constant(w).expect_err("it is used");
    expect!["The constant %w is still used and can't be erased."].assert_eq(&error.message);
    let (ty, data) = (f.constant(w).ty, f.constant_data(w).clone());
    let tensor = f.add_tensor(ty, data, RegionId::NONE).expect("it fits");
    let error = f.erase_constant(tensor).expect_err("it isn't a value");
    expect!["The constant const1 is an attribute's tensor and can't be erased."]
        .assert_eq(&error.message);
}

#[test]
fn regions() {
    refuse(
        |f| {
            let port = NewPort {
                name: "y",
                ty: TypeId::NONE,
            };
            f.set_results(f.body(), &[value(f, "a")], &[port, port])
        },
        Status::INVALID,
        expect!["A region needs a port for each of its results: 1 values, 2 ports."],
    );
    refuse(
        |f| {
            let port = NewPort {
                name: "y",
                ty: TypeId::NONE,
            };
            f.set_results(f.body(), &[value(f, "t")], &[port])
        },
        Status::REFUSED,
        expect![
            "Operand 0 would use %t where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    accept(
        |f| {
            let name = f.symbols().intern("else_branch");
            let region = f.add_region(op(f, "onnx.If"), &NewRegion { name, args: &[] })?;
            let port = NewPort {
                name: "out",
                ty: TypeId::NONE,
            };
            f.set_results(region, &[value(f, "w")], &[port])
        },
        expect![[r#"
            @@ -11,2 +11,5 @@
                   }
            +      region else_branch -> (%out) {
            +        yield %w
            +      }
                 return %r
        "#]],
    );
}

#[test]
fn a_copy_keeps_its_tensors_when_the_region_goes() {
    let source = r#"module {
  fn @f(%c: bool[], %s: i64[1]) -> (%y: f32[2]) {
    %r = onnx.If(%c) {then_branch = region} : f32[2]
      region then_branch {
        %t = onnx.ConstantOfShape(%s) {value = tensor f32[1] [2.0]} : f32[2]
        yield %t
      }
    return %r
  }
}
"#;
    let mut module = text::parse(source).expect("it can be read");
    let f = crate::function(&mut module, "f");
    let held = op(f, "onnx.If");
    let results = f
        .clone_region(&CloneRegion {
            region: inner(f, "onnx.If"),
            source: None,
            at: Position::before(held),
            args: &[],
            captures: &[],
        })
        .expect("it can be copied");
    f.replace_op_with(held, &results).expect("it can go");
    passdock_ir::verify::verify_module(&module).expect("its tensor is there");
    expect![[r#"
        module {
          fn @f(%c: bool[], %s: i64[1]) -> (%y: f32[2]) {
            %t_1 = onnx.ConstantOfShape(%s) {value = tensor f32[1] [2.0]} : f32[2]
            return %t_1
          }
        }
    "#]]
    .assert_eq(&text::print(&module));
}

#[test]
fn an_attribute_keeps_its_tensor_when_the_value_or_its_region_goes() {
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
    let mut module = text::parse(source).expect("it can be read");
    let f = crate::function(&mut module, "f");
    let held = op(f, "onnx.If");
    let [outer, nested] = ["k", "w"].map(|name| f.value(value(f, name)).constant);
    let own = ConstId(f.attrs(op(f, "onnx.ConstantOfShape"))[0].bits as u32);
    let name = |f: &Function, name: &str| f.symbols().intern(name);
    for (attr, tensor) in [("outer", outer), ("nested", nested), ("own", own)] {
        let attr = NewAttr::new(name(f, attr), AttrValue::Tensor(tensor));
        f.set_attr(op(f, "onnx.Neg"), &attr).expect("it can be set");
    }
    let tensors = AttrValue::Tensors(&[outer, nested, own]);
    let all = [NewAttr::new(name(f, "all"), tensors)];
    let new = NewOp {
        operands: &[value(f, "s")],
        result_types: &[f.value(value(f, "t")).ty],
        attrs: &all,
        ..NewOp::new(name(f, "onnx.Other"))
    };
    let made = f.create_op(&new, Position::before(held)).expect("it fits");
    let made: Vec<ValueId> = f.results(made).collect();
    f.replace_op_with(held, &made).expect("it can go");
    f.erase_constant(outer).expect("nobody uses it");
    verify::verify_module(&module).expect("all tensors are there");
    expect![[r#"
        module {
          fn @f(%c: bool[], %s: i64[1]) -> (%y: f32[2]) {
            %r = onnx.Other(%s) {all = [tensor f32[1] [1.0], tensor f32[1] [2.0], tensor f32[1] [3.0]]} : f32[2]
            %a = onnx.Neg(%r) {outer = tensor f32[1] [1.0], nested = tensor f32[1] [2.0], own = tensor f32[1] [3.0]} : f32[2]
            return %a
          }
        }
    "#]].assert_eq(&text::print(&module));
    let mut compacted = module.clone();
    crate::function(&mut compacted, "f").compact();
    assert_eq!(text::print(&compacted), text::print(&module));
}

#[test]
fn copies_of_regions() {
    let at = |f: &Function| Position::before(op(f, "return"));
    refuse(
        |f| {
            let region = inner(f, "onnx.If");
            f.clone_region(&CloneRegion {
                region,
                source: None,
                at: at(f),
                args: &[],
                captures: &[],
            })
        },
        Status::INVALID,
        expect!["The region takes 1 arguments and 0 were given."],
    );
    refuse(
        |f| {
            let region = inner(f, "onnx.If");
            let at = Position::end(region);
            let args = [value(f, "x")];
            f.clone_region(&CloneRegion {
                region,
                source: None,
                at,
                args: &args,
                captures: &[],
            })
        },
        Status::REFUSED,
        expect!["A region can't be copied into itself."],
    );
    let other = source();
    let g = other.function_named("g").expect("a function of this name");
    refuse(
        |f| {
            let region = inner(g, "onnx.Loop");
            let args = [value(f, "x")];
            let clone = CloneRegion {
                region,
                source: Some(g),
                at: at(f),
                args: &args,
                captures: &[],
            };
            f.clone_region(&clone)
        },
        Status::REFUSED,
        expect![
            "The region captures %x, for which nothing stands here: list it among the captures."
        ],
    );
    accept(
        |f| {
            // Inlines `@g`'s loop body for the result of the `if`.
            let region = inner(g, "onnx.Loop");
            let args = [value(f, "w")];
            let captures = [[value(g, "x"), value(f, "b")]];
            let results = f.clone_region(&CloneRegion {
                region,
                source: Some(g),
                at: Position::before(op(f, "onnx.If")),
                args: &args,
                captures: &captures,
            })?;
            f.replace_op_with(op(f, "onnx.If"), &results)
        },
        expect![[r#"
            @@ -6,8 +6,4 @@
                 %i = onnx.Shape(%x) : i64[1]
            -    %r = onnx.If(%c) {then_branch = region} : f32[2]
            -      region then_branch(%p: f32[2]) {
            -        %t = onnx.Add(%b, %p) : f32[2]
            -        yield %t
            -      }
            -    return %r
            +    %q = onnx.Add(%w, %b) : f32[2]
            +    return %q
               }
        "#]],
    );
}

/// Regions side by side may share names; what comes to stand before them may not.
#[test]
fn names_stay_apart() {
    let source = "module { fn @f(%c: bool[]) {
        onnx.If(%c) region { %t = onnx.A() yield } region { %t = onnx.B() yield }
        %t = onnx.C()
        %u = onnx.D(%t)
        return } }";
    let mut module = text::parse(source).expect("it can be read");
    let f = function(&mut module, "f");
    // One of three has gone, and the name is still taken.
    f.erase_op(op(f, "onnx.A")).expect("nobody uses it");
    f.set_name(f.result(op(f, "onnx.D"), 0).expect("one"), "t")
        .expect("it is alive");
    f.move_op(op(f, "onnx.C"), Position::before(op(f, "onnx.If")))
        .expect("nothing is in the way");
    verify::verify_module(&module).expect("edits keep it whole");
    expect![[r#"
        module {
          fn @f(%c: bool[]) {
            %t_2 = onnx.C()
            onnx.If(%c)
              region {
                yield
              }
              region {
                %t = onnx.B()
                yield
              }
            %t_1 = onnx.D(%t_2)
            return
          }
        }
    "#]]
    .assert_eq(&text::print(&module));
}

/// An op may leave a result out; who uses it asks for it.
#[test]
fn a_result_left_out_is_there_once_it_is_used() {
    let text = "module { fn @f(%x) -> (%y) { %a, _ = a.Two(%x) %y = a.One(%a) return %y } }";
    let edits: [fn(&mut Function, OpId, ValueId); 3] = [
        |f, one, left_out| f.set_operand(one, 0, left_out).unwrap(),
        |f, one, left_out| f.replace_uses(f.operand(one, 0), left_out).unwrap(),
        |f, one, left_out| {
            let new = NewOp {
                operands: &[left_out],
                ..NewOp::new(f.op(one).name)
            };
            f.create_op(&new, Position::before(one)).unwrap();
        },
    ];
    for edit in edits {
        let mut module = text::parse(text).unwrap();
        let f = function(&mut module, "f");
        let (two, one) = (op(f, "a.Two"), op(f, "a.One"));
        let left_out = f.result(two, 1).unwrap();
        edit(f, one, left_out);
        assert_eq!(verify::verify(f), Ok(()));
        let printed = text::print(&module);
        assert!(printed.contains("%a, %0 = a.Two(%x)\n"), "{printed}");
    }
}

/// A replacement without a name gets that of the result it replaces; one with a name keeps it.
#[test]
fn a_name_goes_to_what_replaces_its_value() {
    accept(
        |f| {
            let relu = op(f, "onnx.Relu");
            let new = NewOp {
                operands: &[value(f, "x")],
                result_types: &[TypeId::NONE],
                ..new_op(f, "onnx.Abs")
            };
            let made = f.create_op(&new, Position::before(relu))?;
            let result = f.result(made, 0).unwrap();
            f.replace_op_with(relu, &[result])
        },
        expect![[r#"
            @@ -3,3 +3,3 @@
                 %w = const f32[2] [1.0, 2.0]
            -    %a = onnx.Relu(%x) : f32[2]
            +    %a = onnx.Abs(%x)
                 %b = onnx.Neg(%a) : f32[2]
        "#]],
    );
}
