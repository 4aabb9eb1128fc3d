//! Assertions about parsing rules and rewriting with them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use passdock_core::sdk::Rules;
use passdock_core::sdk::rewrite::{Rule, RuleError};
use passdock_core::{PassContext, PassInfo, RulesFile, Verify, create_function_pass};
use passdock_ir::{Module, text};

use super::memory::bounded;

/// Parses rules. The result must be a printable error with a location in the text, or rules whose names and operators
/// have correct locations. Rewriting a function with them must give a valid function or an error. Returns `true` if the
/// rules were parsed.
pub fn check(input: &str) -> bool {
    let read = bounded("reading rules of", input.len(), || {
        let rules = Rules::parse(input)?;
        Ok((rules.describe()?, rules))
    });
    let file = RulesFile::parse("fuzzed.rules", input);
    match read {
        Ok((described, rules)) => {
            check_rules(&described, input);
            assert_eq!(file.is_ok(), !described.is_empty());
            rewrite(rules);
            true
        }
        Err(error) => {
            check_error(&error, input);
            let shown = file.expect_err("the same text").to_diagnostic();
            assert!(shown.render(false).contains("fuzzed.rules"));
            false
        }
    }
}

fn check_error(error: &RuleError, input: &str) {
    assert!(!error.message.is_empty());
    assert!(error.message.len() < input.len() + 256, "{error}");
    let span = input.get(error.at.clone());
    assert!(span.is_some(), "no such span: {:?}", error.at);
    assert!(!error.candidates.iter().any(String::is_empty), "{error}");
}

fn check_rules(rules: &[Rule], input: &str) {
    let mut names = HashSet::new();
    for rule in rules {
        check_name(&rule.at, &rule.name, input);
        assert!(names.insert(&rule.name), "two rules `{}`", rule.name);
        assert!(!rule.nodes.is_empty(), "a rule without a pattern");
        let ops = rule.ops().into_iter();
        ops.flat_map(|(node, _)| &node.operators)
            .for_each(|operator| check_name(&operator.at, &operator.value, input));
    }
}

/// Asserts that a name is at its location. Spaces and comments may be between its identifiers.
fn check_name(at: &Range<usize>, name: &str, input: &str) {
    let mut rest = input.get(at.clone()).expect("a location of the text");
    for word in name.split('.') {
        let at = rest.find(word).expect("an identifier of the name");
        rest = &rest[at + word.len()..];
    }
    assert!(rest.is_empty(), "`{rest}` after {name}");
}

/// Rewrites a function that has many kinds of ops. The host verifies the result.
fn rewrite(rules: Rules) {
    thread_local! {
        static MODULE: Module = text::parse(include_str!("rules.ir")).expect("a module");
    }
    let context = PassContext::builder().verify(Verify::All).build();
    let context = context.expect("a plain context");
    let rules = Arc::new(rules);
    let pass = create_function_pass(PassInfo::new("fuzz.transform.Rewrite"), move |f, cx| {
        cx.rewrite(f, &[&rules])
    });
    if let Err(error) = MODULE.with(|module| pass.call_in(module.clone(), &context)) {
        assert!(error.to_string().contains("fixed point"), "{error}");
    }
}
