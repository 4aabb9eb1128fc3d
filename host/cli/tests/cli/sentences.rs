//! What the command says where people stumble.

use expect_test::expect;

use crate::support::{Bench, plugin};

#[test]
fn a_pipeline_that_is_no_text() {
    let bench = Bench::new();
    bench
        .write("m.onnx", [0x08, 0x07, 0xff])
        .write("p.toml", [0xff]);
    let said = ["explain m.onnx", "check p.toml"].map(|words| {
        let ran = bench.passdock(words);
        assert_eq!(ran.status, 2);
        ran.stderr
    });
    expect![[r#"
        error[usage]: `m.onnx` is a model, and no pipeline.
         |
         = help: A pipeline is a .toml file; `passdock stats` shows what is in a model.
        error[usage]: The pipeline `p.toml` can't be read: it isn't text in UTF-8.
    "#]]
    .assert_eq(&said.concat());
}

#[test]
fn one_operator_is_one() {
    let bench = Bench::new();
    let count = |name: &str| {
        let file = plugin(name).display().to_string();
        let said = bench.run(["inspect", &file], "").stdout;
        let line = said.lines().find(|line| line.starts_with("defines"));
        line.unwrap_or_default().to_owned()
    };
    assert_eq!(count("passdock_misbehaving"), "defines 1 operator");
    assert!(count("passdock_onnx_ops").ends_with(" operators"));
}

#[test]
fn help_is_in_plain_words() {
    let bench = Bench::new();
    let help = bench.passdock("help run").stdout;
    let last = help.trim_end().lines().last();
    expect!["Without -o no model is written; the report is printed all the same."]
        .assert_eq(last.unwrap_or_default());
    let config = bench.passdock("list config").stdout;
    let line = |key: &str| {
        let line = config.lines().find(|line| line.starts_with(key));
        let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
        words.join(" ")
    };
    expect!["relax.fallback_device_type an int from 1 to 2147483647 1 built in The device of ops that no device is named for, by its number in DLPack; 1 is the CPU."].assert_eq(&line("relax.fallback_device_type"));
    expect!["relax.FoldConstant.max_growth an int 256 relax The bytes by which one folded op may make the function larger, or 1/1600 of the bytes of its constants if that is more; all folded ops together by 8 times as much. Expressions of several ops may take as many 1/1600 as they have ops, all of them together 8."].assert_eq(&line("relax.FoldConstant.max_growth"));
}
