//! What plugins say of themselves: `inspect`, and warnings of what a host can't make of it.

use expect_test::expect;

use crate::support::{Bench, plugin};

#[test]
fn a_manifest_is_read_without_loading() {
    let bench = Bench::new();
    let file = plugin("passdock_misbehaving").display().to_string();
    let ran = bench.run(["inspect", &file], "");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stdout
            .contains("bad.transform.Panic (function, level 0)"),
        "{}",
        ran.stdout
    );
    let manifest = bench.run(["inspect", &file, "--json"], "").json();
    assert_eq!(manifest["plugin"]["name"], "bad");
    bench.write("x.so", "no library");
    assert_eq!(bench.passdock("inspect x.so").status, 3);
}

#[test]
fn several_manifests_are_shown_with_all_that_they_say() {
    let bench = Bench::new();
    let [tap, tir] =
        ["passdock-tap", "passdock-tir"].map(|name| plugin(name).display().to_string());
    bench.write("x.so", "no library");
    let ran = bench.run(["inspect", &tap, "x.so", &tir], "");
    assert_eq!(ran.status, 3);
    expect![[r#"
        error[plugin]: Plugin `x.so` can't be used: it isn't a shared library (its first bytes are of no kind of library); a plugin here is a `.so`.
    "#]].assert_eq(&ran.stderr.replace(std::env::consts::DLL_SUFFIX, ".so"));
    let version = |line: &str| match line.strip_prefix("  built by rustc 1.") {
        Some(_) => "  built by rustc 1.…".to_owned(),
        None if line.starts_with("  layout of records ") => "  layout of records …".to_owned(),
        None => line.to_owned(),
    };
    let shown: Vec<String> = ran.stdout.lines().map(version).collect();
    let shown = shown.join("\n").replace(&bench.plugins(), "");
    expect![[r#"
        tap 0.1.0
          contract 0.4 (needs 0.4), IR 0.1
          layout of records …
          built by rustc 1.…
          a panic is caught and is an error of the pass (unwind)
          file libpassdock_tap.so

        tap.transform.Nothing (function, level 1)
          Does nothing.
          not thread-safe: runs on one function at a time

        tap.transform.Needs (module, level 0)
          Does nothing; it requires a pass and a Sequential.
          requires relax.transform.InferType, tap.Rest
          not thread-safe

        tap.transform.Runs (module, level 0)
          Runs a pass and a Sequential.
          not thread-safe

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


        tir 0.1.0
          contract 0.4 (needs 0.4), IR 0.1
          layout of records …
          built by rustc 1.…
          a panic is caught and is an error of the pass (unwind)
          file libpassdock_tir.so

        tir.transform.UnrollLoop (prim function, level 0)
          Unrolls loops: copies of their bodies stand in their place.
          thread-safe: runs on several functions at once
          takes options from the config key tir.UnrollLoop, too
          option           takes       default  meaning
          auto_max_step    an int ≥ 0  0        Serial loops of up to this many steps, nested ones multiplied.
          auto_max_depth   an int ≥ 0  8        Serial loops in which up to this many loops were unrolled.
          auto_max_extent  an int ≥ 0  0        Serial loops that run up to this many times.
          explicit_unroll  a bool      true     Write the copies out; otherwise only mark the loops.
          max_ops          an int ≥ 0  1000000  The most ops that copies may make in a function. A serial loop that would make more stays.

        config tir.UnrollLoop
          field            takes       default  meaning
          auto_max_step    an int ≥ 0  0        Serial loops of up to this many steps, nested ones multiplied.
          auto_max_depth   an int ≥ 0  8        Serial loops in which up to this many loops were unrolled.
          auto_max_extent  an int ≥ 0  0        Serial loops that run up to this many times.
          explicit_unroll  a bool      true     Write the copies out; otherwise only mark the loops.
          max_ops          an int ≥ 0  1000000  The most ops that copies may make in a function. A serial loop that would make more stays."#]].assert_eq(&shown.replace(std::env::consts::DLL_SUFFIX, ".so"));

    let json = bench
        .run(["inspect", &tap, "x.so", &tir, "--json"], "")
        .json();
    let unroll = &json["plugins"][2]["pass"][0];
    expect![[r#"true, "tir.UnrollLoop", {"default":0,"doc":"Serial loops of up to this many steps, nested ones multiplied.","name":"auto_max_step","range":[0,9223372036854775807],"type":"int"}, "plugin""#]].assert_eq(&format!(
        "{}, {}, {}, {}",
        unroll["thread_safe"],
        unroll["config"],
        unroll["options"][0],
        json["plugins"][1]["diagnostics"][0]["code"]
    ));
    let text = json["plugins"][0]["plugin"]["compiler"].as_str();
    assert!(
        text.is_some_and(|text| text.starts_with("rustc 1.")),
        "{text:?}"
    );
}
/// A plugin's library, with other texts of the same lengths in it.
fn edited(name: &str, edits: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = std::fs::read(plugin(name)).expect("a plugin");
    for (from, to) in edits {
        assert_eq!(from.len(), to.len());
        for at in 0..bytes.len() - from.len() {
            if bytes[at..].starts_with(from.as_bytes()) {
                bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            }
        }
    }
    bytes
}

#[test]
fn keys_of_manifests_that_mean_nothing_are_told() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("plugins")).expect("a directory");
    let file = format!("plugins/bad2{}", std::env::consts::DLL_SUFFIX);
    let misspelt = edited(
        "passdock_misbehaving",
        &[
            (
                "required = [\"bad.transform.Mis",
                "requird_ = [\"bad.transform.Mis",
            ),
            // Its names are those of the plugin beside the command.
            ("\"bad.", "\"odd."),
        ],
    );
    bench.write(&file, misspelt);
    let expected = expect![[r#"
        warning[manifest]: This host doesn't know the key `requird_` of pass `odd.transform.RequireMissing` in the manifest of plugin `FILE`.
         |
         = help: Did you mean `required`?
    "#]];
    for words in [
        format!("inspect {file}"),
        "list --plugin-dir plugins".to_owned(),
        "list config --plugin-dir plugins --json".to_owned(),
        "explain --passes InferType --plugin-dir plugins".to_owned(),
    ] {
        let ran = bench.passdock(&words);
        assert_eq!(ran.status, 0, "{words}\n{}", ran.stderr);
        expected.assert_eq(&ran.stderr.replace(&file, "FILE"));
    }
    let explained = bench.passdock("explain --passes InferType --plugin-dir plugins --json");
    assert_eq!(explained.json()["diagnostics"][0]["code"], "manifest");
    let inspected = bench.passdock(&format!("inspect {file} --json")).json();
    assert_eq!(inspected["diagnostics"][0]["code"], "manifest");

    // A newer one may say what this host can't know.
    let edits = [
        ("abi = \"0.4\"", "abi = \"0.9\""),
        ("thread_safe = true", "thread_fast = true"),
    ];
    bench.write("newer.so", edited("passdock_misbehaving", &edits));
    let ran = bench.passdock("inspect newer.so");
    assert_eq!(ran.status, 0);
    expect![[r#"
        warning[manifest]: This host doesn't know the key `thread_fast` of pass `bad.transform.ComplainTogether` in the manifest of plugin `newer.so`.
         |
         = note: The plugin is built for contract 0.9, which may know it; this host has 0.4.
         = help: Did you mean `thread_safe`?
    "#]].assert_eq(&ran.stderr);
}

#[test]
fn a_file_of_patterns_is_shown_though_no_pipeline_runs_it() {
    let bench = Bench::new();
    let text = "// On the accelerator.\nrule npu.conv_relu { onnx.Relu(onnx.Conv(%x, %w)) where rank(%x) == 4 }\n";
    bench.write("npu.rules", text);
    expect![[r#"
        npu.rules: patterns, for passes that look for rules

        rule           looks for             about
        npu.conv_relu  onnx.Relu, onnx.Conv  On the accelerator.
    "#]]
    .assert_eq(&bench.passdock("inspect npu.rules").stdout);
    let json = bench.passdock("inspect npu.rules --json").json();
    assert_eq!(json["rules"][0]["makes"], serde_json::json!([]));
}
