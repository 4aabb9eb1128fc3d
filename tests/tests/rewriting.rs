//! The SDK's functions for rewrites, on IR text with the standard operators.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use expect_test::{Expect, expect};
use passdock::{PassContext, PassInfo, Registry, create_module_pass};
use passdock_ir::text;
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::*;
use passdock_tests::standard_registry;

/// Runs a pass on a module, and returns the result or the error.
fn run(
    source: &str,
    pass: impl Fn(&mut Module<'_>, &sdk::PassContext) -> PassResult + Send + Sync + 'static,
) -> String {
    let module = text::parse(source).unwrap_or_else(|error| panic!("{error:?}"));
    let context = PassContext::builder()
        .registry(&standard_registry())
        .build()
        .expect("a context");
    let pass = create_module_pass(PassInfo::new("t.transform.Rewrite").opt_level(0), pass);
    match context.scope(|_| pass.call(module)) {
        Ok(done) => text::print(&done),
        Err(error) => error.to_string(),
    }
}

/// Runs a pass on `@main`, and checks the result.
#[track_caller]
fn check(
    source: &str,
    pass: impl Fn(&mut Function, &sdk::PassContext) -> PassResult + Send + Sync + 'static,
    expected: Expect,
) {
    expected.assert_eq(&run(source, move |m, cx| pass(m.edit("main")?, cx)));
}

const SHADOWED: &str = r#"module {
  fn @main(%x: f32[n,2], %c: bool[]) -> (%out: f32[n,2]) opset("" = 17, "acme" = 1) {
    %a = onnx.Relu(%x) : f32[n,2]
    %b = onnx.Neg(%a) : f32[n,2]
    %k = acme.Soft(%b) : f32[n,2]
    %l = acme.Soft(%k) : f32[n,2]
    %i = onnx.If(%c) {else_branch = region, then_branch = region} : f32[n,2]
      region else_branch {
        yield %l
      }
      region then_branch {
        %o = onnx.Abs(%l) : f32[n,2]
        yield %o
      }
    return %i
  }
  fn @onnx.Relu(%v) -> (%w) opset("" = 17) {
    %w = onnx.Neg(%v)
    return %w
  }
  fn @acme.Soft(%v: f32[k,d]) -> (%w: f32[k,d*2]) opset("" = 17) {
    %w = onnx.Concat(%v, %v) {axis = 1} : f32[k,d*2]
    return %w
  }
}
"#;

#[test]
fn ops_named_excludes_shadowed_operators() {
    let result = run(SHADOWED, |m, _| {
        let f = m.snapshot("main")?;
        let count = |name: &str| (f.ops_named(name).count(), f.all_ops_named(name).count());
        assert_eq!(count("onnx.Relu"), (0, 1));
        assert_eq!(count("onnx.Neg"), (1, 1));
        // Only a function has this name.
        assert_eq!(count("acme.Soft"), (2, 2));
        assert_eq!(count("acme.Nothing"), (0, 0));
        Ok(())
    });
    assert!(result.starts_with("module"), "{result}");
}

#[test]
fn visitors_and_mutators_classify_onnx_ops() {
    #[derive(Default)]
    struct Seen(Vec<String>);
    impl Seen {
        fn note(&mut self, what: &str, f: &Function, op: OpId) -> Visit {
            let callee = f.callee(op).map_or("", |callee| f.text(callee));
            self.0.push(format!("{what} {} {callee}", f.name(op)));
            Visit::Into
        }
    }
    impl Visitor for Seen {
        fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
            match f.op_kind(op) {
                OpKind::Call => self.note("call", f, op),
                OpKind::If => self.note("if", f, op),
                OpKind::Loop => self.note("loop", f, op),
                OpKind::Scan => self.note("scan", f, op),
                OpKind::Other => self.note("other", f, op),
                _ => Visit::Into,
            }
        }
    }
    struct Collapse;
    impl Mutator for Collapse {
        fn mutate_op(&mut self, m: &mut Mutation<'_>, op: OpId) -> MutateResult {
            match m.op_kind(op) {
                OpKind::If => m.inline(op, "then_branch", &[]),
                OpKind::Call if !m.traits(op).is_ambiguous() => {
                    Ok(Mutated::Values(m.operands(op).collect()))
                }
                _ => Ok(Mutated::Same),
            }
        }
    }
    let more = SHADOWED.replace(
        "    return %i",
        "    %s = onnx.Loop(_, %c, %i) {body = region} : f32[n,2]
      region body(%it: i64[], %go: bool[], %st: f32[n,2]) {
        yield %go, %st
      }
    %t = onnx.Scan(%s) {body = region, num_scan_inputs = 1} : f32[n,2]
      region body(%row: f32[2]) {
        yield %row
      }
    return %t",
    );
    let done = run(&more, |m, _| {
        let mut seen = Seen::default();
        let main = m.snapshot("main")?;
        seen.visit(&main);
        drop(main);
        let expected = [
            "call onnx.Relu onnx.Relu",
            "other onnx.Neg ",
            "call acme.Soft acme.Soft",
            "call acme.Soft acme.Soft",
            "if onnx.If ",
            "other onnx.Abs ",
            "loop onnx.Loop ",
            "scan onnx.Scan ",
        ];
        assert_eq!(seen.0, expected);
        assert!(Collapse.mutate(m.edit("main")?)?);
        Ok(())
    });
    expect![[r#"
        module {
          fn @main(%x: f32[n,2], %c: bool[]) -> (%out: f32[n,2]) opset("" = 17, "acme" = 1) {
            %a = onnx.Relu(%x) : f32[n,2]
            %b = onnx.Neg(%a) : f32[n,2]
            %o = onnx.Abs(%b) : f32[n,2]
            %s = onnx.Loop(_, %c, %o) {body = region} : f32[n,2]
              region body(%it: i64[], %go: bool[], %st: f32[n,2]) {
                yield %go, %st
              }
            %t = onnx.Scan(%s) {body = region, num_scan_inputs = 1} : f32[n,2]
              region body(%row: f32[2]) {
                yield %row
              }
            return %t
          }
    "#]]
    .assert_eq(done.split("  fn @onnx.Relu").next().unwrap_or(""));
}

#[test]
fn call_has_one_result_per_function_result() {
    let done = run(SHADOWED, |m, _| {
        let at = {
            let f = m.edit("main")?;
            Position::before(f.ops_named("onnx.Neg").next().ok_or("no op")?)
        };
        let x = m.edit("main")?.params()[0];
        let soft = m.snapshot("acme.Soft")?;
        let f = m.edit("main")?;
        let call = f.create_call(&soft, &[x], at)?;
        f.set_value_name(f.result(call, 0), "made")?;
        // ONNX files can't represent this call: the name has no domain.
        m.create("plain", FunctionKind::GRAPH, None)?
            .set_results(sdk::RegionId(0), &[])?;
        let plain = m.snapshot("plain")?;
        let f = m.edit("main")?;
        f.create_call(&plain, &[], at)?;
        let error = f.create_call(&plain, &[x], at).unwrap_err();
        assert_eq!(
            error.message,
            "function `plain` has 0 parameters, but the call has 1 operands"
        );
        // The type with its dims, by their names.
        let own = soft.type_id(soft.params()[0]);
        let ty = f.type_from(&soft, own)?;
        assert_eq!(f.ty(ty).to_string(), "f32[k,d]");
        Ok(())
    });
    let calls: Vec<&str> = done
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("plain") || line.contains("made"))
        .collect();
    expect![[r#"
        %made = acme.Soft(%x)
        plain()
        fn @plain() {"#]]
    .assert_eq(&calls.join("\n"));
}

const NOTED: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = onnx.Relu(%x) : f32[2]
       meta {source = "net.py:3", owner = "vision"}
    %y = onnx.Neg(%a) : f32[2]
    return %y
  }
}
"#;

#[test]
fn metadata_is_read_and_written() {
    check(
        NOTED,
        |f, _| {
            let (x, relu) = (f.params()[0], f.iter().next().ok_or("no op")?);
            let entry = |key: &str, text: &str| (key.to_owned(), text.to_owned());
            let read = [entry("source", "net.py:3"), entry("owner", "vision")];
            assert_eq!(f.op_metadata(relu), read);
            f.set_op_metadata(relu, "owner", "")?;
            f.set_op_metadata(relu, "checked", "yes")?;
            f.set_value_metadata(x, "unit", "metres")?;
            f.set_value_metadata(f.result(relu, 0), "range", "0..1")?;
            let end = f.terminator(f.body()).ok_or("no `return`")?;
            let result = f.operand(end, 0).ok_or("no result")?;
            f.set_value_metadata(result, "unit", "metres")?;
            assert_eq!(f.value_metadata(result), [entry("unit", "metres")]);
            assert_eq!(f.op_metadata(OpId::NONE), []);
            let error = f.set_op_metadata(OpId(99), "a", "b").unwrap_err();
            assert_eq!(error.message, "function `@main` has no op op99");
            Ok(())
        },
        expect![[r#"
            module {
              fn @main(%x: f32[2] meta {unit = "metres"}) -> (%y: f32[2] meta {unit = "metres"}) opset("" = 17) {
                %a meta {range = "0..1"} = onnx.Relu(%x) : !f32[2]
                    meta {source = "net.py:3", checked = "yes"}
                %y = onnx.Neg(%a) : f32[2]
                return %y
              }
            }
        "#]],
    );
}

#[test]
fn metadata_set_to_its_text_changes_nothing() {
    check(
        NOTED,
        |f, _| {
            let relu = f.iter().next().ok_or("no op")?;
            f.set_op_metadata(relu, "owner", "vision")?;
            f.set_op_metadata(relu, "absent", "")?;
            Ok(())
        },
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = onnx.Relu(%x) : f32[2]
                    meta {source = "net.py:3", owner = "vision"}
                %y = onnx.Neg(%a) : f32[2]
                return %y
              }
            }
        "#]],
    );
}

const CHAIN: &str = r#"module {
  fn @main(%x: f16[2], %kept: f16[2]) -> (%out: f16[2], %more: f16[2]) opset("" = 17) {
    %half = const f16[1] [0.5]
    %small = const f64[2] [0.1, -2.0]
    %brain = const bf16[2] [1.5, -3.0]
    %a = onnx.Mul(%x, %half) : f16[2]
    %b = onnx.Exp(%a) : f16[2]
    %r = onnx.RandomNormalLike(%b) : f16[2]
    %c = onnx.Sqrt(%b) : f16[2]
    %d = onnx.Add(%c, %r) : f16[2]
    %k = onnx.Sqrt(%kept) : f16[2]
    %e = onnx.Tanh(%k) : f16[2]
    %g = onnx.Cast(%small) {to = 10} : f16[2]
    %h = onnx.Cast(%brain) {to = 10} : f16[2]
    %s = onnx.Sum(%d, %e, %g, %h) : f16[2]
    return %s, %k
  }
}
"#;

/// Replaces an op, and erases ops that become dead.
fn replace_chain(f: &mut Function, old: OpId, new: OpBuilder<'_>) -> PassResult {
    let used: Vec<_> = f.operands(old).collect();
    f.replace_op(old, new)?;
    used.into_iter().try_for_each(|value| f.erase_dead(value))?;
    Ok(())
}

#[test]
fn dead_operands_of_replaced_op_are_erased() {
    check(
        CHAIN,
        |f, _| {
            let add = f.ops_named("onnx.Add").next().ok_or("no op")?;
            let x = f.params()[0];
            // `RandomNormalLike` isn't pure, so it stays, and so do its operands.
            replace_chain(f, add, OpBuilder::new("onnx.Neg").operand(x))?;
            let tanh = f.ops_named("onnx.Tanh").next().ok_or("no op")?;
            // The operand has other users.
            f.replace_with_and_erase_dead(tanh, &[x])?;
            let [first, second] = [0, 1].map(|at| f.ops_named("onnx.Cast").nth(at));
            for cast in [first, second].into_iter().flatten() {
                f.replace_with_and_erase_dead(cast, &[x])?;
            }
            Ok(())
        },
        expect![[r#"
            module {
              fn @main(%x: f16[2], %kept: f16[2]) -> (%out: f16[2], %more: f16[2]) opset("" = 17) {
                %half = const f16[1] [0.5]
                %a = onnx.Mul(%x, %half) : f16[2]
                %b = onnx.Exp(%a) : f16[2]
                %r = onnx.RandomNormalLike(%b) : f16[2]
                %d = onnx.Neg(%x) : f16[2]
                %k = onnx.Sqrt(%kept) : f16[2]
                %s = onnx.Sum(%d, %x, %x, %x) : f16[2]
                return %s, %k
              }
            }
        "#]],
    );
}

/// An op without a definition isn't known to be pure: it stays, with its operands. Constants and tuples are erased.
#[test]
fn undefined_ops_are_not_erased_as_dead() {
    let module = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %half = const f32[1] [0.5]
    %a = onnx.Mul(%x, %half) : f32[2]
    %b = onnx.Exp(%a) : f32[2]
    %two = const f32[1] [2.0]
    %t = tuple(%x, %two)
    %c = tuple_get(%t) {index = 0} : f32[2]
    %d = onnx.Add(%b, %c) : f32[2]
    return %d
  }
}
"#;
    let module = text::parse(module).unwrap_or_else(|error| panic!("{error:?}"));
    let run = |registry: &Registry| {
        let replace = |m: &mut Module<'_>, _: &sdk::PassContext| -> PassResult {
            let f = m.edit("main")?;
            let add = f.all_ops_named("onnx.Add").next().ok_or("no op")?;
            let x = f.params()[0];
            replace_chain(f, add, OpBuilder::new("onnx.Neg").operand(x))?;
            Ok(())
        };
        let pass = create_module_pass(PassInfo::new("t.transform.Replace").opt_level(0), replace);
        let context = PassContext::builder().registry(registry).build();
        let done = pass.call_in(module.clone(), &context.expect("a context"));
        text::print(&done.unwrap_or_else(|error| panic!("{error}")))
    };
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %d = onnx.Neg(%x) : f32[2]
            return %d
          }
        }
    "#]]
    .assert_eq(&run(&standard_registry()));
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %half = const f32[1] [0.5]
            %a = onnx.Mul(%x, %half) : f32[2]
            %b = onnx.Exp(%a) : f32[2]
            %d = onnx.Neg(%x) : f32[2]
            return %d
          }
        }
    "#]]
    .assert_eq(&run(&Registry::new()));
}

#[test]
fn constants_of_any_precision_read_as_floats() {
    let done = run(CHAIN, |m, _| {
        let f = m.edit("main")?;
        let mut read = Vec::new();
        for (_, constant) in f.constants() {
            read.push(f.constant_floats(constant.value)?);
        }
        let expected = [vec![0.5], vec![0.1, -2.0], vec![1.5, -3.0]];
        assert_eq!(read, expected.map(Some));
        Ok(())
    });
    assert!(done.starts_with("module"), "{done}");
}

#[test]
fn create_value_infers_the_type() {
    check(
        CHAIN,
        |f, cx| {
            let sum = f.ops_named("onnx.Sum").next().ok_or("no op")?;
            let x = f.params()[0];
            let at = Position::before(sum);
            let shape = cx.create_value(f, OpBuilder::new("onnx.Shape").operand(x), at)?;
            assert_eq!(f.shape(shape), Some(vec![1]));
            // The function that `edit` returns accepts its own results as operands.
            let relu = f.create_op(
                OpBuilder::new("onnx.Relu").operand(x).untyped_results(1),
                at,
            )?;
            f.replace_uses(f.operand(sum, 0).ok_or("no operand")?, f.result(relu, 0))?;
            f.erase_dead(shape)?;
            Ok(())
        },
        expect![[r#"
            module {
              fn @main(%x: f16[2], %kept: f16[2]) -> (%out: f16[2], %more: f16[2]) opset("" = 17) {
                %half = const f16[1] [0.5]
                %small = const f64[2] [0.1, -2.0]
                %brain = const bf16[2] [1.5, -3.0]
                %a = onnx.Mul(%x, %half) : f16[2]
                %b = onnx.Exp(%a) : f16[2]
                %r = onnx.RandomNormalLike(%b) : f16[2]
                %c = onnx.Sqrt(%b) : f16[2]
                %d = onnx.Add(%c, %r) : f16[2]
                %k = onnx.Sqrt(%kept) : f16[2]
                %e = onnx.Tanh(%k) : f16[2]
                %g = onnx.Cast(%small) {to = 10} : f16[2]
                %h = onnx.Cast(%brain) {to = 10} : f16[2]
                %0 = onnx.Relu(%x)
                %s = onnx.Sum(%0, %e, %g, %h) : f16[2]
                return %s, %k
              }
            }
        "#]],
    );
}

#[test]
fn attribute_reference_is_copied_as_reference() {
    let source = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %y = acme.Soft(%x) : f32[2]
    return %y
  }
  fn @acme.Soft(%v) -> (%w) opset("" = 17) attributes {param slope = 0.5} {
    %w = onnx.LeakyRelu(%v) {alpha = ref(slope, float)}
    return %w
  }
}
"#;
    let done = run(source, |m, _| {
        let f = m.edit("acme.Soft")?;
        let op = f.ops_named("onnx.LeakyRelu").next().ok_or("no op")?;
        let value = f.attr(op, "alpha").and_then(|attr| attr.to_value());
        f.set_attr(op, "beta", value.ok_or("no value")?)?;
        Ok(())
    });
    assert!(
        done.contains("{alpha = ref(slope, float), beta = ref(slope, float)}"),
        "{done}"
    );
}
