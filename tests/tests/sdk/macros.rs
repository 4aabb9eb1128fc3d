//! The errors of the compiler about wrong uses of the SDK's macros: `plugin!`, `options!` and `rules!`.
//!
//! A case of `macros/*.txt` has a title `# WORDS` and code. Below each line with errors are the errors: `^^^` at the
//! token, and the message; more lines begin with `|`. `UPDATE_EXPECT=1` updates them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use expect_test::{ExpectFile, expect_file};
use passdock_plugin_api::prelude::*;
use serde_json::Value;

/// Parts of messages that repeat other parts, or list what the SDK has.
const REPEATED: [&str; 10] = [
    "no rules expected this token",
    "note: expected",
    "defined here",
    "this error originates",
    "not found in",
    "required by",
    "unsatisfied trait bound",
    "the trait `",
    "the following other types",
    "inside `",
];

/// Every form of the language, which the macro must accept.
static EVERY_FORM: Rules = rules! {
    /// Documentation.
    rule every_form grows keeps_type {
        %a, _ = onnx.Split|onnx.TopK(%x, _, ~0.5, [1, -1], none) {axis = $a, how = "a\"b", axes = [$b, 2]}
        %c = (%a | onnx.Neg?(%x) | [$b, 0])
        %y = onnx.Sum|onnx.Max(%a, %c, %m?, $e, [$l...], -1, ~-1.5, %0, %1?, %more...)
        => %v = onnx.Neg(%a) onnx.Sum(%v, -1e-3, [0], $e, [$b], [$l...], %m?, %0, %more...)
            {..%a, axis = $a, perm = compose($a, [1, 0])}
        where rank(%x) >= 1, not float(%x), ! const(%x), opset >= 13, opset("com.microsoft") == 1,
            dtype(%x) in [f32, f16], identity($a), same_type(%x, %a), same_shape(%x, %a), same_dtype(%x, %a),
            broadcasts_to(%x, %0), dim(%x, -1) != 2, axis($b, %x) == -1, size(%x) > 2, uses(%x) <= 3, $a == "text",
            $e < -0.5, 1 == rank(%y), [1, 2] == $l, compose($a, $l) != [1],
    }
    rule results { %a, %b = onnx.TopK(%x, 1) => %a = %x %b = onnx.Neg(%x) }
    rule of_code { onnx.Neg(%x) where float(%x) } => |_, _| Ok(None);
};

#[test]
fn rules_macro_accepts_every_form() {
    assert_eq!(
        EVERY_FORM.names().unwrap(),
        ["every_form", "results", "of_code"]
    );
}

/// The code of a case, and the errors by line.
struct Case {
    title: String,
    lines: Vec<String>,
    errors: Vec<(usize, String)>,
}

#[test]
fn errors_of_macros_point_at_the_wrong_token() {
    let files: [(&str, ExpectFile); 3] = [
        (
            include_str!("macros/plugin.txt"),
            expect_file!["macros/plugin.txt"],
        ),
        (
            include_str!("macros/options.txt"),
            expect_file!["macros/options.txt"],
        ),
        (
            include_str!("macros/rules.txt"),
            expect_file!["macros/rules.txt"],
        ),
    ];
    let mut cases: Vec<Vec<Case>> = files.iter().map(|(text, _)| parse(text)).collect();
    compile(cases.iter_mut().flatten().collect());
    let is_known = version().starts_with(concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), "."));
    for ((_, expected), cases) in files.iter().zip(&cases) {
        for case in cases {
            assert!(!case.errors.is_empty(), "no error: {}", case.title);
        }
        // Other compilers have other messages.
        if is_known {
            let shown: Vec<String> = cases.iter().map(Case::to_text).collect();
            expected.assert_eq(&shown.join("\n"));
        }
    }
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            cases.push(Case {
                title: title.to_owned(),
                lines: Vec::new(),
                errors: Vec::new(),
            });
        } else if !line.trim_start().starts_with(['^', '|']) {
            let case = cases.last_mut().expect("a title comes first");
            case.lines.push(line.to_owned());
        }
    }
    for case in &mut cases {
        while case.lines.last().is_some_and(String::is_empty) {
            case.lines.pop();
        }
    }
    cases
}

impl Case {
    fn to_text(&self) -> String {
        let mut shown = format!("# {}\n", self.title);
        for (at, line) in self.lines.iter().enumerate() {
            _ = writeln!(shown, "{line}");
            let errors = self.errors.iter().filter(|(line, _)| *line == at);
            errors.for_each(|(_, error)| shown += error);
        }
        shown
    }
}

/// Compiles the cases together and adds the errors to them. The compiler reports the errors of one phase and stops: the
/// cases without an error are compiled again.
fn compile(mut cases: Vec<&mut Case>) {
    let directory = tempfile::tempdir().expect("a directory");
    loop {
        let mut code = String::from("#![allow(warnings)]\n");
        let mut places = vec![None];
        for (number, case) in cases.iter().enumerate() {
            _ = writeln!(
                code,
                "mod case_{number} {{ use passdock_plugin_api::prelude::*;"
            );
            places.push(None);
            for (at, line) in case.lines.iter().enumerate() {
                _ = writeln!(code, "{line}");
                places.push(Some((number, at)));
            }
            code += "}\n";
            places.push(None);
        }
        let file = directory.path().join("cases.rs");
        fs::write(&file, code).expect("a file");
        let errors = errors(&file);
        let is_last = errors.is_empty();
        for (line, error) in errors {
            let (number, at) = places[line - 1].unwrap_or_else(|| panic!("in no case: {error}"));
            // Errors may be reported twice.
            if !cases[number].errors.contains(&(at, error.clone())) {
                cases[number].errors.push((at, error));
            }
        }
        cases.retain(|case| case.errors.is_empty());
        if cases.is_empty() || is_last {
            return;
        }
    }
}

fn rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn version() -> String {
    let output = rustc().arg("--version").output().expect("rustc");
    String::from_utf8(output.stdout).expect("a version")
}

/// Returns the SDK that this test is linked with: the last one that was built next to it.
fn sdk() -> PathBuf {
    let program = env::current_exe().expect("a path");
    let entries = fs::read_dir(program.parent().expect("a directory")).expect("a directory");
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libpassdock_plugin_api-") && name.ends_with(".rlib")
    });
    let built = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).ok();
    paths.max_by_key(built).expect("cargo built the SDK")
}

/// Compiles a file and returns its errors with their lines.
fn errors(file: &Path) -> Vec<(usize, String)> {
    let sdk = sdk();
    let output = rustc()
        .args([
            "--edition=2021",
            "--crate-type=lib",
            "--emit=metadata",
            "--error-format=json",
        ])
        .arg("-L")
        .arg(sdk.parent().expect("a directory"))
        .arg(format!("--extern=passdock_plugin_api={}", sdk.display()))
        .arg("--out-dir")
        .args([file.parent().expect("a directory"), file])
        .env("CARGO_PKG_VERSION", "1.0.0")
        .output()
        .expect("rustc");
    let messages = String::from_utf8(output.stderr).expect("JSON");
    let messages = messages
        .lines()
        .map(|line| serde_json::from_str(line).expect(line));
    messages
        .filter_map(|message: Value| error(&message))
        .collect()
}

/// Returns an error and its line, from a message of the compiler.
fn error(message: &Value) -> Option<(usize, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if message["level"] != "error" {
        return None;
    }
    let mut spans = message["spans"].as_array()?.iter();
    let mut span = spans.find(|span| span["is_primary"] == true)?;
    let label = text(&span["label"]);
    // Where the case calls the macro that has the error.
    while !text(&span["file_name"]).ends_with("cases.rs") {
        span = &span["expansion"]["span"];
        assert!(!span.is_null(), "not in a case: {message:#}");
    }
    let number = |key: &str| span[key].as_u64().expect(key) as usize;
    let (line, start) = (number("line_start"), number("column_start"));
    let end = match number("line_end") == line {
        true => number("column_end"),
        false => start + 1,
    };
    let code = match &message["code"]["code"] {
        Value::String(code) => format!("error[{code}]"),
        _ => "error".to_owned(),
    };
    let mut lines = vec![format!("{code}: {}", text(&message["message"])), label];
    for child in message["children"].as_array().into_iter().flatten() {
        let words = text(&child["message"]);
        let replaced = child["spans"].as_array().into_iter().flatten();
        let replaced = replaced.filter_map(|span| span["suggested_replacement"].as_str());
        let replaced: String = replaced.map(|by| format!(": `{}`", by.trim())).collect();
        let first = words.lines().next().unwrap_or_default();
        lines.push(format!("{}: {first}{replaced}", text(&child["level"])));
    }
    lines.dedup();
    let mut shown = format!("{}{}\n", " ".repeat(start - 1), "^".repeat(end - start));
    let is_useful =
        |line: &&String| !line.is_empty() && !REPEATED.iter().any(|words| line.contains(words));
    for line in lines.iter().filter(is_useful) {
        _ = writeln!(shown, "  | {}", line.replace(" in the current scope", ""));
    }
    Some((line, shown))
}
