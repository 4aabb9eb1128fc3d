//! Compaction drops dead records and nothing else.

use expect_test::{expect, expect_file};
use passdock_abi::OpId;
use passdock_ir::{Entity, Function, Module, NewOp, text, verify};

const SOURCE: &str = r#"module {
  fn @f(%x: f32[2], %c: bool[] = const bool[] true) -> (%y: seq<f32[2]> extra("01")) opset("" = 17) doc("f") extra("02")
    attributes {names = ["a", "b"]} {
    %w = const f32[2] [1.0, 2.0] extra("03")
    %dead = const f32[2] [3.0, 4.0]
    %a = onnx.Add(%x, %w) {axis = 1, t = tensor i64[] 5, ty = [type f32[2]]} : f32[2] loc("a", "b")
    %b, _ = onnx.Split(%a, _) {ratios = [0.5, 0.25]} : f32[2], ? meta {a = "1"} extra("04")
    %k = const f32[2] [5.0, 6.0] node
    %r = onnx.If(%c) {then_branch = region, else_branch = region} : f32[2]
      region then_branch -> (%p: f32[2] extra("05")) extra("06") {
        %t = onnx.Relu(%b) : f32[2]
        yield %t
      }
      region else_branch {
        %z = const f32[2] splat(0.0)
        yield %z
      }
    %s = onnx.SequenceConstruct(%r, %k, %k) : seq<f32[2]>
    return %s
  }
}
"#;

fn edit(module: &mut Module, change: impl FnOnce(&mut Function)) {
    let name = module.names().next().expect("one function");
    change(module.function_mut(name).expect("one function"));
}

fn op(f: &Function, name: &str) -> OpId {
    let mut ops = f.walk(f.body());
    ops.find(|&op| f.text(f.op(op).name) == name)
        .expect("an op of this name")
}

#[test]
fn compaction_preserves_the_printed_function() {
    let mut module = text::parse(SOURCE).expect("valid IR");
    edit(&mut module, |f| {
        // Records become dead: ops are replaced, a branch and a constant are erased.
        let symbols = f.symbols().clone();
        for name in ["onnx.Add", "onnx.Split"] {
            let old = op(f, name);
            let operands: Vec<_> = f.operands(old).iter().map(|slot| slot.value).collect();
            let types: Vec<_> = f.results(old).map(|result| f.value(result).ty).collect();
            let absent = f.results(old).nth(1);
            let new = NewOp {
                operands: &operands,
                result_types: &types,
                take_attrs: true,
                ..NewOp::new(symbols.intern(&format!("{name}2")))
            };
            let created = f.replace_op(old, &new).expect("replaced");
            if absent.is_some() {
                let result = f.result(created, 1).expect("two results");
                f.import_absent(result);
            }
        }
        let branch = op(f, "onnx.If");
        let b = f.operand(op(f, "onnx.Relu"), 0);
        f.replace_op_with(branch, &[b]).expect("replaced");
        let dead = f
            .live_constants()
            .find(|(_, constant)| {
                let name = f.value(constant.value).name;
                name.is_some() && f.text(name) == "dead"
            })
            .map(|(id, _)| id)
            .expect("the constant");
        f.erase_constant(dead).expect("unused");
    });
    let before = text::print(&module);
    edit(&mut module, |f| {
        let (ops, values) = (f.op_ids(), f.value_ids());
        f.compact();
        expect!["10 → 4 ops, 15 → 8 values"].assert_eq(&format!(
            "{ops} → {} ops, {values} → {} values",
            f.op_ids(),
            f.value_ids()
        ));
        assert!(f.origins().extras(Entity::Function).is_some());
    });
    assert_eq!(text::print(&module), before);
    expect_file!["compact.txt"].assert_eq(&before);
    verify::verify_module(&module).expect("valid after compaction");
    // Interning finds entries from before the compaction.
    edit(&mut module, |f| {
        let ty = f.value(f.args(f.body()).next().expect("a parameter")).ty;
        let seq = f.add_type(passdock_ir::TypeData::Sequence(ty));
        assert_eq!(
            f.value(f.result(op(f, "onnx.SequenceConstruct"), 0).expect("one"))
                .ty,
            seq
        );
        let locs = f.view().locs.len;
        f.add_name_loc("a");
        assert_eq!(f.view().locs.len, locs);
    });
}

#[test]
fn half_dead_functions_need_compaction() {
    let mut module = text::parse("module { fn @f() { return } }").expect("valid IR");
    edit(&mut module, |f| {
        let name = f.symbols().intern("t.x");
        let body = f.body();
        let at = passdock_ir::Position::end(body);
        let created: Vec<_> = (0..200)
            .map(|_| f.create_op(&NewOp::new(name), at).expect("an op"))
            .collect();
        for &op in &created[..100] {
            f.erase_op(op).expect("unused");
        }
        assert!(!f.needs_compaction());
        for &op in &created[100..110] {
            f.erase_op(op).expect("unused");
        }
        assert!(f.needs_compaction());
        f.compact();
        assert!(!f.needs_compaction());
        assert_eq!(f.op_count(), 90);
        let stale = f.live_op(created[199]).expect_err("a stale id");
        expect!["function `@f` has no op op200"].assert_eq(&stale.message);
        assert_eq!(f.value_ids(), 0);
    });
    verify::verify_module(&module).expect("valid after compaction");
}
