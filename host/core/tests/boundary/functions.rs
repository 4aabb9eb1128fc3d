//! Passes on one function: changes, diagnostics and failures.

use std::sync::Arc;

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{DType, RegionId, Status, TypeId};
use passdock_core::boundary::{FunctionCode, ModuleInput, host};
use passdock_ir as ir;
use passdock_ir::verify::interface::same_interface;
use passdock_ir::verify::verify;
use passdock_ir::{ByteSource, ConstantData, FileRange, NewOp, Payload, Position, TypeData};
use passdock_plugin_api as sdk;
use passdock_plugin_api::{PassContext, PassResult};

use crate::support::{TestFrame, function, module, ops, run, run_in, run_on};

#[test]
fn unchanged_function_is_not_copied() {
    let module = module();
    let changed = run(&module, &TestFrame::new(), |f, cx| {
        assert_eq!(
            (f.op_count(), f.function_name(), cx.opt_level()),
            (3, "main", 3)
        );
        Ok(())
    });
    assert!(changed.expect("does nothing").is_none());
}

#[test]
fn edit_copies_the_function() {
    let module = module();
    let main = module.function_named("main").expect("present");
    let changed = run(&module, &TestFrame::new(), |f, _| {
        for op in f.ops_named("t.A") {
            let Some(inner) = f.operand(op, 0).and_then(|v| f.defining_op(v)) else {
                continue;
            };
            let before = f.version();
            f.replace_op_with(op, &[f.result(inner, 0)])?;
            // The view shows the edit at once, at the same address.
            assert!(f.version() > before && !f.is_live(op));
        }
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    assert_eq!(ops(&changed), ["t.A", "return"]);
    assert_eq!(ops(main), ["t.A", "t.A", "return"]);
    assert!(same_interface(main, &changed));
}

/// An op that replaces several has their locations. Invalid locations are rejected.
#[test]
fn fused_op_has_the_locations_of_its_sources() {
    let text = "module { fn @main(%x) -> (%y) { \
                %a = t.A(%x) loc(\"first\") %b = t.A(%a) %y = t.A(%b) loc(\"last\") return %y } }";
    let module = passdock_ir::text::parse(text).expect("valid IR");
    let changed = run(&module, &TestFrame::new(), |f, _| {
        let all: Vec<sdk::OpId> = f.ops_named("t.A").collect();
        let x = f.params()[0];
        let loc = f.fused_loc(&[all[2], all[1], all[0], all[2]])?;
        assert_eq!(f.fused_loc(&all[..2])?, f.loc(all[0]));
        assert_eq!(f.fused_loc(&[all[1]])?, sdk::LocId::NONE);
        f.replace_op(all[2], sdk::OpBuilder::new("t.AAA").operand(x).loc(loc))?;
        f.erase_op(all[1])?;
        f.erase_op(all[0])?;
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    let printed = passdock_ir::text::print_function(&changed, &Default::default());
    assert!(
        printed.contains("%y = t.AAA(%x) loc(\"last\", \"first\")"),
        "{printed}"
    );
}

#[test]
fn edit_without_effect_is_no_change() {
    let module = module();
    let changed = run(&module, &TestFrame::new(), |f, _| {
        let op = f.ops_named("t.A").next().ok_or("no op")?;
        let operand = f.operand(op, 0).ok_or("no operand")?;
        f.set_operand(op, 0, operand)?;
        Ok(())
    });
    assert!(changed.expect("works").is_none());
}

#[test]
fn new_parameter_changes_the_interface() {
    let module = module();
    let main = module.function_named("main").expect("present");
    let changed = run(&module, &TestFrame::new(), |f, _| {
        f.add_arg(f.body(), "z", TypeId(1))?;
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    assert!(!same_interface(main, &changed));
}

#[test]
fn failure_has_a_location() {
    let module = module();
    let failed = run(&module, &TestFrame::new(), |f, _| {
        let op = f.ops_named("t.A").nth(1).ok_or("no op")?;
        f.erase_op(op)?;
        Ok(())
    });
    expect!["failed: cannot erase op1 (t.A): its result value v2 is used by op2 (return); replace the uses first \
            [main, op1 (t.A)]"].assert_eq(&failed.expect_err("the op is used"));
}

#[test]
fn panic_is_a_failure() {
    let module = module();
    let failed = run(&module, &TestFrame::new(), |f, _| {
        f.set_value_name(f.params()[0], "changed")?;
        panic!("it went wrong with {}", f.op_count())
    });
    expect!["panicked: it went wrong with 3 [main]"].assert_eq(&failed.expect_err("panics"));
    let main = module.function_named("main").expect("present");
    assert_eq!(
        main.describe(main.args(main.body()).next().expect("a parameter")),
        "%x"
    );
}

#[test]
fn pass_queries_its_context_and_emits_diagnostics() {
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    let pass = |f: &mut sdk::Function, cx: &PassContext| -> PassResult {
        assert_eq!(cx.option("limit")?, Some(sdk::OptionValue::Int(8)));
        assert_eq!(cx.option("other")?, None);
        assert_eq!(
            cx.config_value("t.Config", "limit")?,
            Some(sdk::OptionValue::Int(8))
        );
        assert_eq!(
            cx.find_pass("t.transform.Remove"),
            Some(abi::PassKind::MODULE)
        );
        assert_eq!(cx.find_pass("t.transform.Nobody"), None);
        let host = (cx.host_name(), cx.host_version());
        assert_eq!(host, ("passdock", env!("CARGO_PKG_VERSION")));
        let op = f.ops_named("t.A").next().ok_or("no op")?;
        cx.emit(
            &sdk::Diagnostic::warning("The op is odd.")
                .at(op)
                .code("t::odd")
                .help("Look."),
        );
        // The input module can be read meanwhile.
        let module = cx.module().ok_or("no module")?;
        let other = module.snapshot("gone")?;
        assert_eq!(other.op_count(), 3);
        Ok(())
    };
    let function = module.function_named("main").expect("present");
    let (changed, diagnostics) = run_on(&input, &frame, FunctionCode::Closure(&pass), function);
    assert!(changed.expect("works").is_none());
    expect![[r#"
        warning[t::odd]: The op is odd.
         |
         | %0 = t.A(%x)
         | ^^^^^^^^^^^^
         |
         = in function @main, op0 (t.A)
         = help: Look."#]]
    .assert_eq(&diagnostics[0].render(false));
}

/// The headers of views are reused by later passes, even after a pass that edited. A change of the module invalidates
/// them.
#[test]
fn slots_are_cached_until_the_module_changes() {
    let mut module = module();
    let frame = TestFrame::new();
    let look = |f: &mut sdk::Function, _: &PassContext| -> PassResult {
        assert_eq!(f.ops_named("t.A").count(), 2);
        Ok(())
    };
    let cut = |f: &mut sdk::Function, _: &PassContext| -> PassResult {
        let last = f.ops_named("t.A").nth(1).ok_or("no op")?;
        let value = f.operand(last, 0).ok_or("no operand")?;
        f.replace_op_with(last, &[value])?;
        assert_eq!(f.ops_named("t.A").count(), 1);
        Ok(())
    };
    for _ in 0..2 {
        let (input, mut slots) = ModuleInput::new(&module);
        for slot in &mut slots {
            let (changed, _) = run_in(&input, &frame, FunctionCode::Closure(&cut), slot);
            let changed = changed.expect("works").expect("changed");
            assert_eq!(ops(&changed), ["t.A", "return"]);
            let (changed, _) = run_in(&input, &frame, FunctionCode::Closure(&look), slot);
            assert!(changed.expect("works").is_none());
        }
        input.cache(slots);
    }
    let slots = module.take_cached().expect("the slots");
    module.cache(slots);
    let name = module.symbols().intern("gone");
    module.remove(name).expect("present");
    assert!(module.take_cached().is_none());
    assert_eq!(ModuleInput::new(&module).1.len(), 1);
}

#[test]
fn restored_type_is_no_change() {
    let module = module();
    let run_pass = |back: bool| {
        run(&module, &TestFrame::new(), move |f, _| {
            let op = f.ops_named("t.A").next().ok_or("no op")?;
            let (value, known) = (f.result(op, 0), f.type_id(f.result(op, 0)));
            let refined = f.add_type(&sdk::TypeSpec::shaped(abi::DType::F32, &[2]))?;
            let unknown = f.add_type(&sdk::TypeSpec::unknown())?;
            f.set_type(value, refined)?;
            if back {
                f.set_type(value, unknown)?;
                f.set_type(value, known)?;
            }
            Ok(())
        })
    };
    assert!(run_pass(false).expect("works").is_some());
    assert!(run_pass(true).expect("works").is_none());
}

/// The bytes of a file that was removed.
#[derive(Debug)]
struct MissingFile;

impl ByteSource for MissingFile {
    fn name(&self) -> &str {
        "w.bin"
    }

    fn read(&self, _: u64, _: u64) -> Result<&[u8], String> {
        Err("w.bin is gone.".to_owned())
    }

    fn size(&self) -> Result<u64, String> {
        Err("w.bin is gone.".to_owned())
    }
}

#[test]
fn rewrite_returns_io_error_for_missing_data() {
    let mut module = ir::Module::new();
    let mut f = function(&module, "main");
    let ty = f.add_type(TypeData::Tensor(DType::F32, Some(&[])));
    let source = Arc::new(MissingFile);
    let (offset, len) = (0, 4);
    let data = ConstantData::new(Payload::External(FileRange {
        source,
        offset,
        len,
    }));
    let number = f
        .add_constant(ty, data, RegionId::NONE, "k")
        .expect("a constant");
    let mut op = NewOp::new(module.symbols().intern("t.Scale"));
    let operands = [f.args(f.body()).next().expect("x"), number];
    (op.operands, op.result_types) = (&operands, &[TypeId(0)]);
    f.create_op(&op, Position::end(f.body())).expect("an op");
    module.insert(f).expect("a new name");
    let same = run(&module, &TestFrame::new(), |f, cx| {
        let desc = abi::RewriteDesc {
            rules: abi::Str::new("rule one { t.Scale(%x, 1) => %x }"),
            ..abi::RewriteDesc::EMPTY
        };
        // SAFETY: all pointers are valid, and the handles live while the pass runs.
        unsafe {
            let rewrite = (*host().get().ops).rewrite.expect("present");
            assert_eq!(rewrite(cx.as_raw(), f.as_raw().handle, &desc), Status::IO);
        }
        Ok(())
    });
    assert!(same.expect("works").is_none());
}

/// Models may have such names, so passes can read and set them.
#[test]
fn names_may_have_any_character() {
    let changed = run(&module(), &TestFrame::new(), |f, _| {
        let name = "a\0b\n\"";
        let (param, op) = (f.params()[0], f.ops().next().ok_or("an op")?);
        f.set_value_name(param, name)?;
        let symbol = f.intern(name)?;
        f.set_attr(op, symbol, 1)?;
        assert_eq!(f.value_name(param), Some(name));
        assert_eq!((f.text(symbol), f.find_symbol(name)), (name, Some(symbol)));
        Ok(())
    });
    verify(&changed.expect("works").expect("changed")).expect("good IR");
}
