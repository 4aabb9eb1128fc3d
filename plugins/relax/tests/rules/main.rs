//! The rule language and its driver: IR text in, IR text out, with the standard operators.

mod examples;
mod find;
mod folds;
mod language;
#[path = "../support/mod.rs"]
mod support;

use passdock::{ContextBuilder, RulesFile};

fn module(signature: &str, body: &str, opset: u32) -> String {
    format!("module {{\n  fn @main{signature} opset(\"\" = {opset}) {{\n{body}\n  }}\n}}\n")
}

/// Returns a module after type inference and these rules.
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
