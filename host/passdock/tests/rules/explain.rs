//! Explanations of pipelines, as text and as a graph.

use expect_test::expect;
use passdock::pipeline::{Explanation, Pipeline};

use crate::common::{Log, info, registered};

const TEXT: &str = r#"
[context]
opt_level = 1
required_pass = ["high"]
disabled_pass = ["off", "block"]
[[passes]]
name = "a"
[[passes]]
name = "high"
[[passes]]
name = "higher"
[[passes]]
name = "off"
[[passes]]
name = "inner"
disabled = ["b"]
passes = ["a", "b", { name = "deeper", passes = ['odd "name\'] }]
[[passes]]
name = "block"
passes = ["a", { name = "deeper", passes = ["b"] }]
"#;

fn explained(text: &str) -> Explanation {
    let log = Log::new();
    let (registry, _) = registered([
        log.pass(info("a").required(["req"])),
        log.pass(info("req").required(["deep"])),
        log.pass(info("deep")),
        log.pass(info("b")),
        log.pass(info("high").opt_level(3)),
        log.pass(info("higher").opt_level(4)),
        log.pass(info("off")),
        log.pass(info("odd \"name\\").required(["inner.req"])),
        log.pass(info("inner.req")),
    ]);
    let pipeline = Pipeline::from_toml(text).unwrap();
    pipeline.resolve(&registry).unwrap().explain().unwrap()
}

#[test]
fn explanation_lists_each_pass_with_its_reason() {
    let explanation = explained(TEXT);
    let line = |pass: &passdock::pipeline::Explained| {
        let indent = "  ".repeat(pass.depth as usize);
        let runs = if pass.runs { "runs" } else { "doesn't run" };
        format!("{indent}{} {runs}: {}", pass.name, pass.reason)
    };
    let lines: Vec<String> = explanation.passes.iter().map(line).collect();
    expect![[r#"
        deep runs: required by `req`, if the module changed since its last run
        req runs: required by `a`, if the module changed since its last run
        a runs: level 0 ≤ opt_level 1
        high runs: required by the context
        higher doesn't run: its level 4 exceeds the context's opt_level 1
        off doesn't run: disabled by the context
        inner runs: level 0 ≤ opt_level 1
          deep runs: required by `req`, if the module changed since its last run
          req runs: required by `a`, if the module changed since its last run
          a runs: level 0 ≤ opt_level 1
          b doesn't run: disabled by its Sequential
          deeper runs: level 0 ≤ opt_level 1
            inner.req runs: required by `odd "name\`, if the module changed since its last run
            odd "name\ runs: level 0 ≤ opt_level 1
        block doesn't run: disabled by the context
          a doesn't run: part of `block`, which doesn't run
          deeper doesn't run: part of `block`, which doesn't run
            b doesn't run: part of `deeper`, which doesn't run"#]]
    .assert_eq(&lines.join("\n"));
    // The `--json` output for one pass.
    let mut passes = explanation.passes.iter();
    let req = passes.find(|pass| pass.name == "req" && pass.parent.is_some());
    let req = serde_json::to_string_pretty(&req).unwrap();
    expect![[r#"
        {
          "name": "req",
          "plugin": null,
          "file": null,
          "requested_by": "a",
          "parent": "inner",
          "depth": 1,
          "runs": true,
          "reason": "required by `a`, if the module changed since its last run",
          "phase": null,
          "scheduled": true,
          "sequential": false,
          "options": []
        }"#]]
    .assert_eq(&req);
}
