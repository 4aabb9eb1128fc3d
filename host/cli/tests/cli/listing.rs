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
          attribute       type    default   meaning
          auto_pad        string  "NOTSET"  Whether margins are those of `pads`, none, or so wide that the result has the operand's size over the stride; an odd one then lies at the end or at the start (`NOTSET`, `VALID`, `SAME_UPPER`, `SAME_LOWER`).
          dilations       ints              The distance between elements of the kernel, along each spatial axis; 1 by default.
          group           int     1         How many groups channels and kernels are divided into.
          kernel_shape    ints              The size of the window along each spatial axis; by default the weights'.
          output_padding  ints              What is added to one side of the result, along each spatial axis.
          output_shape    ints              The spatial sizes of the result, from which the margins follow.
          pads            ints              The margins: before the first element along each spatial axis, then behind the last; 0 by default.
          strides         ints              How far apart windows are, along each spatial axis; 1 by default.
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
