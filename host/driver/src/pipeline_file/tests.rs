//! Parsing of pipeline files, and errors for invalid ones.

use expect_test::{Expect, expect};

use super::passes::MAX_NESTING;
use super::*;

fn name(table: &PassTable) -> &str {
    match table {
        PassTable::Rules { file, .. } | PassTable::Imported(file) => file.get_ref(),
        PassTable::Pass { name, .. }
        | PassTable::Sequential { name, .. }
        | PassTable::BuiltIn { name, .. } => name.get_ref(),
        PassTable::Phase(phase) => phase.get_ref().name(),
    }
}

#[track_caller]
fn check_error(text: &str, expected: Expect) {
    match PipelineFile::parse("p.toml", text) {
        Ok(file) => panic!("expected an error, found {file:?}"),
        Err(error) => expected.assert_eq(&error.to_diagnostic().render(false)),
    }
}

#[test]
fn documentation_example_is_parsed() {
    let text = r#"
[context]
opt_level = 3
disabled_pass = ["relax.transform.EliminateCommonSubexpr"]
[context.config]
"tir.UnrollLoop" = { auto_max_step = 16, explicit_unroll = true }
[plugins]
dirs = ["plugins"]
files = ["target/debug/libacme.so"]
[plugins.acme]
override = ["relax.transform.FoldConstant"]
[[instruments]]
name = "timing"
[[passes]]
name = "relax.transform.FoldConstant"
[[passes]]
name = "acme.transform.FuseDoubleRelu"
options = { limit = 8 }
[[passes]]
name = "cleanup"
opt_level = 1
passes = ["relax.transform.CanonicalizeBindings", { name = "relax.transform.DeadCodeElimination" }]
"#;
    let file = PipelineFile::parse("p.toml", text).unwrap();
    assert_eq!(file.context.opt_level, Some(3));
    assert!(file.context.config.contains_key("tir.UnrollLoop"));
    assert_eq!(file.plugins.dirs[0].get_ref(), "plugins");
    assert_eq!(file.plugins.files[0].get_ref(), "target/debug/libacme.so");
    assert_eq!(file.plugins.tables[0].0.get_ref(), "acme");
    assert_eq!(file.instruments[0].name.get_ref(), "timing");
    let names: Vec<_> = file.passes.iter().map(name).collect();
    assert_eq!(
        names,
        [
            "relax.transform.FoldConstant",
            "acme.transform.FuseDoubleRelu",
            "cleanup"
        ]
    );
    let PassTable::Sequential {
        passes,
        opt_level: 1,
        ..
    } = &file.passes[2]
    else {
        panic!("{:?}", file.passes[2])
    };
    assert_eq!(name(&passes[1]), "relax.transform.DeadCodeElimination");
}

#[test]
fn errors_underline_their_location() {
    check_error(
        "[context]\nopt_lvl = 3\n",
        expect![[r#"
            error[pipeline]: unknown key `opt_lvl` in `[context]`
             --> p.toml:2:1
              |
            2 | opt_lvl = 3
              | ^^^^^^^ unknown key
              |
              = help: did you mean `opt_level`?"#]],
    );
    check_error(
        "[context]\nopt_level = \"3\"\n",
        expect![[r#"
            error[pipeline]: invalid value for `opt_level`: expected an integer ≥ 0, found string "3"
             --> p.toml:2:13
              |
            2 | opt_level = "3"
              |             ^^^ expected an integer ≥ 0"#]],
    );
    check_error(
        "[context]\nopt_level = -1\n",
        expect![[r#"
            error[pipeline]: invalid value for `opt_level`: expected an integer ≥ 0, found integer `-1`
             --> p.toml:2:13
              |
            2 | opt_level = -1
              |             ^^ expected an integer ≥ 0"#]],
    );
    check_error(
        "[context]\ndisabled_pass = \"relax.transform.FoldConstant\"\n",
        expect![["
            error[pipeline]: invalid value for `disabled_pass`: expected a list, found string \
              \"relax.transform.FoldConstant\"
             --> p.toml:2:17
              |
            2 | disabled_pass = \"relax.transform.FoldConstant\"
              |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a list
              |
              = help: did you mean `disabled_pass = [\"relax.transform.FoldConstant\"]`?"]],
    );
    check_error(
        "[config]\n\"tir.UnrollLoop\" = {}\n",
        expect![[r#"
            error[pipeline]: unknown key `config` in the pipeline
             --> p.toml:1:2
              |
            1 | [config]
              |  ^^^^^^ unknown key
              |
              = help: move `config` to `[context]`, as `[context.config]`"#]],
    );
    check_error(
        "opt_level = 3\n",
        expect![[r#"
            error[pipeline]: unknown key `opt_level` in the pipeline
             --> p.toml:1:1
              |
            1 | opt_level = 3
              | ^^^^^^^^^ unknown key
              |
              = help: move `opt_level` to `[context]`"#]],
    );
    check_error(
        "[[passes]]\nname = FoldConstant\n",
        expect![[r#"
            error[pipeline]: invalid TOML: expected a value, found `FoldConstant`
             --> p.toml:2:8
              |
            2 | name = FoldConstant
              |        ^^^^^^^^^^^^
              |
              = help: put the string in quotes: `"FoldConstant"`"#]],
    );
    check_error(
        "passes = [relax.transform.FoldConstant]\n",
        expect![[r#"
            error[pipeline]: invalid TOML: expected a value, found `relax.transform.FoldConstant`
             --> p.toml:1:11
              |
            1 | passes = [relax.transform.FoldConstant]
              |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: put the string in quotes: `"relax.transform.FoldConstant"`"#]],
    );
    check_error(
        "passes = [\n  \"a\",\n  true_story,\n]\n",
        expect![[r#"
            error[pipeline]: invalid TOML: expected a value, found `true_story`
             --> p.toml:3:3
              |
            3 |   true_story,
              |   ^^^^^^^^^^
              |
              = help: put the string in quotes: `"true_story"`"#]],
    );
    check_error(
        "[plugins]\ndirs = [../plugins]\n",
        expect![[r#"
            error[pipeline]: invalid TOML: expected a value, found `../plugins`
             --> p.toml:2:9
              |
            2 | dirs = [../plugins]
              |         ^^^^^^^^^^
              |
              = help: put the string in quotes: `"../plugins"`"#]],
    );
    check_error(
        "[[passes]]\nnam = \"x\"\n",
        expect![[r#"
            error[pipeline]: unknown key `nam` in `[[passes]]`
             --> p.toml:2:1
              |
            2 | nam = "x"
              | ^^^ unknown key
              |
              = help: did you mean `name`?"#]],
    );
    check_error(
        "[[passes]]\nopt_level = 1\n",
        expect![[r#"
            error[pipeline]: missing key `name` in `[[passes]]`
             --> p.toml:1:1
              |
            1 | [[passes]]
              | ^^^^^^^^^^"#]],
    );
    check_error(
        "[[passes]]\nname = \"P\"\nsize = 4\n",
        expect![["
            error[pipeline]: unknown key `size` in `[[passes]]`
             --> p.toml:3:1
              |
            3 | size = 4
              | ^^^^ unknown key
              |
              = help: write an option of the pass as `options = { size = … }`; valid keys: `phase`, `rules`, \
                `python`, `use`, `passes`, `name`, `options`, `opt_level`, `required`, `disabled`"]],
    );
    check_error(
        "[[passes]]\npython = \"m:C\"\nsize = 4\n",
        expect![["
            error[pipeline]: unknown key `size` in `[[passes]]`
             --> p.toml:3:1
              |
            3 | size = 4
              | ^^^^ unknown key
              |
              = help: write an option of the pass as `options = { size = … }`; valid keys: `phase`, `rules`, \
                `python`, `use`, `passes`, `name`, `options`, `opt_level`, `required`, `disabled`"]],
    );
    check_error(
        "[plugins]\ndir = \"plugins\"\n",
        expect![[r#"
            error[pipeline]: unknown key `dir` in `[plugins]`
             --> p.toml:2:1
              |
            2 | dir = "plugins"
              | ^^^ unknown key
              |
              = help: did you mean `dirs`?"#]],
    );
    check_error(
        "[plugins]\nacme = 3\n",
        expect![[r#"
            error[pipeline]: unknown key `acme` in `[plugins]`
             --> p.toml:2:1
              |
            2 | acme = 3
              | ^^^^ unknown key
              |
              = help: valid keys: `dirs`, `files`, `trusted_keys`, or a table `[plugins.NAME]` for a plugin"#]],
    );
    check_error(
        "instruments = [\"timing\"]\n",
        expect![[r#"
            error[pipeline]: invalid value for `instruments`: expected an instrument table, found string "timing"
             --> p.toml:1:16
              |
            1 | instruments = ["timing"]
              |                ^^^^^^^^ expected an instrument table
              |
              = help: did you mean `{ name = "timing" }`?"#]],
    );
    check_error(
        "[[passes]]\nphase = \"lat\"\n",
        expect![[r#"
            error[pipeline]: unknown phase `lat`
             --> p.toml:2:9
              |
            2 | phase = "lat"
              |         ^^^^^ unknown phase
              |
              = help: did you mean `late`?"#]],
    );
    check_error(
        "[[passes]]\nphase = \"late\"\nname = \"a\"\n",
        expect![[r#"
            error[pipeline]: invalid key `name` for a phase
             --> p.toml:3:1
              |
            3 | name = "a"
              | ^^^^ unexpected key
              |
              = help: split it into two entries: plugins provide the passes of a phase"#]],
    );
    check_error(
        "passes = 3\n",
        expect![[r#"
            error[pipeline]: invalid value for `passes`: expected a list, found integer `3`
             --> p.toml:1:10
              |
            1 | passes = 3
              |          ^ expected a list"#]],
    );
    check_error(
        "[[passes]]\nname = \"a\n",
        expect![[r#"
            error[pipeline]: invalid TOML: invalid basic string, expected `"`
             --> p.toml:2:10
              |
            2 | name = "a
              |          ^"#]],
    );
    check_error(
        "[[instruments]]\n",
        expect![[r#"
            error[pipeline]: missing key `name` in `[[instruments]]`
             --> p.toml:1:1
              |
            1 | [[instruments]]
              | ^^^^^^^^^^^^^^^"#]],
    );
    check_error(
        "[plugins]\ndirs = [1]\n",
        expect![[r#"
            error[pipeline]: invalid value for `dirs`: expected a string, found integer `1`
             --> p.toml:2:9
              |
            2 | dirs = [1]
              |         ^ expected a string"#]],
    );
}

#[test]
fn nesting_is_limited() {
    const MAX_INLINE: usize = 39;
    let deep = format!(
        "passes = {}{}",
        "[{passes = ".repeat(200),
        "[]".to_owned() + &"}]".repeat(200)
    );
    assert!(PipelineFile::parse("p.toml", &deep).is_err());
    // Tables with headers may nest to any depth; inline tables only as deep as the TOML parser allows.
    let tables = |levels: usize| {
        let header =
            |level: usize| format!("[[passes{}]]\nname = \"g\"\n", ".passes".repeat(level));
        let text: String = (0..levels).map(header).collect();
        PipelineFile::parse("p.toml", &text)
    };
    assert!(tables(MAX_NESTING + 1).is_ok());
    let error = tables(MAX_NESTING + 2).expect_err("one too many");
    assert!(error.message.contains("deeper than 64 levels"), "{error}");
    let inline = |levels: usize| {
        let text = format!(
            "passes = {}[\"a\"]{}",
            "[{ passes = ".repeat(levels),
            "}]".repeat(levels)
        );
        PipelineFile::parse("p.toml", &text)
    };
    assert!(inline(MAX_INLINE).is_ok());
    let error = inline(MAX_INLINE + 1).expect_err("one too many");
    let help = error.help.clone().unwrap_or_default();
    assert!(help.contains("[[passes.passes]]"), "{}", error.message);
}
