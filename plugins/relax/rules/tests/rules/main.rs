//! The language of rules and its driver: IR text in, IR text out, with the standard operators.

mod attributes;
mod conditions;
mod domains;
mod driver;
mod examples;
mod find;
mod folds;
mod language;
mod never;
mod numbers;
mod operands;
mod refused;
mod regions;
#[path = "../../../tests/support/mod.rs"]
mod support;

use expect_test::Expect;
use passdock::{ContextBuilder, RulesFile};

/// What rules make of the body of a function `@main`, in a model of opset 20.
#[track_caller]
fn check(rules: &str, signature: &str, body: &str, expected: Expect) {
    expected.assert_eq(&rewritten(rules, signature, body, 20));
}

/// Rules leave the body of a function as it is.
#[track_caller]
fn check_stays(rules: &str, signature: &str, body: &str) {
    let before = run(None, &module(signature, body, 20), |cx| cx);
    let after = run(Some(rules), &module(signature, body, 20), |cx| cx);
    assert!(before.starts_with("module"), "{before}");
    assert_eq!(before, after);
}

fn rewritten(rules: &str, signature: &str, body: &str, opset: u32) -> String {
    shown(&run(Some(rules), &module(signature, body, opset), |cx| cx))
}

fn module(signature: &str, body: &str, opset: u32) -> String {
    format!("module {{\n  fn @main{signature} opset(\"\" = {opset}) {{\n{body}\n  }}\n}}\n")
}

/// The lines of `@main`'s body; what isn't a module, as it is.
fn shown(text: &str) -> String {
    let is_inside = |line: &&str| line.starts_with("    ");
    match text.starts_with("module") {
        true => text
            .lines()
            .filter(is_inside)
            .map(|line| format!("{}\n", &line[4..]))
            .collect(),
        false => text.to_owned(),
    }
}

/// A module after type inference and these rules.
fn run(
    rules: Option<&str>,
    source: &str,
    configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
) -> String {
    let registry = support::registry();
    let mut passes = vec!["relax.transform.InferType"];
    if let Some(rules) = rules {
        match RulesFile::parse("test.rules", rules) {
            Ok(file) => registry.register(file.into_pass(None)).expect("one name"),
            Err(error) => return error.to_diagnostic().render(false),
        }
        passes.push("rules.test");
    }
    passdock::testing::run_on_text(&registry, &passes, source, configure)
}
