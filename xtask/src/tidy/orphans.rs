//! Source files that no module declares: they look like code, and nothing compiles them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::structure::Structure;

pub(super) fn offences(root: &Path, crates: &[Structure]) -> Result<Vec<String>> {
    let mut offences = Vec::new();
    for structure in crates {
        let directory = root.join(&structure.directory);
        let mut folders = programs_of_tests(&directory)?;
        let read: BTreeSet<PathBuf> = structure
            .files
            .iter()
            .map(|file| root.join(&file.path))
            .chain(folders.iter().map(|folder| folder.join("main.rs")))
            .collect();
        folders.push(directory.join("src"));
        while let Some(folder) = folders.pop() {
            for path in entries(&folder)? {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs")
                    && !read.contains(&path)
                    && !is_declared(&path)
                {
                    let shown = path.strip_prefix(root).unwrap_or(&path).display();
                    offences.push(format!("{shown} is in no module: nothing says `mod` of it"));
                }
            }
        }
    }
    Ok(offences)
}

/// The folders of a crate's tests that are a program each. Other files there are programs by themselves.
fn programs_of_tests(directory: &Path) -> Result<Vec<PathBuf>> {
    let tests = directory.join("tests");
    if !tests.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = entries(&tests)?;
    folders.retain(|folder| folder.join("main.rs").is_file());
    Ok(folders)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Whether a file that may have one as a module says so: modules of tests are declared, too.
fn is_declared(path: &Path) -> bool {
    let (Some(stem), Some(folder)) = (path.file_stem(), path.parent()) else {
        return false;
    };
    let (name, folder) = match folder.parent() {
        Some(above) if stem == "mod" => (folder.file_name(), above),
        _ => (Some(stem), folder),
    };
    let Some(name) = name.and_then(|name| name.to_str()) else {
        return false;
    };
    let owners = ["mod.rs", "lib.rs", "main.rs"].map(|owner| folder.join(owner));
    owners
        .into_iter()
        .chain([folder.with_extension("rs")])
        .filter_map(|owner| fs::read_to_string(owner).ok())
        .any(|text| {
            text.lines()
                .any(|line| line.trim_end().ends_with(&format!("mod {name};")))
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_declared;

    #[test]
    fn a_file_is_a_module_only_if_one_says_so() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert!(is_declared(&here.join("tidy/orphans.rs")));
        assert!(is_declared(&here.join("structure/tests.rs")));
        assert!(!is_declared(&here.join("tidy/forgotten.rs")));
        assert!(!is_declared(&here.join("forgotten/mod.rs")));
    }
}
