//! Passes run by other passes: required passes run first, they are children of the caller, and recursion is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::expect;
use passdock::{
    PassContext, PassDeclaration, PassRef, PassStatus, Recorder, Sequential, create_module_pass,
    sdk,
};

use crate::common::{Log, error, info, module, registered};

/// Returns a pass that runs others, in order. `!` changes the module in between.
fn runs(
    log: &Log,
    declared: impl Into<PassDeclaration>,
    others: &'static [&'static str],
) -> PassRef {
    let declared = declared.into();
    let (log, name) = (log.clone(), declared.info.name.clone());
    let count = AtomicU32::new(0);
    create_module_pass(declared, move |m: &mut sdk::Module, cx| {
        log.add(format!("run {name}"));
        for other in others {
            match *other {
                "!" => {
                    let count = count.fetch_add(1, Ordering::Relaxed);
                    m.edit("main")?
                        .set_function_attr("count", i64::from(count))?;
                }
                other => m.run_pass(cx, other)?,
            }
        }
        Ok(())
    })
}

/// The passes for the tests.
fn passes(log: &Log) -> Vec<PassRef> {
    vec![
        log.pass(info("types")),
        log.pass(info("folds").required(["types"])),
        log.pass(info("needs").required(["folds", "types"])),
        log.pass(info("high").opt_level(4).required(["folds"])),
    ]
}

/// Runs a Sequential of these passes. Returns the recorded events and the records of the run.
fn run(log: &Log, known: Vec<PassRef>, entries: Vec<PassRef>) -> String {
    let recorder = Arc::new(Recorder::new(None));
    let (_, context) = registered(known);
    let cx = context.recorder(recorder.clone()).build().unwrap();
    let result = cx.scope(|_| Sequential::new(entries).call(module()));
    let mut lines = log.take();
    lines.extend(result.err().map(|error| error.to_string()));
    for record in recorder.take() {
        let parent = record
            .parent
            .map_or_else(String::new, |parent| format!("{parent} > "));
        let by = record
            .requested_by
            .map_or_else(String::new, |by| format!(" for {by}"));
        let outcome = match record.status {
            PassStatus::Skipped => record.reason,
            status => status.name().to_owned(),
        };
        lines.push(format!("{parent}{}{by}: {outcome}", record.name));
    }
    lines.join("\n")
}

#[test]
fn required_passes_run_first_if_the_module_changed() {
    let log = Log::new();
    let all = runs(&log, info("all"), &["needs", "needs", "!", "high", "folds"]);
    let entries = vec![log.pass(info("types")), all];
    expect![[r#"
        run types
        run all
        run folds
        run needs
        run needs
        run types
        run folds
        run high
        run folds
        types: unchanged
        all: changed
        all > types for folds: it ran before, and nothing changed since
        all > folds for needs: unchanged
        all > needs: unchanged
        all > types for folds: it ran before, and nothing changed since
        all > folds for needs: it ran before, and nothing changed since
        all > needs: unchanged
        all > types for folds: unchanged
        all > folds for high: unchanged
        all > high: unchanged
        all > types for folds: it ran before, and nothing changed since
        all > folds: unchanged"#]]
    .assert_eq(&run(&log, passes(&log), entries));
    // Required passes count as done within the run of the outer pass.
    let cleanup = Sequential::new([log.pass(info("a").required(["folds"])), log.pass(info("b"))]);
    let mut known = passes(&log);
    known.push(cleanup.name("x.cleanup").into_pass());
    known.push(runs(&log, info("inner"), &["folds", "x.cleanup", "folds"]));
    let outer = runs(&log, info("outer").required(["types"]), &["inner", "folds"]);
    expect![[r#"
        run types
        run outer
        run inner
        run folds
        run a
        run b
        run folds
        run folds
        types for outer: unchanged
        outer: unchanged
        outer > inner: unchanged
        inner > types for folds: it ran before, and nothing changed since
        inner > folds: unchanged
        inner > x.cleanup: unchanged
        x.cleanup > types for folds: it ran before, and nothing changed since
        x.cleanup > folds for a: it ran before, and nothing changed since
        x.cleanup > a: unchanged
        x.cleanup > b: unchanged
        inner > types for folds: it ran before, and nothing changed since
        inner > folds: unchanged
        outer > types for folds: it ran before, and nothing changed since
        outer > folds: unchanged"#]]
    .assert_eq(&run(&log, known, vec![outer]));
}

/// A pass called by name isn't filtered. If a pass that it requires is disabled, that is an error.
#[test]
fn disabled_pass_runs_by_name_but_not_as_required() {
    let log = Log::new();
    let (registry, context) = registered(passes(&log));
    registry
        .register(runs(&log, info("all"), &["high", "needs"]))
        .unwrap();
    let run = |disabled: &str| {
        let builder = PassContext::builder()
            .registry(&registry)
            .on_diagnostic(|_| ());
        let cx = builder.disabled_pass([disabled]).build().unwrap();
        let all = registry.get_pass("all").unwrap();
        match cx.scope(|cx| all.call_in(module(), cx)) {
            Ok(_) => log.add("done"),
            Err(error) => log.add(error.to_string()),
        }
    };
    run("high");
    run("folds");
    log.check(expect![["
        run all
        run types
        run folds
        run high
        run needs
        done
        run all
        Error in pass all: pass `folds` is disabled, but `high` requires it; also disable `high`, or enable `folds` \
          (`all` runs `high`)"]]);
    drop(context);
}

/// Some passes run themselves until nothing changes.
#[test]
fn pass_may_run_itself_recursively() {
    let left = AtomicU32::new(5);
    let again = create_module_pass(info("again"), move |m: &mut sdk::Module, cx| {
        match left.fetch_sub(1, Ordering::Relaxed) {
            1 => Ok(()),
            _ => m.run_pass(cx, "again"),
        }
    });
    let log = Log::new();
    let text = run(&log, vec![again.clone()], vec![again]);
    assert_eq!(
        text.matches("again > again: unchanged").count(),
        4,
        "{text}"
    );
}

#[test]
fn infinite_recursion_is_reported_with_the_chain() {
    let log = Log::new();
    // Through Sequentials, some of them deeply nested.
    let around = runs(&log, info("around"), &["x.block"]);
    let mut block = Sequential::new([around.clone()])
        .name("x.inner")
        .into_pass();
    for at in 0..3 {
        let name = format!("x.deep{at}");
        block = Sequential::new([block]).name(name).into_pass();
    }
    let block = Sequential::new([block]).name("x.block").into_pass();
    let (registry, context) = registered([around, block]);
    let cx = context.build().unwrap();
    let around = registry.get_pass("around").unwrap();
    expect![
        "Error in pass around: passes run or contain each other more than 256 levels deep: x.deep0 -> x.inner -> \
            around -> x.block -> x.deep2 -> x.deep1 -> x.deep0; remove the recursion (`around` runs `x.block`)"
    ].assert_eq(&error(around.call_in(module(), &cx)));
    log.take();
    // Through a Sequential that isn't nested.
    let around = runs(&log, info("around"), &["x.block"]);
    let block = Sequential::new([around.clone()]).name("x.block");
    let (registry, context) = registered([around, block.into_pass()]);
    let cx = context.build().unwrap();
    let around = registry.get_pass("around").unwrap();
    expect![
        "Error in pass around: passes run each other more than 64 levels deep: around -> x.block -> around; remove \
            the recursion"
    ].assert_eq(&error(around.call_in(module(), &cx)));
    log.take();
    // Through required passes.
    let (registry, context) = registered([
        runs(&log, info("a"), &["b"]),
        log.pass(info("b").required(["c"])),
        log.pass(info("c").required(["a"])),
    ]);
    let cx = context.build().unwrap();
    let a = registry.get_pass("a").unwrap();
    expect!["Error in pass a: passes require each other: a -> b -> c -> a; remove one of them from the other's \
            `required` (`a` runs `b`)"].assert_eq(&error(a.call_in(module(), &cx)));
    log.check(expect!["run a"]);
}

#[test]
fn inner_failure_is_attributed_to_the_outer_pass() {
    let log = Log::new();
    let fails = create_module_pass(info("fails"), |_: &mut sdk::Module, _| {
        Err("it is broken".into())
    });
    let block = Sequential::new([log.pass(info("types")), fails]).name("x.block");
    let all = runs(&log, info("all"), &["x.block"]);
    let (_, context) = registered([block.into_pass()]);
    let cx = context.build().unwrap();
    let failed = cx
        .scope(|_| Sequential::new([all]).call(module()))
        .unwrap_err();
    expect!["Error in pass fails, run by all: it is broken"].assert_eq(&failed.to_string());
    let site = failed.site().expect("a pass of a Sequential failed");
    assert_eq!(site.passes[0].info().name, "all");
}
