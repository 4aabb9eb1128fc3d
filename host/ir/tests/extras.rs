//! The extras of entities: parsing, printing, and preservation by edits.

mod support;

use expect_test::{Expect, expect};
use passdock_abi::{LocId, OpId, SymbolId, TypeId, ValueId};
use passdock_ir::{CloneRegion, Entity, Function, Module, NewOp, Position, text};

#[track_caller]
fn check(source: &str, expected: Expect) {
    let printed = text::print(&text::parse(source).unwrap());
    expected.assert_eq(&printed);
    assert_eq!(text::print(&text::parse(&printed).unwrap()), printed);
}

#[test]
fn extras_of_all_entities_round_trip() {
    check(
        r#"module extra("00") meta {"a b" = "1", doc = "", doc = "twice"} doc("module") {
  fn @f(%x: f32[] doc("x") = const f32[] 1 doc("default"))
    -> (%y: f32[2] doc("y"), _ doc("")) doc("f") {
    %w doc("value") = const f32[] 1.0 doc("tensor") node extra("01")
    %a doc("a"), _ doc("_"), %b = onnx.Op(%x) {t = tensor f32[] 1.0 doc("t")}
      loc("n") doc("o\np") extra("02") extra("03")
    onnx.If(%b) region doc("r") { yield doc("y") } region "doc" { yield } region "meta" meta {k = "v"} { yield }
    symbol("doc")() meta.Op() extra.Op()
    return %a, %b doc("end")
  }
  prim @p(%b: buffer<f32[8]>) { for %i in 0..8 unroll doc("loop") { } return doc("r") }
}"#,
        expect![[r#"
            module doc("module") meta {"a b" = "1", doc = "", doc = "twice"} extra("00") {
              fn @f(%x: f32[] doc("x") = const f32[] 1.0 doc("default")) -> (%y: f32[2] doc("y"), _ doc("")) doc("f") {
                %w doc("value") = const f32[] 1.0 node extra("01")
                    doc("tensor")
                %a doc("a"), _ doc("_"), %b = onnx.Op(%x) {t = tensor f32[] 1.0 doc("t")} loc("n") extra("0203")
                    doc("o\np")
                onnx.If(%b)
                  region doc("r") {
                    yield
                        doc("y")
                  }
                  region "doc" {
                    yield
                  }
                  region "meta" meta {k = "v"} {
                    yield
                  }
                symbol("doc")()
                meta.Op()
                extra.Op()
                return %a, %b
                    doc("end")
              }
              prim @p(%b: buffer<f32[8]>) {
                for %i in 0..8 unroll doc("loop") {
                }
                return
                    doc("r")
              }
            }
        "#]],
    );
}

fn main_of(module: &mut Module) -> &mut Function {
    let name = module.symbols().intern("f");
    module.function_mut(name).unwrap()
}

fn op(f: &Function, name: &str) -> OpId {
    let mut ops = f.walk(f.body());
    ops.find(|&op| f.text(f.op(op).name) == name).unwrap()
}

fn named(f: &Function, name: &str) -> SymbolId {
    f.symbols().intern(name)
}

/// Checks the effect of an edit on a function.
#[track_caller]
fn check_edit(edit: impl FnOnce(&mut Function), expected: Expect) {
    let mut module = text::parse(
        r#"module {
  fn @f(%x: f32[2]) -> (%y: f32[2]) {
    %a doc("sum") = onnx.Relu(%x) : f32[2] loc("first") doc("old") meta {k = "v"} extra("01")
    %y = onnx.Neg(%a) : f32[2] loc("second") doc("other")
    return %y
  }
}"#,
    )
    .unwrap();
    let before = text::print(&module);
    edit(main_of(&mut module));
    expected.assert_eq(&support::changed(&before, &text::print(&module)));
}

/// A replacement with the location of the old op keeps its extras.
#[test]
fn replacement_keeps_extras() {
    check_edit(
        |f| {
            let old = op(f, "onnx.Relu");
            let operands: Vec<ValueId> = f.operands(old).iter().map(|slot| slot.value).collect();
            let new = NewOp {
                operands: &operands,
                result_types: &[TypeId::NONE],
                ..NewOp::new(named(f, "onnx.Elu"))
            };
            f.replace_op(old, &new).unwrap();
        },
        expect![[r#"
            @@ -2,3 +2,3 @@
               fn @f(%x: f32[2]) -> (%y: f32[2]) {
            -    %a doc("sum") = onnx.Relu(%x) : f32[2] loc("first") extra("01")
            +    %a doc("sum") = onnx.Elu(%x) : f32[2] loc("first") extra("01")
                     doc("old") meta {k = "v"}
        "#]],
    );
}

/// A new op whose result takes the name of an old one keeps the old op's extras; an existing op doesn't.
#[test]
fn new_op_inherits_extras_of_replaced_op() {
    let replace_neg = |f: &mut Function, operand: ValueId, name: &str| {
        let old = op(f, "onnx.Neg");
        let (_, result) = create(f, name, operand, old, LocId::NONE);
        f.replace_op_with(old, &[result]).unwrap();
    };
    let x = |f: &Function| f.args(f.body()).next().unwrap();
    check_edit(
        |f| {
            let x = x(f);
            replace_neg(f, x, "onnx.Elu");
            f.erase_op(op(f, "onnx.Relu")).unwrap();
        },
        expect![[r#"
            @@ -2,5 +2,3 @@
               fn @f(%x: f32[2]) -> (%y: f32[2]) {
            -    %a doc("sum") = onnx.Relu(%x) : f32[2] loc("first") extra("01")
            -        doc("old") meta {k = "v"}
            -    %y = onnx.Neg(%a) : f32[2] loc("second")
            +    %y = onnx.Elu(%x) : f32[2] loc("second")
                     doc("other")
        "#]],
    );
    check_edit(
        |f| {
            let (old, relu) = (op(f, "onnx.Neg"), op(f, "onnx.Relu"));
            let a = f.results(relu).next().unwrap();
            f.replace_op_with(old, &[a]).unwrap();
        },
        expect![[r#"
            @@ -4,5 +4,3 @@
                     doc("old") meta {k = "v"}
            -    %y = onnx.Neg(%a) : f32[2] loc("second")
            -        doc("other")
            -    return %y
            +    return %a
               }
        "#]],
    );
}

/// Creates an op with one operand.
fn create(
    f: &mut Function,
    name: &str,
    operand: ValueId,
    before: OpId,
    loc: LocId,
) -> (OpId, ValueId) {
    let new = NewOp {
        operands: &[operand],
        result_types: &[f.value(operand).ty],
        loc,
        ..NewOp::new(named(f, name))
    };
    let op = f.create_op(&new, Position::before(before)).unwrap();
    (op, f.results(op).next().unwrap())
}

/// All new ops with the location of the op that they replace keep its extras, and so do their replacements.
#[test]
fn all_ops_of_a_replacement_keep_extras() {
    check_edit(
        |f| {
            let old = op(f, "onnx.Relu");
            let (x, loc) = (f.args(f.body()).next().unwrap(), f.op(old).loc);
            // An op without a location isn't part of the replacement.
            let (_, unrelated) = create(f, "onnx.Sign", x, old, LocId::NONE);
            let (inner, first) = create(f, "onnx.Abs", unrelated, old, loc);
            let (_, second) = create(f, "onnx.Sqrt", first, old, loc);
            f.replace_op_with(old, &[second]).unwrap();
            let (_, replacement) = create(f, "onnx.Elu", unrelated, inner, loc);
            f.replace_op_with(inner, &[replacement]).unwrap();
        },
        expect![[r#"
            @@ -2,3 +2,6 @@
               fn @f(%x: f32[2]) -> (%y: f32[2]) {
            -    %a doc("sum") = onnx.Relu(%x) : f32[2] loc("first") extra("01")
            +    %0 = onnx.Sign(%x) : f32[2]
            +    %1 = onnx.Elu(%0) : f32[2] loc("first") extra("01")
            +        doc("old") meta {k = "v"}
            +    %a = onnx.Sqrt(%1) : f32[2] loc("first") extra("01")
                     doc("old") meta {k = "v"}
        "#]],
    );
}

/// A merged op keeps the extras of the op whose results it replaces, whatever its location lists first.
#[test]
fn fused_op_keeps_extras_of_the_replaced_op() {
    for first in [true, false] {
        let expected = if first {
            expect![[r#"
                @@ -2,5 +2,3 @@
                   fn @f(%x: f32[2]) -> (%y: f32[2]) {
                -    %a doc("sum") = onnx.Relu(%x) : f32[2] loc("first") extra("01")
                -        doc("old") meta {k = "v"}
                -    %y = onnx.Neg(%a) : f32[2] loc("second")
                +    %y = com.acme.Both(%x) : f32[2] loc("second", "first")
                         doc("other")
            "#]]
        } else {
            expect![[r#"
                @@ -2,5 +2,3 @@
                   fn @f(%x: f32[2]) -> (%y: f32[2]) {
                -    %a doc("sum") = onnx.Relu(%x) : f32[2] loc("first") extra("01")
                -        doc("old") meta {k = "v"}
                -    %y = onnx.Neg(%a) : f32[2] loc("second")
                +    %y = com.acme.Both(%x) : f32[2] loc("first", "second")
                         doc("other")
            "#]]
        };
        check_edit(
            |f| {
                let (relu, neg) = (op(f, "onnx.Relu"), op(f, "onnx.Neg"));
                let (own, other) = (f.op(neg).loc, f.op(relu).loc);
                let loc = f.fuse_locs(&if first { [own, other] } else { [other, own] });
                let operands: Vec<ValueId> =
                    f.operands(relu).iter().map(|slot| slot.value).collect();
                let new = NewOp {
                    loc,
                    operands: &operands,
                    result_types: &[TypeId::NONE],
                    ..NewOp::new(named(f, "com.acme.Both"))
                };
                f.replace_op(neg, &new).unwrap();
                f.erase_op(relu).unwrap();
            },
            expected,
        );
    }
}

/// A copy keeps the extras, even in another module's function.
#[test]
fn clones_keep_extras() {
    let source = text::parse(
        r#"module { fn @g(%p: f32[2]) -> (%q: f32[2]) {
    %c = onnx.If(%p) doc("op")
      region then_branch doc("region") { %d doc("value") = onnx.Abs(%p) doc("inner") yield %d }
    return %c
  } }"#,
    )
    .unwrap();
    check_edit(
        |f| {
            let from = source.function_named("g").unwrap();
            let at = Position::before(op(f, "return"));
            let x = f.args(f.body()).next().unwrap();
            let clone = CloneRegion {
                region: from.body(),
                source: Some(&**from),
                at,
                args: &[x],
                captures: &[],
            };
            f.clone_region(&clone).unwrap();
        },
        expect![[r#"
            @@ -6,2 +6,9 @@
                     doc("other")
            +    %c = onnx.If(%x)
            +        doc("op")
            +      region then_branch doc("region") {
            +        %d doc("value") = onnx.Abs(%x)
            +            doc("inner")
            +        yield %d
            +      }
                 return %y
        "#]],
    );
}

/// Compaction drops the extras of dead entities.
#[test]
fn compaction_drops_extras_of_dead_ops() {
    let mut module =
        text::parse(r#"module { fn @f() { onnx.A() doc("a") onnx.B() doc("b") return } }"#)
            .unwrap();
    let f = main_of(&mut module);
    let dead = op(f, "onnx.A");
    f.erase_op(dead).unwrap();
    f.compact();
    assert_eq!(
        text::print_function(f, &text::PrintOptions::default())
            .matches("doc")
            .count(),
        1
    );
    let alive = op(f, "onnx.B");
    assert!(f.origins().extras(Entity::Op(alive)).is_some());
}
