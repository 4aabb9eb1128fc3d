//! Op definitions of a static plugin, queried by passes.

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{DType, Dim};
use passdock_core::Plugin;
use passdock_core::boundary::{FunctionCode, ModuleInput, host};
use passdock_plugin_api as sdk;
use passdock_plugin_api::prelude::{OpCall, OpDef, OpResult, OpTraits, plugin};
use passdock_plugin_api::{OpBuilder, PassContext, PassResult};

use crate::analyses::raw;
use crate::support::{TestFrame, module, ops, run, run_on};

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

/// An op without operands, so always constant. Its attribute `len` sets the size of the result.
const TWO: OpDef = OpDef::new("t.Two", 1).operands(0, 0).evaluate(two);

fn two(call: &OpCall) -> OpResult {
    let len = match call.attr(call.op(), "len").and_then(|attr| attr.to_value()) {
        Some(sdk::AttrValue::Int(len)) => len as usize,
        _ => 8,
    };
    let ty = sdk::TypeSpec::shaped(DType::I32, &[2]);
    let buffer = call.allocate_result(0, &ty, len)?;
    buffer.copy_from_slice(&[7, 0, 0, 0, 9, 0, 0, 0]);
    Ok(())
}

/// Doubles both elements of its operand.
const TWICE: OpDef = OpDef::new("t.Twice", 1).operands(1, 1).evaluate(twice);

fn twice(call: &OpCall) -> OpResult {
    let bytes = call.operand_data(0)?.ok_or("its operand isn't constant")?;
    let numbers: Vec<u8> = bytes.iter().map(|byte| byte * 2).collect();
    let ty = sdk::TypeSpec::shaped(DType::I32, &[2]);
    call.allocate_result(0, &ty, 8)?.copy_from_slice(&numbers);
    Ok(())
}

/// Infers its result type, and rejects constants.
const PICKY: OpDef = OpDef::new("t.Picky", 1).operands(1, 1).infer(picky);

fn picky(call: &OpCall) -> OpResult {
    call.set_result_type(0, &sdk::TypeSpec::shaped(DType::I32, &[2]))?;
    match call.operand_data(0)? {
        Some(_) => Err("its operand is constant".into()),
        None => Ok(()),
    }
}

/// Holds a slice of the function while it adds types.
const READER: OpDef = OpDef::new("t.Reader", 1).infer(read_while_adding);

fn read_while_adding(call: &OpCall) -> OpResult {
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

/// Sets results that the op doesn't have.
const BEYOND: OpDef = OpDef::new("t.Beyond", 1)
    .infer(|call| {
        let unknown = sdk::TypeSpec::unknown();
        let errors = [
            call.set_result_type(1, &unknown).err(),
            call.set_result_dims(99, &[Dim::constant(7)]).err(),
        ];
        Err(format!("{errors:?}").into())
    })
    .evaluate(|call| {
        let ty = sdk::TypeSpec::shaped(DType::I64, &[]);
        call.allocate_result(1, &ty, 8)?;
        Ok(())
    });

/// Caches an analysis of the function during its evaluation: the operand.
const CACHES: OpDef = OpDef::new("t.Keeps", 1).operands(1, 1).evaluate(caches);

fn caches(call: &OpCall) -> OpResult {
    let operand = call.operand(0).ok_or("there is no operand")?;
    let data = std::ptr::without_provenance_mut(operand.index() + 1);
    let mut cached = std::ptr::null_mut();
    let (f, owner) = (call.as_raw().handle, std::ptr::from_ref(raw()).cast());
    let put = raw().put.ok_or("no `put`")?;
    // SAFETY: the handle is live, and the data is never dereferenced.
    let status = unsafe { put(f, owner, abi::Str::new("operand"), data, None, &mut cached) };
    assert!(status.is_ok() && cached == data);
    Err("it was asked".into())
}

/// Returns the cached result of that analysis.
fn cached_operand(f: &sdk::Function) -> Option<usize> {
    let mut cached = std::ptr::null_mut();
    let (f, owner) = (f.as_raw().handle, std::ptr::from_ref(raw()).cast());
    // SAFETY: as above.
    let status =
        unsafe { raw().get.expect("present")(f, owner, abi::Str::new("operand"), &mut cached) };
    status.is_ok().then(|| cached.addr() - 1)
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
    ops: [DOUBLE, TWO, TWICE, PICKY, READER, BEYOND, CACHES],
}

#[test]
fn passes_call_definitions_through_the_host() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        for op in f.ops_named("t.A") {
            let traits = f.traits(op);
            assert!(traits.is_pure() && traits.is_defined() && traits.folds());
            assert_eq!(f.shape(f.result(op, 0)), None);
            cx.infer(f, op)?;
            assert_eq!(f.shape(f.result(op, 0)), Some(vec![2]));
            // Without constant operands there is no evaluation, and no error.
            assert_eq!(cx.evaluate(f, op, 1 << 20)?, None);
        }
        Ok(())
    });
    let changed = changed.expect("works").expect("types were inferred");
    assert_eq!(ops(&changed), ["t.A", "t.A", "return"]);
}

#[test]
fn evaluation_returns_constants_or_none() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let end = abi::Position::end_of(f.body());
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let op = f.create_op(OpBuilder::new("t.Two").result(ty), end)?;
        // Neither a result over the budget nor one of the wrong length is returned.
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
        // A result of another type is an error of the definition.
        let ty = f.add_type(&sdk::TypeSpec::shaped(DType::I32, &[3]))?;
        let op = f.create_op(OpBuilder::new("t.Two").result(ty), end)?;
        let error = cx.evaluate(f, op, 8).expect_err("2 isn't 3");
        Err(error.into())
    });
    expect!["failed: the definition of op4 (t.Two) of plugin `t` (built in) evaluates value v5 to i32[2], but its type \
            is i32[3] [main, op4 (t.Two)]"].assert_eq(&changed.expect_err("2 isn't 3"));
}

#[test]
fn evaluating_a_chain_keeps_the_function() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let at = abi::Position::end_of(f.body());
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let operand = f.params()[0];
        let two = f.create_op(OpBuilder::new("t.Two").result(ty), at)?;
        let twice = f.create_op(OpBuilder::new("t.Twice").operand(operand).result(ty), at)?;
        let before = f.version();
        let rejected = |reason: &str| sdk::Evaluated::Rejected(reason.to_owned());
        let result = cx.evaluate_with(f, twice, &[operand], 8)?;
        assert_eq!(result, rejected("operand 0 is not constant"));
        let result = cx.evaluate_with(f, two, &[], 7)?;
        assert_eq!(result, rejected("its results are larger than the limit"));
        let error = cx
            .evaluate_with(f, twice, &[], 8)
            .expect_err("a missing operand");
        let message = "wrong number of operands for op4 (t.Twice): expected 1, found 0";
        assert_eq!(error.message, message);
        let sdk::Evaluated::Constants(first) = cx.evaluate_with(f, two, &[], 8)? else {
            return Err("an answer".into());
        };
        let sdk::Evaluated::Constants(second) = cx.evaluate_with(f, twice, &first, 8)? else {
            return Err("an answer".into());
        };
        assert_eq!(
            f.constant_data(second[0])?,
            Some(&[14, 0, 0, 0, 18, 0, 0, 0][..])
        );
        assert_eq!(
            (f.operand(twice, 0), f.use_count(first[0])),
            (Some(operand), 0)
        );
        let id = f.constant(first[0]).ok_or("a constant")?;
        f.erase_constant(id)?;
        assert_eq!(f.version(), before);
        f.erase_op(two)?;
        f.replace_op_with(twice, &second)?;
        let id = f.constant(second[0]).ok_or("a constant")?;
        f.erase_constant(id)?;
        Ok(())
    });
    assert!(changed.expect("works").is_none(), "all edits were undone");
    // A trial whose results aren't used is no change.
    let unchanged = run(&module, &TestFrame::with_ops(), |f, cx| {
        let op = f.ops_named("t.A").next().ok_or("an op")?;
        let operand = f.operand(op, 0).ok_or("an operand")?;
        let _ = cx.evaluate_with(f, op, &[operand], 8)?;
        Ok(())
    });
    assert!(unchanged.expect("works").is_none());
}

/// Analyses that are computed while operands are overridden aren't cached for the function.
#[test]
fn trial_evaluation_caches_no_analyses() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let at = abi::Position::end_of(f.body());
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let operand = f.params()[0];
        let two = f.create_op(OpBuilder::new("t.Two").result(ty), at)?;
        let caches = f.create_op(OpBuilder::new("t.Keeps").operand(operand).result(ty), at)?;
        let sdk::Evaluated::Constants(constants) = cx.evaluate_with(f, two, &[], 8)? else {
            return Err("an answer".into());
        };
        for _ in 0..2 {
            let result = cx.evaluate_with(f, caches, &constants, 8)?;
            assert_eq!(result, sdk::Evaluated::Rejected("it was asked".to_owned()));
            assert_eq!(cached_operand(f), None);
        }
        Ok(())
    });
    changed.expect("works");
}

#[test]
fn result_index_out_of_range_is_rejected() {
    let result = run(&module(), &TestFrame::with_ops(), |f, cx| {
        let at = abi::Position::end_of(f.body());
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let beyond = f.create_op(OpBuilder::new("t.Beyond").result(ty), at)?;
        let inferred = cx.infer(f, beyond).expect_err("an out-of-range result");
        let sdk::Evaluated::Rejected(evaluated) = cx.evaluate_with(f, beyond, &[], 8)? else {
            return Err("it has one result".into());
        };
        Err(format!("{}\n{evaluated}", inferred.message).into())
    });
    expect![["
        failed: op3 (t.Beyond) is invalid: [Some(EditError { status: Status(3), message: \"result index 1 is out of \
          range: the op has 1\", op: Some(op3), function: None }), Some(EditError { status: Status(3), message: \
          \"result index 99 is out of range: the op has 1\", op: Some(op3), function: None })]
        result index 1 is out of range: the op has 1 [main]"]].assert_eq(&result.expect_err("the pass fails"));
}

#[test]
fn trial_inference_keeps_the_function() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let at = abi::Position::end_of(f.body());
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let operand = f.params()[0];
        let picky = f.create_op(OpBuilder::new("t.Picky").operand(operand).result(ty), at)?;
        let result = f.result(picky, 0);
        let ints = f.add_type(&sdk::TypeSpec::shaped(DType::I32, &[2]))?;
        let constant = f.add_constant(&sdk::ConstantSpec::new(ints, &[0; 8]))?;
        let before = f.version();
        cx.infer_with(f, picky, &[operand])?;
        let error = cx.infer_with(f, picky, &[constant]);
        let error = error.expect_err("a constant operand");
        assert_eq!(error.message, "its operand is constant");
        assert_eq!((f.version(), f.operand(picky, 0)), (before, Some(operand)));
        assert_eq!(f.shape(result), None);
        // After actual inference, the types set before the rejection are known.
        f.set_operand(picky, 0, constant)?;
        cx.infer(f, picky).expect_err("a constant operand");
        assert_eq!(f.shape(result), Some(vec![2]));
        Ok(())
    });
    assert!(changed.expect("works").is_some());
}

#[test]
fn slices_stay_valid_while_types_are_added() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let ty = f.add_type(&sdk::TypeSpec::unknown())?;
        let at = abi::Position::end_of(f.body());
        let op = f.create_op(OpBuilder::new("t.Reader").results([ty; 5]), at)?;
        cx.infer(f, op)?;
        Ok(())
    });
    assert!(changed.expect("works").is_some());
}

#[test]
fn ops_without_definition_have_no_traits() {
    let module = module();
    let changed = run(&module, &TestFrame::new(), |f, cx| {
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
fn contradicting_inferred_type_is_an_error() {
    let module = module();
    let failed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let op = f.ops_named("t.A").next().ok_or("no op")?;
        let other = f.add_type(&sdk::TypeSpec::shaped(DType::F32, &[3]))?;
        f.set_type(f.result(op, 0), other)?;
        cx.infer(f, op)?;
        Ok(())
    });
    expect!["failed: type `f32[2]` contradicts `f32[3]`, the type of value v1; a type can be refined, not changed \
            [main, op0 (t.A)]"].assert_eq(&failed.expect_err("3 isn't 2"));
}

#[test]
fn static_plugin_is_loaded_like_a_library() {
    let plugin = Plugin::from_static(PLUGIN).expect("a good plugin");
    let loaded = plugin.load(host()).expect("loads");
    let spec = &plugin.manifest().passes[0];
    assert!(spec.name() == "t.transform.Nothing" && spec.declaration.thread_safe);
    let pass = &loaded.passes()[0];
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for function in module.functions() {
                    let (changed, _) = run_on(&input, &frame, FunctionCode::Loaded(pass), function);
                    assert!(changed.expect("does nothing").is_none());
                }
            });
        }
    });
}
