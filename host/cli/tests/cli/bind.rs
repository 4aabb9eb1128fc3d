//! `run --bind`: sizes and values from the command line.

use expect_test::{Expect, expect};

use crate::support::Bench;

const MODEL: &str = r#"module {
  fn @main(%x: f32[batch,seq], %scale: f32[], %seq: i64[]) -> (%y: f32[batch,seq]) opset("" = 17) {
    %0 = onnx.Mul(%x, %scale)
    return %0
  }
}
"#;

#[track_caller]
fn check(words: &[&str], expected: Expect) {
    let bench = Bench::new();
    bench.write("m.ir", MODEL);
    let command = ["run", "m.ir", "-o", "-"];
    let ran = bench.run(command.into_iter().chain(words.iter().copied()), "");
    let said = ran.stderr.replace(&bench.plugins(), "");
    let said = said.split("\npass ").next().unwrap_or_default();
    let said = match ran.status {
        0 => ran.stdout,
        status => format!("status {status}\n{said}"),
    };
    expected.assert_eq(&said);
}

#[test]
fn symbols_get_sizes_and_parameters_values() {
    check(
        &["--bind", "batch=2", "--bind", "scale=0.5"],
        expect![[r#"
        module {
          fn @main(%x: f32[2,seq], %seq: i64[]) -> (%y: f32[2,seq]) opset("" = 17) {
            %scale = const f32[] 0.5
            %0 = onnx.Mul(%x, %scale) : f32[2,seq]
            return %0
          }
        }
    "#]],
    );
}

/// The value of `x` says what `batch` and `seq` are, too.
#[test]
fn sizes_and_the_value_that_has_them() {
    check(
        &["--bind", "x=[[1, 2]]", "--bind", "batch=1"],
        expect![[r#"
            module {
              fn @main(%scale: f32[], %seq: i64[]) -> (%y: f32[1,2]) opset("" = 17) {
                %x = const f32[1,2] [1.0, 2.0]
                %0 = onnx.Mul(%x, %scale) : f32[1,2]
                return %0
              }
            }
        "#]],
    );
    check(
        &["--bind", "x=[[1, 2]]", "--bind", "batch=3"],
        expect![[r#"
            status 1
            error[pass-failed]: The parameter `x` is f32[3,seq] and can't be [[1, 2]]: its shape is [1, 2].
             |
             = in pass relax.transform.BindParams of plugin `libpassdock_relax.so`, function @main
            note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again."#]],
    );
}

#[test]
fn a_name_that_the_model_does_not_have() {
    check(
        &["--bind", "bacth=1"],
        expect![[r#"
        status 2
        error[config]: The model has no dim symbol and no parameter `bacth`. Did you mean `batch`?
        --> --bind
         |
         | bacth=1
         | ^^^^^
         |
         = help: Its dim symbols are: `batch`, `seq`; its parameters: `x`, `scale`, `seq`.
    "#]],
    );
}

#[test]
fn a_name_that_means_two_things() {
    check(
        &["--bind", "seq=1"],
        expect![[r#"
            status 2
            error[config]: `seq` is a dim symbol of the model and a parameter, too.
            --> --bind
             |
             | seq=1
             | ^^^
             |
             = help: Bind it in a pipeline, by the pass that is meant: `relax.transform.BindSymbolicVars` or `relax.transform.BindParams`.
        "#]],
    );
}

#[test]
fn a_value_that_is_none() {
    check(
        &["--bind", "batch"],
        expect![[r#"
        status 2
        error[config]: `--bind` needs a value.
        --> --bind
         |
         | batch
         | ^^^^^
         |
         = help: Write `--bind NAME=VALUE`.
    "#]],
    );
    check(
        &["--bind", "scale=fast"],
        expect![[r#"
        status 2
        error[config]: The value isn't TOML.
        --> --bind
         |
         | scale=fast
         |       ^^^^
         |
         = help: A string needs quotes: `--bind 'NAME="text"'`.
    "#]],
    );
    check(
        &["--bind", "batch=0"],
        expect![[r#"
            status 2
            error[config]: Expected `batch` of `relax.transform.BindSymbolicVars` to be an int ≥ 1, but got the int 0.
            --> --bind
             |
             | batch=0
             |       ^
        "#]],
    );
    check(
        &["--bind", "batch=1", "--bind", "batch=2"],
        expect![[r#"
        status 2
        error[config]: `batch` is bound twice.
        --> --bind
         |
         | batch=2
         | ^^^^^
         |
         = help: Leave one of them out.
    "#]],
    );
    check(
        &["--bind", "scale=[1.0]"],
        expect![[r#"
            status 1
            error[pass-failed]: The parameter `scale` is f32[] and can't be [1.0]: its shape is [1].
             |
             = in pass relax.transform.BindParams of plugin `libpassdock_relax.so`, function @main
            note[reproducer]: `--reproducer-dir DIR` writes what it takes to run into this again."#]],
    );
}

/// What is underlined is counted in bytes of what was typed.
#[test]
fn blanks_and_letters_of_several_bytes() {
    const LETTERS: &str = r#"module {
  fn @main(%"éé": f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%"éé")
    return %0
  }
}
"#;
    let bench = Bench::new();
    bench.write("m.ir", LETTERS);
    let check = |words: &[&str], expected: Expect| {
        let ran = bench.run(["run", "m.ir"].into_iter().chain(words.iter().copied()), "");
        expected.assert_eq(&format!("status {}\n{}", ran.status, ran.stderr));
    };
    check(
        &["--bind", "éé=[1.0,2.0]", "--bind", " éé=[2.0,3.0]"],
        expect![[r#"
            status 2
            error[config]: `éé` is bound twice.
            --> --bind
             |
             |  éé=[2.0,3.0]
             |  ^^
             |
             = help: Leave one of them out.
        "#]],
    );
    check(
        &["--bind", "  é = 1"],
        expect![[r#"
        status 2
        error[config]: The model has no dim symbol and no parameter `é`.
        --> --bind
         |
         |   é = 1
         |   ^
         |
         = help: Its dim symbols are: none; its parameters: `éé`.
    "#]],
    );
    check(
        &["--bind", " éé = é"],
        expect![[r#"
        status 2
        error[config]: The value isn't TOML.
        --> --bind
         |
         |  éé = é
         |      ^^
         |
         = help: A string needs quotes: `--bind 'NAME="text"'`.
    "#]],
    );
}

#[test]
fn a_pipeline_has_the_same_as_options_and_config() {
    let bench = Bench::new();
    bench.write("m.ir", MODEL).write(
        "p.toml",
        r#"
[context.config]
"relax.BindSymbolicVars" = { batch = 1, seq = 2 }
[[passes]]
name = "relax.transform.BindSymbolicVars"
options = { batch = 4 }
"#,
    );
    let ran = bench.passdock("run p.toml m.ir -o out.ir --config relax.BindSymbolicVars.seq=3");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let signature = bench.read("out.ir");
    let signature = signature.lines().nth(1).map(str::trim);
    assert_eq!(
        signature,
        Some(
            "fn @main(%x: f32[4,3], %scale: f32[], %seq: i64[]) -> (%y: f32[4,3]) opset(\"\" = 17) {"
        )
    );
    let explained = bench.passdock("explain p.toml");
    assert!(
        explained
            .stdout
            .contains(r#"dims = { "batch" = 4, "seq" = 2 }"#),
        "{}",
        explained.stdout
    );
    bench.write(
        "wrong.toml",
        "[[passes]]\nname = \"relax.transform.BindSymbolicVars\"\noptions = { batch = \"4\" }\n",
    );
    let ran = bench.passdock("check wrong.toml");
    expect![[r#"
        error[config]: Expected `batch` of `relax.transform.BindSymbolicVars` to be an int ≥ 1, but got the string "4".
         --> wrong.toml:3:21
          |
        3 | options = { batch = "4" }
          |                     ^^^
          |
          = help: Write 4 without quotes.
    "#]].assert_eq(&ran.stderr);
    assert_eq!(ran.status, 2);
}

/// What only the model shows is underlined in the pipeline, too.
#[test]
fn a_wrong_name_in_a_pipeline_is_underlined() {
    let bench = Bench::new();
    bench.write("m.ir", MODEL);
    let pass = "[[passes]]\nname = \"BindSymbolicVars\"\n";
    let symbols = format!("{pass}options = {{ bacth = 1 }}\n");
    let table = format!("{pass}options = {{ dims = {{ batch2 = 1, \"bacth\" = 1 }} }}\n");
    let nested = "[[passes]]\nname = \"s\"\npasses = [{ name = \"BindParams\", options = { scael = 0.5 } }]\n";
    let config = format!("[context.config]\n\"relax.BindSymbolicVars\" = {{ bacth = 1 }}\n{pass}");
    for (text, more, expected) in [
        (
            &symbols,
            &[][..],
            expect![[r#"
            error[pass-failed]: The model has no dim symbol `bacth`. Did you mean `batch`? There are: `batch`, `seq`.
             --> p.toml:3:13
              |
            3 | options = { bacth = 1 }
              |             ^^^^^
              |
              = in pass relax.transform.BindSymbolicVars of plugin `libpassdock_relax.so`"#]],
        ),
        (
            &table,
            &[],
            expect![[r#"
            error[pass-failed]: The model has no dim symbol `bacth`. Did you mean `batch`? There are: `batch`, `seq`.
             --> p.toml:3:35
              |
            3 | options = { dims = { batch2 = 1, "bacth" = 1 } }
              |                                   ^^^^^
              |
              = in pass relax.transform.BindSymbolicVars of plugin `libpassdock_relax.so`"#]],
        ),
        (
            &nested.to_owned(),
            &[],
            expect![[r#"
            error[pass-failed]: The model has no parameter `scael`. Did you mean `scale`? There are: `x`, `scale`, `seq`.
             --> p.toml:3:46
              |
            3 | passes = [{ name = "BindParams", options = { scael = 0.5 } }]
              |                                              ^^^^^
              |
              = in pass relax.transform.BindParams of plugin `libpassdock_relax.so`"#]],
        ),
        (
            &config,
            &[],
            expect![[r#"
            error[pass-failed]: The model has no dim symbol `bacth`. Did you mean `batch`? There are: `batch`, `seq`.
             --> p.toml:2:30
              |
            2 | "relax.BindSymbolicVars" = { bacth = 1 }
              |                              ^^^^^
              |
              = in pass relax.transform.BindSymbolicVars of plugin `libpassdock_relax.so`"#]],
        ),
        (
            &pass.to_owned(),
            &["--config", "relax.BindSymbolicVars.bacth=1"],
            expect![[r#"
                error[pass-failed]: The model has no dim symbol `bacth`. Did you mean `batch`? There are: `batch`, `seq`.
                --> --config
                 |
                 | relax.BindSymbolicVars.bacth=1
                 |                        ^^^^^
                 |
                 = in pass relax.transform.BindSymbolicVars of plugin `libpassdock_relax.so`"#]],
        ),
    ] {
        bench.write("p.toml", text);
        let words = ["run", "p.toml", "m.ir"]
            .into_iter()
            .chain(more.iter().copied());
        let said = bench.run(words, "").stderr.replace(&bench.plugins(), "");
        expected.assert_eq(said.split("\nnote[").next().unwrap_or_default());
    }
}
