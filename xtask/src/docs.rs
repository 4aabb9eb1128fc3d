//! The documentation in archives and on the site: Markdown without links to files that aren't part of it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use regex_lite::{Captures, Regex};

use crate::project::Project;

/// The pages in the root of the checkout.
const PAGES: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
];

/// Writes the documentation to a directory.
pub(crate) fn write(project: &Project, directory: &Path) -> Result<()> {
    let mut files = PAGES.map(PathBuf::from).to_vec();
    let folders = [
        ("docs", "md"),
        ("docs/guides", "md"),
        ("docs/schemas", "json"),
        ("docs/images", "png"),
    ];
    for (folder, extension) in folders {
        for entry in fs::read_dir(project.root.join(folder))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.context("document has no name")?;
            let is_one = path.extension().is_some_and(|known| known == extension);
            if is_one {
                files.push(Path::new(folder).join(name));
            }
        }
    }
    for file in &files {
        let (from, to) = (project.root.join(file), directory.join(file));
        fs::create_dir_all(to.parent().context("file has no parent directory")?)?;
        if file.extension().is_none_or(|extension| extension != "md") {
            fs::copy(from, to)?;
            continue;
        }
        let text = fs::read_to_string(from)?;
        let has = |target: &str| {
            let folder = file.parent().unwrap_or(Path::new(""));
            within(folder, target).is_some_and(|target| files.contains(&target))
        };
        fs::write(to, linked(&text, has)?)?;
    }
    Ok(())
}

/// Replaces links to files that aren't part of the documentation with their text, which may contain brackets.
fn linked(text: &str, has: impl Fn(&str) -> bool) -> Result<String> {
    let link = Regex::new(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^\s)]+)\)")?;
    let replaced = link.replace_all(text, |found: &Captures<'_>| {
        let target = &found[2];
        let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
        let exists = is_elsewhere || target.starts_with('#') || has(target);
        found[usize::from(!exists)].to_owned()
    });
    Ok(replaced.into_owned())
}

/// Returns the path of a link's file, relative to the root of the checkout.
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
    fn broken_links_become_text() {
        let text = "See [a](a.md), [b](../b.rs#x) and [c](https://c) `[[x]]`, \
            [here](#here).\n[d][e](f.md) [`g[1]`](g.md)";
        assert_eq!(
            linked(text, |target| target == "a.md").expect("a pattern"),
            "See [a](a.md), b and [c](https://c) `[[x]]`, [here](#here).\n[d]e `g[1]`"
        );
    }

    #[test]
    fn links_are_relative_to_their_file() {
        let at = |folder: &str, target| within(Path::new(folder), target);
        assert_eq!(at("docs/guides", "../ir.md#a"), Some("docs/ir.md".into()));
        assert_eq!(at("docs", "../../out.md"), None);
        assert_eq!(at("", "README.md"), Some("README.md".into()));
    }
}
