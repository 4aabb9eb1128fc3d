//! Copying ops, and making functions of them.

use expect_test::{Expect, expect};
use passdock_abi::{OpId, Status, TypeId, ValueId};
use passdock_ir::{CloneOps, Edit, Function, Module, NewPort, Position, text, verify};

use crate::{accept, function, op, refuse, value};

/// Outlines the ops of `@main` whose results are called so, and shows the module.
fn outline(source: &str, results: &[&str]) -> Result<Module, String> {
    let mut module = text::parse(source).expect("it can be read");
    let name = module.symbols().intern("acme.Block");
    let f = function(&mut module, "main");
    let makers = results.iter().map(|name| f.defining_op(value(f, name)));
    let ops: Vec<OpId> = makers.map(|op| op.expect("an op")).collect();
    let version = f.version();
    let outlined = f.outline(&ops, name).map_err(|error| {
        assert_eq!(f.version(), version, "a refused edit changes nothing");
        error.message
    })?;
    assert_eq!(f.text(f.op(outlined.call).name), "acme.Block");
    module.insert(outlined.function).expect("a new name");
    verify::verify_module(&module).expect("edits keep it whole");
    Ok(module)
}

#[track_caller]
fn outlines(source: &str, results: &[&str], expected: Expect) {
    let module = outline(source, results).expect("it can be done");
    expected.assert_eq(&text::print(&module));
}

#[track_caller]
fn refuses(source: &str, results: &[&str], expected: Expect) {
    let said = outline(source, results).expect_err("it is refused");
    expected.assert_eq(&said);
}

const CHAIN: &str = r#"module {
  fn @main(%c: bool[], %x: f32[n,(n*2)+1], %s: f32[1]) -> (%y: f32[n,(n*2)+1]) opset("" = 17, "acme" = 1) {
    %own = const f32[1] [2.0]
    %shared = const f32[1] [3.0]
    %a = onnx.Mul(%x, %own) : f32[n,(n*2)+1] loc("first")
    %b = onnx.Add(%a, %shared) {axes = [1, 2], like = tensor f32[2] [1.0, 2.0], of = type f32[n]} : f32[n,(n*2)+1]
    %d = onnx.If(%c) {else_branch = region, then_branch = region} : f32[n,(n*2)+1] loc("choice")
      region else_branch -> (%e) {
        yield %a
      }
      region then_branch -> (%t) {
        %inner = const f32[1] [4.0]
        %t = onnx.Sub(%b, %inner) : f32[n,(n*2)+1]
        yield %t
      }
    %f = onnx.Add(%d, %s) : f32[n,(n*2)+1]
    %y = onnx.Sub(%f, %shared) : f32[n,(n*2)+1]
    return %y
  }
}
"#;

#[test]
fn ops_become_a_function_with_what_belongs_to_them() {
    outlines(
        CHAIN,
        &["a", "b", "d"],
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[n,n*2+1], %s: f32[1]) -> (%y: f32[n,n*2+1]) opset("" = 17, "acme" = 1) {
                %shared = const f32[1] [3.0]
                %d = acme.Block(%x, %shared, %c) : f32[n,n*2+1]
                %f = onnx.Add(%d, %s) : f32[n,n*2+1]
                %y = onnx.Sub(%f, %shared) : f32[n,n*2+1]
                return %y
              }
              fn @acme.Block(%x: f32[n,n*2+1], %shared: f32[1], %c: bool[]) -> (%d: f32[n,n*2+1]) opset("" = 17, "acme" = 1) {
                %own = const f32[1] [2.0]
                %a = onnx.Mul(%x, %own) : f32[n,n*2+1] loc("first")
                %b = onnx.Add(%a, %shared) {axes = [1, 2], like = tensor f32[2] [1.0, 2.0], of = type f32[n]} : f32[n,n*2+1]
                %d = onnx.If(%c) {else_branch = region, then_branch = region} : f32[n,n*2+1] loc("choice")
                  region else_branch -> (%e) {
                    yield %a
                  }
                  region then_branch -> (%t) {
                    %inner = const f32[1] [4.0]
                    %t = onnx.Sub(%b, %inner) : f32[n,n*2+1]
                    yield %t
                  }
                return %d
              }
            }
        "#]],
    );
    // In any order; what stands outside and isn't used outside stays.
    let in_order = outline(CHAIN, &["a", "b", "d"]).expect("it can be done");
    let in_any = outline(CHAIN, &["d", "a", "b"]).expect("it can be done");
    assert_eq!(text::print(&in_any), text::print(&in_order));
}

const FORKED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17, "acme" = 1) {
    %a = onnx.Relu(%x) : f32[2]
    %u = onnx.Neg(%a) : f32[2]
    %v = onnx.Abs(%x) : f32[2]
    %w = onnx.Abs(%u) : f32[2]
    %b = onnx.Add(%a, %v) : f32[2]
    %y = onnx.Exp(%b) : f32[2]
    return %y, %w
  }
}
"#;

#[test]
fn ops_in_between_go_behind_the_call_if_they_need_it() {
    outlines(
        FORKED,
        &["a", "b"],
        expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2], %z: f32[2]) opset("" = 17, "acme" = 1) {
            %v = onnx.Abs(%x) : f32[2]
            %a, %b = acme.Block(%x, %v) : f32[2], f32[2]
            %u = onnx.Neg(%a) : f32[2]
            %w = onnx.Abs(%u) : f32[2]
            %y = onnx.Exp(%b) : f32[2]
            return %y, %w
          }
          fn @acme.Block(%x: f32[2], %v: f32[2]) -> (%a: f32[2], %b: f32[2]) opset("" = 17, "acme" = 1) {
            %a = onnx.Relu(%x) : f32[2]
            %b = onnx.Add(%a, %v) : f32[2]
            return %a, %b
          }
        }
    "#]],
    );
}

#[test]
fn what_leaves_may_not_come_back() {
    refuses(
        FORKED,
        &["a", "v", "y"],
        expect![
            "The ops can't be outlined: op4 (onnx.Add) needs what they make, and they need its result %b, in op5 (onnx.Exp). Outline it, too, or leave out those on one side of it."
        ],
    );
    let nested = CHAIN.replace("yield %a", "yield %x");
    refuses(
        &nested,
        &["a", "d"],
        expect![
            "The ops can't be outlined: op1 (onnx.Add) needs what they make, and they need its result %b, in op2 (onnx.If). Outline it, too, or leave out those on one side of it."
        ],
    );
}

#[test]
fn ops_of_different_regions_do_not_belong_together() {
    refuses(
        CHAIN,
        &["a", "t"],
        expect![
            "op0 (onnx.Mul) and op4 (onnx.Sub) stand in different regions, so they can't be outlined together."
        ],
    );
}

#[test]
fn what_nobody_uses_or_refers_to_its_function_stays() {
    let unused = FORKED.replace("%b = ", "%none = onnx.Exp(%v) : f32[2]\n    %b = ");
    refuses(
        &unused,
        &["none"],
        expect![
            "Nobody uses what op4 (onnx.Exp) and the other ops to outline make, so a function of them would give nothing."
        ],
    );
    let referring = FORKED
        .replace("Relu(%x)", "Relu(%x) {alpha = ref(slope, float)}")
        .replace(
            "\"acme\" = 1)",
            "\"acme\" = 1) attributes {param slope = 0.5}",
        );
    refuses(
        &referring,
        &["a"],
        expect![
            "op0 (onnx.Relu) can't be outlined: it refers to the attribute parameter `slope` of its function."
        ],
    );
    refuses(FORKED, &[], expect!["There are no ops to outline."]);
    refuses(
        FORKED,
        &["a", "a"],
        expect!["op0 (onnx.Relu) is listed twice."],
    );
}

#[test]
fn a_function_without_a_domain_is_called_by_a_call() {
    let mut module = text::parse(FORKED).expect("it can be read");
    let name = module.symbols().intern("block");
    let f = function(&mut module, "main");
    let outlined = f
        .outline(&[op(f, "onnx.Relu")], name)
        .expect("it can be done");
    module.insert(outlined.function).expect("a new name");
    verify::verify_module(&module).expect("edits keep it whole");
    let printed = text::print(&module);
    assert!(
        printed.contains("%a = call @block(%x) : f32[2]"),
        "{printed}"
    );
    text::parse(&printed).expect("it can be read back");
}

fn copy(f: &mut Function, ops: &[OpId], captures: &[[ValueId; 2]]) -> Edit<Vec<ValueId>> {
    f.clone_ops(&CloneOps {
        ops,
        source: None,
        at: Position::end(f.body()),
        captures,
    })
}

#[test]
fn ops_are_copied_within_a_function() {
    accept(
        |f| {
            let ops = [op(f, "onnx.If"), op(f, "onnx.Relu"), op(f, "onnx.Neg")];
            let pair = [value(f, "x"), value(f, "w")];
            let results = copy(f, &ops, &[pair])?;
            assert_eq!(results.len(), 3);
            let port = NewPort {
                name: "",
                ty: TypeId::NONE,
            };
            f.set_results(f.body(), &results[..1], &[port])
        },
        expect![[r#"
            @@ -11,3 +11,10 @@
                   }
            -    return %r
            +    %a_1 = onnx.Relu(%w) : f32[2]
            +    %b_1 = onnx.Neg(%a_1) : f32[2]
            +    %r_1 = onnx.If(%c) {then_branch = region} : f32[2]
            +      region then_branch(%p_1: f32[2]) {
            +        %t_1 = onnx.Add(%b_1, %p_1) : f32[2]
            +        yield %t_1
            +      }
            +    return %r_1
               }
        "#]],
    );
}

#[test]
fn ops_are_not_copied_where_something_is_missing() {
    refuse(
        |f| {
            let ops = [op(f, "onnx.Add")];
            copy(f, &ops, &[])
        },
        Status::REFUSED,
        expect![
            "Operand 1 would use %p where it isn't visible: a value is visible after its definition, in its region and those nested in it."
        ],
    );
    refuse(
        |f| {
            let ops = [f.terminator(f.body()).expect("a return")];
            copy(f, &ops, &[])
        },
        Status::REFUSED,
        expect!["op6 (return) ends its region and can't be copied."],
    );
    refuse(
        |f| {
            let ops = [op(f, "onnx.If")];
            f.clone_ops(&CloneOps {
                ops: &ops,
                source: None,
                at: Position::before(op(f, "onnx.Add")),
                captures: &[],
            })
        },
        Status::REFUSED,
        expect!["An op can't be copied into itself."],
    );
    let other = crate::source();
    let loops = other.function_named("g").expect("there").clone();
    refuse(
        |f| {
            let ops = [op(&loops, "onnx.Loop")];
            f.clone_ops(&CloneOps {
                ops: &ops,
                source: Some(&loops),
                at: Position::end(f.body()),
                captures: &[],
            })
        },
        Status::REFUSED,
        expect!["The ops use %x, for which nothing stands here: list it among the captures."],
    );
}

#[test]
fn ops_are_copied_from_another_function() {
    let other = text::parse(CHAIN).expect("it can be read");
    let main = other.function_named("main").expect("there").clone();
    let ops: Vec<OpId> = ["a", "b", "d"]
        .iter()
        .map(|name| main.defining_op(value(&main, name)).expect("an op"))
        .collect();
    accept(
        |f| {
            let captures = [
                [value(&main, "x"), value(f, "x")],
                [value(&main, "c"), value(f, "c")],
            ];
            let made = f.clone_ops(&CloneOps {
                ops: &ops,
                source: Some(&main),
                at: Position::before(op(f, "onnx.Shape")),
                captures: &captures,
            })?;
            assert_eq!(made.len(), 3);
            let user = f.defining_op(value(f, "t")).expect("an op");
            f.set_operand(user, 0, made[2])
        },
        expect![[r#"
            @@ -3,4 +3,17 @@
                 %w = const f32[2] [1.0, 2.0]
            +    %own = const f32[1] [2.0]
            +    %shared = const f32[1] [3.0]
                 %a = onnx.Relu(%x) : f32[2]
                 %b = onnx.Neg(%a) : f32[2]
            +    %a_1 = onnx.Mul(%x, %own) : f32[n,n*2+1] loc("first")
            +    %b_1 = onnx.Add(%a_1, %shared) {axes = [1, 2], like = tensor f32[2] [1.0, 2.0], of = type f32[n]} : f32[n,n*2+1]
            +    %d = onnx.If(%c) {else_branch = region, then_branch = region} : f32[n,n*2+1] loc("choice")
            +      region else_branch -> (%e) {
            +        yield %a_1
            +      }
            +      region then_branch -> (%t) {
            +        %inner = const f32[1] [4.0]
            +        %t_1 = onnx.Sub(%b_1, %inner) : f32[n,n*2+1]
            +        yield %t_1
            +      }
                 %i = onnx.Shape(%x) : i64[1]
            @@ -8,3 +21,3 @@
                   region then_branch(%p: f32[2]) {
            -        %t = onnx.Add(%b, %p) : f32[2]
            +        %t = onnx.Add(%d, %p) : f32[2]
                     yield %t
        "#]],
    );
}
