//! What there is: `list` and `inspect`.

use expect_test::expect;

use crate::support::{Bench, plugin};

#[test]
fn passes_are_listed_with_their_plugins() {
    let bench = Bench::new();
    let ran = bench.passdock("list passes");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let line = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name));
    let fold = line("relax.transform.FoldConstant").expect("a standard pass");
    assert!(
        fold.contains("function") && fold.contains("relax"),
        "{fold}"
    );
    let ran = bench.passdock("list passes --json");
    let passes = ran.json()["passes"].as_array().expect("a list").clone();
    let unroll = passes
        .iter()
        .find(|pass| pass["name"] == "tir.transform.UnrollLoop");
    assert_eq!(unroll.expect("a standard pass")["plugin"], "tir");
}

#[test]
fn config_is_listed_with_defaults_and_meaning() {
    let ran = Bench::new().passdock("list config");
    let line = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("tir.UnrollLoop.auto_max_depth"));
    let line = line.expect("an option of a standard pass");
    for has in ["an int from 0 on", "8", "tir"] {
        assert!(line.contains(has), "{line}");
    }
    let json = Bench::new().passdock("list config --json").json();
    let options = json["config"].as_array().expect("a list");
    let unroll = options
        .iter()
        .find(|option| option["key"] == "tir.UnrollLoop");
    let unroll = unroll.expect("an option of a standard pass");
    assert_eq!(unroll["plugin"], "tir");
    expect![[r#"{"default":8,"doc":"Serial loops in which up to this many loops were unrolled.","name":"auto_max_depth","range":[0,9223372036854775807],"type":"int"}"#]].assert_eq(&unroll["fields"][1].to_string());
}

#[test]
fn ops_plugins_instruments_and_analyses_are_listed() {
    let bench = Bench::new();
    for (what, has) in [
        ("ops", "onnx.Concat"),
        ("plugins", "relax"),
        ("instruments", "print-changed"),
        ("instruments", "  refresh"),
        ("analyses", "passdock_liveness"),
    ] {
        let ran = bench.passdock(&format!("list {what}"));
        assert_eq!(ran.status, 0);
        assert!(ran.stdout.contains(has), "{}", ran.stdout);
        bench.passdock(&format!("list {what} --json")).json();
    }
}

#[test]
fn operators_are_listed_with_what_is_known() {
    let ran = Bench::new().passdock("list ops");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let line = |start: &str| {
        let line = ran.stdout.lines().find(|line| line.starts_with(start));
        let words: Vec<&str> = line.expect("a row").split_whitespace().collect();
        words.join(" ")
    };
    expect!["onnx.Add 7 2 types, evaluation pure, commutative, elementwise onnx-ops"]
        .assert_eq(&line("onnx.Add "));
    assert!(line("onnx.HardSwish ").contains("body pure, elementwise"));
}

#[test]
fn an_operator_is_shown_with_its_attributes() {
    let bench = Bench::new();
    let ran = bench.passdock("list ops ConvTranspose");
    expect![[r#"
        op          onnx.ConvTranspose since 1
        plugin      onnx-ops
        operands    2 to 3
        known       types
        traits      pure
        attributes  8
          attribute       type    default
          auto_pad        string  "NOTSET"
          dilations       ints
          group           int     1
          kernel_shape    ints
          output_padding  ints
          output_shape    ints
          pads            ints
          strides         ints
    "#]]
    .assert_eq(&ran.stdout);
    let ran = bench.passdock("list ops onnx.Softmax --json");
    let ops = ran.json()["ops"].as_array().expect("a list").clone();
    let defaults: Vec<String> = ops
        .iter()
        .map(|op| format!("{} {}", op["since"], op["attributes"][0]["default"]))
        .collect();
    assert_eq!(defaults, ["1 1", "13 -1"]);
    let ran = bench.passdock("list ops onnx.Conf");
    assert_eq!(ran.status, 2);
    expect![[r#"
        error[pipeline]: No plugin defines the operator `onnx.Conf`. Did you mean `onnx.Conv`?
    "#]]
    .assert_eq(&ran.stderr);
    let ran = bench.passdock("list passes Conv");
    assert_eq!(ran.status, 2);
    expect![[r#"
        error[pipeline]: Only operators are shown one by one: `passdock list ops onnx.Conv`.
    "#]]
    .assert_eq(&ran.stderr);
}

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

/// Manifests are kept among the user's caches, in a directory of one's own, or nowhere; it is no
/// matter if they can't be.
#[test]
#[cfg(unix)]
fn manifests_are_kept_between_runs() {
    let bench = Bench::new();
    plugin("passdock-tap");
    // A file that changed just now may change again without a trace.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let home = bench.path("home").display().to_string();
    let list = |cache: &str| {
        let variables = [
            ("HOME", home.as_str()),
            ("XDG_CACHE_HOME", ""),
            ("PASSDOCK_CACHE", cache),
        ];
        let ran = bench.run_with(&variables, ["list", "instruments"], "");
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("tap"), "{}", ran.stdout);
        ran.stdout
    };
    let is_kept = |dir: &str| {
        let files = std::fs::read_dir(bench.path(dir)).into_iter().flatten();
        files.flatten().any(|file| {
            let bytes = std::fs::read(file.path()).expect("a file");
            bytes.windows(12).any(|part| part == b"passdock_tap")
        })
    };
    let expected = list("off");
    assert!(!bench.exists("home"));
    for (cache, dir) in [("", "home/.cache/passdock"), ("mine/kept", "mine/kept")] {
        for _ in 0..2 {
            assert_eq!(list(cache), expected);
            assert!(is_kept(dir), "{dir}");
        }
    }
    bench.write("file", "no directory");
    assert_eq!(list("file/within"), expected);
}
