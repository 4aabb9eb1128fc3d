//! Functions with an operator's name. The meaning of an op of that name depends only on the current module, not on
//! other states of it.

use std::sync::Arc;

use passdock_core::analyses::{self, EffectAnalysis, NameAnalysis, Operators};
use passdock_core::boundary::{Frame, ModuleCode, run_module_pass};
use passdock_ir as ir;
use passdock_plugin_api as sdk;
use passdock_plugin_api::{FunctionKind, OpKind, OpTraits, PassResult, Visit, Visitor};

use crate::support::{Around, function, module, run};

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
    let mut said = Vec::new();
    for &op in &ops {
        let name = f.symbol(op);
        let used = names
            .iter()
            .find(|used| used.name == name)
            .ok_or("it is used")?;
        let traits = [f.traits(op), effects.traits(op), OpTraits(used.traits)];
        assert!(
            traits
                .iter()
                .all(|traits| traits.is_pure() != traits.is_ambiguous())
        );
        said.extend(traits.map(OpTraits::is_ambiguous));
        said.push(f.callee(op) == Some(name));
        said.push(calls.0 == ops.len());
        said.push(f.ops_named("t.A").next().is_none());
    }
    assert!(
        !said.is_empty() && said.iter().all(|one| *one == said[0]),
        "{said:?}"
    );
    Ok(said[0])
}

/// Checks whether the ops of `@main` may be calls, in a pass and in an embedding program.
#[track_caller]
fn check(module: &ir::Module, around: &Around, expected: bool) {
    let same = run(module, around, move |f, _| {
        assert_eq!(are_calls(f)?, expected);
        Ok(())
    });
    assert_eq!(same.map(|changed| changed.is_none()), Ok(true));
    let main: &Arc<ir::Function> = module.function_named("main").expect("is there");
    let operators = Operators::new(around.op_defs(), module);
    let names: &NameAnalysis = analyses::get(main, &operators);
    let used = names.iter().next().expect("a name");
    assert_eq!(OpTraits(used.traits).is_ambiguous(), expected);
    let effects: &EffectAnalysis = analyses::get(main, &operators);
    let first = effects.of(main.region(main.body()).first);
    let first = first.expect("is there");
    assert_eq!(OpTraits(first.traits).is_ambiguous(), expected);
}

#[test]
fn what_an_op_means_depends_on_what_the_module_holds() {
    let (plain, around) = (module(), Around::with_ops());
    let mut named = plain.clone();
    let made = function(&named, "t.A");
    named.insert(made).expect("a new name");
    // The two modules share functions, symbols and cached analyses.
    for _ in 0..2 {
        check(&plain, &around, false);
        check(&named, &around, true);
    }
    let mut removed = named.clone();
    let name = removed.symbols().intern("t.A");
    removed.remove(name).expect("it is there");
    check(&removed, &around, false);
    check(&named, &around, true);
}

/// A function of another name makes no op ambiguous. Neither does one whose name no operator has.
#[test]
fn other_functions_change_nothing() {
    let (plain, around) = (module(), Around::with_ops());
    let main: &Arc<ir::Function> = plain.function_named("main").expect("is there");
    let before: *const NameAnalysis =
        analyses::get(main, &Operators::new(around.op_defs(), &plain));
    let mut more = plain.clone();
    for name in ["t.B", "acme.Block"] {
        let made = function(&more, name);
        more.insert(made).expect("a new name");
    }
    check(&more, &around, false);
    let after: *const NameAnalysis = analyses::get(main, &Operators::new(around.op_defs(), &more));
    assert!(
        std::ptr::eq(before, after),
        "it needn't be worked out again"
    );
}

/// A pass that creates and removes such a function gets results for the current state of the module.
#[test]
fn a_pass_sees_the_module_as_it_is() {
    let around = Around::with_ops();
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
    let made = run_module_pass(
        ModuleCode::Closure(&pass),
        &module(),
        &around,
        &around.options,
    );
    made.result
        .map_err(|failure| failure.message)
        .expect("it runs");
}
