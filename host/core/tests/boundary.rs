//! Passes through the boundary: closures and a static plugin edit functions and modules through
//! the same tables as loaded plugins, and every misuse is an error with a sentence.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::sync::Arc;

use expect_test::{Expect, expect};
use passdock::boundary::{
    FunctionPass, FunctionRunner, ModuleInput, ModulePass, Surroundings, host, run_module_pass,
    same_interface,
};
use passdock::plugin::{FieldValue, OpDefs, PassKind, Plugin};
use passdock_abi as abi;
use passdock_abi::{DType, Dim, FunctionKind, OpId, RegionId, Status, SymbolId, TypeId, ValueId};
use passdock_ir as ir;
use passdock_ir::{NewOp, NewPort, Position, TypeSpec};
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::{OpCall, OpDef, OpResult, OpTraits, plugin};
use passdock_plugin_api::{OpBuilder, PassContext, PassResult};

/// Surroundings with one option and a registered pass that removes the function `gone`.
struct Around {
    limit: FieldValue,
    defs: OpDefs,
}

impl Around {
    fn new() -> Around {
        Around {
            limit: FieldValue::Int(8),
            defs: OpDefs::new([]),
        }
    }

    fn with_ops() -> Around {
        let plugin = Arc::new(Plugin::from_static(PLUGIN).expect("a good plugin"));
        Around {
            defs: OpDefs::new([&plugin]),
            ..Around::new()
        }
    }
}

impl Surroundings for Around {
    fn opt_level(&self) -> u32 {
        3
    }

    fn option(&self, name: &str) -> Option<&FieldValue> {
        (name == "limit").then_some(&self.limit)
    }

    fn config(&self, key: &str, field: &str) -> Option<&FieldValue> {
        (key == "t.Config" && field == "limit").then_some(&self.limit)
    }

    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        (name == "t.transform.Remove").then_some(PassKind::Module)
    }

    fn run_pass(&self, module: &ir::Module, name: &str) -> Result<ir::Module, String> {
        if name != "t.transform.Remove" {
            return Err(format!("There is no pass `{name}`."));
        }
        let mut module = module.clone();
        let gone = module.symbols().intern("gone");
        module.remove(gone).map_err(|e| e.message)?;
        Ok(module)
    }

    fn op_defs(&self) -> &OpDefs {
        &self.defs
    }
}

/// `@name(%x: f32[2]) { %0 = t.A(%x); %1 = t.A(%0); return %1 }`
fn function(module: &ir::Module, name: &str) -> ir::Function {
    let symbols = module.symbols();
    let mut f = ir::Function::new(symbols.clone(), FunctionKind::GRAPH, symbols.intern(name));
    let ty = f.add_type(TypeSpec::Tensor(DType::F32, Some(&[Dim::constant(2)])));
    let port = |name| NewPort { name, ty };
    let body = f.body();
    let mut value = f.add_arg(body, &port("x")).expect("an argument");
    for _ in 0..2 {
        let mut op = NewOp::new(symbols.intern("t.A"));
        let operands = [value];
        op.operands = &operands;
        op.result_types = &[TypeId(0)];
        let op = f.create_op(&op, Position::end(body)).expect("an op");
        value = f.result(op, 0).expect("a result");
    }
    f.set_results(body, &[value], &[port("y")])
        .expect("results");
    f
}

fn module() -> ir::Module {
    let mut module = ir::Module::new();
    for name in ["main", "gone"] {
        let f = function(&module, name);
        module.insert(f).expect("a new name");
    }
    module
}

fn run(
    module: &ir::Module,
    around: &Around,
    pass: impl Fn(&mut sdk::Function, &PassContext) -> PassResult + Send + Sync + 'static,
) -> Result<Option<Arc<ir::Function>>, String> {
    let input = ModuleInput::new(module);
    let mut runner = FunctionRunner::new(&input, around);
    let function = module.function_named("main").expect("is there");
    let result = runner.run(FunctionPass::Closure(&pass), function);
    result.map_err(|failure| {
        let place = [&failure.function, &failure.op, &failure.location];
        let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
        let how = if failure.panicked {
            "panicked"
        } else {
            "failed"
        };
        format!("{how}: {} [{}]", failure.message, place.join(", "))
    })
}

fn run_module(
    module: &ir::Module,
    pass: impl for<'h> Fn(&mut sdk::Module<'h>, &PassContext) -> PassResult + Send + Sync + 'static,
) -> Result<Option<ir::Module>, String> {
    let (result, _) = run_module_pass(ModulePass::Closure(&pass), module, &Around::new());
    result.map_err(|failure| failure.message)
}

fn ops(f: &ir::Function) -> Vec<String> {
    f.ops_in(f.body())
        .map(|op| f.text(f.op(op).name).to_owned())
        .collect()
}

#[test]
fn a_pass_that_changes_nothing_costs_no_copy() {
    let module = module();
    let changed = run(&module, &Around::new(), |f, cx| {
        assert_eq!(
            (f.op_count(), f.function_name(), cx.opt_level()),
            (3, "main", 3)
        );
        Ok(())
    });
    assert!(changed.expect("does nothing").is_none());
}

#[test]
fn an_edit_copies_the_function_and_leaves_the_input_alone() {
    let module = module();
    let main = module.function_named("main").expect("is there");
    let changed = run(&module, &Around::new(), |f, _| {
        for op in f.ops_named("t.A") {
            let Some(inner) = f.operand(op, 0).and_then(|v| f.defining_op(v)) else {
                continue;
            };
            let before = f.version();
            f.replace_op_with(op, &[f.result(inner, 0)])?;
            // The view shows the edit at once, where it lies.
            assert!(f.version() > before && !f.is_live(op));
        }
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    assert_eq!(ops(&changed), ["t.A", "return"]);
    assert_eq!(ops(main), ["t.A", "t.A", "return"]);
    assert!(same_interface(main, &changed));
}

#[test]
fn an_edit_that_is_no_change_leaves_the_function_as_it_is() {
    let module = module();
    let changed = run(&module, &Around::new(), |f, _| {
        let op = f.ops_named("t.A").next().ok_or("no op")?;
        let operand = f.operand(op, 0).ok_or("no operand")?;
        f.set_operand(op, 0, operand)?;
        Ok(())
    });
    assert!(changed.expect("works").is_none());
}

#[test]
fn a_new_parameter_is_another_interface() {
    let module = module();
    let main = module.function_named("main").expect("is there");
    let changed = run(&module, &Around::new(), |f, _| {
        f.add_arg(f.body(), "z", TypeId(1))?;
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    assert!(!same_interface(main, &changed));
}

#[test]
fn a_failing_pass_says_where() {
    let module = module();
    let failed = run(&module, &Around::new(), |f, _| {
        let op = f.ops_named("t.A").nth(1).ok_or("no op")?;
        f.erase_op(op)?;
        Ok(())
    });
    expect!["failed: op1 (t.A) can't be erased: its result the value v2 is used by op2 (return). Replace the uses first. [main, op1 (t.A)]"].assert_eq(&failed.expect_err("the op is used"));
}

#[test]
fn a_panicking_pass_is_a_failure() {
    let module = module();
    let failed = run(&module, &Around::new(), |f, _| {
        f.set_value_name(f.params()[0], "changed")?;
        panic!("it went wrong with {}", f.op_count())
    });
    expect!["panicked: it went wrong with 3 [main]"].assert_eq(&failed.expect_err("panics"));
    let main = module.function_named("main").expect("is there");
    assert_eq!(
        main.describe(main.args(main.body()).next().expect("a parameter")),
        "%x"
    );
}

#[test]
fn a_pass_may_ask_its_surroundings_and_speak() {
    let module = module();
    let input = ModuleInput::new(&module);
    let around = Around::new();
    let mut runner = FunctionRunner::new(&input, &around);
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
        let same = PassContext::current(|current| current.opt_level());
        assert_eq!(same, Some(3));
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
    let function = module.function_named("main").expect("is there");
    let changed = runner.run(FunctionPass::Closure(&pass), function);
    assert!(changed.expect("works").is_none());
    let said = runner.take_diagnostics();
    expect![[r#"
        warning[t::odd]: The op is odd.
         |
         = in function @main, op0 (t.A)
         = help: Look."#]]
    .assert_eq(&said[0].render(false));
    assert!(PassContext::current(|_| ()).is_none());
}

#[test]
fn a_module_pass_holds_several_functions() {
    let module = module();
    let changed = run_module(&module, |m, _| {
        let before = m.snapshot("main")?;
        let mut f = m.edit("main")?;
        let last = f.ops_named("t.A").nth(1).ok_or("no op")?;
        let value = f.operand(last, 0).ok_or("no operand")?;
        f.replace_op_with(last, &[value])?;
        drop(f);
        let after = m.snapshot("main")?;
        assert_eq!((before.op_count(), after.op_count()), (3, 2));
        // An edit after a snapshot copies again, and the snapshot stays.
        let mut f = m.edit("main")?;
        let param = f.params()[0];
        f.set_value_name(param, "renamed")?;
        assert_eq!(after.value_name(after.params()[0]), Some("x"));
        drop(f);
        m.remove("gone")?;
        let mut made = m.create("helper", FunctionKind::GRAPH, None)?;
        let body = made.body();
        let arg = made.add_arg(body, "p", TypeId(0))?;
        made.set_results(body, &[arg])?;
        drop(made);
        let names: Vec<String> = m.functions().map(|e| m.text(e.name).to_owned()).collect();
        assert_eq!(names, ["main", "helper"]);
        assert!(m.create("helper", FunctionKind::GRAPH, None).is_err());
        Ok(())
    });
    let changed = changed.expect("works").expect("changed");
    let list: Vec<(&str, usize)> = changed
        .functions()
        .map(|f| (f.text(f.name()), f.op_count()))
        .collect();
    assert_eq!(list, [("main", 1), ("helper", 0)]);
    assert_eq!(module.len(), 2);
}

#[test]
fn handles_end_when_another_pass_runs() {
    let module = module();
    let changed = run_module(&module, |m, cx| {
        let mut f = m.edit("main")?;
        let param = f.params()[0];
        f.set_value_name(param, "renamed")?;
        let kept = f.as_raw();
        drop(f);
        m.run_pass(cx, "t.transform.Remove")?;
        assert_eq!(m.functions().len(), 1);
        // SAFETY: the handle has ended, which the host has to notice.
        let status =
            unsafe { raw().set_type.expect("is there")(kept.handle, ValueId(0), TypeId(0)) };
        assert_eq!(status, Status::STALE);
        assert_eq!(m.edit("main")?.value_name(ValueId(0)), Some("renamed"));
        let unknown = m
            .run_pass(cx, "t.transform.Nobody")
            .expect_err("no such pass");
        assert_eq!(unknown.message, "There is no pass `t.transform.Nobody`.");
        Ok(())
    });
    assert_eq!(changed.expect("works").expect("changed").len(), 1);
}

#[test]
fn what_may_only_be_read_is_not_edited() {
    let module = module();
    let failed = run(&module, &Around::new(), |_, cx| {
        let module = cx.module().ok_or("no module")?;
        let snapshot = module.snapshot("gone")?;
        // SAFETY: the handle lives; it may not edit, which the host has to notice.
        let status =
            unsafe { raw().erase_op.expect("is there")(snapshot.as_raw().handle, OpId(0)) };
        assert_eq!(status, Status::REFUSED);
        // SAFETY: as above.
        let error = unsafe {
            text(raw().last_error.expect("is there")(
                snapshot.as_raw().handle,
            ))
        };
        Err(error.into())
    });
    expect!["failed: The function is a snapshot: it can be read, not edited. [main]"]
        .assert_eq(&failed.expect_err("a snapshot"));
    let module_ref = |cx: &PassContext| cx.module().map(|m| m.as_raw().handle);
    let failed = run(&module, &Around::new(), move |_, cx| {
        let handle = module_ref(cx).ok_or("no module")?;
        let mut out = abi::FunctionRef {
            handle: std::ptr::null_mut(),
            view: std::ptr::null(),
        };
        // SAFETY: the handle lives; a function pass may not edit the module.
        let error = unsafe {
            let modules = &*host().modules;
            assert_eq!(
                modules.edit.expect("is there")(handle, SymbolId(12), &mut out),
                Status::REFUSED
            );
            text(modules.last_error.expect("is there")(handle))
        };
        Err(error.into())
    });
    expect!["failed: A function pass gets the module to read; a module pass may edit it. [main]"]
        .assert_eq(&failed.expect_err("a function pass"));
}

fn raw() -> &'static abi::FunctionApi {
    // SAFETY: the host's tables live for good.
    unsafe { &*host().functions }
}

/// # Safety
/// The text is there.
unsafe fn text(text: abi::Str) -> String {
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr, text.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Each misuse of a table by a plugin answers a status and a sentence, and changes nothing.
#[test]
fn misuse_is_refused_with_a_sentence() {
    let module = module();
    type Case = (&'static str, fn(*mut abi::Function) -> Status, Expect);
    let cases: Vec<Case> = vec![
        (
            "no description",
            |f| create(f, std::ptr::null()),
            expect!["failed: The pointer to the OpDesc is null. [main]"],
        ),
        (
            "a short description",
            |f| {
                let mut desc = op_desc();
                desc.struct_size = 4;
                create(f, &desc)
            },
            expect!["failed: `struct_size` of a OpDesc is 4, at least 80 is needed. [main]"],
        ),
        (
            "no list where a count is",
            |f| {
                let mut desc = op_desc();
                desc.operand_count = 3;
                create(f, &desc)
            },
            expect!["failed: The pointer to the operands is null. [main]"],
        ),
        (
            "an endless list",
            |f| {
                let mut desc = op_desc();
                desc.operands = &ValueId(0);
                desc.operand_count = usize::MAX;
                create(f, &desc)
            },
            expect!["failed: The list of operands has 18446744073709551615 elements. [main]"],
        ),
        (
            "an unknown value",
            |f| {
                let mut desc = op_desc();
                let operand = ValueId(999);
                desc.operands = &operand;
                desc.operand_count = 1;
                create(f, &desc)
            },
            expect!["failed: There is no value v999 in function @main. [main]"],
        ),
        (
            "an unknown name",
            |f| {
                let mut desc = op_desc();
                desc.name = SymbolId(123_456);
                create(f, &desc)
            },
            expect!["failed: An op's name has to be a symbol, and sym123456 is none. [main]"],
        ),
        (
            "an attribute of an unknown kind",
            |f| {
                let mut attr = attr_desc();
                attr.kind = abi::AttrKind(77);
                let mut desc = op_desc();
                desc.attrs = &attr;
                desc.attr_count = 1;
                create(f, &desc)
            },
            expect!["failed: This host knows no attribute of kind 77. [main]"],
        ),
        (
            "a type of an unknown kind",
            |f| add_type(f, |desc| desc.kind = abi::TypeKind(99)),
            expect!["failed: This host knows no type of kind 99. [main]"],
        ),
        (
            "a dim that is no symbol",
            |f| {
                add_type(f, |desc| {
                    static DIM: Dim = Dim::symbol(SymbolId(123_456));
                    (desc.dims, desc.dim_count) = (&DIM, 1);
                })
            },
            expect![
                "failed: A dim of kind 2 and value 123456 means nothing in this function. [main]"
            ],
        ),
        (
            "a negative size",
            |f| {
                add_type(f, |desc| {
                    static DIM: Dim = Dim::constant(-1);
                    (desc.dims, desc.dim_count) = (&DIM, 1);
                })
            },
            expect!["failed: A dim of a shape is negative. [main]"],
        ),
        (
            "a name that isn't UTF-8",
            |f| {
                let name = abi::Str {
                    ptr: b"\xff".as_ptr(),
                    len: 1,
                };
                // SAFETY: all pointers are good; the text isn't.
                unsafe { raw().set_name.expect("is there")(f, ValueId(0), name) }
            },
            expect!["failed: The name of a value isn't UTF-8. [main]"],
        ),
        (
            "another meaning of the ops",
            |f| {
                // SAFETY: all pointers are good.
                unsafe {
                    let set = raw().set_opset.expect("is there");
                    assert!(set(f, abi::Str::new("t"), 1).is_ok());
                    set(f, abi::Str::new("t"), 2)
                }
            },
            expect![
                "failed: The function's version of the domain `t` is 1 and can't become 2: its ops would mean something else. [main]"
            ],
        ),
        (
            "no place for the answer",
            |f| {
                let at = abi::Position::end_of(RegionId(0));
                // SAFETY: the place for the answer is null, which the host has to notice.
                unsafe {
                    raw().create_op.expect("is there")(f, &op_desc(), &at, std::ptr::null_mut())
                }
            },
            expect!["failed: The pointer to the place for the answer is null. [main]"],
        ),
    ];
    for (what, misuse, expected) in cases {
        let failed = run(&module, &Around::new(), move |f, _| {
            let handle = f.as_raw().handle;
            let status = misuse(handle);
            assert_ne!(status, Status::OK, "{what}");
            // SAFETY: the handle lives.
            let error = unsafe { text(raw().last_error.expect("is there")(handle)) };
            Err(error.into())
        });
        expected.assert_eq(&failed.expect_err(what));
    }
    // A null handle has no place for a sentence; the status says enough.
    // SAFETY: the handle is null, which the host has to notice.
    let status = unsafe { raw().erase_op.expect("is there")(std::ptr::null_mut(), OpId(0)) };
    assert_eq!(status, Status::INVALID);
}

fn create(f: *mut abi::Function, desc: *const abi::OpDesc) -> Status {
    let at = abi::Position::end_of(RegionId(0));
    let mut out = OpId::NONE;
    // SAFETY: pointers that aren't null are good.
    let status = unsafe { raw().create_op.expect("is there")(f, desc, &at, &mut out) };
    assert!(out.is_none());
    status
}

fn add_type(f: *mut abi::Function, change: impl FnOnce(&mut abi::TypeDesc)) -> Status {
    let mut desc = abi::TypeDesc {
        struct_size: size_of::<abi::TypeDesc>() as u32,
        kind: abi::TypeKind::TENSOR,
        dtype: DType::F32,
        lanes: 0,
        flags: 0,
        name: SymbolId::NONE,
        dims: std::ptr::null(),
        dim_count: 0,
        layout: std::ptr::null(),
        layout_count: 0,
        items: std::ptr::null(),
        item_count: 0,
    };
    change(&mut desc);
    let mut out = TypeId::NONE;
    // SAFETY: pointers that aren't null are good.
    unsafe { raw().add_type.expect("is there")(f, &desc, &mut out) }
}

fn op_desc() -> abi::OpDesc {
    abi::OpDesc {
        struct_size: size_of::<abi::OpDesc>() as u32,
        flags: 0,
        name: abi::symbol::IF,
        loc: abi::LocId::NONE,
        operands: std::ptr::null(),
        operand_count: 0,
        result_types: std::ptr::null(),
        result_count: 0,
        attrs: std::ptr::null(),
        attr_count: 0,
        regions: std::ptr::null(),
        region_count: 0,
    }
}

fn attr_desc() -> abi::AttrDesc {
    abi::AttrDesc {
        struct_size: size_of::<abi::AttrDesc>() as u32,
        kind: abi::AttrKind::INT,
        name: abi::symbol::INDEX,
        flags: 0,
        bits: 0,
        data: std::ptr::null(),
        count: 0,
    }
}

// Op definitions.

const DOUBLE: OpDef = OpDef::new("t.A", 1)
    .operands(1, 1)
    .traits(OpTraits::PURE)
    .infer(like_operand)
    .evaluate(double);

fn like_operand(call: &OpCall) -> OpResult {
    let operand = call.operand(0).ok_or("there is no operand")?;
    call.set_result_like(0, operand)?;
    Ok(())
}

fn double(call: &OpCall) -> OpResult {
    let _ = call.operand(0).ok_or("there is no operand")?;
    Err("this one never has an answer".into())
}

/// No operands, so always constant; fills what the attribute `len` says of two elements.
const TWO: OpDef = OpDef::new("t.Two", 1).operands(0, 0).evaluate(two);

fn two(call: &OpCall) -> OpResult {
    let len = match call.attr(call.op(), "len").and_then(|attr| attr.to_value()) {
        Some(sdk::AttrValue::Int(len)) => len as usize,
        _ => 8,
    };
    let ty = sdk::TypeSpec::shaped(DType::I32, &[2]);
    let room = call.allocate_result(0, &ty, len)?;
    room.copy_from_slice(&[7, 0, 0, 0, 9, 0, 0, 0]);
    Ok(())
}

/// Holds on to a slice of the function while it adds types.
const READER: OpDef = OpDef::new("t.Reader", 1).infer(read_on);

fn read_on(call: &OpCall) -> OpResult {
    let results = call.results(call.op());
    let (first, text) = (results[0], format!("{results:?}"));
    for size in 0..300 {
        let dims = [
            Dim::constant(size),
            Dim::symbol(call.find_symbol("x").ok_or("no x")?),
        ];
        let inner = call.add_type(&sdk::TypeSpec::tensor(DType::F32, dims))?;
        call.add_type(&sdk::TypeSpec::tuple([inner, inner, inner]))?;
        call.add_expr(abi::ExprKind::ADD, dims[1], Dim::constant(size))?;
    }
    assert_eq!((results[0], format!("{results:?}")), (first, text));
    Ok(())
}

fn nothing(_f: &mut sdk::Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

plugin! {
    name: "t",
    passes: [
        /// Does nothing.
        function "t.transform.Nothing" => nothing { thread_safe: true },
    ],
    ops: [DOUBLE, TWO, READER],
}

#[test]
fn definitions_are_asked_through_the_host() {
    let module = module();
    let changed = run(&module, &Around::with_ops(), |f, cx| {
        for op in f.ops_named("t.A") {
            let traits = f.traits(op);
            assert!(traits.is_pure() && traits.is_defined() && traits.folds());
            assert_eq!(f.shape(f.result(op, 0)), None);
            cx.infer(f, op)?;
            assert_eq!(f.shape(f.result(op, 0)), Some(vec![2]));
            // Not constant: no evaluation, no error.
            assert_eq!(cx.evaluate(f, op, 1 << 20)?, None);
        }
        Ok(())
    });
    let changed = changed.expect("works").expect("types were inferred");
    assert_eq!(ops(&changed), ["t.A", "t.A", "return"]);
}

#[test]
fn an_evaluation_makes_constants_or_nothing() {
    let module = module();
    let changed = run(&module, &Around::with_ops(), |f, cx| {
        let end = abi::Position::end_of(f.body());
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let op = f.create_op(OpBuilder::new("t.Two").result(ty), end)?;
        // Over the budget: no answer. A length that isn't the type's: no answer either.
        assert_eq!(cx.evaluate(f, op, 7)?, None);
        f.set_attr(op, "len", 4_i64)?;
        assert_eq!(cx.evaluate(f, op, 1 << 20)?, None);
        f.remove_attr(op, "len")?;
        let values = cx.evaluate(f, op, 8)?.ok_or("an answer")?;
        assert_eq!(
            f.constant_data(values[0])?,
            Some(&[7, 0, 0, 0, 9, 0, 0, 0][..])
        );
        f.replace_op_with(op, &values)?;
        // A result of another type is an error: the definition is wrong.
        let ty = f.add_type(&sdk::TypeSpec::shaped(DType::I32, &[3]))?;
        let op = f.create_op(OpBuilder::new("t.Two").result(ty), end)?;
        let error = cx.evaluate(f, op, 8).expect_err("2 isn't 3");
        Err(error.into())
    });
    expect!["failed: The evaluation of op4 (t.Two) contradicts the type of the value v5. [main, op4 (t.Two)]"].assert_eq(&changed.expect_err("2 isn't 3"));
}

#[test]
fn what_a_definition_reads_stays_while_it_adds_types() {
    let module = module();
    let changed = run(&module, &Around::with_ops(), |f, cx| {
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let at = abi::Position::end_of(f.body());
        let op = f.create_op(OpBuilder::new("t.Reader").results([ty; 5]), at)?;
        cx.infer(f, op)?;
        Ok(())
    });
    assert!(changed.expect("works").is_some());
}

#[test]
fn without_definitions_nothing_is_known() {
    let module = module();
    let changed = run(&module, &Around::new(), |f, cx| {
        for op in f.ops_named("t.A") {
            assert_eq!(f.traits(op), OpTraits::NONE);
            cx.infer(f, op)?;
            assert_eq!(cx.evaluate(f, op, 1 << 20)?, None);
        }
        Ok(())
    });
    assert!(changed.expect("works").is_none());
}

#[test]
fn an_inferred_type_that_contradicts_is_an_error() {
    let module = module();
    let failed = run(&module, &Around::with_ops(), |f, cx| {
        let op = f.ops_named("t.A").next().ok_or("no op")?;
        let other = f.add_type(&sdk::TypeSpec::shaped(DType::F32, &[3]))?;
        f.set_type(f.result(op, 0), other)?;
        cx.infer(f, op)?;
        Ok(())
    });
    expect!["failed: The type f32[2] contradicts f32[3], the type of the value v1; a type may be refined, not changed. [main, op0 (t.A)]"].assert_eq(&failed.expect_err("3 isn't 2"));
}

#[test]
fn a_static_plugin_goes_the_way_of_a_loaded_one() {
    let plugin = Plugin::from_static(PLUGIN).expect("a good plugin");
    let pass = plugin
        .load_pass("t.transform.Nothing")
        .expect("loads")
        .expect("is there");
    assert!(pass.spec().thread_safe);
    let module = module();
    let input = ModuleInput::new(&module);
    let around = Around::new();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut runner = FunctionRunner::new(&input, &around);
                for function in module.functions() {
                    let changed = runner.run(FunctionPass::Loaded(pass), function);
                    assert!(changed.expect("does nothing").is_none());
                }
            });
        }
    });
}

/// Edits with ids that mean little: errors, never a crash, and what comes out keeps every invariant
/// but the one that a pass has to see to itself, that regions end.
#[test]
fn random_calls_are_survived() {
    let module = module();
    let changed = run(&module, &Around::with_ops(), |f, cx| {
        let mut random = 0x9E37_79B9_u64;
        let mut below = |n: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((random >> 33) % n) as u32
        };
        for _ in 0..20_000 {
            let id = |r: u32| if r == 40 { u32::MAX } else { r };
            let (a, b, c) = (id(below(41)), id(below(41)), id(below(41)));
            let (op, value, region, ty) = (OpId(a), ValueId(b), RegionId(c), TypeId(b));
            let name = ["t.A", "t.B", "onnx.If"][below(3) as usize];
            let at = match below(2) {
                0 => abi::Position::before(OpId(b)),
                _ => abi::Position::end_of(region),
            };
            let spec = sdk::TypeSpec::shaped(DType::I64, &[i64::from(a & 3)]);
            let _ = match below(20) {
                0 => f.erase_op(op),
                1 => f.replace_op_with(op, &[value]),
                2 => f.set_operand(op, (c & 7) as usize, value),
                3 => f.replace_uses(value, ValueId(c)),
                4 => f.set_attr(op, "k", i64::from(b)),
                5 => f.remove_attr(op, "k"),
                6 => f.set_type(value, TypeId(a)),
                7 => f.set_value_name(value, name),
                8 => f.move_op(op, at),
                9 => f.erase_constant(abi::ConstId(a)),
                10 => f.set_results(region, &[value]),
                11 | 12 => f
                    .create_op(
                        OpBuilder::new(name).operand(value).result(ty).region("r"),
                        at,
                    )
                    .map(drop),
                13 => f
                    .replace_op(op, OpBuilder::new(name).operand(value).result(ty))
                    .map(drop),
                14 if below(50) == 0 => f.clone_region(region, at, &[value]).map(drop),
                15 => f.add_arg(region, name, ty).map(drop),
                16 => f.add_type(&spec).map(drop),
                17 => {
                    let data = vec![1; below(40) as usize];
                    f.add_constant(&sdk::ConstantSpec::new(ty, &data)).map(drop)
                }
                18 => f
                    .add_expr(
                        abi::ExprKind(c),
                        Dim::symbol(SymbolId(a)),
                        Dim::constant(b.into()),
                    )
                    .map(drop),
                _ if f.is_live(op) => cx.infer(f, op),
                _ => Ok(()),
            };
        }
        Ok(())
    });
    let changed = changed.expect("every call came back").expect("changed");
    let Err(mut violations) = ir::verify::verify(&changed) else {
        return;
    };
    violations.retain(|v| v.invariant != ir::verify::Invariant::Terminators);
    let said: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(said, [""; 0]);
}
