//! Results of the SDK's functions, and of its edits.

use expect_test::expect;

use crate::{CHAIN, outcome};

/// Checks that passes, each in a separate run on this thread, don't change the chain.
#[track_caller]
fn check_unchanged(passes: &[&str]) {
    for pass in passes {
        let name = format!("sdk.transform.{pass}");
        assert_eq!(outcome(&[&name], CHAIN), CHAIN, "{pass}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    // The thread has less stack than recursion would need.
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let run = thread.spawn(|| check_unchanged(&["Deep", "WorksOut"]));
    run.expect("a thread").join().expect("it works");
}

#[test]
fn analyses_are_cached_per_function_version() {
    let changed = outcome(&["sdk.transform.Analyses"], CHAIN);
    assert!(changed.contains("{k = 2}"), "{changed}");
    check_unchanged(&["AnalysesAreGone"]);
}

#[test]
fn stale_iterators_end() {
    check_unchanged(&["KeepIterators", "KeptIteratorsEnd"]);
    let changed = outcome(&["sdk.transform.ForgetHandles"], CHAIN);
    assert!(changed.contains("k = 1"), "{changed}");
    check_unchanged(&["KeptIteratorsEnd"]);
}

#[test]
fn queries_do_not_invalidate_slices() {
    let moved = outcome(&["sdk.transform.SlicesStay"], CHAIN);
    assert!(moved.contains("loc(\"moved\")"), "{moved}");
}

#[test]
fn panics_in_passes_become_errors() {
    let first = outcome(&["sdk.transform.Panics"], CHAIN);
    assert_eq!(outcome(&["sdk.transform.Panics"], CHAIN), first);
    expect![[r#"
        error[pass-panicked]: the pass panicked at tests/plugins/sdk/src/failing.rs:22:13: something
         |
         = in pass sdk.transform.Panics of plugin `SDK`, function @main"#]]
    .assert_eq(&first);
    let panic = std::panic::catch_unwind(|| panic!("mine")).expect_err("it panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
}
