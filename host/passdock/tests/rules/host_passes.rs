//! Passes that the host itself gives.

use expect_test::expect;
use passdock::{PassRef, apply_pass_to_function, create_function_pass, create_module_pass, filter};
use passdock_abi::FunctionKind;
use passdock_ir::{Module, text};
use passdock_plugin_api as sdk;

use crate::common::{Log, error, info, module, sets_metadata};

fn names(module: &Module) -> Vec<String> {
    module
        .functions()
        .map(|f| f.text(f.name()).to_owned())
        .collect()
}

/// Marks each function that it is given.
fn mark() -> PassRef {
    create_function_pass(info("mark"), |f, _| {
        f.set_function_attr("marked", 1)?;
        Ok(())
    })
}

fn marked(module: &Module) -> Vec<String> {
    let functions = text::print(module);
    let lines = functions.lines().filter(|line| line.contains("marked = 1"));
    let name = |line: &str| {
        line.trim_start()
            .split(['(', ' '])
            .nth(1)
            .unwrap_or("")
            .to_owned()
    };
    lines.map(name).collect()
}

#[test]
fn r096_applied_to_the_functions_whose_names_match() {
    let before = module();
    for (regex, expected) in [
        ("main", expect!["@main"]),
        ("ma", expect!["@main"]),
        ("ain", expect![""]),
        ("main|other", expect!["@main @other"]),
        (".*", expect!["@main @other"]),
        ("x", expect![""]),
    ] {
        let pass = apply_pass_to_function(mark(), regex, false).unwrap();
        assert_eq!(pass.info(), &info(&format!("ApplyPassTo{regex}")));
        let after = pass.call(before.clone()).unwrap();
        expected.assert_eq(&marked(&after).join(" "));
        assert_eq!(names(&after), names(&before));
        assert_eq!(after.is_same(&before), marked(&after).is_empty(), "{regex}");
    }
    let strict = apply_pass_to_function(mark(), "x.*", true).unwrap();
    expect![
        "Error in pass ApplyPassTox.*: No function matches `x.*`; there are @main, @other, @loop."
    ]
    .assert_eq(&error(strict.call(before)));
    assert!(apply_pass_to_function(mark(), "(", false).is_err());
}

#[test]
fn r096_the_others_are_external_to_the_inner_pass_and_come_back_as_they_were() {
    let log = Log::new();
    let seen = log.clone();
    let inner = create_module_pass(info("inner"), move |module: &mut sdk::Module, _| {
        for name in ["main", "other"] {
            let mut f = module.edit(name)?;
            let external = f.function_attr("Extern").is_some();
            seen.add(format!("{name} {external}"));
            f.set_function_attr("marked", 1)?;
        }
        module.remove("loop")?;
        Ok(())
    });
    let before = module();
    let pass = apply_pass_to_function(inner, "main", false).unwrap();
    let after = pass.call(before.clone()).unwrap();
    log.check(expect![[r#"
        main false
        other true"#]]);
    assert_eq!(marked(&after), ["@main"]);
    for name in ["other", "loop"] {
        let function = |module: &Module| module.function_named(name).cloned().unwrap();
        assert!(std::sync::Arc::ptr_eq(
            &function(&before),
            &function(&after)
        ));
    }
}

#[test]
fn r096_what_the_inner_pass_sets_of_the_whole_module_stays() {
    let before = module();
    let pass = apply_pass_to_function(sets_metadata(), "main", false).unwrap();
    let after = pass.call(before.clone()).unwrap();
    assert_eq!(after.metadata(), [("key".to_owned(), "value".to_owned())]);
    assert!(!after.is_same(&before));
    // The functions are the very same, and so is a module in which the value was set before.
    assert!(pass.call(after.clone()).unwrap().is_same(&after));
}

#[test]
fn r086_filter_is_a_module_pass_that_keeps_some_functions() {
    let before = module();
    let graph = filter(|function| function.kind() == FunctionKind::GRAPH);
    assert_eq!(graph.info(), &info("Filter"));
    assert_eq!(
        names(&graph.call(before.clone()).unwrap()),
        ["main", "other"]
    );
    assert!(
        filter(|_| true)
            .call(before.clone())
            .unwrap()
            .is_same(&before)
    );
    assert!(filter(|_| false).call(before).unwrap().is_empty());
}
