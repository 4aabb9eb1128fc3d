//! `passdock diff`: output, input and exit status.

use expect_test::expect;

use crate::diff::{BASE, run};
use crate::support::Bench;

#[test]
fn text_option_prints_a_unified_diff() {
    let ran = run(BASE, &BASE.replace("axis = 1", "axis = 0"), "--text");
    assert_eq!(ran.status, 1);
    expect![[r#"
        --- @main
        +++ @main
        @@ -3,5 +3,5 @@
           %1 = onnx.Mul(%x, %0) : f32[n,4]
           %2 = onnx.Relu(%1) : f32[n,4]
        -  %3 = onnx.Softmax(%2) {axis = 1} : f32[n,4]
        +  %3 = onnx.Softmax(%2) {axis = 0} : f32[n,4]
           return %3
         }
        ops: 1 changed
    "#]]
    .assert_eq(&ran.stdout);
}

#[test]
fn quiet_option_prints_one_line() {
    let ran = run(BASE, &BASE.replace("axis = 1", "axis = 0"), "-q");
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (1, "a.ir and b.ir differ\n")
    );
    assert_eq!(run(BASE, BASE, "-q").stdout, "");
}

#[test]
fn json_option_prints_one_object() {
    let ran = run(BASE, &BASE.replace("axis = 1", "axis = 0"), "--json");
    let json = ran.json();
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    assert_eq!(
        (&json["ok"], &json["same"], &json["exit_status"]),
        (&true.into(), &false.into(), &1.into())
    );
    assert_eq!(json["summary"]["ops_changed"], 1);
    expect![[r#"
        [
          {
            "change": "changed",
            "changes": [
              {
                "after": "0",
                "before": "1",
                "name": "axis",
                "property": "attribute"
              }
            ],
            "folded": null,
            "kind": "onnx.Softmax",
            "location": null,
            "nested": 0,
            "op": "%c = onnx.Softmax(%b) {axis = 0} : f32[n,4]",
            "region": null,
            "rewired": []
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&json["functions"][0]["ops"]).expect("a value"));
    let ran = run(BASE, BASE, "--json");
    assert_eq!((ran.status, &ran.json()["same"]), (0, &true.into()));
}

#[test]
fn errors_exit_with_status_2() {
    let bench = Bench::new();
    bench
        .write("a.ir", BASE)
        .write("broken.ir", "module { fn }");
    for (words, message) in [
        ("diff a.ir nowhere.ir", "could not read `nowhere.ir`"),
        ("diff a.ir broken.ir", "broken.ir:1:13"),
        ("diff a.txt a.ir", "expected `.onnx` or `.ir`"),
        ("diff - -", "only one of the two models"),
    ] {
        let ran = bench.passdock(words);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{words}");
        assert!(ran.stderr.contains(message), "{words}: {}", ran.stderr);
        let ran = bench.passdock(&format!("{words} --json"));
        let json = ran.json();
        assert_eq!((ran.status, &json["ok"]), (2, &false.into()), "{words}");
        assert_eq!(json["diagnostics"][0]["severity"], "error", "{words}");
    }
}

#[test]
fn models_of_different_formats_are_compared_by_content() {
    let bench = Bench::new();
    let elements = |last: &str| "1.5, ".repeat(99) + last;
    let text = |last: &str| {
        BASE.replace(
            "f32[4] [1.0, 2.0, 3.0, 4.0]",
            &format!("f32[100] [{}]", elements(last)),
        )
    };
    bench.write("a.ir", text("2.0")).write("b.ir", text("4.0"));
    for words in [
        "convert a.ir a.onnx",
        "convert a.onnx a.ir",
        "convert b.ir b.onnx",
    ] {
        assert_eq!(bench.passdock(words).status, 0, "{words}");
    }
    let ran = bench.passdock("diff a.ir a.onnx");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    let ran = bench.passdock("diff a.ir b.onnx");
    assert_eq!(ran.status, 1);
    expect![[r#"
        fn @main
          constants: 1 changed
            ~ %w = f32[100]
                1 of 100 elements differ, by 2 at most
        constants: 1 changed
    "#]]
    .assert_eq(&ran.stdout);
    let words = ["diff", "-", "a.onnx", "-q"];
    assert_eq!(bench.run(words, &bench.read("a.ir")).status, 0);
}
