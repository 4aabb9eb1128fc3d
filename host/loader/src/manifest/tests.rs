//! Manifests that are read, and the errors about wrong ones.

use expect_test::{Expect, expect};

use super::*;

const PLUGIN: &str = "[plugin]
name = \"acme\"
version = \"1.2.0\"
abi = \"0.4\"
ir = \"0.1\"
panic = \"unwind\"
";

#[track_caller]
fn check_error(rest: &str, expected: Expect) {
    let error = Manifest::parse(&format!("{PLUGIN}{rest}")).expect_err("a wrong manifest");
    expected.assert_eq(&error.to_string());
}

#[test]
fn a_whole_manifest() {
    let text = format!(
        "{PLUGIN}min_host = \"0.0\"
layout = \"0123abcd\"
color = \"an unknown key is ignored\"
[[pass]]
name = \"acme.transform.FuseDoubleRelu\"
kind = \"function\"
opt_level = 1
required = [\"relax.transform.FoldConstant\"]
summary = \"Replaces `Relu(Relu(x))` by `Relu(x)`.\"
thread_safe = true
phase = \"simplify\"
[[pass.option]]
name = \"limit\"
type = \"int\"
default = 8
doc = \"How many.\"
[[pass.option]]
name = \"ratio\"
type = \"float\"
default = 2
[[sequential]]
name = \"acme.Cleanup\"
opt_level = 2
required = [\"relax.transform.InferType\"]
passes = [\"acme.transform.FuseDoubleRelu\", {{ name = \"other.Sequential\", options = {{ n = 1 }} }}]
summary = \"Cleans up.\"
[[config]]
key = \"acme.verbose\"
doc = \"Whether it says more.\"
[[config.field]]
name = \"\"
type = \"bool\"
[[op]]
name = \"onnx.Concat\"
since = 13
[[instrument]]
name = \"acme.op-histogram\"
summary = \"Counts ops.\"
[[instrument.option]]
name = \"top\"
type = \"int\"
default = 3
"
    );
    // Of another minor, the fingerprint may be another.
    let text = text.replace("abi = \"0.4\"", "abi = \"0.9\"");
    let manifest = Manifest::parse(&text).expect("a good manifest");
    expect![[r#"
        {
          "plugin": {
            "name": "acme",
            "version": "1.2.0",
            "abi": "0.9",
            "min_host": "0.0",
            "ir": "0.1",
            "panic": "unwind",
            "layout": "0123abcd",
            "compiler": null
          },
          "pass": [
            {
              "name": "acme.transform.FuseDoubleRelu",
              "opt_level": 1,
              "required": [
                "relax.transform.FoldConstant"
              ],
              "phase": "simplify",
              "thread_safe": true,
              "changes_interface": false,
              "aliases": [],
              "config": null,
              "options": [
                {
                  "name": "limit",
                  "type": "int",
                  "default": 8,
                  "doc": "How many."
                },
                {
                  "name": "ratio",
                  "type": "float",
                  "default": 2.0,
                  "doc": ""
                }
              ],
              "kind": "function",
              "summary": "Replaces `Relu(Relu(x))` by `Relu(x)`."
            }
          ],
          "sequential": [
            {
              "name": "acme.Cleanup",
              "opt_level": 2,
              "required": [
                "relax.transform.InferType"
              ],
              "passes": [
                {
                  "name": "acme.transform.FuseDoubleRelu",
                  "options": {}
                },
                {
                  "name": "other.Sequential",
                  "options": {
                    "n": 1
                  }
                }
              ],
              "summary": "Cleans up."
            }
          ],
          "config": [
            {
              "key": "acme.verbose",
              "doc": "Whether it says more.",
              "fields": [
                {
                  "name": "",
                  "type": "bool",
                  "default": false,
                  "doc": ""
                }
              ]
            }
          ],
          "op": [
            {
              "name": "onnx.Concat",
              "since": 13
            }
          ],
          "instrument": [
            {
              "name": "acme.op-histogram",
              "summary": "Counts ops.",
              "options": [
                {
                  "name": "top",
                  "type": "int",
                  "default": 3,
                  "doc": ""
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&manifest).expect("is JSON"));
}

#[test]
fn wrong_values_are_named() {
    let pass = |name: &str, more: &str| {
        format!("[[pass]]\nname = \"{name}\"\nkind = \"function\"\n{more}\n")
    };
    check_error(
        &pass("Fuse", ""),
        expect![
            "in its manifest a pass's name is `Fuse`; a pass is called `<namespace>.transform.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &pass(" acme.transform.X", ""),
        expect![
            "in its manifest a pass's name is ` acme.transform.X`; a pass is called `<namespace>.transform.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &pass("a.transform.X", "opt_level = -1"),
        expect![
            "in its manifest `opt_level` of `a.transform.X` is `-1`; a level is an integer ≥ 0"
        ],
    );
    check_error(
        &pass("a.transform.X", "required = [\"\"]"),
        expect![
            "in its manifest a name in `required` of `a.transform.X` is ``; a pass is called `<namespace>.transform.<Name>`, a Sequential `<namespace>.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &pass("a.transform.X", "summary = \"\\u001b[31mred\""),
        expect![
            "in its manifest the summary of `a.transform.X` is `\\u{1b}[31mred`; control characters other than newline and tab aren't allowed"
        ],
    );
    check_error(
        &(pass("a.transform.X", "") + &pass("a.transform.X", "")),
        expect!["its manifest names the pass `a.transform.X` twice; rename or remove one"],
    );
    check_error(
        &(pass("a.transform.X", "aliases = [\"a.transform.Y\"]") + &pass("a.transform.Y", "")),
        expect!["its manifest names the pass `a.transform.Y` twice; rename or remove one"],
    );
    check_error(
        &pass("a.transform.X", "aliases = [\"Y\"]"),
        expect![
            "in its manifest a name in `aliases` of `a.transform.X` is `Y`; a pass is called `<namespace>.transform.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &pass(
            "a.transform.X",
            "[[pass.option]]\nname = \"n\"\ntype = \"int\"\ndefault = \"8\"",
        ),
        expect![
            "the default of `n` of `a.transform.X` is a string, its type is an int; give a default of that type"
        ],
    );
    check_error(
        &pass(
            "a.transform.X",
            "[[pass.option]]\nname = \"n\"\ntype = \"int\"\n[[pass.option]]\nname = \"n\"\ntype = \"int\"",
        ),
        expect!["its manifest names the option `n` twice; rename or remove one"],
    );
    check_error(
        "[[op]]\nname = \"onnx.Relu\"\nsince = 0",
        expect![
            "in its manifest `since` of `onnx.Relu` is `0`; the first version of a domain is 1"
        ],
    );
    check_error(
        "[[op]]\nname = \"onnx Relu\"",
        expect![
            "in its manifest an op's name is `onnx Relu`; an op's name is its domain and name, without blanks"
        ],
    );
    check_error(
        "[[config]]\nkey = \"a.b\"\n[[config.field]]\nname = \"\"\ntype = \"int\"\n[[config.field]]\nname = \"x\"\ntype = \"int\"",
        expect![
            "in its manifest a field name of the config key `a.b` is ``; only a key with a single field may leave its name empty"
        ],
    );
}

#[test]
fn wrong_toml_is_located() {
    check_error(
        "[[pass]",
        expect![
            "its manifest isn't the TOML that hosts read: line 7, `[[pass]`: unclosed array table, expected `]`"
        ],
    );
    check_error(
        "[pass]",
        expect![
            "its manifest isn't the TOML that hosts read: line 7, `[pass]`: invalid type: map, expected a sequence"
        ],
    );
    check_error(
        &format!("x = {}", "[".repeat(100_000)),
        expect![
            "its manifest isn't the TOML that hosts read: line 7, `x = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…`: cannot recurse further; max recursion depth met"
        ],
    );
}

#[test]
fn instruments_are_doubted_like_passes() {
    let instrument =
        |name: &str, more: &str| format!("[[instrument]]\nname = \"{name}\"\n{more}\n");
    check_error(
        &instrument("histogram", ""),
        expect![
            "in its manifest an instrument's name is `histogram`; an instrument is called `<namespace>.<name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &instrument("acme..histogram", ""),
        expect![
            "in its manifest an instrument's name is `acme..histogram`; an instrument is called `<namespace>.<name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &instrument("acme.histogram", "summary = \"\\u001b[31m\""),
        expect![[
            r#"in its manifest the summary of `acme.histogram` is `\u{1b}[31m`; control characters other than newline and tab aren't allowed"#
        ]],
    );
    let same = instrument("acme.histogram", "").repeat(2);
    check_error(
        &same,
        expect!["its manifest names the instrument `acme.histogram` twice; rename or remove one"],
    );
    let option = "[[instrument.option]]\nname = \"n\"\ntype = \"int\"\n";
    check_error(
        &instrument("acme.histogram", &option.repeat(2)),
        expect!["its manifest names the option `n` twice; rename or remove one"],
    );
    let wrong = format!("{option}default = \"many\"");
    check_error(
        &instrument("acme.histogram", &wrong),
        expect![
            "the default of `n` of `acme.histogram` is a string, its type is an int; give a default of that type"
        ],
    );
    check_error(
        "[instrument]\nname = \"acme.histogram\"\n",
        expect![
            "its manifest isn't the TOML that hosts read: line 7, `[instrument]`: invalid type: map, expected a sequence"
        ],
    );
}

#[test]
fn versions_are_negotiated() {
    let with = |abi: &str, min_host: &str, ir: &str| {
        let text = format!(
            "[plugin]\nname = \"p\"\nabi = \"{abi}\"\nmin_host = \"{min_host}\"\nir = \"{ir}\"\npanic = \"none\"\n"
        );
        match Manifest::parse(&text).and_then(|m| m.negotiate()) {
            Ok(n) => format!("abi {}, ir {}", n.abi, n.ir),
            Err(error) => error.to_string(),
        }
    };
    expect!["abi 0.4, ir 0.1"].assert_eq(&with("0.4", "0.4", "0.1"));
    expect!["abi 0.4, ir 0.1"].assert_eq(&with("0.7", "0.4", "0.3"));
    expect!["abi 0.4, ir 0.0"].assert_eq(&with("0.4", "0.0", "0.0"));
    expect!["it was built for plugin ABI 0.3, which 0.4 broke; build it against the passdock-plugin-api of ABI 0.4, or use a passdock of ABI 0.3"].assert_eq(&with("0.3", "0.1", "0.1"));
    expect!["it needs plugin ABI 0.5, this host has 0.4; update passdock, or build the plugin without the newer features"].assert_eq(&with("0.7", "0.5", "0.1"));
    expect!["it was built for plugin ABI 3.0, this host supports 0.x; build it against passdock-plugin-api for ABI 0, or use a passdock of ABI 3"].assert_eq(&with("3.0", "3.0", "0.1"));
    expect!["it says that it needs ABI 0.5 of a host but was built against 0.4; `min_host` can't be newer than `abi`"].assert_eq(&with("0.4", "0.5", "0.1"));
    expect!["it was built for IR 1.0, this host supports 0.x; build it against a passdock-plugin-api of IR 0"]
        .assert_eq(&with("0.4", "0.4", "1.0"));
    expect!["in its manifest `abi` is `0.1.2`; a version is written `major.minor`"]
        .assert_eq(&with("0.1.2", "0.1", "0.1"));
    expect!["in its manifest `abi` is `99999999999.0`; a version is written `major.minor`"]
        .assert_eq(&with("99999999999.0", "0.1", "0.1"));
}

#[test]
fn records_of_another_draft_are_refused() {
    let error = Manifest::parse(&format!("{PLUGIN}layout = \"00000000\"\n"));
    let text = error.expect_err("another draft").to_string();
    let host = format!("{:08x}", abi::LAYOUT);
    expect!["its records have another layout (fingerprint 00000000, this host's is HOST), though both say ABI 0.4; build it against the passdock-plugin-api of this host"].assert_eq(&text.replace(&host, "HOST"));
    let same = format!("{PLUGIN}layout = \"{host}\"\n");
    assert!(Manifest::parse(&same).is_ok());
}

#[test]
fn sequentials_are_doubted_like_passes() {
    let sequential = |name: &str, more: &str| {
        format!("[[sequential]]\nname = \"{name}\"\npasses = []\n{more}\n")
    };
    check_error(
        &sequential("Cleanup", ""),
        expect![
            "in its manifest a Sequential's name is `Cleanup`; a Sequential is called `<namespace>.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &sequential("a.B", "opt_level = -1"),
        expect!["in its manifest `opt_level` of `a.B` is `-1`; a level is an integer ≥ 0"],
    );
    check_error(
        &sequential("a.B", "required = [\"B\"]"),
        expect![
            "in its manifest a name in `required` of `a.B` is `B`; a pass is called `<namespace>.transform.<Name>`, a Sequential `<namespace>.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &sequential("a.B", "").repeat(2),
        expect!["its manifest names the pass `a.B` twice; rename or remove one"],
    );
    let pass = "[[pass]]\nname = \"a.transform.B\"\nkind = \"module\"\n";
    check_error(
        &(sequential("a.transform.B", "") + pass),
        expect!["its manifest names the pass `a.transform.B` twice; rename or remove one"],
    );
    check_error(
        "[[sequential]]\nname = \"a.B\"\n",
        expect![
            "its manifest isn't the TOML that hosts read: line 7 of the sequential `a.B`, `[[sequential]]`: missing field `passes`"
        ],
    );
    let children =
        |children: &str| format!("[[sequential]]\nname = \"a.B\"\npasses = {children}\n");
    check_error(
        &children("[\"B\"]"),
        expect![
            "in its manifest a name in `passes` of `a.B` is `B`; a pass is called `<namespace>.transform.<Name>`, a Sequential `<namespace>.<Name>`, of letters, digits, `_` and `-`"
        ],
    );
    check_error(
        &children("[1]"),
        expect![
            "its manifest isn't the TOML that hosts read: line 9 of the sequential `a.B`, `passes = [1]`: a child is a pass's name, or a table with its `name` and `options`"
        ],
    );
    check_error(
        &children("[{ options = { n = 1 } }]"),
        expect![
            "its manifest isn't the TOML that hosts read: line 9 of the sequential `a.B`, `passes = [{ options = { n = 1 } }]`: a child is a pass's name, or a table with its `name` and `options`"
        ],
    );
}

#[test]
fn a_pass_s_config_key_has_a_table_and_its_types() {
    let option = |table: &str, ty: &str| format!("[[{table}]]\nname = \"n\"\ntype = \"{ty}\"\n");
    let pass = "[[pass]]\nname = \"a.transform.X\"\nkind = \"module\"\nconfig = \"a.X\"\n";
    let pass = pass.to_owned() + &option("pass.option", "int");
    check_error(
        &pass,
        expect![
            "in its manifest `config` of `a.transform.X` is `a.X`; a pass's config key needs a table of its own, `[[config]]` with this `key` and the fields that set the pass's options"
        ],
    );
    let config = |ty: &str| format!("[[config]]\nkey = \"a.X\"\n{}", option("config.field", ty));
    check_error(
        &(pass.clone() + &config("string")),
        expect![
            "in its manifest the type of the field `n` of `a.X` is `a string`; it sets the option of this name of a pass, and has to be of that option's type"
        ],
    );
    let good = Manifest::parse(&(PLUGIN.to_owned() + &pass + &config("int")));
    assert!(good.is_ok(), "{good:?}");
}

/// A manifest of another major may be written in another way; its version is what is said.
#[test]
fn another_major_is_recognised_whatever_else_it_says() {
    let text = "[plugin]\nname = \"p\"\nabi = \"9.0\"\nir = \"9.0\"\npanic = \"none\"\n\
                [[pass]]\nname = \"a.transform.X\"\nkind = \"galaxy\"\n";
    let error = Manifest::parse(text).expect_err("another major");
    assert!(matches!(error, Kind::AbiMajor { .. }), "{error}");
}

#[test]
fn the_symbol_s_bytes() {
    let mut bytes = PLUGIN.as_bytes().to_vec();
    assert!(matches!(
        Manifest::from_symbol(&bytes),
        Err(Kind::ManifestNotTerminated)
    ));
    bytes.extend([0, 0, 0, 0xFF]);
    assert_eq!(
        Manifest::from_symbol(&bytes).expect("padded").plugin.name,
        "acme"
    );
    bytes[3] = 0xFF;
    assert!(matches!(
        Manifest::from_symbol(&bytes),
        Err(Kind::ManifestNotUtf8 { at: 3 })
    ));
    let long = vec![b' '; MAX_LEN as usize + 1];
    assert!(matches!(
        Manifest::from_symbol(&long),
        Err(Kind::ManifestTooLong { .. })
    ));
}

#[test]
fn one_table_takes_what_is_not_declared() {
    let option = |name: &str, ty: &str| {
        format!("[[config.field]]\nname = \"{name}\"\ntype = \"{ty}\"\nrest = true\n")
    };
    let config = "[[config]]\nkey = \"acme.Bind\"\n";
    check_error(
        &format!("{config}{}", option("n", "int")),
        expect![
            "in its manifest `rest` of `n` of `acme.Bind` is `true`; only a table takes what isn't declared: its type is `ints` or `values`"
        ],
    );
    let two = option("dims", "ints") + &option("values", "values");
    check_error(
        &format!("{config}{two}"),
        expect![
            "in its manifest `rest` of `values` of `acme.Bind` is `true`; only one option takes what isn't declared"
        ],
    );
    let range = "min = 1\ndefault = { n = 0 }\n";
    check_error(
        &format!("{config}{}{range}", option("dims", "ints")),
        expect![[
            r#"in its manifest the default of `dims` of `acme.Bind` is `{ "n" = 0 }`; it must be within `min` and `max`, and one of `choices`"#
        ]],
    );
    let limits = |ty: &str, limit: &str| {
        format!("{config}[[config.field]]\nname = \"o\"\ntype = \"{ty}\"\n{limit}\n")
    };
    for (ty, limit, expected) in [
        (
            "string",
            "min = 1",
            expect![
                "in its manifest the type of `o` of `acme.Bind`, which has `min`, is `string`; `min` and `max` are for `int` and `ints`, and `choices` for `string`"
            ],
        ),
        (
            "int",
            "choices = [\"a\"]",
            expect![
                "in its manifest the type of `o` of `acme.Bind`, which has `choices`, is `int`; `min` and `max` are for `int` and `ints`, and `choices` for `string`"
            ],
        ),
    ] {
        check_error(&limits(ty, limit), expected);
    }
    check_error(
        &format!(
            "{config}{}default = {{ n = {{}} }}\n",
            option("v", "values")
        ),
        expect![
            "the default of `v` of `acme.Bind` is a table, its type is a table of values; give a default of that type"
        ],
    );
}

/// A newer plugin may say what this host doesn't know: only that entry can't be used.
#[test]
fn an_entry_with_an_unknown_word_is_left_out() {
    let text = format!(
        "{PLUGIN}
[[pass]]
name = 'a.transform.Good'
kind = 'module'
[[pass]]
name = 'a.transform.Kind'
kind = 'modul'
[[pass]]
name = 'a.transform.Phase'
kind = 'module'
phase = 'midnight'
[[pass]]
name = 'a.transform.Option'
kind = 'module'
[[pass.option]]
name = 'limit'
type = 'dict'
[[pass]]
name = 'a.transform.Config'
kind = 'module'
config = 'a.Config'
[[config]]
key = 'a.Config'
[[config.field]]
name = 'sizes'
type = 'floats'
[[instrument]]
name = 'a.watch'
[[instrument.option]]
name = 'n'
type = 'integer'
[[instrument]]
name = 'a.good'
"
    );
    let manifest = Manifest::parse(&text).expect("the rest is right");
    let passes: Vec<&str> = manifest.passes.iter().map(PassSpec::name).collect();
    assert_eq!(passes, ["a.transform.Good"]);
    assert_eq!(manifest.instruments.len(), 1);
    let said = manifest.skipped.iter();
    let said: Vec<String> = said
        .map(|s| format!("{s} {}", s.help.as_deref().unwrap_or("-")))
        .collect();
    expect![[r#"
        the config `a.Config` is left out: this host doesn't know the type of its field `sizes`: `floats` Did you mean `float`?
        the pass `a.transform.Kind` is left out: this host doesn't know the kind `modul` Did you mean `module`?
        the pass `a.transform.Phase` is left out: this host doesn't know the phase `midnight` -
        the pass `a.transform.Option` is left out: this host doesn't know the type of its field `limit`: `dict` -
        the pass `a.transform.Config` is left out: this host doesn't know the fields of its config key `a.Config` -
        the instrument `a.watch` is left out: this host doesn't know the type of its field `n`: `integer` -"#]].assert_eq(&said.join("\n"));
}
