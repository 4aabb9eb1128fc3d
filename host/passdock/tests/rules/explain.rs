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
fn every_pass_is_listed_with_the_rule_that_decided() {
    let explanation = explained(TEXT);
    let line = |pass: &passdock::pipeline::Explained| {
        let indent = "  ".repeat(pass.depth as usize);
        let runs = if pass.runs { "runs" } else { "doesn't run" };
        format!("{indent}{} {runs}: {}", pass.name, pass.reason)
    };
    let lines: Vec<String> = explanation.passes.iter().map(line).collect();
    expect![[r#"
        deep runs: `req` requires it, unless nothing changed since it last ran
        req runs: `a` requires it, unless nothing changed since it last ran
        a runs: level 0 ≤ opt_level 1
        high runs: the context requires it
        higher doesn't run: its level 4 is above the context's opt_level 1
        off doesn't run: disabled by the context
        inner runs: level 0 ≤ opt_level 1
          deep runs: `req` requires it, unless nothing changed since it last ran
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
          "reason": "`a` requires it, unless nothing changed since it last ran",
          "phase": null,
          "has_place": true,
          "is_sequential": false,
          "options": []
        }"#]]
    .assert_eq(&req);
}

#[test]
fn a_graph_has_order_requirements_and_boxes() {
    expect![[r#"
        digraph pipeline {
          compound=true;
          node [shape=box];
          p0 [label="deep\n(for req)"];
          p1 [label="req\n(for a)"];
          p2 [label="a"];
          p3 [label="high"];
          p4 [label="higher", color=grey, fontcolor=grey];
          p5 [label="off", color=grey, fontcolor=grey];
          subgraph cluster_6 {
            label="inner"; color=black; fontcolor=black;
            p6 [shape=point];
            p7 [label="deep\n(for req)"];
            p8 [label="req\n(for a)"];
            p9 [label="a"];
            p10 [label="b", color=grey, fontcolor=grey];
            subgraph cluster_11 {
              label="deeper"; color=black; fontcolor=black;
              p11 [shape=point];
              p12 [label="inner.req\n(for odd \"name\\)"];
              p13 [label="odd \"name\\"];
            }
          }
          subgraph cluster_14 {
            label="block"; color=grey; fontcolor=grey;
            p14 [shape=point, color=grey, fontcolor=grey];
            p15 [label="a", color=grey, fontcolor=grey];
            subgraph cluster_16 {
              label="deeper"; color=grey; fontcolor=grey;
              p16 [shape=point, color=grey, fontcolor=grey];
              p17 [label="b", color=grey, fontcolor=grey];
            }
          }
          p0 -> p1;
          p1 -> p2;
          p2 -> p3;
          p3 -> p4 [color=grey];
          p3 -> p5 [color=grey];
          p3 -> p6;
          p6 -> p7;
          p7 -> p8;
          p8 -> p9;
          p9 -> p10 [color=grey];
          p9 -> p11;
          p11 -> p12;
          p12 -> p13;
          p13 -> p14 [color=grey];
          p0 -> p1 [style=dashed, constraint=false];
          p1 -> p2 [style=dashed, constraint=false];
          p7 -> p8 [style=dashed, constraint=false];
          p8 -> p9 [style=dashed, constraint=false];
          p12 -> p13 [style=dashed, constraint=false];
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
