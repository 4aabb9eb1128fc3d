//! Bringing a region's ops up to where their op stands.

use expect_test::expect;
use passdock_abi::{OpId, RegionId, Status, ValueId};
use passdock_ir::{Edit, Function, Module, text, verify};

use crate::{accept, function, inner, op, refuse, value};

/// Lets a region take its op's place, and what it yields the place of the op's results.
fn collapse(f: &mut Function, holder: OpId, region: RegionId, args: &[ValueId]) -> Edit {
    f.inline_region(region, args)?;
    let terminator = f.terminator(region).expect("it stays");
    let values: Vec<ValueId> = f
        .operands(terminator)
        .iter()
        .map(|slot| slot.value)
        .collect();
    f.replace_op_with(holder, &values)
}

#[test]
fn ops_move_before_their_op_and_the_terminator_stays() {
    accept(
        |f| {
            let args = [value(f, "a")];
            f.inline_region(inner(f, "onnx.If"), &args)
        },
        expect![[r#"
            @@ -6,5 +6,5 @@
                 %i = onnx.Shape(%x) : i64[1]
            +    %t = onnx.Add(%b, %a) : f32[2]
                 %r = onnx.If(%c) {then_branch = region} : f32[2]
                   region then_branch(%p: f32[2]) {
            -        %t = onnx.Add(%b, %p) : f32[2]
                     yield %t
        "#]],
    );
    accept(
        |f| {
            let (holder, args) = (op(f, "onnx.If"), [value(f, "w")]);
            collapse(f, holder, inner(f, "onnx.If"), &args)
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
            +    %t = onnx.Add(%b, %w) : f32[2]
            +    return %t
               }
        "#]],
    );
}

#[test]
fn an_argument_may_be_left_out() {
    accept(
        |f| f.inline_region(inner(f, "onnx.If"), &[ValueId::NONE]),
        expect![[r#"
            @@ -6,5 +6,5 @@
                 %i = onnx.Shape(%x) : i64[1]
            +    %t = onnx.Add(%b, _) : f32[2]
                 %r = onnx.If(%c) {then_branch = region} : f32[2]
                   region then_branch(%p: f32[2]) {
            -        %t = onnx.Add(%b, %p) : f32[2]
                     yield %t
        "#]],
    );
}

#[test]
fn what_can_t_be_inlined_is_refused() {
    refuse(
        |f| f.inline_region(f.body(), &[]),
        Status::REFUSED,
        expect!["The body of a function is no op's region, so nothing can be inlined."],
    );
    refuse(
        |f| f.inline_region(inner(f, "onnx.If"), &[]),
        Status::INVALID,
        expect!["The region takes 1 arguments and 0 were given."],
    );
    refuse(
        |f| f.inline_region(inner(f, "onnx.If"), &[value(f, "r")]),
        Status::REFUSED,
        expect![
            "Operand 0 would use %r where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    refuse(
        |f| f.inline_region(inner(f, "onnx.If"), &[value(f, "t")]),
        Status::REFUSED,
        expect![
            "Operand 0 would use %t where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    refuse(
        |f| f.inline_region(inner(f, "onnx.If"), &[value(f, "c")]),
        Status::REFUSED,
        expect![
            "The type bool[] contradicts f32[2], the type of %p; a type may be refined, not changed."
        ],
    );
    refuse(
        |f| f.inline_region(RegionId(9), &[]),
        Status::STALE,
        expect!["There is no region region9 in function @f."],
    );
}

/// What moves may be visible where its name means something else: then it gets another one.
const NAMES: &str = r#"module {
  fn @f(%x: f32[2], %c: bool[]) -> (%y: f32[2]) {
    %r = onnx.If(%c) {then_branch = region, else_branch = region} : f32[2]
      region then_branch {
        %k = const f32[2] [1.0, 2.0]
        %t = onnx.Add(%x, %k) : f32[2]
        %s = onnx.If(%c) {then_branch = region} : f32[2]
          region then_branch {
            %k2 = const f32[2] [3.0, 4.0]
            %u = onnx.Mul(%t, %k2) : f32[2]
            yield %u
          }
        yield %s
      }
      region else_branch {
        %t = onnx.Neg(%x) : f32[2]
        yield %t
      }
    %q = onnx.If(%c) {then_branch = region} : f32[2]
      region then_branch {
        %k = const f32[2] [5.0, 6.0]
        %d = onnx.Sub(%r, %k) : f32[2]
        yield %d
      }
    return %q
  }
}
"#;

#[test]
fn names_and_constants_come_along() {
    let mut module = text::parse(NAMES).expect("it can be read");
    let f = function(&mut module, "f");
    let holder = op(f, "onnx.If");
    collapse(f, holder, inner(f, "onnx.If"), &[]).expect("it can be done");
    verify::verify_module(&module).expect("edits keep it whole");
    expect![[r#"
        module {
          fn @f(%x: f32[2], %c: bool[]) -> (%y: f32[2]) {
            %k_1 = const f32[2] [1.0, 2.0]
            %t_1 = onnx.Add(%x, %k_1) : f32[2]
            %s = onnx.If(%c) {then_branch = region} : f32[2]
              region then_branch {
                %k2 = const f32[2] [3.0, 4.0]
                %u = onnx.Mul(%t_1, %k2) : f32[2]
                yield %u
              }
            %q = onnx.If(%c) {then_branch = region} : f32[2]
              region then_branch {
                %k = const f32[2] [5.0, 6.0]
                %d = onnx.Sub(%s, %k) : f32[2]
                yield %d
              }
            return %q
          }
        }
    "#]]
    .assert_eq(&text::print(&module));
    let f = function(&mut module, "f");
    assert!(f.has_loose_depths());
    let nested = inner(f, "onnx.If");
    assert_eq!(f.depth(nested), 1);
    f.settle_depths();
    assert!(!f.has_loose_depths());
    assert_eq!(f.depth(nested), 1);
    verify::verify_module(&module).expect("depths are right");
    // A constant of a nested region dies with the region it is in now.
    let f = function(&mut module, "f");
    let holder = op(f, "onnx.If");
    f.inline_region(nested, &[]).expect("it can be done");
    f.replace_op_with(holder, &[value(f, "x")])
        .expect("it can be done");
    assert!(f.live_value(value(f, "k2")).is_ok());
    f.compact();
    verify::verify_module(&module).expect("compacting keeps it whole");
}

/// Collapses 10,000 levels from the outside in: each op is moved once.
#[test]
fn deep_regions_collapse_in_linear_time() {
    const LEVELS: usize = 10_000;
    let mut text = String::from("module {\n  fn @f(%c: bool[], %x: f32[]) -> (%y: f32[]) {\n");
    for level in 0..LEVELS {
        text += &format!(
            "%a{level} = onnx.Neg(%x) : f32[]\n%r{level} = onnx.If(%c) : f32[] region {{\n"
        );
    }
    text += "yield %x\n";
    for level in (0..LEVELS).rev() {
        text += &format!(
            "}} {} %r{level}\n",
            if level == 0 { "return" } else { "yield" }
        );
    }
    text += "  }\n}\n";
    let mut module: Module = text::parse(&text).expect("it can be read");
    let f = function(&mut module, "f");
    let terminator = f.terminator(f.body()).expect("it returns");
    for _ in 0..LEVELS {
        let holder = f.op(terminator).prev;
        let region = f.regions_of(holder).next().expect("one");
        collapse(f, holder, region, &[]).expect("it can be done");
    }
    f.settle_depths();
    verify::verify_module(&module).expect("edits keep it whole");
    assert_eq!(module.op_count(), LEVELS);
}
