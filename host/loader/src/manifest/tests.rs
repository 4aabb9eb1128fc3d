//! Valid manifests, and the errors about invalid ones.

use expect_test::{expect, expect_file};
use passdock_diagnostic::InvalidShape;
use serde::de::DeserializeOwned;

use super::*;

const PLUGIN: &str = "[plugin]
name = \"acme\"
version = \"1.2.0\"
abi = \"1.0\"
ir = \"1.0\"
panic = \"unwind\"
";

/// Each case of `invalid.txt` is followed by its error message.
#[test]
fn invalid_manifests_are_rejected() {
    let cases = include_str!("invalid.txt");
    let (comment, cases) = cases.split_once("\n\n").expect("a comment, and cases");
    let mut actual = format!("{comment}\n");
    let mut case = String::new();
    for line in cases.lines() {
        if !line.starts_with("=> ") {
            case += &format!("{line}\n");
            continue;
        }
        let rest = case.trim_start();
        let text = match rest.starts_with('[') {
            true => format!("{PLUGIN}{rest}"),
            false => format!("{rest}{PLUGIN}"),
        };
        let error = Manifest::parse(&text).expect_err(&text);
        actual += &format!("\n{rest}=> {error}\n");
        case.clear();
    }
    expect_file!["invalid.txt"].assert_eq(&actual);
}

#[test]
fn complete_manifest_is_parsed() {
    let text = format!(
        "{PLUGIN}min_host = \"1.0\"
layout = \"0123abcd\"
color = \"an unknown key is ignored\"
requires = [\"relax >= 0.1, < 2\"]
[[pass]]
name = \"acme.transform.FuseDoubleRelu\"
kind = \"function\"
opt_level = 1
required = [\"relax.transform.FoldConstant\"]
summary = \"Replaces `Relu(Relu(x))` with `Relu(x)`.\"
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
    // The fingerprint may differ in another minor version.
    let text = text.replace("abi = \"1.0\"", "abi = \"1.9\"");
    let manifest = Manifest::parse(&text).expect("a valid manifest");
    expect![[r#"
        {
          "plugin": {
            "name": "acme",
            "version": "1.2.0",
            "license": null,
            "homepage": null,
            "requires": [
              "relax >= 0.1, < 2"
            ],
            "permissions": [],
            "abi": "1.9",
            "min_host": "1.0",
            "ir": "1.0",
            "language": null,
            "extensions": [],
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
              "summary": "Replaces `Relu(Relu(x))` with `Relu(x)`."
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
fn nesting_is_limited() {
    let deep = format!("{PLUGIN}x = {}", "[".repeat(100_000));
    let error = Manifest::parse(&deep).expect_err("too deep").to_string();
    assert!(
        error.ends_with("cannot recurse further; max recursion depth met"),
        "{error}"
    );
}

#[test]
fn plugin_versions_are_checked() {
    for (abi, min_host, ir, expected) in [
        ("1.0", "1.0", "1.0", "used"),
        ("1.3", "1.0", "1.3", "used"),
        (
            "0.4",
            "0.4",
            "1.0",
            "unsupported plugin ABI 0.4, expected 1.x",
        ),
        (
            "1.7",
            "1.5",
            "1.0",
            "requires plugin ABI 1.5, but this passdock has 1.0; update passdock",
        ),
        (
            "1.0",
            "1.5",
            "1.0",
            "`min_host` 1.5 in the manifest is newer than `abi` 1.0",
        ),
        (
            "1.0",
            "1.0",
            "3.0",
            "unsupported IR version 3.0, expected 1.x",
        ),
        (
            "1.1.2",
            "1.0",
            "1.0",
            "invalid `abi` in the manifest: expected `major.minor`, found `1.1.2`",
        ),
        ("99999999999.0", "1.0", "1.0", "expected `major.minor`"),
    ] {
        let text = format!(
            "[plugin]\nname = 'p'\nabi = '{abi}'\nmin_host = '{min_host}'\nir = '{ir}'\npanic = 'none'\n"
        );
        let parsed = Manifest::parse(&text);
        let result = parsed.map_or_else(|error| error.to_string(), |_| "used".to_owned());
        assert!(result.contains(expected), "{result}");
    }
}

#[test]
fn different_layout_fingerprint_is_rejected() {
    let error = Manifest::parse(&format!("{PLUGIN}layout = \"00000000\"\n"));
    let text = error.expect_err("a different layout").to_string();
    let host = format!("{:08x}", abi::LAYOUT);
    let expected = format!("of ABI 1.0: expected fingerprint {host}, found 00000000");
    assert!(text.contains(&expected), "{text}");
    let same = format!("{PLUGIN}layout = \"{host}\"\n");
    assert!(Manifest::parse(&same).is_ok());
}

/// A manifest of another major version may have another format. The error is about its version.
#[test]
fn other_major_version_is_reported_first() {
    let text = "[plugin]\nname = \"p\"\nabi = \"9.0\"\nir = \"9.0\"\npanic = \"none\"\n\
                [[pass]]\nname = \"a.transform.X\"\nkind = \"galaxy\"\n";
    let error = Manifest::parse(text).expect_err("a different major version");
    assert!(matches!(error, Kind::AbiMajor { .. }), "{error}");
}

#[test]
fn manifest_symbol_bytes_are_validated() {
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

/// A newer plugin may have entries that this host doesn't support. Only these entries are skipped.
#[test]
fn entries_with_unknown_enum_values_are_skipped() {
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
[[config]]
key = 'a.Bell'
[[config.field]]
name = \"\\u0007\"
type = 'dtype'
[[instrument]]
name = 'a.good'
"
    );
    let manifest = Manifest::parse(&text).expect("a valid manifest");
    let passes: Vec<&str> = manifest.passes.iter().map(ManifestPass::name).collect();
    assert_eq!(passes, ["a.transform.Good"]);
    assert_eq!(manifest.instruments.len(), 1);
    let skipped = manifest.skipped.iter();
    let skipped: Vec<String> = skipped
        .map(|s| {
            format!(
                "{} {}: {} {}",
                s.entry,
                s.name,
                s.unsupported,
                s.help.as_deref().unwrap_or("-")
            )
        })
        .collect();
    expect![[r#"
        config a.Config: type `floats` of field `sizes` did you mean `float`?
        config a.Bell: type `dtype` of field `\u{7}` -
        pass a.transform.Kind: kind `modul` did you mean `module`?
        pass a.transform.Phase: phase `midnight` -
        pass a.transform.Option: type `dict` of field `limit` -
        pass a.transform.Config: fields of config key `a.Config` -
        instrument a.watch: type `integer` of field `n` -"#]]
    .assert_eq(&skipped.join("\n"));
}

/// Each entry, and each child of a Sequential, may have the minimum host version that it needs.
#[test]
fn entries_that_need_a_newer_host_are_skipped() {
    let newer = "min_host = '1.999'\n";
    let child = "{ name = 'a.transform.New', min_host = '1.999' }";
    let text = format!(
        "[plugin]\nname = 'acme'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n\
         [[pass]]\nname = 'a.transform.New'\nkind = 'odd'\n{newer}\
         [[pass]]\nname = 'a.transform.Old'\nkind = 'module'\nmin_host = '1.0'\n\
         [[sequential]]\nname = 'a.New'\npasses = []\n{newer}\
         [[sequential]]\nname = 'a.Child'\npasses = [{child}]\n\
         [[sequential]]\nname = 'a.Old'\npasses = [{{ name = 'a.transform.Old', min_host = '1.0' }}]\n\
         [[config]]\nkey = 'a.key'\n{newer}\
         [[op]]\nname = 'a.New'\n{newer}[[op]]\nname = 'a.Old'\n\
         [[instrument]]\nname = 'a.new'\n{newer}"
    );
    let manifest = Manifest::parse(&text).expect("a valid manifest");
    let counts = (manifest.passes.len(), manifest.sequentials.len());
    assert_eq!((counts, manifest.ops.len()), ((1, 1), 1));
    assert!(manifest.configs.is_empty() && manifest.instruments.is_empty());
    let skipped = manifest.skipped.iter();
    let skipped: Vec<String> = skipped
        .map(|s| format!("{} {}: {}", s.entry, s.name, s.unsupported))
        .collect();
    expect![[r#"
        config a.key: plugin ABI 1.999
        pass a.transform.New: plugin ABI 1.999
        sequential a.New: plugin ABI 1.999
        sequential a.Child: plugin ABI 1.999 of child `a.transform.New`
        op a.New: plugin ABI 1.999
        instrument a.new: plugin ABI 1.999"#]]
    .assert_eq(&skipped.join("\n"));
}

#[test]
fn schema_enums_match_the_accepted_values() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    /// Returns the enum values in serde's error about an unknown one.
    fn enum_values<T: DeserializeOwned + std::fmt::Debug>() -> Vec<String> {
        let error = toml::Value::from("?").try_into::<T>().unwrap_err();
        match InvalidShape::parse(error.message()) {
            InvalidShape::UnknownVariant("?", words) => {
                words.into_iter().map(str::to_owned).collect()
            }
            shape => panic!("{shape:?}"),
        }
    }
    for (table, key, words) in [
        ("plugin", "panic", enum_values::<PanicStrategy>()),
        ("pass", "kind", enum_values::<PassKind>()),
        ("pass", "phase", enum_values::<Phase>()),
        ("field", "type", enum_values::<FieldType>()),
    ] {
        let property = &schema["definitions"][table]["properties"][key];
        assert_eq!(property["enum"], serde_json::json!(words), "{key}");
    }
}

#[test]
fn unknown_panic_strategy_is_treated_as_abort() {
    for (word, expected) in [
        ("unwind", PanicStrategy::Unwind),
        ("longjmp", PanicStrategy::Abort),
    ] {
        let text = format!("[plugin]\nname = 'p'\nabi = '1.0'\nir = '1.0'\npanic = '{word}'\n");
        let manifest = Manifest::parse(&text).expect("a valid manifest");
        assert_eq!(manifest.plugin.panic, expected);
    }
}

#[test]
fn unknown_keys_are_warnings() {
    let text = "
colour = 1
[plugin]
name = 'acme'
abi = '1.0'
ir = '1.0'
versoin = '1.0'
panic = 'unwound'
[[pass]]
name = 'acme.transform.X'
kind = 'module'
requird = ['relax.transform.InferType']
[[pass.option]]
name = 'limit'
type = 'int'
defualt = 3
[[config]]
key = 'acme.X'
filed = []
[[sequential]]
name = 'acme.Cleanup'
passes = ['a.transform.B', { name = 'a.transform.C', option = { n = 1 } }]
level = 1
[[op]]
name = 'onnx.Relu'
sinc = 1
[[instrument]]
name = 'acme.count'
sumary = 'Counts.'
";
    let manifest = Manifest::parse(text).expect("unknown keys are ignored");
    let warnings = manifest.warnings.iter();
    let warnings: Vec<String> = warnings
        .map(|warning| {
            format!(
                "{}. {}",
                warning.message,
                warning.help.as_deref().unwrap_or("-")
            )
        })
        .collect();
    let warnings = warnings.join("\n");
    expect![[r#"
        `colour`. -
        `versoin` of plugin `acme`. did you mean `version`?
        unsupported panic `unwound`, treated as `abort`,. did you mean `unwind`?
        `filed` of config `acme.X`. did you mean `field`?
        `requird` of pass `acme.transform.X`. did you mean `required`?
        `defualt` of option `limit` of pass `acme.transform.X`. did you mean `default`?
        `level` of sequential `acme.Cleanup`. -
        `option` of child `a.transform.C` of sequential `acme.Cleanup`. did you mean `options`?
        `sinc` of op `onnx.Relu`. did you mean `since`?
        `sumary` of instrument `acme.count`. did you mean `summary`?"#]]
    .assert_eq(&warnings.replace("unknown key ", ""));
}

/// Strings and keys of a file have no hidden characters, and parsing returns the same table.
#[test]
fn tables_are_written_as_files() {
    let text = "b = [1, 2.0, {}]
\"a.b\\u202e\" = \"\\U000E0041\\u001b'\\\"\\n\\\\\"
[t]
list = []
[t.\"\\u200b\".c]
x = true
[[u]]
[[u]]
y = { z = 1 }
[[u.v]]
";
    let table: toml::Table = text.parse().expect("TOML");
    let written = toml_file(&table);
    assert_eq!(written.parse::<toml::Table>().expect("TOML"), table);
    expect![[r#"
        "a.b\u202e" = "\U000e0041\u001b'\"\n\\"
        b = [1, 2.0, {}]

        [t]
        list = []

        [t."\u200b"]

        [t."\u200b".c]
        x = true

        [[u]]

        [[u]]

        [[u.v]]

        [u.y]
        z = 1
    "#]]
    .assert_eq(&written);
}
