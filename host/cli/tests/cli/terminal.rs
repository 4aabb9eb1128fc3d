//! What reaches a terminal: nothing of a file or a plugin steers it.

use expect_test::expect;

use crate::support::{Bench, Ran};

/// Names that a terminal would take for orders: colours, a title, the other direction.
const STEERING: &str = r#"module {
  metadata "k\u{1b}[5m" = "v\u{9b}5m"
  fn @main(%"x\u{1b}]0;t\u{7}": f32["n\u{9b}31m"]) -> (%"y\u{202e}": f32["n\u{9b}31m"]) opset("" = 17, "d\u{9b}31m" = 1) {
    %"a\u{1b}[31m" = symbol("\"d\u{9b}31m\".\"Op\u{1b}[32m\"")(%"x\u{1b}]0;t\u{7}") {"k\u{9b}" = "v\r\u{1b}[2J"} loc("l\u{1b}[1m")
    %"y\u{202e}" = onnx.Relu(%"a\u{1b}[31m") : f32["n\u{9b}31m"]
    return %"y\u{202e}"
  }
}
"#;

#[track_caller]
fn check_safe(ran: &Ran, words: &[&str]) {
    for text in [&ran.stdout, &ran.stderr] {
        let hidden = |c: char| !matches!(c, '\n' | '\t') && passdock::terminal::is_hidden(c);
        let line = text.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{words:?}");
    }
}

#[test]
fn names_in_models_and_of_files_do_not_steer_the_terminal() {
    let bench = Bench::new();
    let name = "m\u{1b}[31m\u{9b}32m.ir";
    bench.write(name, STEERING);
    bench.write("other.ir", STEERING.replace("[32m", "[33m"));
    bench.write(
        "wrong\u{9b}.ir",
        STEERING.replace("return", "return %\"\u{9b}31m\", "),
    );
    bench.write("p\u{9b}.toml", "passes = [\"\u{9b}31m\"]");
    let tap = r#"test.tap={label="\u001b[31m"}"#;
    let run = ["run", name, "--passes", "relax.transform.InferType"];
    for more in [
        &["-o", "-"][..],
        &[
            "--timing",
            "--print-changed",
            "--print-before",
            "all",
            "--instrument",
            "op-count",
        ],
        &["--instrument", tap],
        &["--instrument", tap, "--json"],
        &["-o", "x\u{1b}[31m.ir"],
        &["-o", "x\u{1b}[31m.txt"],
        &["--bind", "\u{9b}31m=1"],
        &["--passes", "\u{9b}31m"],
        &["--config", "\u{9b}31m=1"],
        &["--disable", "\u{9b}31m"],
    ] {
        let words: Vec<&str> = run.iter().chain(more).copied().collect();
        check_safe(&bench.run(words.iter().copied(), ""), &words);
    }
    for words in [
        &["stats", name][..],
        &["stats", name, "--json"],
        &["diff", name, "other.ir"],
        &["diff", name, "other.ir", "--json"],
        &["diff", name, "other.ir", "--text"],
        &["diff", name, "other.ir", "-q"],
        &["convert", name, "-"],
        &["convert", "wrong\u{9b}.ir", "-"],
        &["check", "p\u{9b}.toml"],
        &["explain", "p\u{9b}.toml"],
        &["list", "--plugin-dir", "\u{9b}31m"],
        &["inspect", "\u{9b}31m"],
        &[
            "bisect",
            name,
            "--passes",
            "relax.transform.InferType",
            "--check",
            "printf '\\033[31m'; exit 1 # {}",
        ],
        &["reduce", name, "--passes", "relax.transform.InferType"],
    ] {
        check_safe(&bench.run(words.iter().copied(), ""), words);
    }
}

/// They aren't changed for it: the text has them escaped, and reads back.
#[test]
fn names_that_are_escaped_come_back() {
    let bench = Bench::new();
    bench.write("m.ir", STEERING);
    let text = bench.passdock("convert m.ir -").stdout;
    let ops: String = text
        .lines()
        .filter(|line| line.contains("symbol"))
        .collect();
    expect![[r#"%"a\u{1b}[31m" = symbol("\"d\u{9b}31m\".\"Op\u{1b}[32m\"")(%"x\u{1b}]0;t\u{7}") {"k\u{9b}" = "v\r\u{1b}[2J"} loc("l\u{1b}[1m")"#]].assert_eq(ops.trim());
    let again = bench.run(["convert", "-", "-"], &text);
    assert_eq!(again.stdout, text, "{}", again.stderr);
}
