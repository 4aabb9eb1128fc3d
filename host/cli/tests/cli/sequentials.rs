//! Sequentials that a plugin offers, and passes that run others: in JSON, in lists, under `bisect`.

use expect_test::expect;
use serde_json::Value;

use crate::support::{Bench, RELUS, plugin};

/// The parts of records that place them: the parent, the name, who asked for it.
fn placed(report: &Value) -> String {
    let passes = report["passes"].as_array().expect("a list").iter();
    let line = |pass: &Value| {
        let of = |key: &str| pass[key].as_str().unwrap_or("-").to_owned();
        let [parent, name, by] = ["parent", "name", "requested_by"].map(of);
        format!("{parent}: {name} for {by}, {}\n", of("status"))
    };
    passes.map(line).collect()
}

#[test]
fn a_report_has_the_parents_of_what_a_sequential_and_a_pass_run() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock("run m.ir --passes tap.Rest,tap.transform.Runs --json -o out.ir");
    expect![[r#"
        -: tap.Rest for -, unchanged
        tap.Rest: relax.transform.InferType for relax.transform.DeadCodeElimination, unchanged
        tap.Rest: relax.transform.DeadCodeElimination for -, unchanged
        tap.Rest: tap.Late for -, skipped
        -: tap.transform.Runs for -, unchanged
        tap.transform.Runs: relax.transform.InferType for tap.transform.Needs, skipped
        tap.transform.Runs: tap.Rest for tap.transform.Needs, skipped
        tap.transform.Runs: tap.transform.Needs for -, unchanged
        tap.transform.Runs: relax.transform.InferType for tap.Cleanup, skipped
        tap.transform.Runs: tap.Cleanup for -, unchanged
        tap.Cleanup: relax.transform.InferType for relax.transform.EliminateCommonSubexpr, skipped
        tap.Cleanup: relax.transform.EliminateCommonSubexpr for -, unchanged
        tap.Cleanup: relax.transform.FoldConstant for -, unchanged
        tap.Cleanup: tap.Rest for -, unchanged
        tap.Rest: relax.transform.InferType for relax.transform.DeadCodeElimination, skipped
        tap.Rest: relax.transform.DeadCodeElimination for -, unchanged
        tap.Rest: tap.Late for -, skipped
    "#]]
    .assert_eq(&placed(&ran.json()));
}

/// The names in a table of passes, as far as they are indented, with those that failed.
fn names(table: &str) -> String {
    let rows = table.lines().skip(1);
    let rows = rows.take_while(|row| !row.starts_with("from "));
    let row = |row: &str| {
        let name = row.trim_end().split("  ").find(|word| !word.is_empty());
        let indent = row.len() - row.trim_start().len();
        let failed = if row.ends_with("  FAILED") {
            ", FAILED"
        } else {
            ""
        };
        format!(
            "{}{}{failed}\n",
            " ".repeat(indent),
            name.unwrap_or_default().trim()
        )
    };
    rows.map(row).collect()
}

#[test]
fn what_is_inside_is_indented_by_how_deep_it_is() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock("run m.ir --passes tap.transform.Runs -o out.ir -v");
    expect![[r#"
        tap.Runs
          InferType (for tap.Needs)
          tap.Rest (for tap.Needs)
            InferType (for DeadCodeElimination)
              it ran and nothing changed since
            DeadCodeElimination
            tap.Late
              its level 3 is above the context's opt_level 2
          tap.Needs
          InferType (for tap.Cleanup)
            it ran and nothing changed since
          tap.Cleanup
            InferType (for EliminateCommonSubexpr)
              it ran and nothing changed since
            EliminateCommonSubexpr
            FoldConstant
            tap.Rest
              InferType (for DeadCodeElimination)
                it ran and nothing changed since
              DeadCodeElimination
              tap.Late
                its level 3 is above the context's opt_level 2
    "#]]
    .assert_eq(&names(&ran.stdout));
}

#[test]
fn passes_that_run_each_other_for_ever_are_a_few_lines() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let bad = plugin("passdock-misbehaving").display().to_string();
    for (pass, expected) in [
        (
            "RunItself",
            expect![[r#"
                bad.RunItself, FAILED
                  … 64 more, each run by the one above: FAILED
            "#]],
        ),
        (
            "RunLoop",
            expect![[r#"
                bad.RunLoop, FAILED
                  bad.Loop, FAILED
                    … 127 more, each run by the one above: FAILED
            "#]],
        ),
    ] {
        let passes = format!("bad.transform.{pass}");
        let ran = bench.run(["run", "m.ir", "--plugin", &bad, "--passes", &passes], "");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("error[too-deep]"), "{}", ran.stderr);
        expected.assert_eq(&names(&ran.stdout));
    }
}

#[test]
fn a_sequential_is_listed_as_a_pass_and_inspected() {
    let bench = Bench::new();
    let list = bench.passdock("list passes").stdout;
    let line = list.lines().find(|line| line.starts_with("tap.Cleanup "));
    let words: Vec<&str> = line.expect("a row").split_whitespace().collect();
    expect!["tap.Cleanup 1 Sequential tap Merges and folds."].assert_eq(&words.join(" "));
    let json = bench.passdock("list passes --json").json();
    let passes = json["passes"].as_array().expect("a list");
    let mut found = passes.iter().filter(|pass| pass["name"] == "tap.Cleanup");
    let mut found = found.next().expect("an entry").clone();
    found["file"] = Value::Null;
    expect![[r#"{"file":null,"kind":"sequential","name":"tap.Cleanup","opt_level":1,"passes":[{"name":"relax.transform.EliminateCommonSubexpr","options":{}},{"name":"relax.transform.FoldConstant","options":{"max_growth":512}},{"name":"tap.Rest","options":{}}],"plugin":"tap","required":["relax.transform.InferType"],"summary":"Merges and folds."}"#]].assert_eq(&found.to_string());

    let file = plugin("passdock-tap").display().to_string();
    let inspected = bench.passdock(&format!("inspect {file}")).stdout;
    let start = inspected.find("tap.Cleanup").expect("the Sequential");
    expect![[r#"
        tap.Cleanup (Sequential, level 1)
          Merges and folds.
          requires relax.transform.InferType
          runs relax.transform.EliminateCommonSubexpr
          runs relax.transform.FoldConstant with max_growth = 512
          runs tap.Rest

        tap.Rest (Sequential, level 0)
          Removes what nobody uses.
          runs relax.transform.DeadCodeElimination
          runs tap.Late

        tap.Late (Sequential, level 3)
          Of a level that few contexts have.
          runs tap.transform.Nothing

        tap.tap (instrument)
          Tells everything that it hears.
          option     takes     default  meaning
          label      a string  "tap"    What it calls itself.
          fails      a string  ""       The callback in which it fails.
          panics     a string  ""       The callback in which it panics.
          complains  a string  ""       The callback in which it emits an error and goes on.
          veto       a string  ""       The pass that it vetoes.
          looks      a bool    false    Whether it looks into `@main` before each pass.
    "#]]
    .assert_eq(&inspected[start..]);
    let json = bench.passdock(&format!("inspect {file} --json")).json();
    expect![[r#"{"name":"tap.Rest","opt_level":0,"passes":[{"name":"relax.transform.DeadCodeElimination","options":{}},{"name":"tap.Late","options":{}}],"required":[],"summary":"Removes what nobody uses."}"#]].assert_eq(&json["sequential"][1].to_string());
}

#[cfg(unix)]
#[test]
fn bisect_finds_the_pass_in_a_sequential() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let words = [
        "bisect",
        "m.ir",
        "--passes",
        "bad.Changing",
        "--check",
        "! grep -q Neg {}",
    ];
    let ran = bench.run(words, "");
    expect![[r#"
        good       before any pass
        bad        after 2 of 2: bad.transform.UseUnknownOp
        bad        after 1 of 2: bad.transform.ChangeResults
        bad.transform.ChangeResults of plugin bad breaks the model, in function @main
        3 passes ran, of which 2 changed the model; 3 checks
    "#]]
    .assert_eq(&ran.stdout);
}

/// A plugin of which nothing but a Sequential is needed isn't loaded, and yet the run depends on it.
#[test]
fn a_reproducer_names_the_plugin_of_a_required_sequential() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock("run m.ir --passes bad.transform.RequireSequential -o out.ir");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let about = bench.read("out.ir.reproducer/reproducer.toml");
    let mut names: Vec<&str> = about
        .lines()
        .filter(|line| line.starts_with("name = "))
        .collect();
    names.sort_unstable();
    expect![[r#"name = "bad", name = "onnx-ops", name = "relax", name = "tap""#]]
        .assert_eq(&names.join(", "));
    let ran = bench.passdock("replay out.ir.reproducer");
    assert!(
        ran.stdout.contains("the same failure"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
}
