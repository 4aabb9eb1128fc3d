//! The list of the rules. Each is tested, and `docs/conformance.md` lists the tests.
//!
//! The tests are the table: the text of a rule is the doc comment of the test with its number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

use crate::rule::{LOGS, sections};

/// The number of the last rule. From [`PYTHON`] on, rules are about the Python front end only.
const LAST: u32 = 174;

/// The number of the first rule that only Python can test.
const PYTHON: u32 = 160;

/// Rules without a test, with reasons.
const NOT_SHOWN: &[(u32, &str)] = &[
    (
        95,
        "Not applicable: there are no passes on dataflow blocks.",
    ),
    (
        174,
        "Not applicable: tracing and the tuning database are undocumented, and TVM removed them.",
    ),
];

const SECTIONS: &[(&str, u32)] = &[
    ("A. PassInfo", 1),
    ("B. Registry", 9),
    ("C. PassContext", 16),
    ("D. Config options", 33),
    ("E. Which passes run", 46),
    ("F. What a pass requires", 55),
    ("G. Sequential", 66),
    ("H. Module, function and prim function passes", 76),
    ("I. Instruments", 97),
    ("J. override_instruments", 121),
    ("K. Built-in instruments", 129),
    ("L. Diagnostics", 141),
    ("M. Printing", 156),
    ("N. Python", PYTHON),
];

/// A test, parsed from its source.
struct Test {
    rule: u32,
    name: String,
    /// The path in the repository.
    file: String,
    /// The doc comment, without code.
    doc: Vec<String>,
    body: String,
}

/// The entry of a rule in `docs/conformance.md`.
struct Row {
    kind: &'static str,
    text: String,
    tvm: String,
    ways: BTreeSet<&'static str>,
    tests: Vec<String>,
}

/// Returns all tests of this suite with a rule's number, and the doc tests.
fn tests() -> Vec<Test> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec!["src/by_type.rs".to_owned()];
    for entry in root
        .join("tests/conformance")
        .read_dir()
        .expect("this directory")
    {
        let name = entry.expect("a file").file_name();
        files.push(format!("tests/conformance/{}", name.to_string_lossy()));
    }
    files.sort();
    let sources = files
        .iter()
        .filter(|file| file.ends_with(".rs") && !file.ends_with("list.rs"));
    let mut tests = Vec::new();
    for file in sources {
        let source = std::fs::read_to_string(root.join(file)).expect("a source");
        tests.extend(tests_of(&format!("tests/{file}"), &source));
    }
    tests
}

fn tests_of(file: &str, source: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let (mut doc, mut in_code) = (Vec::new(), false);
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("///") {
            let text = text.trim();
            if text.starts_with("```") {
                in_code = !in_code;
            } else if !in_code {
                doc.push(text.to_owned());
            }
            continue;
        }
        let name = line
            .strip_prefix("pub ")
            .unwrap_or(line)
            .strip_prefix("fn r");
        let number = name.and_then(|name| name.get(..3)?.parse().ok());
        match (number, tests.last_mut()) {
            (Some(rule), _) => tests.push(Test {
                rule,
                name: format!(
                    "r{}",
                    name.unwrap_or_default()
                        .split('(')
                        .next()
                        .unwrap_or_default()
                ),
                file: file.to_owned(),
                doc: std::mem::take(&mut doc),
                body: String::new(),
            }),
            (None, Some(test)) if !test.body.ends_with("\n}\n") => {
                test.body.push_str(line);
                test.body.push('\n');
            }
            (None, Some(_)) => {}
            (None, None) => {}
        }
        if !line.starts_with('#') {
            doc.clear();
        }
    }
    tests
}

/// Returns the tests of `python/tests`, `def test_r117_…`. The doc string has a rule's text if only Python tests it.
fn python_tests() -> Vec<Test> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/tests");
    let names = root.read_dir().expect("this directory").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with("test_") && name.ends_with(".py"))
        .collect();
    names.sort();
    let mut tests = Vec::new();
    for name in names {
        let source = std::fs::read_to_string(root.join(&name)).expect("a source");
        tests.extend(python_tests_of(&format!("python/tests/{name}"), &source));
    }
    tests
}

fn python_tests_of(file: &str, source: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    for (at, _) in source.match_indices("def test_r") {
        let name = source[at + 4..].split('(').next().unwrap_or_default();
        let Ok(rule) = name["test_r".len()..][..3].parse() else {
            continue;
        };
        let (_, body) = source[at..].split_once(":\n").unwrap_or_default();
        let doc = body.trim_start().strip_prefix("\"\"\"");
        let doc = doc
            .and_then(|doc| doc.split_once("\"\"\""))
            .map(|(doc, _)| doc);
        tests.push(Test {
            rule,
            name: name.to_owned(),
            file: file.to_owned(),
            doc: doc
                .unwrap_or_default()
                .lines()
                .map(|line| line.trim().to_owned())
                .collect(),
            body: String::new(),
        });
    }
    tests
}

impl Test {
    fn ways(&self) -> Vec<&'static str> {
        if self.file.ends_with("by_type.rs") {
            return vec!["by type"];
        }
        if self.file.ends_with(".py") {
            return vec!["Python"];
        }
        let shows = |word: &str| self.body.contains(word);
        let mut ways = Vec::new();
        if shows("pipeline_error(") || shows("from_toml") {
            ways.push("TOML");
        } else if !shows("Way::Loaded") {
            ways.push("host");
        }
        if shows("Way::Loaded") {
            ways.extend(["linked", "loaded"]);
        }
        if shows(".plugins()") {
            ways.extend(["linked", "loaded", "mixed"]);
        }
        ways
    }
}

/// Returns the rules by number, or an error if a doc comment is incomplete.
fn rows(tests: &[Test]) -> Result<BTreeMap<u32, Row>, String> {
    let mut rows = BTreeMap::new();
    for test in tests {
        let name = &test.name;
        let paragraphs = test.doc.join("\n");
        let mut paragraphs = paragraphs.split("\n\n").map(|text| text.replace('\n', " "));
        let first = paragraphs.next().unwrap_or_default();
        let tvm = paragraphs.find_map(|text| Some(text.strip_prefix("TVM: ")?.trim().to_owned()));
        let (kind, text) = match first.split_once(". ") {
            Some(("KEEP", text)) => ("KEEP", text.trim()),
            Some(("FIX", text)) => ("FIX", text.trim()),
            _ => {
                return Err(format!(
                    "{name}: its doc comment begins with `KEEP.` or `FIX.`"
                ));
            }
        };
        if (kind == "FIX") != tvm.is_some() {
            return Err(format!(
                "{name}: exactly the rules marked FIX have a line on TVM"
            ));
        }
        let row = rows.entry(test.rule).or_insert_with(|| Row {
            kind,
            text: text.to_owned(),
            tvm: tvm.unwrap_or_default(),
            ways: BTreeSet::new(),
            tests: Vec::new(),
        });
        if row.kind != kind {
            return Err(format!("{name}: another test of the rule has {}", row.kind));
        }
        row.ways.extend(test.ways());
        row.tests.push(test.file.clone());
    }
    Ok(rows)
}

/// Returns the rules that Rust or Python tests. If both test a rule, its text is that of Rust.
fn all_rows() -> BTreeMap<u32, Row> {
    let mut rows = rows(&tests()).unwrap_or_else(|error| panic!("{error}"));
    let (again, alone): (Vec<Test>, Vec<Test>) = python_tests()
        .into_iter()
        .partition(|test| rows.contains_key(&test.rule));
    // Tests with the rule's text come first. Other tests of the rule have other doc strings.
    let (worded, others): (Vec<Test>, Vec<Test>) = alone.into_iter().partition(|test| {
        let first = test.doc.first().map(String::as_str).unwrap_or_default();
        first.starts_with("KEEP. ") || first.starts_with("FIX. ")
    });
    rows.append(&mut self::rows(&worded).unwrap_or_else(|error| panic!("{error}")));
    for test in again.into_iter().chain(others) {
        let row = rows.get_mut(&test.rule).unwrap_or_else(|| {
            panic!("{}: no test has the words of rule {}", test.name, test.rule)
        });
        row.ways.extend(test.ways());
        row.tests.push(test.file);
    }
    rows
}

#[test]
fn every_rule_is_tested() {
    let rows = all_rows();
    let not_shown: BTreeSet<u32> = NOT_SHOWN.iter().map(|(rule, _)| *rule).collect();
    let missing = (1..=LAST).filter(|rule| !rows.contains_key(rule) && !not_shown.contains(rule));
    let missing: Vec<u32> = missing.collect();
    assert!(missing.is_empty(), "rules without a test: {missing:?}");
    let odd = rows
        .keys()
        .filter(|rule| **rule > LAST || not_shown.contains(rule));
    let odd: Vec<&u32> = odd.collect();
    assert!(odd.is_empty(), "tests of no rule: {odd:?}");
}

/// The tests of a rule are in one file, except for doc tests of code that doesn't compile.
#[test]
fn rules_are_tested_in_one_file() {
    let mut files = BTreeMap::<u32, BTreeSet<String>>::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in sources(&root) {
        let source = std::fs::read_to_string(&file).expect("a source");
        let file = file.strip_prefix(&root).expect("a file of it");
        for test in tests_of(&file.display().to_string(), &source) {
            if !test.file.ends_with("by_type.rs") {
                files.entry(test.rule).or_default().insert(test.file);
            }
        }
    }
    files.retain(|_, files| {
        let here = |file: &String| Path::new(file).starts_with("tests/tests/conformance");
        files.len() > 1 || !files.iter().all(here)
    });
    assert!(files.is_empty(), "shown elsewhere, too: {files:#?}");
}

/// Returns the Rust sources of the repository.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_ours = name != "target" && !name.to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_ours => folders.push(path),
                Ok(kind) if kind.is_file() && path.extension() == Some("rs".as_ref()) => {
                    files.push(path);
                }
                _ => {}
            }
        }
    }
    files
}

#[test]
fn every_log_file_is_used() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    for file in Path::new(LOGS).read_dir().expect("logs").flatten() {
        let logs = std::fs::read_to_string(file.path()).expect("text");
        let source = folder.join(file.file_name()).with_extension("rs");
        let source = std::fs::read_to_string(source).expect("a source of that name");
        for (title, _) in sections(&logs) {
            assert!(
                source.contains(&format!("\"{title}\"")),
                "{title} of {:?}",
                file.path()
            );
        }
    }
}

#[test]
fn fixed_rules_fail_on_tvm_reference() {
    for test in tests() {
        let fixes = test
            .doc
            .first()
            .is_some_and(|first| first.starts_with("FIX"));
        let compared = [".fix(", ".fix_message(", "holey"]
            .iter()
            .any(|word| test.body.contains(word));
        let is_doc_test = test.file.ends_with("by_type.rs");
        assert!(
            is_doc_test || fixes == compared,
            "{}: FIX, or not?",
            test.name
        );
    }
}

#[test]
fn conformance_page_is_up_to_date() {
    let rows = all_rows();
    let mut out = String::from(
        "# Conformance\n\n\
         This page lists the rules of the pass infrastructure, each with its tests and, where\n\
         passdock differs, TVM's behavior. The tests generate it:\n\
         `UPDATE_EXPECT=1 cargo test -p passdock-tests --test conformance`.\n\n\
         - KEEP: passdock behaves as TVM does.\n\
         - FIX: TVM's behavior is considered a bug, and passdock differs. The test also runs on a\n  \
           reference implementation of TVM's behavior, and must fail there. It doesn't where Rust's\n  \
           types enforce the rule, and for the rules 14, 139 and 153, where the reference\n  \
           implementation could only repeat a message.\n\n\
         The column `shown with` lists how each rule is tested:\n\n\
         - host: with passes of the host program\n\
         - linked, loaded: with passes of a plugin that is linked in, or loaded from a shared library\n\
         - mixed: with both at once\n\
         - TOML: with a pipeline file\n\
         - by type: code that breaks the rule doesn't compile\n\
         - Python: with passes, instruments and contexts of a Python program\n",
    );
    let write = |out: &mut String, rule: u32, row: &Row| {
        let ways: Vec<&str> = [
            "host", "linked", "loaded", "mixed", "TOML", "by type", "Python",
        ]
        .into_iter()
        .filter(|way| row.ways.contains(way))
        .collect();
        let tvm = match row.tvm.as_str() {
            "" => String::new(),
            tvm => format!("<br>TVM: {}", tvm.replace('|', "\\|")),
        };
        let mut tests: Vec<String> = row.tests.iter().map(|file| link(file)).collect();
        tests.dedup();
        let (text, ways, tests) = (
            row.text.replace('|', "\\|"),
            ways.join(", "),
            tests.join(", "),
        );
        writeln!(
            out,
            "| {rule} | {} | {text}{tvm} | {ways} | {tests} |",
            row.kind
        )
    };
    for (at, &(title, first)) in SECTIONS.iter().enumerate() {
        let end = SECTIONS.get(at + 1).map_or(LAST + 1, |next| next.1);
        let head = "| rule | | statement | shown with | tests |\n|---|---|---|---|---|";
        write_to(&mut out, format_args!("\n## {title}\n\n{head}\n"));
        for rule in first..end {
            if let Some(row) = rows.get(&rule) {
                write(&mut out, rule, row).expect("a string");
            }
            for (_, why) in NOT_SHOWN.iter().filter(|(number, _)| *number == rule) {
                write_to(&mut out, format_args!("| {rule} | | {why} | | |\n"));
            }
        }
    }
    expect_file!["../../../docs/conformance.md"].assert_eq(&out);
}

fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string");
}

/// Returns a file as a link from `docs`.
fn link(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    format!("[{name}](../{file})")
}
