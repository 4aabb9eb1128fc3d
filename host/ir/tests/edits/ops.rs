//! Making, replacing, erasing and moving ops; operands and attributes.

use expect_test::expect;
use passdock_abi::{Status, SymbolId, TypeId, ValueId};
use passdock_ir::{AttrValue, Function, NewAttr, NewOp, Position, text};

use crate::{accept, function, inner, new_op, op, refuse, value};

#[test]
fn ops_are_made_where_their_operands_are_visible() {
    refuse(
        |f| {
            let new = NewOp {
                operands: &[value(f, "b")],
                ..new_op(f, "onnx.Abs")
            };
            f.create_op(&new, Position::before(op(f, "onnx.Neg")))
        },
        Status::REFUSED,
        expect![
            "Operand 0 would use %b where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    refuse(
        |f| {
            let new = NewOp {
                operands: &[value(f, "t")],
                ..new_op(f, "onnx.Abs")
            };
            f.create_op(&new, Position::end(f.body()))
        },
        Status::REFUSED,
        expect![
            "Operand 0 would use %t where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    refuse(
        |f| f.create_op(&NewOp::new(SymbolId(1 << 20)), Position::end(f.body())),
        Status::INVALID,
        expect!["An op's name has to be a symbol, and sym1048576 is none."],
    );
    refuse(
        |f| f.create_op(&new_op(f, "return"), Position::end(f.body())),
        Status::REFUSED,
        expect!["A `return` is made by setting its region's results."],
    );
    accept(
        |f| {
            let new = NewOp {
                operands: &[value(f, "b"), ValueId::NONE],
                result_types: &[TypeId::NONE],
                ..new_op(f, "onnx.Abs")
            };
            f.create_op(&new, Position::end(inner(f, "onnx.If")))
        },
        expect![[r#"
            @@ -9,2 +9,3 @@
                     %t = onnx.Add(%b, %p) : f32[2]
            +        %0 = onnx.Abs(%b, _)
                     yield %t
        "#]],
    );
}

#[test]
fn operands() {
    refuse(
        |f| f.set_operand(op(f, "onnx.Relu"), 0, value(f, "b")),
        Status::REFUSED,
        expect![
            "Operand 0 would use %b where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    refuse(
        |f| f.set_operand(op(f, "onnx.Relu"), 2, value(f, "x")),
        Status::INVALID,
        expect!["op0 (onnx.Relu) has 1 operands, so operand 2 can't be set; the next one is 1."],
    );
    refuse(
        |f| f.set_operand(op(f, "return"), 1, value(f, "x")),
        Status::REFUSED,
        expect![
            "op6 (return) ends a region of 1 results, so operand 1 can't be set; set the region's results."
        ],
    );
    accept(
        |f| {
            let neg = op(f, "onnx.Neg");
            f.set_operand(neg, 0, value(f, "x"))?;
            f.set_operand(neg, 1, value(f, "w"))?;
            f.set_operand(neg, 2, ValueId::NONE)
        },
        expect![[r#"
            @@ -4,3 +4,3 @@
                 %a = onnx.Relu(%x) : f32[2]
            -    %b = onnx.Neg(%a) : f32[2]
            +    %b = onnx.Neg(%x, %w, _) : f32[2]
                 %i = onnx.Shape(%x) : i64[1]
        "#]],
    );
}

#[test]
fn replacing_ops() {
    refuse(
        |f| f.replace_op(op(f, "onnx.Relu"), &new_op(f, "onnx.Abs")),
        Status::REFUSED,
        expect!["op0 (onnx.Relu) can't be replaced: its result %a is used and has no replacement."],
    );
    refuse(
        |f| {
            let bad = f.value(value(f, "c")).ty;
            let new = NewOp {
                result_types: &[bad],
                ..new_op(f, "onnx.Abs")
            };
            f.replace_op(op(f, "onnx.Relu"), &new)
        },
        Status::REFUSED,
        expect![
            "The type bool[] contradicts f32[2], the type of %a; a type may be refined, not changed."
        ],
    );
    refuse(
        |f| f.replace_op(op(f, "return"), &new_op(f, "onnx.Abs")),
        Status::REFUSED,
        expect!["op6 (return) ends its region and can't be replaced."],
    );
    refuse(
        |f| f.replace_op_with(op(f, "onnx.Relu"), &[]),
        Status::INVALID,
        expect!["op0 (onnx.Relu) has 1 results and 0 values were given to replace them."],
    );
    refuse(
        |f| f.replace_op_with(op(f, "onnx.Relu"), &[ValueId::NONE]),
        Status::REFUSED,
        expect!["op0 (onnx.Relu) can't be replaced: its result %a is used and has no replacement."],
    );
    refuse(
        |f| f.replace_op_with(op(f, "onnx.Relu"), &[value(f, "a")]),
        Status::REFUSED,
        expect!["op0 (onnx.Relu) can't be replaced by a result of its own."],
    );
    accept(
        |f| {
            let new = NewOp {
                operands: &[value(f, "x")],
                result_types: &[TypeId::NONE],
                ..new_op(f, "onnx.Abs")
            };
            f.replace_op(op(f, "onnx.Relu"), &new)
        },
        expect![[r#"
            @@ -3,3 +3,3 @@
                 %w = const f32[2] [1.0, 2.0]
            -    %a = onnx.Relu(%x) : f32[2]
            +    %a = onnx.Abs(%x) : f32[2]
                 %b = onnx.Neg(%a) : f32[2]
        "#]],
    );
    accept(
        |f| f.replace_op_with(op(f, "onnx.Relu"), &[value(f, "x")]),
        expect![[r#"
            @@ -3,4 +3,3 @@
                 %w = const f32[2] [1.0, 2.0]
            -    %a = onnx.Relu(%x) : f32[2]
            -    %b = onnx.Neg(%a) : f32[2]
            +    %b = onnx.Neg(%x) : f32[2]
                 %i = onnx.Shape(%x) : i64[1]
        "#]],
    );
    accept(
        |f| {
            let new = NewOp {
                operands: &[value(f, "c")],
                result_types: &[TypeId::NONE],
                take_regions: true,
                take_attrs: true,
                ..new_op(f, "my.If")
            };
            f.replace_op(op(f, "onnx.If"), &new)
        },
        expect![[r#"
            @@ -6,3 +6,3 @@
                 %i = onnx.Shape(%x) : i64[1]
            -    %r = onnx.If(%c) {then_branch = region} : f32[2]
            +    %r = my.If(%c) {then_branch = region} : f32[2]
                   region then_branch(%p: f32[2]) {
        "#]],
    );
}

/// A result that an op leaves out is left out by what replaces the op.
#[test]
fn what_replaces_an_op_leaves_out_the_same() {
    let source = "module {
  fn @f(%x: f32[2]) -> (%y: f32[2]) {
    %a, _ = onnx.Dropout(%x) : f32[2], ?
    return %a
  }
}
";
    let mut module = text::parse(source).expect("it can be read");
    let f = function(&mut module, "f");
    let new = NewOp {
        operands: &[value(f, "x")],
        result_types: &[TypeId::NONE; 2],
        ..new_op(f, "onnx.Dropout")
    };
    f.replace_op(op(f, "onnx.Dropout"), &new)
        .expect("it can be done");
    assert_eq!(text::print(&module), source);
}

#[test]
fn erasing_and_moving() {
    refuse(
        |f| f.erase_op(op(f, "onnx.Relu")),
        Status::REFUSED,
        expect![
            "op0 (onnx.Relu) can't be erased: its result %a is used by op1 (onnx.Neg). Replace the uses first."
        ],
    );
    refuse(
        |f| f.erase_op(op(f, "return")),
        Status::REFUSED,
        expect!["op6 (return) ends its region and can't be erased."],
    );
    refuse(
        |f| f.move_op(op(f, "onnx.Neg"), Position::before(op(f, "onnx.Relu"))),
        Status::REFUSED,
        expect!["op1 (onnx.Neg) can't move before its operand %a is defined."],
    );
    refuse(
        |f| f.move_op(op(f, "onnx.If"), Position::before(op(f, "onnx.Relu"))),
        Status::REFUSED,
        expect!["op3 (onnx.If) can't move before its operand %b is defined."],
    );
    refuse(
        |f| f.move_op(op(f, "onnx.Relu"), Position::end(f.body())),
        Status::REFUSED,
        expect!["op0 (onnx.Relu) can't move behind op1 (onnx.Neg), which uses its result."],
    );
    refuse(
        |f| f.move_op(op(f, "onnx.Add"), Position::end(f.body())),
        Status::REFUSED,
        expect!["op4 (onnx.Add) can only move inside its region."],
    );
    refuse(
        |f| f.move_op(op(f, "yield"), Position::before(op(f, "onnx.Add"))),
        Status::REFUSED,
        expect!["op5 (yield) ends its region and can't move."],
    );
    accept(
        |f| {
            f.move_op(op(f, "onnx.Shape"), Position::before(op(f, "onnx.Relu")))?;
            f.move_op(op(f, "onnx.Neg"), Position::before(op(f, "onnx.If")))
        },
        expect![[r#"
            @@ -3,5 +3,5 @@
                 %w = const f32[2] [1.0, 2.0]
            +    %i = onnx.Shape(%x) : i64[1]
                 %a = onnx.Relu(%x) : f32[2]
                 %b = onnx.Neg(%a) : f32[2]
            -    %i = onnx.Shape(%x) : i64[1]
                 %r = onnx.If(%c) {then_branch = region} : f32[2]
        "#]],
    );
}

#[test]
fn attributes() {
    refuse(
        |f| f.remove_attr(op(f, "onnx.If"), f.symbols().intern("then_branch")),
        Status::REFUSED,
        expect!["`then_branch` of op3 (onnx.If) is a region and stays as long as the op does."],
    );
    refuse(
        |f| f.remove_attr(op(f, "onnx.Relu"), f.symbols().intern("axis")),
        Status::NOT_FOUND,
        expect!["op0 (onnx.Relu) has no attribute `axis`."],
    );
    refuse(
        |f| {
            let new = NewAttr::new(SymbolId(1 << 20), AttrValue::Int(1));
            f.set_attr(op(f, "onnx.Relu"), &new)
        },
        Status::INVALID,
        expect!["An attribute's name has to be a symbol, and sym1048576 is none."],
    );
    refuse(
        |f| {
            let name = f.symbols().intern("t");
            let tensor = AttrValue::Tensor(passdock_abi::ConstId(9));
            f.set_attr(op(f, "onnx.Relu"), &NewAttr::new(name, tensor))
        },
        Status::STALE,
        expect!["There is no constant const9 in function @f."],
    );
}

/// A domain that an op is of stays, at any depth; no word of one that isn't there.
#[test]
fn a_domain_without_ops_is_taken_back() {
    let source = r#"module {
  fn @f(%c: bool[]) -> (%r) opset("" = 17, "a" = 1, "a.b" = 2, "in" = 3) {
    %x = a.b.X(%c)
    %r = onnx.If(%x) {then_branch = region}
      region then_branch {
        %t = in.Y(%c)
        yield %t
      }
    return %r
  }
}
"#;
    let mut module = text::parse(source).expect("it can be read");
    let f = function(&mut module, "f");
    let remove = |f: &mut Function, domain: &str| {
        let domain = f.symbols().intern(domain);
        let version = f.version();
        let removed = f.remove_opset(domain).map_err(|error| error.message);
        (removed, f.version() != version)
    };
    let used = |domain: &str| {
        format!(
            "The version of the domain `{domain}` can't be taken back: ops of the function are of it."
        )
    };
    assert_eq!(remove(f, "a"), (Ok(()), true));
    assert_eq!(remove(f, "a"), (Ok(()), false));
    for domain in ["", "a.b", "in"] {
        assert_eq!(remove(f, domain), (Err(used(domain)), false));
    }
    let expected = source.replace(r#" "a" = 1,"#, "");
    assert_eq!(text::print(&module), expected);
}
