//! The documentation that goes into an archive: Markdown whose links lead to what the archive has.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::project::Project;

/// Where the documentation of programs is.
const HERE: &str = "share/doc/passdock";
/// What is for those who work on passdock, in the checkout.
const NOT_FOR_USERS: [&str; 3] = ["conformance.md", "decisions.md", "pass-call.md"];
/// What stands first in an archive.
const README: &str = include_str!("README.md");

/// Puts the documentation for users into the tree.
pub(super) fn make(project: &Project, root: &Path) -> Result<()> {
    let mut files = vec![PathBuf::from("CHANGELOG.md")];
    let folders = [
        ("docs", "md"),
        ("docs/guides", "md"),
        ("docs/schemas", "json"),
    ];
    for (folder, extension) in folders {
        for entry in fs::read_dir(project.root.join(folder))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.context("a document has a name")?;
            let is_one = path.extension().is_some_and(|known| known == extension);
            if is_one && !NOT_FOR_USERS.contains(&name) {
                files.push(Path::new(folder).join(name));
            }
        }
    }
    for file in &files {
        let text = fs::read_to_string(project.root.join(file))?;
        let has = |target: &str| {
            let folder = file.parent().unwrap_or(Path::new(""));
            within(folder, target).is_some_and(|target| files.contains(&target))
        };
        let path = root.join(HERE).join(file);
        fs::create_dir_all(path.parent().context("a file lies in a directory")?)?;
        fs::write(path, linked(&text, has))?;
    }
    Ok(())
}

/// Puts what is read first at the top of an archive.
pub(super) fn put_readme(root: &Path) -> Result<()> {
    Ok(fs::write(root.join("README.md"), README)?)
}

/// The commands that the README shows.
pub(super) fn shown_commands() -> impl Iterator<Item = &'static str> {
    let lines = README.lines().filter(|line| line.starts_with("passdock "));
    lines.map(|line| line.split(" #").next().unwrap_or(line).trim())
}

/// Fails if a link in a document of the tree leads nowhere.
pub(super) fn check(root: &Path, files: &[PathBuf]) -> Result<()> {
    let is_document = |file: &&PathBuf| file.extension().is_some_and(|known| known == "md");
    let mut checked = 0;
    for file in files.iter().filter(is_document) {
        let text = fs::read_to_string(file)?;
        let folder = file.parent().context("a file lies in a directory")?;
        for (_, target) in links(&text).filter(|(_, target)| !is_elsewhere(target)) {
            let path = target.split('#').next().unwrap_or(target);
            let shown = file.strip_prefix(root)?.display();
            ensure!(
                folder.join(path).exists(),
                "{shown}: `{target}` isn't in the archive"
            );
            checked += 1;
        }
    }
    ensure!(checked > 20, "the documents have {checked} links only");
    Ok(())
}

/// Markdown in which links that the archive hasn't are their text.
fn linked(text: &str, has: impl Fn(&str) -> bool) -> String {
    let (mut out, mut end) = (String::new(), 0);
    for (at, target) in links(text) {
        let is_there = is_elsewhere(target) || target.starts_with('#') || has(target);
        let open = opening(&text[end..at]).map(|open| end + open);
        let (Some(open), false) = (open, is_there) else {
            continue;
        };
        out += &text[end..open];
        out += &text[open + 1..at];
        // `](target)`
        end = at + 2 + target.len() + 1;
    }
    out + &text[end..]
}

/// Where the bracket opens that is closed at the end.
fn opening(text: &str) -> Option<usize> {
    let mut closed = 0;
    let brackets = text
        .char_indices()
        .rev()
        .filter(|(_, c)| matches!(c, '[' | ']'));
    for (at, bracket) in brackets {
        match bracket {
            '[' if closed == 0 => return Some(at),
            '[' => closed -= 1,
            _ => closed += 1,
        }
    }
    None
}

/// The links of Markdown, inside of blocks of code too: where `](` stands, and the target.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("](").filter_map(|(at, _)| {
        let (target, _) = text[at + 2..].split_once(')')?;
        let is_one = !target.is_empty() && !target.contains(char::is_whitespace);
        is_one.then_some((at, target))
    })
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// A link's file, from the top of the checkout.
fn within(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split('#').next().unwrap_or(target);
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir if !whole.pop() => return None,
            _ => {}
        }
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_what_isnt_there_are_text() {
        let text = "See [a](a.md), [b](../b.rs#x) and [c](https://c) `[[x]]`, [here](#here).\n[d][e](f.md) [`g[1]`](g.md)";
        assert_eq!(
            linked(text, |target| target == "a.md"),
            "See [a](a.md), b and [c](https://c) `[[x]]`, [here](#here).\n[d]e `g[1]`"
        );
    }

    #[test]
    fn links_are_from_their_file_on() {
        let at = |folder: &str, target| within(Path::new(folder), target);
        assert_eq!(at("docs/guides", "../ir.md#a"), Some("docs/ir.md".into()));
        assert_eq!(at("docs", "../../out.md"), None);
        assert_eq!(at("", "README.md"), Some("README.md".into()));
    }
}
