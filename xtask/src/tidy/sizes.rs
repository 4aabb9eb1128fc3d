//! How large crates and folders get: a reader keeps a folder's files in mind.

use std::collections::BTreeSet;

use anyhow::Result;

use super::tables;
use crate::structure::Structure;

/// Lines without tests that a crate may have.
const MOST_LINES: usize = 16_500;
/// And those of the crate that runs passes.
const MOST_LINES_OF_CORE: (&str, usize) = ("passdock-core", 18_000);
/// Files that a folder may have, without its sub-folders.
const MOST_FILES: usize = 16;

pub(super) fn offences(crates: &[Structure], page: &str) -> Result<Vec<String>> {
    let rows = tables::rows(page, "Catalogues")?;
    let catalogues: BTreeSet<&str> = rows.iter().flat_map(|row| tables::names(row[0])).collect();
    let mut offences = Vec::new();
    for structure in crates {
        offences.extend(lines(structure));
        offences.extend(crowded(structure, &catalogues));
    }
    for catalogue in catalogues {
        let is_folder = |structure: &Structure| {
            structure
                .folders()
                .iter()
                .any(|folder| path(structure, folder) == catalogue)
        };
        if !crates.iter().any(is_folder) {
            offences.push(format!(
                "the table of catalogues has {catalogue}, which isn't a folder"
            ));
        }
    }
    Ok(offences)
}

fn lines(structure: &Structure) -> Option<String> {
    let name = &structure.name;
    let (core, of_core) = MOST_LINES_OF_CORE;
    let most = if name == core { of_core } else { MOST_LINES };
    let lines = structure.lines();
    let offence = || format!("{name} has {lines} lines without tests, more than {most}");
    (lines > most).then(offence)
}

fn crowded(structure: &Structure, catalogues: &BTreeSet<&str>) -> Vec<String> {
    let mut offences = Vec::new();
    for folder in structure.folders() {
        let path = path(structure, folder);
        let files = structure
            .files
            .iter()
            .filter(|file| file.folder == folder)
            .count();
        if files > MOST_FILES && !catalogues.contains(path.as_str()) {
            offences.push(format!("{path} has {files} files, more than {MOST_FILES}"));
        }
    }
    offences
}

/// A folder's path in the workspace.
fn path(structure: &Structure, folder: &str) -> String {
    match folder {
        "src" => format!("{}/src", structure.directory),
        folder => format!("{}/src/{folder}", structure.directory),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_FILES, MOST_LINES, crowded, lines, offences};
    use crate::structure::{Structure, of_text};
    use std::collections::BTreeSet;

    /// A crate whose folder `a` has so many files beside its `mod.rs`.
    fn with_files(many: usize) -> Structure {
        let paths: Vec<String> = (0..many).map(|number| format!("a/f{number}.rs")).collect();
        let mods: String = (0..many).map(|number| format!("mod f{number};")).collect();
        let mods = mods + "#[cfg(test)] mod tests; mod deeper;";
        let mut files = vec![
            ("lib.rs", "mod a;"),
            ("a/mod.rs", mods.as_str()),
            ("a/tests.rs", ""),
            ("a/deeper/mod.rs", ""),
        ];
        files.extend(paths.iter().map(|path| (path.as_str(), "")));
        of_text(&files)
    }

    #[test]
    fn a_folder_has_so_many_files_unless_it_is_a_catalogue() {
        let none = BTreeSet::new();
        assert!(crowded(&with_files(MOST_FILES - 1), &none).is_empty());
        let full = with_files(MOST_FILES);
        assert_eq!(
            crowded(&full, &none),
            ["krate/src/a has 17 files, more than 16"]
        );
        assert!(crowded(&full, &BTreeSet::from(["krate/src/a"])).is_empty());
    }

    #[test]
    fn a_catalogue_is_a_folder() {
        let page = "## Catalogues\n|folder|why|\n|-|-|\n| `krate/src/b` | so |\n";
        assert_eq!(
            offences(&[with_files(1)], page).expect("a table"),
            ["the table of catalogues has krate/src/b, which isn't a folder"]
        );
    }

    #[test]
    fn lines_are_counted_without_tests() {
        let code = "\n".repeat(MOST_LINES - 1) + "const A: u8 = 0;\n";
        let tests = "#[cfg(test)]\nmod tests {\n}\n";
        assert!(lines(&of_text(&[("lib.rs", &(code.clone() + tests))])).is_none());
        let long = of_text(&[("lib.rs", &(code + "const B: u8 = 0;\n" + tests))]);
        assert_eq!(
            lines(&long).as_deref(),
            Some("krate has 16501 lines without tests, more than 16500")
        );
    }
}
