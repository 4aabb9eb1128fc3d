//! What a pipeline would run and why, in words and as a graph.

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
        log.pass(info("a").required(["req"]).needs(["ready"])),
        log.pass(info("req").establishes(["ready"])),
        log.pass(info("b").breaks(["ready"])),
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
fn every_pass_is_listed_with_the_rule_that_decided() {
    let explanation = explained(TEXT);
    let line = |pass: &passdock::pipeline::Explained| {
        let indent = "  ".repeat(pass.depth as usize);
        let runs = if pass.runs { "runs" } else { "doesn't run" };
        format!("{indent}{} {runs}: {}", pass.name, pass.reason)
    };
    let lines: Vec<String> = explanation.passes.iter().map(line).collect();
    expect![[r#"
        req runs: `a` requires it, unless nothing changed since it last ran
        a runs: level 0 ≤ opt_level 1
        high runs: the context requires it
        higher doesn't run: its level 4 is above the context's opt_level 1
        off doesn't run: disabled by the context
        inner runs: level 0 ≤ opt_level 1
          req runs: `a` requires it, unless nothing changed since it last ran
          a runs: level 0 ≤ opt_level 1
          b doesn't run: disabled by its Sequential
          deeper runs: level 0 ≤ opt_level 1
            inner.req runs: `odd "name\` requires it, unless nothing changed since it last ran
            odd "name\ runs: level 0 ≤ opt_level 1
        block doesn't run: disabled by the context
          a doesn't run: `block`, which it is part of, doesn't run
          deeper doesn't run: `block`, which it is part of, doesn't run
            b doesn't run: `deeper`, which it is part of, doesn't run"#]]
    .assert_eq(&lines.join("\n"));
    // What `--json` prints of one.
    let req = serde_json::to_string_pretty(&explanation.passes[0]).unwrap();
    expect![[r#"
        {
          "name": "req",
          "plugin": null,
          "file": null,
          "requested_by": "a",
          "parent": null,
          "depth": 0,
          "runs": true,
          "reason": "`a` requires it, unless nothing changed since it last ran",
          "phase": null,
          "has_place": true,
          "is_sequential": false,
          "options": [],
          "needs": [],
          "establishes": [
            "ready"
          ],
          "breaks": []
        }"#]]
    .assert_eq(&req);
}

#[test]
fn a_graph_has_order_requirements_and_boxes() {
    expect![[r#"
        digraph pipeline {
          compound=true;
          node [shape=box];
          p0 [label="req"];
          p1 [label="a"];
          p2 [label="high"];
          p3 [label="higher", color=grey, fontcolor=grey];
          p4 [label="off", color=grey, fontcolor=grey];
          subgraph cluster_5 {
            label="inner"; color=black; fontcolor=black;
            p5 [shape=point];
            p6 [label="req"];
            p7 [label="a"];
            p8 [label="b", color=grey, fontcolor=grey];
            subgraph cluster_9 {
              label="deeper"; color=black; fontcolor=black;
              p9 [shape=point];
              p10 [label="inner.req"];
              p11 [label="odd \"name\\"];
            }
          }
          subgraph cluster_12 {
            label="block"; color=grey; fontcolor=grey;
            p12 [shape=point, color=grey, fontcolor=grey];
            p13 [label="a", color=grey, fontcolor=grey];
            subgraph cluster_14 {
              label="deeper"; color=grey; fontcolor=grey;
              p14 [shape=point, color=grey, fontcolor=grey];
              p15 [label="b", color=grey, fontcolor=grey];
            }
          }
          p0 -> p1;
          p1 -> p2;
          p2 -> p3 [color=grey];
          p2 -> p4 [color=grey];
          p2 -> p5;
          p5 -> p6;
          p6 -> p7;
          p7 -> p8 [color=grey];
          p7 -> p9;
          p9 -> p10;
          p10 -> p11;
          p11 -> p12 [color=grey];
          p0 -> p1 [style=dashed, constraint=false];
          p6 -> p7 [style=dashed, constraint=false];
          p10 -> p11 [style=dashed, constraint=false];
        }
    "#]]
    .assert_eq(&explained(TEXT).to_dot());
    expect![[r#"
        digraph pipeline {
          compound=true;
          node [shape=box];
        }
    "#]]
    .assert_eq(&explained("").to_dot());
}
