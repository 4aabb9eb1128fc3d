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
        Ok(file) => panic!("this should be refused: {file:?}"),
        Err(error) => expected.assert_eq(&error.to_diagnostic().render(false)),
    }
}

#[test]
fn the_example_of_the_documentation_is_read() {
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
fn every_mistake_is_underlined() {
    check_error(
        "[context]\nopt_lvl = 3\n",
        expect![[r#"
            error[pipeline]: There is no key `opt_lvl` in `[context]`.
             --> p.toml:2:1
              |
            2 | opt_lvl = 3
              | ^^^^^^^ unknown key
              |
              = help: Did you mean `opt_level`?"#]],
    );
    check_error(
        "[context]\nopt_level = \"3\"\n",
        expect![[r#"
            error[pipeline]: Expected an integer ≥ 0 in `opt_level`, but got string "3".
             --> p.toml:2:13
              |
            2 | opt_level = "3"
              |             ^^^ not an integer ≥ 0"#]],
    );
    check_error(
        "[context]\nopt_level = -1\n",
        expect![[r#"
            error[pipeline]: Expected an integer ≥ 0 in `opt_level`, but got integer `-1`.
             --> p.toml:2:13
              |
            2 | opt_level = -1
              |             ^^ not an integer ≥ 0"#]],
    );
    check_error(
        "[context]\ndisabled_pass = \"relax.transform.FoldConstant\"\n",
        expect![[r#"
            error[pipeline]: Expected a list in `disabled_pass`, but got string "relax.transform.FoldConstant".
             --> p.toml:2:17
              |
            2 | disabled_pass = "relax.transform.FoldConstant"
              |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not a list
              |
              = help: Did you mean `disabled_pass = ["relax.transform.FoldConstant"]`?"#]],
    );
    check_error(
        "[config]\n\"tir.UnrollLoop\" = {}\n",
        expect![[r#"
            error[pipeline]: There is no key `config` in the pipeline.
             --> p.toml:1:2
              |
            1 | [config]
              |  ^^^^^^ unknown key
              |
              = help: `config` stands in `[context]`, as `[context.config]`."#]],
    );
    check_error(
        "opt_level = 3\n",
        expect![[r#"
            error[pipeline]: There is no key `opt_level` in the pipeline.
             --> p.toml:1:1
              |
            1 | opt_level = 3
              | ^^^^^^^^^ unknown key
              |
              = help: `opt_level` stands in `[context]`."#]],
    );
    check_error(
        "[[passes]]\nname = FoldConstant\n",
        expect![[r#"
            error[pipeline]: This isn't TOML: `FoldConstant` is no value.
             --> p.toml:2:8
              |
            2 | name = FoldConstant
              |        ^^^^^^^^^^^^
              |
              = help: A string needs quotes: `"FoldConstant"`."#]],
    );
    check_error(
        "passes = [relax.transform.FoldConstant]\n",
        expect![[r#"
            error[pipeline]: This isn't TOML: `relax.transform.FoldConstant` is no value.
             --> p.toml:1:11
              |
            1 | passes = [relax.transform.FoldConstant]
              |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: A string needs quotes: `"relax.transform.FoldConstant"`."#]],
    );
    check_error(
        "passes = [\n  \"a\",\n  true_story,\n]\n",
        expect![[r#"
            error[pipeline]: This isn't TOML: `true_story` is no value.
             --> p.toml:3:3
              |
            3 |   true_story,
              |   ^^^^^^^^^^
              |
              = help: A string needs quotes: `"true_story"`."#]],
    );
    check_error(
        "[plugins]\ndirs = [../plugins]\n",
        expect![[r#"
                error[pipeline]: This isn't TOML: `../plugins` is no value.
                 --> p.toml:2:9
                  |
                2 | dirs = [../plugins]
                  |         ^^^^^^^^^^
                  |
                  = help: A string needs quotes: `"../plugins"`."#]],
    );
    check_error(
        "[[passes]]\nnam = \"x\"\n",
        expect![[r#"
                error[pipeline]: There is no key `nam` in `[[passes]]`.
                 --> p.toml:2:1
                  |
                2 | nam = "x"
                  | ^^^ unknown key
                  |
                  = help: Did you mean `name`?"#]],
    );
    check_error(
        "[[passes]]\nopt_level = 1\n",
        expect![[r#"
            error[pipeline]: `[[passes]]` needs a `name`.
             --> p.toml:1:1
              |
            1 | [[passes]]
              | ^^^^^^^^^^"#]],
    );
    check_error(
        "[[passes]]\nname = \"P\"\nsize = 4\n",
        expect![["
            error[pipeline]: There is no key `size` in `[[passes]]`.
             --> p.toml:3:1
              |
            3 | size = 4
              | ^^^^ unknown key
              |
              = help: An option of the pass stands in `options = { size = … }`. Valid keys: `phase`, `rules`, \
                `python`, `use`, `passes`, `name`, `options`, `opt_level`, `required`, `disabled`."]],
    );
    check_error(
        "[[passes]]\npython = \"m:C\"\nsize = 4\n",
        expect![["
            error[pipeline]: There is no key `size` in `[[passes]]`.
             --> p.toml:3:1
              |
            3 | size = 4
              | ^^^^ unknown key
              |
              = help: An option of the pass stands in `options = { size = … }`. Valid keys: `phase`, `rules`, \
                `python`, `use`, `passes`, `name`, `options`, `opt_level`, `required`, `disabled`."]],
    );
    check_error(
        "[plugins]\ndir = \"plugins\"\n",
        expect![[r#"
            error[pipeline]: There is no key `dir` in `[plugins]`.
             --> p.toml:2:1
              |
            2 | dir = "plugins"
              | ^^^ unknown key
              |
              = help: Did you mean `dirs`?"#]],
    );
    check_error(
        "[plugins]\nacme = 3\n",
        expect![[r#"
            error[pipeline]: There is no key `acme` in `[plugins]`.
             --> p.toml:2:1
              |
            2 | acme = 3
              | ^^^^ unknown key
              |
              = help: Valid keys: `dirs`, `files`, and the names of plugins, whose tables are `[plugins.NAME]`."#]],
    );
    check_error(
        "instruments = [\"timing\"]\n",
        expect![[r#"
            error[pipeline]: Expected an instrument's table in `instruments`, but got string "timing".
             --> p.toml:1:16
              |
            1 | instruments = ["timing"]
              |                ^^^^^^^^ not an instrument's table
              |
              = help: Did you mean `{ name = "timing" }`?"#]],
    );
    check_error(
        "[[passes]]\nphase = \"lat\"\n",
        expect![[r#"
            error[pipeline]: There is no phase `lat`.
             --> p.toml:2:9
              |
            2 | phase = "lat"
              |         ^^^^^ unknown phase
              |
              = help: Did you mean `late`?"#]],
    );
    check_error(
        "[[passes]]\nphase = \"late\"\nname = \"a\"\n",
        expect![[r#"
            error[pipeline]: A place for a phase has no `name`.
             --> p.toml:3:1
              |
            3 | name = "a"
              | ^^^^ one too many
              |
              = help: Its passes come from the plugins that name the phase. Make two entries of it."#]],
    );
    check_error(
        "passes = 3\n",
        expect![[r#"
            error[pipeline]: Expected a list in `passes`, but got integer `3`.
             --> p.toml:1:10
              |
            1 | passes = 3
              |          ^ not a list"#]],
    );
    check_error(
        "[[passes]]\nname = \"a\n",
        expect![[r#"
            error[pipeline]: This isn't TOML: invalid basic string, expected `"`.
             --> p.toml:2:10
              |
            2 | name = "a
              |          ^"#]],
    );
    check_error(
        "[[instruments]]\n",
        expect![[r#"
            error[pipeline]: `[[instruments]]` needs a `name`.
             --> p.toml:1:1
              |
            1 | [[instruments]]
              | ^^^^^^^^^^^^^^^"#]],
    );
    check_error(
        "[plugins]\ndirs = [1]\n",
        expect![[r#"
            error[pipeline]: Expected a string in `dirs`, but got integer `1`.
             --> p.toml:2:9
              |
            2 | dirs = [1]
              |         ^ not a string"#]],
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
