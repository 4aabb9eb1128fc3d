//! Misuse that safe code can express and the compiler can't reject: handles of two hosts or two runs used together,
//! iterators that are used while the host works, handles that are never dropped.
//!
//! Miri runs these (`cargo xtask deep miri`).

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{ConstId, FunctionKind, OpId, Status, TypeId};
use passdock_core::boundary::{edit_module, host};
use passdock_plugin_api as sdk;
use passdock_plugin_api::__private::Tables;
use passdock_plugin_api::ir::Ops;
use passdock_plugin_api::prelude::{OpCall, OpDef, OpResult, plugin};
use passdock_plugin_api::{
    Analysis, EditError, Function, FunctionBuilder, OpBuilder, PassContext, PassError, PassResult,
    Position,
};

use crate::support::{TestFrame, module, run, run_module};

/// Returns the tables of a second host, which has the functions of this one.
fn second_host(change: impl FnOnce(&mut abi::FunctionApi)) -> &'static Tables {
    // SAFETY: the host's own tables except for the changes, leaked.
    unsafe {
        let mut host = *host().get();
        let mut functions = *host.functions;
        change(&mut functions);
        host.functions = Box::leak(Box::new(functions));
        Tables::of(Box::leak(Box::new(host)))
    }
}

#[test]
fn handles_of_another_host_are_rejected() {
    let second_host = second_host(|_| {});
    let same = run(&module(), &TestFrame::with_ops(), move |f, cx| {
        // SAFETY: a live function, and only one handle of it is used at a time.
        let mut foreign = unsafe { Function::from_raw(second_host, f.as_raw()) };
        let (op, values, at) = (OpId(0), [f.params()[0]], Position::end_of(f.body()));
        expect!["the function belongs to another host in this process"].assert_eq(
            &cx.infer(&mut foreign, op)
                .expect_err("another host's")
                .message,
        );
        let body = foreign.body();
        let errors: [Option<EditError>; 7] = [
            cx.infer(&mut foreign, op).err(),
            cx.infer_with(&mut foreign, op, &values).err(),
            cx.check_op(&foreign, op).err(),
            cx.evaluate(&mut foreign, op, 8).err(),
            cx.evaluate_with(&mut foreign, op, &values, 8).err(),
            cx.decompose(&mut foreign, op).err(),
            f.clone_region_from(&foreign, body, at, &values, &[]).err(),
        ];
        for error in errors {
            let error = error.expect("another host's");
            assert_eq!(error.status, Status::INVALID);
            assert!(error.message.contains("another host"), "{error}");
        }
        // The handle alone can be used to read and edit.
        assert_eq!(foreign.iter().count(), 3);
        Ok(())
    });
    assert!(same.expect("works").is_none());
    let result = run_module(&module(), move |m, cx| {
        // SAFETY: as above, for the module.
        let mut foreign = unsafe { sdk::Module::from_raw(second_host, m.as_raw()) };
        let error = foreign.run_pass(cx, "t.transform.Remove");
        let error = error.expect_err("another host's").message;
        assert!(
            error.starts_with("the context belongs to another host"),
            "{error}"
        );
        assert_eq!(m.functions().len(), 2);
        Ok(())
    });
    assert!(result.expect("works").is_none());
}

#[test]
fn functions_missing_in_older_host_are_rejected() {
    let old = second_host(|functions| {
        functions.erase_constant = None;
        functions.clone_ops = None;
    });
    let same = run(&module(), &TestFrame::new(), move |f, _| {
        // SAFETY: as above.
        let mut f = unsafe { Function::from_raw(old, f.as_raw()) };
        let error = f.erase_constant(ConstId(0)).expect_err("missing");
        assert_eq!(error.status, Status::UNSUPPORTED);
        expect!["the host is too old for the plugin: it has no function `erase_constant`"]
            .assert_eq(&error.message);
        let at = Position::end_of(f.body());
        let error = f.clone_ops(&[], at, &[]).expect_err("missing, too");
        assert_eq!(error.status, Status::UNSUPPORTED);
        Ok(())
    });
    assert!(same.expect("works").is_none());
}

/// A program may edit a module while it edits another one, and so have handles of both.
#[test]
fn handles_of_two_runs_cannot_be_mixed() {
    let (frame, outer, inner) = (TestFrame::with_ops(), module(), module());
    let edited = edit_module(&outer, &frame, |one| {
        let f = one.edit("main")?;
        let edited = edit_module(&inner, &frame, |other| {
            let g = other.edit("main")?;
            let (body, at) = (g.body(), Position::end_of(f.body()));
            let arg = [f.params()[0]];
            let copied = f.clone_region_from(g, body, at, &arg, &[]);
            expect!["cannot copy from another module"]
                .assert_eq(&copied.expect_err("of another module").message);
            g.erase_op(OpId(0)).expect_err("a used op");
            Ok(())
        });
        edited.map_err(|failure| failure.message)?;
        f.set_function_attr("k", 1)?;
        Ok(())
    });
    let edited = edited.map_err(|failure| failure.message);
    assert!(edited.expect("works").is_some());
}

thread_local! {
    static STORED: RefCell<Vec<Ops>> = const { RefCell::new(Vec::new()) };
}

/// Stores iterators in a thread-local variable.
fn store(f: &Function) {
    STORED.with_borrow_mut(|stored| stored.extend([f.ops(), f.ops()]));
}

/// Returns the number of stored iterators that have a next item.
fn advance() -> usize {
    STORED.with_borrow_mut(|stored| stored.iter_mut().filter_map(Iterator::next).count())
}

/// Advances the stored iterators when the host drops it, for example during an edit.
#[derive(Debug)]
struct AdvancesOnDrop;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for AdvancesOnDrop {
    fn drop(&mut self) {
        advance();
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

impl Analysis for AdvancesOnDrop {
    fn compute(_f: &Function, _cx: &PassContext) -> Result<AdvancesOnDrop, PassError> {
        advance();
        Ok(AdvancesOnDrop)
    }
}

/// A definition that advances the stored iterators during its calls, and makes the function's pools grow.
const ADVANCING: OpDef = OpDef::new("t.A", 1)
    .operands(1, 1)
    .infer(advance_in_call)
    .evaluate(|call| {
        advance_in_call(call)?;
        Err("it only looked".into())
    });

fn advance_in_call(call: &OpCall) -> OpResult {
    let operand = call.operand(0).ok_or("there is no operand")?;
    // Miri is slow.
    for size in 0..if cfg!(miri) { 11 } else { 100 } {
        let inner = sdk::TypeSpec::shaped(abi::DType::F32, &[size, size]);
        call.add_type(&inner)?;
        if size % 10 == 0 {
            advance();
        }
    }
    call.set_result_like(0, operand)?;
    Ok(())
}

fn nothing(_f: &mut Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

plugin! {
    name: "t",
    passes: [
        /// Does nothing.
        function "t.transform.Nothing" => nothing,
    ],
    ops: [ADVANCING],
}

#[test]
fn iterators_may_be_advanced_during_host_calls() {
    let frame = TestFrame::with_ops_of(PLUGIN);
    let changed = run(&module(), &frame, |f, cx| {
        store(f);
        f.analysis::<AdvancesOnDrop>(cx)?;
        // The first edit copies, and the analysis for the next version replaces that for the previous one.
        for _ in 0..3 {
            for op in f.ops_named("t.A") {
                cx.infer(f, op)?;
                let operand = f.operand(op, 0).ok_or("no operand")?;
                cx.infer_with(f, op, &[operand])?;
                assert_eq!(cx.evaluate(f, op, 8)?, None);
                cx.evaluate_with(f, op, &[operand], 8)?;
                store(f);
            }
            f.analysis::<AdvancesOnDrop>(cx)?;
            let last = f.terminator(f.body()).ok_or("no terminator")?;
            let op = OpBuilder::new("t.A").operand(f.params()[0]);
            let op = f.create_op(op.untyped_results(1), Position::before(last))?;
            f.set_attr(op, "k", 1)?;
            advance();
        }
        assert!(advance() > 0);
        Ok(())
    });
    assert_eq!(advance(), 0);
    drop(changed.expect("works").expect("changed"));
    assert!(DROPPED.load(Ordering::Relaxed) > 0);
    STORED.take();
}

#[test]
fn forgotten_handles_are_invalidated() {
    let changed = run_module(&module(), |m, cx| {
        let f = m.edit("main")?;
        f.set_function_attr("k", 1)?;
        store(f);
        let snapshot = m.snapshot("main")?;
        store(&snapshot);
        std::mem::forget(snapshot);
        assert_eq!(advance(), 4);
        // Iterators of edited functions end with the next edit, those of snapshots with the run.
        let created = m.create("made", FunctionKind::GRAPH, None)?;
        assert_eq!(advance(), 2);
        store(created);
        m.run_pass(cx, "t.transform.Remove")?;
        store(m.edit("made")?);
        assert_eq!(advance(), 2);
        Ok(())
    });
    assert_eq!(changed.expect("works").expect("changed").len(), 2);
    assert_eq!(advance(), 0);
    STORED.take();
}

/// Snapshots don't change with the module.
#[test]
fn snapshots_outlive_their_functions() {
    let changed = run_module(&module(), |m, cx| {
        let (main, removed) = (m.snapshot("main")?, m.snapshot("gone")?);
        m.run_pass(cx, "t.transform.Remove")?;
        let f = m.edit("main")?;
        for op in f.ops_named("t.A").rev() {
            let x = f.params()[0];
            f.replace_op_with(op, &[x])?;
        }
        m.remove("main")?;
        let created = m.create("main", FunctionKind::GRAPH, None)?;
        let mut b = FunctionBuilder::new(created);
        let x = b.param("x", TypeId::NONE)?;
        b.finish(&[x])?;
        for f in [main, removed] {
            let names: Vec<&str> = f.iter().map(|op| f.name(op)).collect();
            assert_eq!(names, ["t.A", "t.A", "return"]);
            assert_eq!(f.order()?.position(OpId(1)), Some(1));
        }
        Ok(())
    });
    assert_eq!(changed.expect("works").expect("changed").len(), 1);
}

/// A pass that panics while it has all handles changes nothing.
#[test]
fn panic_invalidates_all_handles() {
    let failed = run_module(&module(), |m, _| {
        let snapshot = m.snapshot("gone")?;
        let f = m.edit("main")?;
        f.set_function_attr("k", 1)?;
        store(f);
        store(&snapshot);
        panic!("it holds {}", advance());
    });
    assert_eq!(failed.expect_err("a panic"), "it holds 4");
    assert_eq!(advance(), 0);
    STORED.take();
}
