//! The schema of pipelines accepts the same files as their reader.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use passdock::pipeline::{self, Pipeline};
use passdock::{Phase, toml};
use serde_json::json;

use crate::changes::changes;
use crate::checker::Schema;
use crate::root;

/// A pipeline with every key.
const FULL: &str = r#"
passes = [
    "relax.transform.InferType",
    { name = "relax.transform.FoldConstant", options = { max_size = 4 }, disabled = ["a.transform.B"] },
    { phase = "late" },
    { rules = "fuse.rules", name = "fuse" },
    { use = "default", disabled = ["FuseOperators"] },
    { name = "group", passes = ["a", { name = "b" }, { passes = [] }], opt_level = 1, required = ["c"],
      disabled = ["a"] },
]
[context]
opt_level = 3
required_pass = ["a"]
disabled_pass = ["b"]
config = { "tir.UnrollLoop" = { auto_max_step = 4 } }
[plugins]
dirs = ["plugins"]
files = ["acme.so"]
trusted_keys = ["RW"]
[plugins.acme]
override = ["a"]
version = ">=1.2, <2"
[[instruments]]
name = "timing"
trace = "t.json"
"#;

fn schema() -> Schema {
    Schema::new(pipeline::SCHEMA)
}

/// Whether the schema and the reader accept a text; `None` if it isn't TOML.
fn verdicts(schema: &Schema, text: &str) -> Option<(bool, bool)> {
    let table: toml::Table = text.parse().ok()?;
    Some((schema.takes(&table), Pipeline::from_toml(text).is_ok()))
}

/// Returns the keys that the reader lists in its error for an unknown key.
fn keys_read(text: &str) -> BTreeSet<String> {
    let error = Pipeline::from_toml(text).expect_err("an unknown key");
    let help = error.help.as_deref().expect("the keys");
    let list = help.split_once("valid keys: ");
    let (_, list) = list.unwrap_or_else(|| panic!("no list of keys: {help}"));
    let parts = list.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

#[test]
fn schema_keys_match_reader() {
    let schema = schema();
    let all_kinds = ["pass", "sequential", "rules", "built_in", "python", "phase"];
    for (names, text) in [
        (&[""][..], "zzz = 1"),
        (&["context"], "[context]\nzzz = 1"),
        (&["plugin"], "[plugins.a]\nzzz = 1"),
        (&all_kinds, "passes = [{ name = 'a', zzz = 1 }]"),
    ] {
        let keys = names.iter().flat_map(|name| schema.keys(name));
        let keys: BTreeSet<String> = keys.map(str::to_owned).collect();
        assert_eq!(keys, keys_read(text), "{names:?}");
    }
    let phases = Phase::ALL.map(Phase::name);
    let phase = schema.definition("phase");
    assert_eq!(phase["properties"]["phase"]["enum"], json!(phases));
    let built_in = schema.definition("built_in");
    let names = pipeline::BUILT_IN.map(|known| known.name);
    assert_eq!(built_in["properties"]["use"]["enum"], json!(names));
    // In these tables, other keys are allowed, or no key is.
    assert_eq!(schema.keys("plugins"), ["dirs", "files", "trusted_keys"]);
    assert_eq!(schema.keys("instrument"), ["name"]);
    assert_eq!(schema.keys("phase"), ["phase"]);
    let all = [
        "",
        "built_in",
        "context",
        "instrument",
        "pass",
        "phase",
        "plugin",
        "plugins",
        "rules",
        "sequential",
        "python",
    ];
    assert_eq!(BTreeSet::from_iter(schema.tables()), BTreeSet::from(all));
}

#[test]
fn schema_and_reader_agree_on_mutated_pipelines() {
    let schema = schema();
    let full: toml::Table = FULL.parse().expect("TOML");
    assert_eq!(verdicts(&schema, FULL), Some((true, true)));
    let mut taken = 0;
    let changes = changes(&full);
    for change in &changes {
        let text = change.file.to_string();
        let (by_schema, by_reader) = verdicts(&schema, &text).expect("TOML");
        assert_eq!(
            by_schema, by_reader,
            "schema, reader: {}\n{text}",
            change.what
        );
        taken += usize::from(by_reader);
    }
    // There are many of both kinds.
    assert!(
        taken > 100 && changes.len() - taken > 500,
        "{taken} of {}",
        changes.len()
    );
}

#[test]
fn schema_and_reader_reject_invalid_pipelines() {
    let schema = schema();
    for wrong in [
        "pass = ['a']",
        "opt_level = 3",
        "[config]\n'tir.UnrollLoop' = {}",
        "passes = 'a'",
        "passes = { name = 'a' }",
        "[passes]\nname = 'a'",
        "[[passes]]",
        "passes = [['a']]",
        "[[passes]]\nname = 'a'\nopt_level = 1",
        "[[passes]]\nname = 'a'\nauto_max_step = 1",
        "[[passes]]\npasses = ['a']\noptions = { n = 1 }",
        "[[passes]]\nphase = 'late'\nname = 'a'",
        "[[passes]]\nphase = 'later'",
        "[[passes]]\nname = 'a'\ndisabled = 'b'",
        "[context]\nopt_level = 2.0",
        "[context]\nopt_level = 1979-05-27",
        "[context]\nopt_level = -1",
        "[context]\nopt_level = 4294967296",
        "[context]\nrequired_pass = 'a'",
        "[[context.config]]",
        "[[context]]",
        "[plugins]\ndirs = 'plugins'",
        "[plugins]\npath = 'plugins'",
        "[plugins.a]\noverride = true",
        "[plugins.a]\nversion = 1",
        "[plugins]\ntrusted_keys = 'RW'",
        "[plugins.a]\nisolation = true",
        "[[instruments]]\nquiet = true",
        "instruments = ['timing']",
        "[instruments]\nname = 'timing'",
    ] {
        assert_eq!(verdicts(&schema, wrong), Some((false, false)), "{wrong}");
    }
}

#[test]
fn schema_and_reader_accept_existing_pipelines() {
    let schema = schema();
    let mut seen = 0;
    let folders = ["examples/pipelines", "host/driver/pipelines"];
    let pipelines = folders.map(|folder| files(&root().join(folder), "toml"));
    for file in pipelines.into_iter().flatten() {
        let text = fs::read_to_string(&file).expect("a file that is there");
        assert_eq!(
            verdicts(&schema, &text),
            Some((true, true)),
            "{}",
            file.display()
        );
        seen += 1;
    }
    for guide in files(&root().join("docs/guides"), "md") {
        let text = fs::read_to_string(&guide).expect("a file that is there");
        for block in text.split("\n```toml").skip(1) {
            let (name, block) = block.split_once('\n').expect("lines");
            let (block, _) = block.split_once("\n```").expect("an end");
            let mut others = ["Cargo.toml", "plugin.toml"].into_iter();
            if !name.is_empty() && !others.any(|other| name.ends_with(other)) {
                assert_eq!(verdicts(&schema, block), Some((true, true)), "{block}");
                seen += 1;
            }
        }
    }
    assert!(seen > 4, "{seen}");
}

#[test]
fn schema_and_reader_agree_on_session_files() {
    let schema = schema();
    let mut seen = (0, 0);
    for session in files(&root().join("host/cli/tests/sessions"), "txt") {
        let session = fs::read_to_string(&session).expect("a file that is there");
        let mut lines = session.lines().peekable();
        while let Some(line) = lines.next() {
            if !(line.starts_with("> ") && line.ends_with(".toml")) {
                continue;
            }
            let mut text = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                text += line.strip_prefix("| ").unwrap_or(&line[1..]);
                text.push('\n');
            }
            if let Some((by_schema, by_reader)) = verdicts(&schema, &text) {
                assert_eq!(by_schema, by_reader, "schema, reader:\n{text}");
                seen = match by_reader {
                    true => (seen.0 + 1, seen.1),
                    false => (seen.0, seen.1 + 1),
                };
            }
        }
    }
    assert!(seen.0 > 10 && seen.1 > 0, "{seen:?}");
}

/// Returns the files in a directory with this extension.
fn files(directory: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory that is there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    assert!(!files.is_empty(), "{}", directory.display());
    files
}
