//! Words to avoid in prose: Markdown, doc comments and C headers.

use anyhow::{Context, Result};
use regex_lite::Regex;

use super::{File, tables};

/// Returns a line for each use of a phrase that CONTRIBUTING.md's table "Writing style" advises against.
pub(super) fn offences(files: &[File]) -> Result<Vec<String>> {
    let page = files.iter().find(|file| file.path == "CONTRIBUTING.md");
    let rows = tables::rows(
        &page.context("missing CONTRIBUTING.md")?.text,
        "Writing style",
    )?;
    let phrases: Vec<&str> = rows.iter().flat_map(|row| tables::names(row[0])).collect();
    let phrases = Regex::new(&format!(r"(?i)\b(?:{})\b", phrases.join("|")))?;
    let code = Regex::new("`[^`]*`")?;
    let mut offences = Vec::new();
    for File { path, text } in files {
        for (number, line) in prose(path, text) {
            if let Some(phrase) = phrases.find(&code.replace_all(line, "``")) {
                offences.push(format!(
                    "{path}:{number}: `{}` is discouraged; see \"Writing style\" in CONTRIBUTING.md",
                    phrase.as_str()
                ));
            }
        }
    }
    Ok(offences)
}

/// Returns the lines of prose in a file, with their numbers: those outside of code, in comments that are documentation.
fn prose<'t>(path: &str, text: &'t str) -> Vec<(usize, &'t str)> {
    let comments: &[&str] = match path.rsplit('.').next() {
        Some("md") => &[""],
        Some("rs") => &["///", "//!"],
        Some("h" | "hpp") => &["/**", "/*", "*", "//"],
        _ => return Vec::new(),
    };
    let mut is_code = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(line) = comments.iter().find_map(|start| line.strip_prefix(start)) else {
            continue;
        };
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((number + 1, line));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_phrases_are_found_in_prose() {
        let file = |path: &str, text: &str| File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let table = "## Writing style\n| don't write | write |\n|---|---|\n| `nobody`, `of its own` | the actor |\n";
        let source = [
            "/// Nobody.",
            "/// `nobody`",
            "/// ```",
            "/// nobody",
            "/// ```",
            "let a; // nobody",
            "//! A file of its own.",
        ];
        let files = [
            file("CONTRIBUTING.md", table),
            file("a.rs", &source.join("\n")),
        ];
        let found = offences(&files).expect("a table");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.rs:1: `Nobody`"), "{found:?}");
        assert!(found[1].starts_with("a.rs:7: `of its own`"), "{found:?}");
    }
}
