//! Functions with an operator's name. The meaning of an op of that name depends only on the current module, not on
//! other states of it.

use std::sync::Arc;

use expect_test::expect;
use passdock_core::analyses::{self, EffectAnalysis, NameAnalysis, Operators};
use passdock_core::boundary::{Frame, ModuleCode, run_module_pass};
use passdock_ir as ir;
use passdock_plugin_api as sdk;
use passdock_plugin_api::{FunctionKind, OpKind, OpTraits, PassResult, Visit, Visitor};

use crate::support::{TestFrame, function, module, run};

/// The number of calls that a visitor finds.
#[derive(Default)]
struct Calls(usize);

impl Visitor for Calls {
    fn visit_op(&mut self, f: &sdk::Function, op: sdk::OpId) -> Visit {
        self.0 += usize::from(f.op_kind(op) == OpKind::Call);
        Visit::Into
    }
}

/// Whether all queries about the ops `t.A` of a function report that they may be calls.
fn are_calls(f: &sdk::Function) -> Result<bool, sdk::PassError> {
    let ops: Vec<sdk::OpId> = f.all_ops_named("t.A").collect();
    let (effects, names) = (f.effects()?, f.names()?);
    let mut calls = Calls::default();
    calls.visit(f);
    let mut answers = Vec::new();
    for &op in &ops {
        let name = f.symbol(op);
        let used = names
            .iter()
            .find(|used| used.name == name)
            .ok_or("the name is used")?;
        let traits = [f.traits(op), effects.traits(op), OpTraits(used.traits)];
        assert!(
            traits
                .iter()
                .all(|traits| traits.is_pure() != traits.is_ambiguous())
        );
        answers.extend(traits.map(OpTraits::is_ambiguous));
        answers.push(f.callee(op) == Some(name));
        answers.push(calls.0 == ops.len());
        answers.push(f.ops_named("t.A").next().is_none());
    }
    assert!(
        !answers.is_empty() && answers.iter().all(|one| *one == answers[0]),
        "{answers:?}"
    );
    Ok(answers[0])
}

/// Checks whether the ops of `@main` may be calls, in a pass and in an embedding program.
#[track_caller]
fn check(module: &ir::Module, frame: &TestFrame, expected: bool) {
    let same = run(module, frame, move |f, _| {
        assert_eq!(are_calls(f)?, expected);
        Ok(())
    });
    assert_eq!(same.map(|changed| changed.is_none()), Ok(true));
    let main: &Arc<ir::Function> = module.function_named("main").expect("present");
    let operators = Operators::new(frame.op_defs(), module);
    let names: &NameAnalysis = analyses::get(main, &operators);
    let used = names.iter().next().expect("a name");
    assert_eq!(OpTraits(used.traits).is_ambiguous(), expected);
    let effects: &EffectAnalysis = analyses::get(main, &operators);
    let first = effects.of(main.region(main.body()).first);
    let first = first.expect("present");
    assert_eq!(OpTraits(first.traits).is_ambiguous(), expected);
}

#[test]
fn function_with_op_name_makes_ops_ambiguous() {
    let (plain, frame) = (module(), TestFrame::with_ops());
    let mut named = plain.clone();
    let created = function(&named, "t.A");
    named.insert(created).expect("a new name");
    // The two modules share functions, symbols and cached analyses.
    for _ in 0..2 {
        check(&plain, &frame, false);
        check(&named, &frame, true);
    }
    let mut removed = named.clone();
    let name = removed.symbols().intern("t.A");
    removed.remove(name).expect("present");
    check(&removed, &frame, false);
    check(&named, &frame, true);
}

/// A function of another name makes no op ambiguous. Neither does one whose name no operator has.
#[test]
fn functions_with_other_names_change_nothing() {
    let (plain, frame) = (module(), TestFrame::with_ops());
    let main: &Arc<ir::Function> = plain.function_named("main").expect("present");
    let before: *const NameAnalysis = analyses::get(main, &Operators::new(frame.op_defs(), &plain));
    let mut more = plain.clone();
    for name in ["t.B", "acme.Block"] {
        let created = function(&more, name);
        more.insert(created).expect("a new name");
    }
    check(&more, &frame, false);
    let after: *const NameAnalysis = analyses::get(main, &Operators::new(frame.op_defs(), &more));
    assert!(std::ptr::eq(before, after), "the cached analysis is reused");
}

/// A pass that creates and removes such a function gets results for the current state of the module.
#[test]
fn pass_sees_the_current_module() {
    let frame = TestFrame::with_ops();
    let pass = |m: &mut sdk::Module<'_>, _: &sdk::PassContext| -> PassResult {
        for _ in 0..2 {
            assert!(!are_calls(m.edit("main")?)?);
            m.create("t.A", FunctionKind::GRAPH, None)?;
            assert!(are_calls(m.edit("main")?)?);
            assert!(are_calls(&m.snapshot("main")?)?);
            m.remove("t.A")?;
            assert!(!are_calls(&m.snapshot("main")?)?);
        }
        Ok(())
    };
    let outcome = run_module_pass(
        ModuleCode::Closure(&pass),
        &module(),
        &frame,
        &frame.options,
    );
    outcome
        .result
        .map_err(|failure| failure.message)
        .expect("works");
}

/// A new op of the operator would be a call.
#[test]
fn op_that_would_call_a_function_is_rejected() {
    let mut named = module();
    let created = function(&named, "t.A");
    named.insert(created).expect("a new name");
    let create = |f: &mut sdk::Function, _: &sdk::PassContext| -> PassResult {
        let at = sdk::Position::end_of(f.body());
        f.create_op(sdk::OpBuilder::new("t.A"), at)?;
        Ok(())
    };
    let changed = run(&named, &TestFrame::with_ops(), create);
    expect![
        "failed: the model has a function @t.A, which an op of the operator `t.A` would call [main]"
    ]
    .assert_eq(&changed.map(drop).expect_err("the edit fails"));
}
