//! How source files begin, how long they get, what must not stand in them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::Project;
use crate::shell;

const MOST_LINES: usize = 600;

/// Words that must not stand in Rust sources, and why. Split, so that this file passes.
const WORDS: &[(&str, &str)] = &[
    (concat!("todo", "!("), "is unfinished"),
    (concat!("unimplemented", "!("), "is unfinished"),
    (concat!("dbg", "!("), "is left over from debugging"),
    (concat!("#[", "ignore"), "hides a test"),
    (
        concat!("should_", "panic"),
        "says nothing about which panic",
    ),
];
/// Where someone's machine shows, in any text file.
const MACHINES: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
];

pub(super) fn offences(project: &Project) -> Result<Vec<String>> {
    let list = shell::read(
        Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(&project.root),
    )?;
    let mut offences = Vec::new();
    for file in list.split_terminator('\0') {
        let path = project.root.join(file);
        // A deleted file stays listed until it's committed.
        if !path.is_file() {
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {file}"))?;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            offences.extend(offences_of(file, text));
        }
    }
    Ok(offences)
}

fn offences_of(file: &str, text: &str) -> Vec<String> {
    let mut offences = Vec::new();
    let extension = Path::new(file)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    let lines = text.lines().count();
    if ["rs", "py", "c", "cpp", "h", "hpp", "sh"].contains(&extension) && lines > MOST_LINES {
        offences.push(format!(
            "{file} has {lines} lines, more than {MOST_LINES}: does it hold two subjects?"
        ));
    }
    if extension == "rs" && !text.starts_with("//!") {
        offences.push(format!(
            "{file} doesn't begin with `//!`: what is it, and why?"
        ));
    }
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        for (word, why) in WORDS
            .iter()
            .filter(|(word, _)| extension == "rs" && line.contains(word))
        {
            offences.push(format!("{file}:{at}: `{word}` {why}"));
        }
        for path in MACHINES.iter().filter(|path| line.contains(**path)) {
            offences.push(format!("{file}:{at}: `{path}` is a path of one machine"));
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::{MACHINES, MOST_LINES, WORDS, offences_of};

    #[test]
    fn good_files_pass() {
        assert!(offences_of("a.rs", "//! A file.\n").is_empty());
        assert!(offences_of("a.md", &"line\n".repeat(MOST_LINES + 1)).is_empty());
    }

    #[test]
    fn each_offence_is_named() {
        assert_eq!(
            offences_of("a.rs", "fn main() {}\n"),
            ["a.rs doesn't begin with `//!`: what is it, and why?"]
        );
        let long = "x = 1\n".repeat(MOST_LINES + 1);
        assert_eq!(
            offences_of("a.py", &long),
            ["a.py has 601 lines, more than 600: does it hold two subjects?"]
        );
        let (word, why) = WORDS[0];
        assert_eq!(
            offences_of("a.rs", &format!("//! A.\n{word})\n")),
            [format!("a.rs:2: `{word}` {why}")]
        );
        let path = MACHINES[0];
        assert_eq!(
            offences_of("a.toml", path),
            [format!("a.toml:1: `{path}` is a path of one machine")]
        );
    }
}
