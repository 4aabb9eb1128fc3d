//! Reproducers: the files that a failed run writes, and replays of them.

use expect_test::expect;

use crate::planted::{PANIC, bench, model};
use crate::support::{Bench, RELUS, plugin};

#[test]
fn self_contained_reproducer_replays_without_the_model() {
    let bench = bench();
    // Constants far below and above 64 KiB.
    let zeros = |count: usize| vec!["0"; count].join(", ");
    let weights = format!(
        "{{\n    %w = const f32[40000] blob(0)\n    %k = const i64[8] [{}]\n    %u = onnx.Gather(%w, %k) : f32[8]\n",
        zeros(8)
    );
    let blob = format!(
        "  blob 0 = \"{}\"\n}}\n",
        "AAAA".repeat(160_000 / 3) + "AA=="
    );
    let model = model();
    let head = "fn @f6(%v0: f32[8]) -> (%y: f32[8]) opset(\"\" = 17) {\n";
    let model = model.replace(head, &(head.trim_end_matches("{\n").to_owned() + &weights));
    bench.write(
        "blob.ir",
        model.trim_end_matches("}\n").to_owned() + "  }\n" + &blob,
    );
    let ran = bench.passdock("convert blob.ir m.ir");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    bench.write("p.toml", PANIC);
    let ran = bench.passdock("run p.toml m.ir -o out.ir --self-contained");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("replay it with `passdock replay out.ir.reproducer`"),
        "{}",
        ran.stderr
    );
    expect![[r##"
        #:schema pipeline.schema.json
        # The first pass failed on `before.ir`; the others would have followed.
        # `passdock replay` doesn't run the passes that the first one requires, because they had run before.

        [context]
        opt_level = 1

        [[passes]]
        name = "bad.transform.PanicOnErf"

        [passes.options]
        size = 9

        [[passes]]
        name = "relax.transform.InferType"

        [[passes]]
        name = "bad.transform.Count"
    "##]].assert_eq(&bench.read("out.ir.reproducer/pipeline.toml"));
    // In another directory, without the model.
    let other_dir = Bench::new();
    std::fs::rename(bench.path("out.ir.reproducer"), other_dir.path("sent")).unwrap();
    std::fs::remove_file(bench.path("m.ir")).unwrap();
    drop(bench);
    assert!(other_dir.exists("sent/data.bin"));
    let ran = other_dir.passdock("replay sent --json");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let replay = ran.json();
    assert_eq!(replay["result"], "same");
    assert_eq!(replay["expected"]["pass"], "bad.transform.PanicOnErf");
    assert_eq!(replay["failure"]["function"], "f6");
    // The required pass had already run.
    assert_eq!(replay["passes"][0]["name"], "bad.transform.Count");
    assert_eq!(replay["passes"][0]["status"], "skipped");
    assert_eq!(replay["passes"][1]["status"], "failed");
    assert_eq!(replay["passes"].as_array().map(Vec::len), Some(2));
    assert_eq!(other_dir.files(), ["sent"]);

    // Fixed by another option.
    let pipeline = other_dir.read("sent/pipeline.toml");
    other_dir.write(
        "sent/pipeline.toml",
        pipeline.replace("size = 9", "size = 1"),
    );
    let ran = other_dir.passdock("replay sent");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.contains("no failure; expected: pass-panicked"),
        "{}",
        ran.stdout
    );
    // A different failure.
    other_dir.write("sent/pipeline.toml", "passes = ['bad.transform.Fail']");
    let ran = other_dir.passdock("replay sent");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout
            .contains("different failure; expected: pass-panicked"),
        "{}",
        ran.stdout
    );
}

/// If a pass emits an error and fails, the report has only that error.
#[test]
fn emitted_error_is_replayed_as_the_same_failure() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let bad = plugin("passdock-misbehaving").display().to_string();
    for pass in ["bad.transform.GiveUp", "bad.transform.Complain"] {
        let run = ["run", "m.ir", "--plugin", &bad, "--passes", pass];
        let ran = bench.run(run.into_iter().chain(["--reproducer-dir", "kept"]), "");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        let replay = ["replay", "kept/m.ir.reproducer", "--plugin", &bad];
        let ran = bench.run(replay, "");
        let same_failure = format!("same failure: error-diagnostics in {pass}");
        assert!(ran.stdout.contains(&same_failure), "{pass}: {}", ran.stdout);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
    }
}

#[test]
fn replay_warns_about_different_plugins() {
    let bench = bench();
    bench.write("p.toml", PANIC);
    assert_eq!(
        bench
            .passdock("run p.toml m.ir --reproducer-dir kept")
            .status,
        1
    );
    assert_eq!(bench.files(), ["kept", "m.ir", "p.toml"]);
    let metadata = bench.read("kept/m.ir.reproducer/reproducer.toml");
    let hash = metadata
        .split("blake3 = \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let other = metadata
        .replacen(hash, &hash.chars().rev().collect::<String>(), 1)
        .replace("name = \"relax\"", "name = \"relay\"");
    bench.write("kept/m.ir.reproducer/reproducer.toml", other);
    let ran = bench.passdock("replay kept/m.ir.reproducer");
    assert_eq!(ran.status, 1);
    expect![["
        warning[plugin]: plugin `libpassdock_misbehaving.so` is bad 1.0.0-rc.1, but its file differs from the one that \
          the reproducer was written with
         |
         = help: the failure may not occur, or may differ
        warning[plugin]: missing plugin relay 1.0.0-rc.1, which was loaded from file `libpassdock_relax.so`
         |
         = help: name its file with `--plugin FILE`, or its directory with `--plugin-dir DIR`
        error[pass-panicked]: the pass panicked at tests/plugins/src/misbehaving/planted.rs:49:9: no table for this \
          Erf
         |
         = in pass bad.transform.PanicOnErf of plugin `libpassdock_misbehaving.so`, function @f6
    "]].assert_eq(&without_paths(&ran.stderr));
    let ran = bench.passdock("replay kept/m.ir.reproducer --locked");
    assert_eq!(ran.status, 3);
    expect![["
        error[plugin]: plugin `libpassdock_misbehaving.so` is bad 1.0.0-rc.1, but its file differs from the one that \
          the reproducer was written with
         |
         = help: the failure may not occur, or may differ
    "]].assert_eq(&without_paths(&ran.stderr));
}

#[test]
fn external_data_is_referenced_with_a_hash() {
    let bench = bench();
    let data: Vec<u8> = (0..80_000_u32)
        .flat_map(|at| (at as f32).to_le_bytes())
        .collect();
    bench.write("w.bin", &data);
    let model = r#"module {
  fn @main(%x: f32[80000]) -> (%y: f32[80000]) {
    %w = const f32[80000] external("w.bin", 0, 320000)
    %0 = onnx.Add(%x, %w) : f32[80000]
    return %0
  }
}
"#;
    bench.write("m.ir", model);
    let ran = bench.passdock("run m.ir -o out.ir --passes bad.transform.Fail");
    assert_eq!(ran.status, 1);
    let expected = "replay it with `passdock replay out.ir.reproducer --trust`";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert_eq!(
        bench.files(),
        ["m.ir", "out.ir.reproducer", "p.toml", "w.bin"]
    );
    let ran = bench.passdock("replay out.ir.reproducer --trust");
    assert!(
        ran.stdout.contains("same failure"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
    bench.write("w.bin", &data[4..]);
    let ran = bench.passdock("replay out.ir.reproducer --trust");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("could not read"), "{}", ran.stderr);
    bench.write("w.bin", [&data[4..], &data[..4]].concat());
    let ran = bench.passdock("replay out.ir.reproducer --trust");
    assert!(
        ran.stderr
            .contains("changed since the reproducer was written"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("different failure"), "{}", ran.stdout);
}

#[test]
fn existing_files_are_not_replaced_by_a_reproducer() {
    let bench = bench();
    bench.write("p.toml", PANIC);
    std::fs::create_dir(bench.path("out.ir.reproducer")).unwrap();
    bench.write("out.ir.reproducer/mine", "");
    let ran = bench.passdock("run p.toml m.ir -o out.ir");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr
            .contains("the path exists, and has no `reproducer.toml`"),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.files(), ["m.ir", "out.ir.reproducer", "p.toml"]);
    assert_eq!(bench.read("out.ir.reproducer/mine"), "");
    // An older reproducer isn't replaced.
    for _ in 0..2 {
        assert_eq!(bench.passdock("run p.toml m.ir -o new.ir").status, 1);
    }
    assert_eq!(
        bench.files(),
        ["m.ir", "new.ir.reproducer", "out.ir.reproducer", "p.toml"]
    );
    // No reproducer was requested.
    assert_eq!(bench.passdock("run p.toml m.ir").status, 1);
    assert_eq!(bench.files().len(), 4);
}

#[test]
fn instrument_failure_is_replayed_with_the_instrument() {
    let bench = Bench::new();
    let model = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) {
    %0 = helper(%x) : f32[2]
    return %0
  }
  fn @helper(%x: f32[2]) -> (%y: f32[2]) {
    return %x
  }
}
"#;
    let instruments = "[[instruments]]\nname = 'timing'\n[[instruments]]\nname = 'verify'\n";
    let passes = "[[passes]]\nname = 'bad.transform.RemoveCallee'\n";
    bench
        .write("m.ir", model)
        .write("p.toml", format!("{instruments}{passes}"));
    let ran = bench.passdock("run p.toml m.ir -o out.ir --verify off");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    expect![[r##"
        #:schema pipeline.schema.json
        # The first pass failed on `before.ir`; the others would have followed.
        # `passdock replay` doesn't run the passes that the first one requires, because they had run before.

        [context]
        opt_level = 2

        [[instruments]]
        name = "verify"

        [[passes]]
        name = "bad.transform.RemoveCallee"
    "##]].assert_eq(&bench.read("out.ir.reproducer/pipeline.toml"));
    let ran = bench.passdock("replay out.ir.reproducer");
    assert!(
        ran.stdout.contains("same failure"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn command_line_instrument_is_replayed() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    // An instrument that can fail a pass: the tap, which comes from a plugin.
    let run = "run m.ir --passes bad.transform.ChangeResults -o out.ir --instrument";
    let tap = "tap.tap={fails='after'}";
    let ran = bench.run(run.split(' ').chain([tap]), "");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let pipeline = bench.read("out.ir.reproducer/pipeline.toml");
    let expected = "[[instruments]]\nfails = \"after\"\nname = \"tap.tap\"\n";
    assert!(pipeline.contains(expected), "{pipeline}");
    let ran = bench.passdock("replay out.ir.reproducer");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout.contains("same failure"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
}

/// The directory of the libraries depends on the machine.
fn without_paths(text: &str) -> String {
    let dir = plugin("passdock-misbehaving")
        .parent()
        .unwrap()
        .to_path_buf();
    text.replace(&format!("{}/", dir.display()), "")
}
