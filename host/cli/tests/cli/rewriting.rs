//! Rewriting by rules: what reports say of it, rules that are disabled, and a wrong rewrite among right ones.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS, passdock, without_time};

/// Functions that `bad.transform.Rewrite` rewrites, in `@f0` to `@f5` as it should. In `@f3` there is a
/// `Sub` that it doesn't understand, and in `@f4` with `erf` an `Erf` that it panics on.
fn model(erf: bool) -> String {
    let mut text = "module {\n".to_owned();
    for f in 0..6 {
        writeln!(
            text,
            "  fn @f{f}(%v0: f32[8]) -> (%y: f32[8]) opset(\"\" = 17) {{"
        )
        .unwrap();
        for op in 1..=40 {
            let before = op - 1;
            let made = match (f, op) {
                (3, 20) => format!("onnx.Sub(%v{before}, %v{before})"),
                (4, 20) if erf => format!("onnx.Add(%v{before}, %v0)"),
                (4, 21) if erf => format!("onnx.Erf(%v{before})"),
                (_, op) if op % 5 == 0 => format!("onnx.Identity(%v{before})"),
                (_, op) if op % 5 < 3 => format!("onnx.Neg(%v{before})"),
                _ => format!("onnx.Tanh(%v{before})"),
            };
            let at = match op {
                20 => format!(" loc(\"node_{f}_20\")"),
                _ => String::new(),
            };
            writeln!(text, "    %v{op} = {made} : f32[8]{at}").unwrap();
        }
        writeln!(text, "    return %v40\n  }}").unwrap();
    }
    text + "}\n"
}

fn bench(erf: bool) -> Bench {
    let bench = Bench::new();
    let pipeline = "[[passes]]\nname = 'bad.transform.Count'\n\
        [[passes]]\nname = 'nested'\npasses = ['bad.transform.Rewrite']\n\
        [[passes]]\nname = 'bad.transform.Rewrite'\n";
    bench.write("m.ir", model(erf)).write("p.toml", pipeline);
    bench
}

/// What a command prints, without times, and its warnings.
#[track_caller]
fn check(words: &str, expected: Expect) {
    let bench = bench(false);
    let ran = bench.passdock(words);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines = ran.stdout.lines().map(|line| without_time(line) + "\n");
    let text = lines.collect::<String>().replace(&bench.plugins(), "");
    expected.assert_eq(&(text + &ran.stderr));
}

#[test]
fn the_report_says_below_a_pass_what_its_rules_did() {
    check(
        "run p.toml m.ir",
        expect![[r#"
            pass time ops
            bad.Count TIME 240 → 240
            nested TIME 240 → 96
            bad.Rewrite TIME 240 → 96
                neg_neg ×48, no_identity ×47, sub_self ×1
            (unchanged) TIME
              bad.Rewrite
            from libpassdock_misbehaving.so
            ops: Neg 96 → 0, Identity 47 → 0, Sub 1 → 0
            m.ir: 240 → 96 ops, in TIME not written (no -o)
        "#]],
    );
}

#[test]
fn json_has_the_counts_the_most_frequent_first() {
    let bench = bench(false);
    let ran = bench.passdock("run p.toml m.ir --json");
    let report = ran.json();
    let rewrites = |at: usize| report["passes"][at]["rewrites"].to_string();
    let all = [0, 1, 2, 3].map(rewrites).join("\n");
    expect![[r#"
        null
        null
        {"neg_neg":48,"no_identity":47,"sub_self":1}
        null"#]]
    .assert_eq(&all);
    let counts = r#""rewrites":{"neg_neg":"#;
    let compact: String = ran.stdout.split_whitespace().collect();
    assert!(compact.contains(counts), "{compact}");
}

#[test]
fn a_disabled_rule_is_not_applied() {
    check(
        "run p.toml m.ir --disable-rule neg_neg --disable-rule sub_self",
        expect![[r#"
            pass time ops
            bad.Count TIME 240 → 240
            nested TIME 240 → 193
            bad.Rewrite TIME 240 → 193
                no_identity ×47
            (unchanged) TIME
              bad.Rewrite
            from libpassdock_misbehaving.so
            ops: Identity 47 → 0
            m.ir: 240 → 193 ops, in TIME not written (no -o)
        "#]],
    );
}

#[test]
fn a_disabled_rule_that_never_came_up_is_a_warning() {
    check(
        "run p.toml m.ir --disable-rule no_identiti,sub_self,quite_another",
        expect![[r#"
            pass time ops
            bad.Count TIME 240 → 240
            nested TIME 240 → 97
            bad.Rewrite TIME 240 → 97
                neg_neg ×48, no_identity ×47
            (unchanged) TIME
              bad.Rewrite
            from libpassdock_misbehaving.so
            ops: Neg 96 → 0, Identity 47 → 0
            m.ir: 240 → 97 ops, in TIME not written (no -o)
            warning[unknown-rule]: There is no rule `no_identiti` to disable: none of that name was about to be applied.
             |
             = help: Did you mean `no_identity`?
            warning[unknown-rule]: There is no rule `quite_another` to disable: none of that name was about to be applied.
        "#]],
    );
    // Nothing runs.
    check(
        "check p.toml --disable-rule no_identiti",
        expect![[r#"
        p.toml: OK
    "#]],
    );
}

#[test]
fn rewriting_ends_at_a_limit() {
    check(
        "run p.toml m.ir --rewrite-limit 0",
        expect![[r#"
            pass time ops
            bad.Count TIME 240 → 240
            (unchanged) TIME
              bad.Rewrite ×2
            from libpassdock_misbehaving.so
            m.ir: 240 → 240 ops, in TIME not written (no -o)
        "#]],
    );
    check(
        "run p.toml m.ir --rewrite-limit 7",
        expect![[r#"
            pass time ops
            bad.Count TIME 240 → 240
            nested TIME 240 → 229
            bad.Rewrite TIME 240 → 229
                neg_neg ×4, no_identity ×3
            (unchanged) TIME
              bad.Rewrite
            from libpassdock_misbehaving.so
            ops: Neg 96 → 88, Identity 47 → 44
            m.ir: 240 → 229 ops, in TIME not written (no -o)
        "#]],
    );
}

/// The command that says whether the `Sub` is there.
fn check_sub() -> String {
    let passdock = passdock();
    format!("{} convert {{}} - | grep -q onnx.Sub", passdock.display())
}

#[test]
fn bisect_finds_the_rewrite() {
    let bench = bench(false);
    let check = check_sub();
    let words = ["bisect", "p.toml", "m.ir", "-o", "found", "--check", &check];
    let ran = bench.run(words, "");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    expect![[r#"
        good       before any pass
        bad        after 2 of 2: bad.transform.Rewrite
        good       after 1 of 2: bad.transform.Count
        good       before it, with @f0, @f1, @f2
        bad        before it, with @f3, @f4, @f5
        bad        before it, with @f3, @f4
        bad        before it, with @f3
        good       it, with 48 of 96 rewrites
        bad        it, with 72 of 96 rewrites
        bad        it, with 60 of 96 rewrites
        good       it, with 54 of 96 rewrites
        bad        it, with 57 of 96 rewrites
        good       it, with 55 of 96 rewrites
        bad        it, with 56 of 96 rewrites
        bad.transform.Rewrite of plugin bad breaks the model, in function @f3
        it is rewrite 56 of 96, by the rule `sub_self`, in function @f3, of `node_3_20`
          fn @f3: 29 → 28 ops
            ops: 1 removed
              - %v20 = onnx.Sub(%v19, %v19) : f32[8]
                  %v21 = onnx.Neg, operand 0: %v20 → %v19
        without the rule: `--disable-rule sub_self`
        3 passes ran, of which 2 changed the model; 14 checks
        before it     found/good.ir
        after it      found/bad.ir
        compare       passdock diff found/good.ir found/bad.ir
        run it again  passdock replay found/reproducer --trust
    "#]]
    .assert_eq(&ran.stdout);
    let pipeline = bench.read("found/reproducer/pipeline.toml");
    let (_, context) = pipeline.split_once("[context]").expect("a table");
    expect![[r#"

        opt_level = 2
        rewrite_limit = 56

        [[passes]]
        name = "bad.transform.Rewrite"
    "#]]
    .assert_eq(context);
    // The reproducer ends at the very rewrite.
    let words = "run found/reproducer/pipeline.toml found/reproducer/before.ir -o again.ir";
    assert_eq!(bench.passdock(words).status, 0);
    assert_eq!(bench.read("again.ir"), bench.read("found/bad.ir"));
    let ran = bench.passdock("replay found/reproducer --trust");
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the same failure"), "{}", ran.stdout);
    // Without the rule nothing is wrong.
    let words = [
        "bisect",
        "p.toml",
        "m.ir",
        "--disable-rule",
        "sub_self",
        "--check",
        &check,
    ];
    let ran = bench.run(words, "");
    let good = "The check calls what the whole pipeline makes good";
    assert!(ran.stderr.contains(good), "{}", ran.stderr);
}

#[test]
fn bisect_says_the_rewrite_in_json() {
    let bench = bench(false);
    let check = check_sub();
    let words = ["bisect", "p.toml", "m.ir", "--json", "--check", &check];
    let ran = bench.run(words, "");
    let found = ran.json();
    let rewrite = &found["rewrite"];
    let said = ["number", "of", "rule", "function", "op"].map(|key| rewrite[key].to_string());
    expect![[r#"56 96 "sub_self" "f3" "node_3_20""#]].assert_eq(&said.join(" "));
    assert_eq!(
        rewrite["diff"]["functions"][0]["ops"][0]["kind"],
        "onnx.Sub"
    );
}

#[test]
fn bisect_finds_the_rewrite_that_a_pass_fails_over() {
    let bench = bench(true);
    let words = "bisect p.toml m.ir -o found --check true{}";
    let ran = bench.passdock(words);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    expect![[r#"
        bad.transform.Rewrite of plugin bad fails, in function @f4; nothing to search: The pass panicked at tests/bad-plugins/misbehaving/src/planted.rs:68:5: no table for this Erf.
        it fails over rewrite 72, by the rule `erf_of_add`
        without the rule: `--disable-rule erf_of_add`
        1 pass ran, of which 1 changed the model; 0 checks
        before it     found/good.ir
        run it again  passdock replay found/reproducer
    "#]].assert_eq(&ran.stdout);
    let ran = bench.passdock("replay found/reproducer");
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the same failure"), "{}", ran.stdout);
}

#[test]
fn bisect_leaves_it_at_the_pass_if_its_rewrites_are_not_to_blame() {
    let bench = Bench::new();
    // What `SwapSub` does is no rewrite by a rule.
    let pipeline = "[[passes]]\nname = 'bad.transform.SwapSub'\n";
    let model = "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n    \
        %p = onnx.Abs(%x) : f32[2]\n    %q = onnx.Sub(%x, %p) : f32[2]\n    return %q\n  }\n}\n";
    bench.write("m.ir", model).write("p.toml", pipeline);
    let passdock = passdock();
    let check = format!(
        "{} convert {{}} - | grep -q 'Sub(%x, %p)'",
        passdock.display()
    );
    let ran = bench.run(
        ["bisect", "p.toml", "m.ir", "--check", &check, "--json"],
        "",
    );
    let found = ran.json();
    assert_eq!(found["suspects"][0]["pass"], "bad.transform.SwapSub");
    assert!(found["rewrite"].is_null(), "{found}");
}

/// The places of files that an option `rules` names: beside the pipeline, and where the command runs.
#[test]
fn rules_of_an_option_lie_beside_the_pipeline() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("npu")).unwrap();
    let model = RELUS.replace("onnx.Relu", "onnx.Neg");
    bench.write("m.ir", model);
    bench.write(
        "npu/kernels.rules",
        "rule npu.neg_neg { onnx.Neg(onnx.Neg(%x)) }",
    );
    bench.write(
        "npu/p.toml",
        "passes = [{ name = 'FuseOpsByPattern', options = { rules = ['kernels.rules'] } }]",
    );
    bench.write(
        "npu/context.toml",
        "passes = ['FuseOpsByPattern']\n[context.config]\n\
         'relax.FuseOpsByPattern' = { rules = ['kernels.rules'] }\n",
    );
    let by_config = "--config relax.FuseOpsByPattern.rules=[\"npu/kernels.rules\"]";
    for words in [
        "run npu/p.toml m.ir -o -".to_owned(),
        "run npu/context.toml m.ir -o -".to_owned(),
        format!("run m.ir -o - --passes FuseOpsByPattern {by_config}"),
    ] {
        let ran = bench.passdock(&words);
        assert!(ran.stdout.contains("npu.neg_neg(%x)"), "{}", ran.stderr);
    }
    let elsewhere = by_config.replace("npu/", "");
    let ran = bench.passdock(&format!(
        "run m.ir -o - --passes FuseOpsByPattern {elsewhere}"
    ));
    assert_eq!(ran.status, 2, "{}", ran.stdout);
}
