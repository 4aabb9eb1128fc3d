//! `run --provenance` and `verify-provenance`.

use std::collections::BTreeMap;

use expect_test::expect;
use serde_json::Value;

use super::{bench, outcome, shown};
use crate::support::Bench;

/// A model whose weights are in a file.
const WEIGHTS: &str = r#"module {
  fn @main(%x: f32[1024]) -> (%y: f32[1024]) opset("" = 17) {
    %w = const f32[1024] external("w.bin", 0, 4096)
    %0 = onnx.Add(%x, %w) : f32[1024]
    return %0
  }
}
"#;

#[test]
fn statement_has_the_files_and_options_of_a_run() {
    let bench = bench();
    std::fs::create_dir(bench.path("out")).expect("a directory");
    let run = "run p.toml m.ir -o out/m.ir --provenance out/m.json --config tir.UnrollLoop.auto_max_step=8 -O3";
    let ran = bench.passdock(run);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let text = bench.read("out/m.json");
    expect![[r#"
        {
          "_type": "https://in-toto.io/Statement/v1",
          "subject": [
            {
              "name": "m.ir",
              "digest": {
                "sha256": "HASH"
              },
              "annotations": {
                "role": "model"
              }
            }
          ],
          "predicateType": "https://slsa.dev/provenance/v1",
          "predicate": {
            "buildDefinition": {
              "buildType": "urn:passdock:run:v1",
              "externalParameters": {
                "config": [
                  "tir.UnrollLoop.auto_max_step=8"
                ],
                "opt_level": 3
              },
              "resolvedDependencies": [
                {
                  "name": "../m.ir",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "role": "model"
                  }
                },
                {
                  "name": "../p.toml",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "role": "pipeline"
                  }
                },
                {
                  "name": "../plugins/tap.so",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "abi": "1.0",
                    "plugin": "tap",
                    "role": "plugin",
                    "version": "VERSION"
                  }
                },
                {
                  "name": "libpassdock_misbehaving.so",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "abi": "1.0",
                    "plugin": "bad",
                    "role": "plugin",
                    "version": "VERSION"
                  }
                },
                {
                  "name": "libpassdock_onnx_ops.so",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "abi": "1.0",
                    "plugin": "onnx-ops",
                    "role": "plugin",
                    "version": "VERSION"
                  }
                },
                {
                  "name": "libpassdock_relax.so",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "abi": "1.0",
                    "plugin": "relax",
                    "role": "plugin",
                    "version": "VERSION"
                  }
                },
                {
                  "name": "libpassdock_tir.so",
                  "digest": {
                    "sha256": "HASH"
                  },
                  "annotations": {
                    "abi": "1.0",
                    "plugin": "tir",
                    "role": "plugin",
                    "version": "VERSION"
                  }
                }
              ]
            },
            "runDetails": {
              "builder": {
                "id": "urn:passdock",
                "version": {
                  "passdock": "VERSION"
                }
              }
            }
          }
        }
    "#]]
    .assert_eq(&without_prefix(&shown(&bench, &text)));
    check_shape(&serde_json::from_str(&text).expect("JSON"));
    // The statement is a function of the files and the options.
    assert_eq!(bench.passdock(run).status, 0);
    assert_eq!(bench.read("out/m.json"), text);
    let ran = bench.passdock("verify-provenance out/m.json");
    expect![[r#"
        m.ir: OK
        ../m.ir: OK
        ../p.toml: OK
        ../plugins/tap.so: OK
        libpassdock_misbehaving.so: OK
        libpassdock_onnx_ops.so: OK
        libpassdock_relax.so: OK
        libpassdock_tir.so: OK
    "#]]
    .assert_eq(&without_prefix(&shown(&bench, &ran.stdout)));
    assert_eq!(ran.status, 0);
}

/// Removes the path of the standard plugins, which depends on the machine.
fn without_prefix(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| match (line.find("../../"), line.rfind("/")) {
            (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end + 1..]),
            _ => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Checks a statement against the types of the in-toto and SLSA specifications.
fn check_shape(statement: &Value) {
    let keys = |value: &Value, required: &[&str], optional: &[&str]| {
        let object = value.as_object().expect("an object");
        for key in required {
            assert!(object.contains_key(*key), "no `{key}` in {value}");
        }
        let known = |key: &String| required.contains(&&**key) || optional.contains(&&**key);
        assert!(object.keys().all(known), "{value}");
    };
    keys(
        statement,
        &["_type", "subject", "predicateType", "predicate"],
        &[],
    );
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://slsa.dev/provenance/v1");
    let predicate = &statement["predicate"];
    keys(predicate, &["buildDefinition", "runDetails"], &[]);
    let build = &predicate["buildDefinition"];
    let optional = ["internalParameters", "resolvedDependencies"];
    keys(build, &["buildType", "externalParameters"], &optional);
    assert!(build["externalParameters"].is_object());
    let details = &predicate["runDetails"];
    keys(details, &["builder"], &["metadata", "byproducts"]);
    keys(
        &details["builder"],
        &["id"],
        &["version", "builderDependencies"],
    );
    for uri in [&build["buildType"], &details["builder"]["id"]] {
        assert!(uri.as_str().is_some_and(|uri| uri.contains(':')), "{uri}");
    }
    let subjects = statement["subject"].as_array().expect("a list");
    let dependencies = build["resolvedDependencies"].as_array().expect("a list");
    assert!(!subjects.is_empty());
    let mut names = BTreeMap::new();
    for resource in subjects.iter().chain(dependencies) {
        keys(
            resource,
            &["name", "digest"],
            &["uri", "annotations", "mediaType"],
        );
        let hash = resource["digest"]["sha256"].as_str().expect("a hash");
        assert!(hash.len() == 64 && hash.bytes().all(|byte| b"0123456789abcdef".contains(&byte)));
        assert!(
            names
                .insert(resource["name"].as_str(), hash)
                .is_none_or(|other| other == hash)
        );
    }
}

#[test]
fn data_files_of_both_models_are_recorded() {
    let bench = bench();
    let weights: Vec<u8> = (0..1024_u32)
        .flat_map(|at| (at as f32).to_le_bytes())
        .collect();
    bench.write("w.bin", &weights).write("w.ir", WEIGHTS);
    std::fs::create_dir(bench.path("out")).expect("a directory");
    let run =
        "run w.ir --passes FoldConstant -o out/w.onnx --external-data all --provenance w.json";
    let ran = bench.passdock(run);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let verified = |bench: &Bench| {
        let ran = bench.passdock("verify-provenance w.json");
        let lines = ran
            .stdout
            .lines()
            .filter(|line| !line.contains("libpassdock"));
        let lines: Vec<&str> = lines.collect();
        shown(
            bench,
            &format!(
                "{}\n{}exit status {}\n",
                lines.join("\n"),
                ran.stderr,
                ran.status
            ),
        )
    };
    expect![[r#"
        out/w.onnx: OK
        out/w.onnx.data: OK
        w.ir: OK
        w.bin: OK
        exit status 0
    "#]]
    .assert_eq(&verified(&bench));
    bench.write("w.bin", &weights[..4092]);
    std::fs::remove_file(bench.path("out/w.onnx.data")).expect("the data");
    expect![[r#"
        out/w.onnx: OK
        out/w.onnx.data: missing
        w.ir: OK
        w.bin: sha256 recorded HASH, found HASH
        error[provenance]: 2 files differ from `w.json`
        exit status 1
    "#]]
    .assert_eq(&verified(&bench));
    std::fs::remove_file(bench.path("w.ir")).expect("the model");
    let words = "verify-provenance w.json --allow-missing-inputs --json";
    let ran = bench.passdock(words);
    assert_eq!(ran.status, 1);
    let json = ran.json();
    let states = |list: &str| {
        let files = json[list].as_array().expect("a list").iter();
        let files = files.filter(|file| {
            !file["name"]
                .as_str()
                .unwrap_or_default()
                .contains("libpassdock")
        });
        files
            .map(|file| format!("{} {}", file["name"], file["state"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        states("outputs"),
        [r#""out/w.onnx" "same""#, r#""out/w.onnx.data" "missing""#]
    );
    assert_eq!(states("inputs"), [r#""w.bin" "different""#]);
}

#[test]
fn statement_is_written_only_with_the_output() {
    let bench = bench();
    let mut outcomes = String::new();
    for words in [
        "run m.ir --provenance m.json",
        "run m.ir -o - --provenance m.json",
        "run - -o out.ir --provenance m.json",
        "run m.ir -o out.ir --provenance missing/m.json",
        "run m.ir -o out.ir --provenance m.ir",
        "run m.ir -o out.ir --provenance out.ir",
        "run p.toml m.ir -o out.ir --provenance p.toml",
        "run m.ir --passes bad.transform.GiveUp -o out.ir --provenance m.json",
    ] {
        outcomes += &format!("{words}\n{}", outcome(&bench, &bench.passdock(words)));
    }
    expect![[r#"
        run m.ir --provenance m.json
        error: the following required arguments were not provided:
          --output <OUT>

        Usage: passdock run [OPTIONS] [PIPELINE] MODEL

        For more information, try '--help'.
        exit status 2
        run m.ir -o - --provenance m.json
        error[usage]: a provenance statement requires an output file
         |
         = help: write the result to a file: `-o OUT`
        exit status 2
        run - -o out.ir --provenance m.json
        error[usage]: a provenance statement requires a model in a file
         |
         = help: write the model to a file instead of standard input
        exit status 2
        run m.ir -o out.ir --provenance missing/m.json
        error[write]: could not write `missing/m.json`: directory `missing` does not exist
        exit status 1
        run m.ir -o out.ir --provenance m.ir
        error[write]: could not write `m.ir`: it is the model
         |
         = help: choose another file
        exit status 1
        run m.ir -o out.ir --provenance out.ir
        error[write]: could not write `out.ir`: it is the output
         |
         = help: choose another file
        exit status 1
        run p.toml m.ir -o out.ir --provenance p.toml
        error[write]: could not write `p.toml`: it is the pipeline
         |
         = help: choose another file
        exit status 1
        run m.ir --passes bad.transform.GiveUp -o out.ir --provenance m.json
        error[bad::lower]: This op can't be lowered.
         --> m.ir:3:10
          |
        3 |     %0 = onnx.Relu(%x) : f32[2]
          |          ^^^^^^^^^
          |
          = in pass bad.transform.GiveUp of plugin `libpassdock_misbehaving.so`, function @main, op0
                (onnx.Relu)
        note[reproducer]: wrote a reproducer to `out.ir.reproducer`
         |
         = help: replay it with `passdock replay out.ir.reproducer`
        exit status 1
    "#]]
    .assert_eq(&outcomes);
    assert!(!bench.exists("m.json") && !bench.exists("out.ir"));
}

#[test]
fn invalid_statements_are_errors() {
    let bench = bench();
    let run = "run m.ir -o out.ir --provenance m.json";
    assert_eq!(bench.passdock(run).status, 0);
    let statement = bench.read("m.json");
    let first_hash = statement.split("\"sha256\": \"").nth(1).expect("a hash")[..64].to_owned();
    let mut outcomes = String::new();
    for text in [
        "",
        "{}",
        "[[[[",
        &statement.replace("Statement/v1", "Statement/v2"),
        &statement.replace("provenance/v1", "vsa/v1"),
        &statement.replace("passdock:run", "other"),
        &statement.replace("passdock:run", "\\n\\u001b[31m"),
        &statement.replace(&first_hash, "\u{1b}[31m"),
        &statement.replace("\"out.ir\"", "\"/dev/zero\""),
        &statement.replace("\"out.ir\"", "\"\u{202e}out.ir\""),
    ] {
        bench.write("wrong.json", text);
        let ran = bench.passdock("verify-provenance wrong.json");
        let first = ran.stdout.lines().next().unwrap_or_default();
        outcomes += &shown(&bench, &format!("{first}\n{}", outcome(&bench, &ran)));
    }
    expect![[r#"

        error[provenance]: could not read `wrong.json`: it is not a provenance statement: EOF while parsing
                a value at line 1 column 0
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: it is not a provenance statement: missing field
                `_type` at line 1 column 2
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: it is not a provenance statement: invalid type:
                sequence, expected a string at line 1 column 1
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: expected `_type` to be
                `https://in-toto.io/Statement/v1`, found `https://in-toto.io/Statement/v2`
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: expected `predicateType` to be
                `https://slsa.dev/provenance/v1`, found `https://slsa.dev/vsa/v1`
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: expected `buildType` to be `urn:passdock:run:v1`,
                found `urn:other:v1`
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: expected `buildType` to be `urn:passdock:run:v1`,
                found `urn:\n\u{1b}[31m:v1`
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1

        error[provenance]: could not read `wrong.json`: it is not a provenance statement: control character
                (\u0000-\u001F) found while parsing a string at line 7 column 20
         |
         = help: pass a file that `passdock run --provenance FILE` wrote
        exit status 1
        /dev/zero: not a regular file
        error[provenance]: 1 file differs from `wrong.json`
        exit status 1
        \u{202e}out.ir: missing
        error[provenance]: 1 file differs from `wrong.json`
        exit status 1
    "#]].assert_eq(&outcomes);
}
