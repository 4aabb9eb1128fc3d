//! Rules that make a vendor's ops, in models that don't import the vendor's domain.

use expect_test::expect;
use passdock::RulesFile;
use passdock_plugin_api::prelude::*;

use crate::support;

mod vendor {
    use super::*;
    plugin! {
        name: "acme",
        // The domain has a version 3: it came with the newest definition of `Scale`.
        ops: [OpDef::new("acme.Square", 1), OpDef::new("acme.Scale", 1), OpDef::new("acme.Scale", 3)],
    }
}

/// What a rule makes of a module.
fn run(rules: &str, module: &str) -> String {
    let registry = support::registry();
    registry.load_static(vendor::PLUGIN).expect("a good plugin");
    let file = RulesFile::parse("test.rules", rules).expect("good rules");
    registry.register(file.into_pass(None)).expect("one name");
    passdock::testing::run_on_text(&registry, &["rules.test"], module, |cx| cx)
}

const SQUARE: &str = "rule square { onnx.Mul(%x, %x) => acme.Square(%x) }";

#[test]
fn the_definition_says_which_version_is_imported() {
    // In a body of a function, too; where another function imports the domain, its version counts.
    let module = |main: &str, other: &str| {
        format!(
            r#"module {{
  fn @main(%x: f32[2]) -> (%y: f32[2]) {main} {{ %0 = my.F(%x) %y = onnx.Mul(%0, %0) return %y }}
  fn @my.F(%x) -> (%y) {other} {{ %y = onnx.Mul(%x, %x) return %y }}
}}"#
        )
    };
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "my" = 1, "acme" = 3) {
            %0 = my.F(%x)
            %y = acme.Square(%0)
            return %y
          }
          fn @my.F(%x: ?) -> (%y) opset("" = 17, "acme" = 3) {
            %y = acme.Square(%x)
            return %y
          }
        }
    "#]]
    .assert_eq(&run(
        SQUARE,
        &module(r#"opset("" = 17, "my" = 1)"#, r#"opset("" = 17)"#),
    ));
    let one = run(
        SQUARE,
        &module(
            r#"opset("" = 17, "my" = 1)"#,
            r#"opset("" = 17, "acme" = 1)"#,
        ),
    );
    assert_eq!(one.matches(r#""acme" = 1"#).count(), 2, "{one}");
    // Of a function without imports nothing is known, and nothing is said.
    let none = run(SQUARE, &module("", ""));
    assert!(
        none.contains("acme.Square") && !none.contains("opset"),
        "{none}"
    );
}

#[test]
fn a_rule_that_makes_nothing_imports_nothing() {
    let module = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %y = onnx.Abs(%x) : f32[2]
    return %y
  }
}
"#;
    assert_eq!(run(SQUARE, module), module);
    // The op that it would make has too many operands in the version that is meant.
    let grows = "rule more { onnx.Abs(%x) => acme.Square(acme.Scale(%x)) }";
    assert_eq!(run(grows, module), module);
}
