//! `run --report`: the page beside the table.

use expect_test::expect;

use crate::support::{Bench, RELUS, in_c, plugin};

/// The data of a small page, which isn't compressed.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page
        .split_once("<script id=\"data\" type=\"application/json\">")
        .expect("the data");
    let (json, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_run_leaves_a_page() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock(
        "run m.ir -o o.ir --passes relax.transform.DeadCodeElimination --report page.html --json",
    );
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    // The page's data isn't the report's.
    assert_eq!(ran.json()["instruments"], serde_json::Value::Null);
    let data = data(&bench.read("page.html"));
    assert_eq!(data["ok"], true);
    assert_eq!(data["model"]["in"], "m.ir");
    let passes = data["passes"].as_array().expect("a list").iter();
    let told = passes.map(|pass| {
        let trail = pass["trail"].as_u64().map(|at| at as usize);
        let trail = trail.map(|at| data["recorded"]["passes"][at]["name"].clone());
        format!("{} {}: {trail:?}\n", pass["name"], pass["status"])
    });
    expect![[r#"
        "relax.transform.InferType" "unchanged": Some(String("relax.transform.InferType"))
        "relax.transform.DeadCodeElimination" "unchanged": Some(String("relax.transform.DeadCodeElimination"))
    "#]].assert_eq(&told.collect::<String>());
}

#[test]
fn an_instrument_of_a_pipeline_asks_for_a_page_too() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.run(
        ["run", "m.ir", "--instrument", "page={file='page.html'}"],
        "",
    );
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("page: page.html\n"), "{}", ran.stdout);
    assert!(bench.exists("page.html"));
}

#[test]
fn a_run_that_fails_or_dies_leaves_a_page_that_says_so() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let is_dying = in_c(&bench, "tests/bad-plugins/dies.c", &["-pthread"]).is_some();
    let panics = plugin("passdock_misbehaving");
    let panics = (panics.to_str().expect("UTF-8"), "bad.transform.Panic");
    let dies = is_dying.then_some(("plugin.so", "c.transform.Dies"));
    for (plugin, pass) in [panics].into_iter().chain(dies) {
        let words = format!("run m.ir --plugin {plugin} --passes {pass} --report page.html");
        let ran = bench.run_with(&[("FAULT", "abort")], words.split_whitespace(), "");
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        let data = data(&bench.read("page.html"));
        assert_eq!(data["ok"], false);
        let failed = data["passes"].as_array().expect("a list").iter();
        let failed = failed.filter(|pass| pass["status"] == "failed");
        let failed: Vec<_> = failed.map(|pass| &pass["name"]).collect();
        assert_eq!(failed, [pass]);
        assert!(data["recorded"]["before"].is_array(), "{pass}");
        assert_eq!(data["diagnostics"][0]["severity"], "error");
    }
}

#[test]
fn a_page_goes_over_no_file_of_its_run_and_nowhere_that_isnt() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    for file in ["m.ir", "no/page.html"] {
        let ran = bench.passdock(&format!("run m.ir --report {file}"));
        assert_ne!(ran.status, 0);
        assert!(
            ran.stderr
                .contains(&format!("The file `{file}` can't be written")),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stderr.matches("error[").count(), 1, "{}", ran.stderr);
    }
    assert_eq!(bench.read("m.ir"), RELUS);
}

/// A run whose other files can't be written has failed: OUT stays as it was.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_written_unless_all_can_be() {
    let bench = Bench::new();
    bench.write("m.ir", RELUS).write("out.ir", "before");
    std::os::unix::fs::symlink("/dev/full", bench.path("full")).unwrap();
    std::fs::create_dir_all(bench.path("dump/000_relax.transform.FoldConstant.ir/x")).unwrap();
    let run = "run m.ir --passes FoldConstant -o out.ir";
    for (flags, said) in [
        (
            "--report full",
            "The page `full` can't be written: No space left on device",
        ),
        (
            "--report full --in-process",
            "The page `full` can't be written: No space left",
        ),
        (
            "--report full --json",
            "The page `full` can't be written: No space left on device",
        ),
        ("--trace full", "No space left on device"),
        ("--dump-dir dump", "it is a directory"),
        ("--dump-dir full", "File exists"),
    ] {
        let ran = bench.passdock(&format!("{run} {flags}"));
        assert_eq!(ran.status, 1, "{flags}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.matches(said).count(),
            1,
            "{flags}: {}",
            ran.stderr
        );
        assert_eq!(bench.read("out.ir"), "before", "{flags}");
        // A failing instrument leaves one.
        let _ = std::fs::remove_dir_all(bench.path("out.ir.reproducer"));
        assert_eq!(bench.files(), ["dump", "full", "m.ir", "out.ir"], "{flags}");
        if flags.contains("--json") {
            let report = ran.json();
            assert_eq!(
                (&report["ok"], &report["exit_status"]),
                (&false.into(), &1.into())
            );
            assert_eq!(report["model"]["out"], serde_json::Value::Null);
        }
    }
    // A page of a run that is well is written once, and knows the output.
    let ran = bench.passdock(&format!("{run} --report page.html"));
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(bench.read("out.ir").contains("onnx.Relu"));
    assert!(bench.exists("page.html"));
}
