//! Rewriting by rules: counts of rewrites, disabled rules, and a limit.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::sdk::{self, Function, PassResult, Rules};
use passdock::{
    ContextBuilder, Module, PassContext, PassError, PassInfo, PassRef, Recorder, Registry,
    Sequential, create_function_pass, create_module_pass, ir,
};

use crate::common::parse;

static RULES: Rules = sdk::rules! {
    rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    rule no_identity { onnx.Identity(%x) => %x }
};

fn rewrites(f: &mut Function, cx: &sdk::PassContext) -> PassResult {
    cx.rewrite(f, &[&RULES])
}

fn rewriting(name: &str) -> PassRef {
    create_function_pass(PassInfo::new(name), rewrites)
}

/// Functions with one `Identity` and two pairs of `Neg`s per five ops.
fn module(functions: usize, ops: usize) -> Module {
    let mut text = "module {\n".to_owned();
    for f in 0..functions {
        writeln!(
            text,
            "  fn @f{f}(%v0: f32[8]) -> (%y: f32[8]) opset(\"\" = 17) {{"
        )
        .unwrap();
        for op in 1..=ops {
            let kind = if op % 5 == 0 { "Identity" } else { "Neg" };
            writeln!(text, "    %v{op} = onnx.{kind}(%v{}) : f32[8]", op - 1).unwrap();
        }
        writeln!(text, "    return %v{ops}\n  }}").unwrap();
    }
    parse(&(text + "}\n"))
}

/// Returns the module after the passes, and a line for each pass record.
fn run(
    passes: impl IntoIterator<Item = PassRef>,
    module: Module,
    context: ContextBuilder,
) -> (Result<Module, PassError>, String) {
    let recorder = Arc::new(Recorder::default());
    let context = context.recorder(recorder.clone()).build().unwrap();
    let passes = Sequential::new(passes);
    let result = context.scope(|cx| passes.call_in(module, cx));
    let records = recorder.take();
    let line = |record: &passdock::PassRecord| {
        let (name, status) = (&record.name, record.status.name());
        format!("{name} {status}: {}\n", record.rewrites)
    };
    (result, records.iter().map(line).collect())
}

fn warnings(context: ContextBuilder) -> (ContextBuilder, Arc<Mutex<Vec<String>>>) {
    let messages: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = messages.clone();
    let context = context.on_diagnostic(move |one| sink.lock().unwrap().push(one.render(false)));
    (context, messages)
}

#[test]
fn pass_record_counts_rewrites_by_rule() {
    let failing = create_function_pass(PassInfo::new("failing"), |f, cx| {
        rewrites(f, cx)?;
        Err(sdk::PassError::new("It doesn't like it."))
    });
    let idle = create_function_pass(PassInfo::new("idle"), |_, _| Ok(()));
    let nested = Sequential::new([rewriting("inside")]).name("nested");
    let passes = [idle, nested.into_pass(), rewriting("again")];
    let (result, records) = run(passes, module(3, 10), PassContext::builder());
    result.unwrap();
    expect![[r#"
        idle unchanged: 
        nested changed: 
        inside changed: neg_neg ×12, no_identity ×3
        again unchanged: 
    "#]]
    .assert_eq(&records);
    // Rewrites of a failed pass don't count.
    let (result, records) = run([failing], module(3, 10), PassContext::builder());
    assert!(result.is_err());
    expect![[r#"
        failing failed: 
    "#]]
    .assert_eq(&records);
    let failing = create_module_pass(PassInfo::new("failing"), |m, cx| {
        let names: Vec<_> = m.functions().map(|function| function.name).collect();
        for name in names {
            rewrites(m.edit(name)?, cx)?;
        }
        Err(sdk::PassError::new("It doesn't like it."))
    });
    let (result, records) = run([failing], module(3, 10), PassContext::builder());
    assert!(result.is_err());
    expect![[r#"
        failing failed: 
    "#]]
    .assert_eq(&records);
}

#[test]
fn declined_rewrites_are_no_change() {
    static DECLINE: Rules = sdk::rules! {
        rule declines { onnx.Neg(%x) } => declines;
        rule grows_by_one { onnx.Identity(%x) => onnx.Abs(onnx.Abs(%x)) }
    };
    fn declines(r: &mut sdk::Rewriter<'_>, m: &sdk::Match<'_>) -> sdk::Rewritten {
        let x = m.value(r.function(), "x");
        let at = r.ints(&[1, 2])?;
        r.op(sdk::OpBuilder::new("onnx.Gather").operands([x, at]))?;
        Ok(None)
    }
    let pass = create_function_pass(PassInfo::new("declining"), |f, cx| {
        let before = f.version();
        cx.rewrite(f, &[&DECLINE])?;
        assert_ne!(f.version(), before, "the rule created an op");
        Ok(())
    });
    let before = text_of(&module(2, 5));
    let (after, records) = run([pass], module(2, 5), PassContext::builder());
    assert_eq!(text_of(&after.unwrap()), before);
    expect![[r#"
        declining unchanged: 
    "#]]
    .assert_eq(&records);
}

#[test]
fn results_do_not_depend_on_thread_count() {
    let runs = [1, 4].map(|jobs| {
        let builder = PassContext::builder().jobs(jobs);
        let (after, records) = run([rewriting("rewriting")], module(12, 500), builder);
        (text_of(&after.unwrap()), records)
    });
    assert_eq!(runs[0], runs[1]);
    expect![[r#"
        rewriting changed: neg_neg ×2400, no_identity ×1188
    "#]]
    .assert_eq(&runs[0].1);
}

fn text_of(module: &Module) -> String {
    ir::print_with(module, &ir::PrintOptions::default())
}

#[test]
fn rewrite_limit_does_not_depend_on_thread_count() {
    for limit in [0, 1, 1001, u64::MAX] {
        let runs = [1, 4].map(|jobs| {
            let builder = PassContext::builder().jobs(jobs).rewrite_limit(limit);
            let passes = [rewriting("first"), rewriting("second")];
            let (after, records) = run(passes, module(12, 500), builder);
            (text_of(&after.unwrap()), records)
        });
        assert_eq!(runs[0], runs[1]);
    }
    let builder = PassContext::builder().rewrite_limit(5);
    let passes = [rewriting("first"), rewriting("second")];
    let (_, records) = run(passes, module(3, 10), builder);
    expect![[r#"
        first changed: neg_neg ×4, no_identity ×1
        second unchanged: 
    "#]]
    .assert_eq(&records);
}

#[test]
fn each_call_has_the_full_limit() {
    let cx = PassContext::builder().rewrite_limit(2).build().unwrap();
    let pass = rewriting("rewriting");
    for _ in 0..2 {
        let after = pass.call_in(module(1, 10), &cx).unwrap();
        assert_eq!(cx.last_rewrite().0, 2);
        assert!(!after.is_same(&module(1, 10)));
    }
    let unlimited = cx.limited(u64::MAX);
    pass.call_in(module(1, 10), &unlimited).unwrap();
    let last = unlimited.last_rewrite();
    // The last one wasn't profitable, and isn't counted.
    assert_eq!(last, (5, Some("no_identity".to_owned())));
    // Without a limit, rewrites aren't counted.
    let cx = PassContext::builder().build().unwrap();
    pass.call_in(module(1, 10), &cx).unwrap();
    assert_eq!(cx.last_rewrite(), (0, None));
}

#[test]
fn unknown_disabled_rule_is_a_warning() {
    let names = ["neg_neg", "no_identiti", "far_from_it"];
    let (context, messages) = warnings(PassContext::builder().disabled_rule(names));
    let (result, records) = run([rewriting("rewriting")], module(1, 10), context);
    result.unwrap();
    expect![[r#"
        rewriting changed: no_identity ×2
    "#]]
    .assert_eq(&records);
    expect![[r#"
        warning[unknown-rule]: unknown disabled rule `no_identiti`: no pass tried to apply a rule of that name
         |
         = help: did you mean `no_identity`?
        warning[unknown-rule]: unknown disabled rule `far_from_it`: no pass tried to apply a rule of that name"#]]
    .assert_eq(&messages.lock().unwrap().join("\n"));
}

#[test]
fn rewrites_of_inner_passes_are_recorded_separately() {
    let registry = Registry::new();
    registry.load_static(outer::PLUGIN).unwrap();
    let context = PassContext::builder().registry(&registry);
    let pass = registry.get_pass("outer.transform.Outer").unwrap();
    let (result, records) = run([pass], module(1, 10), context);
    result.unwrap();
    expect![[r#"
        outer.transform.Outer changed: no_identity ×1
        outer.transform.Inner changed: neg_neg ×4
    "#]]
    .assert_eq(&records);
    // Both passes share the limit.
    let context = PassContext::builder().registry(&registry).rewrite_limit(3);
    let pass = registry.get_pass("outer.transform.Outer").unwrap();
    let (result, records) = run([pass], module(1, 10), context);
    result.unwrap();
    expect![[r#"
        outer.transform.Outer changed: 
        outer.transform.Inner changed: neg_neg ×3
    "#]]
    .assert_eq(&records);
}

/// A plugin with a pass that runs another one and also applies rules itself.
mod outer {
    use passdock_plugin_api::plugin;
    use passdock_plugin_api::prelude::*;

    static OWN: Rules = rules! {
        rule no_identity { onnx.Identity(%x) => %x }
    };
    static OTHERS: Rules = rules! {
        rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    };

    fn outer(m: &mut Module, cx: &PassContext) -> PassResult {
        m.run_pass(cx, "outer.transform.Inner")?;
        let names: Vec<_> = m.functions().map(|function| function.name).collect();
        for name in names {
            cx.rewrite(m.edit(name)?, &[&OWN])?;
        }
        Ok(())
    }

    fn inner(f: &mut Function, cx: &PassContext) -> PassResult {
        cx.rewrite(f, &[&OTHERS])
    }

    plugin! {
        name: "outer",
        passes: [
            /// Runs the other pass.
            module "outer.transform.Outer" => outer,
            /// Rewrites by rules.
            function "outer.transform.Inner" => inner,
        ],
    }
}
