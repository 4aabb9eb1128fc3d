//! The limit for the number of files in a folder.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::Value;

use super::{File, crates, tables};

/// The maximum number of files in a folder, without its sub-folders.
const MAX_FILES: usize = 16;

pub(super) fn offences(metadata: &Value, files: &[File], page: &str) -> Result<Vec<String>> {
    let rows = tables::rows(page, "Catalogs")?;
    let catalogs: BTreeSet<&str> = rows.iter().flat_map(|row| tables::names(row[0])).collect();
    let mut offences = Vec::new();
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for (_, directory) in crates(metadata) {
        let src = format!("{directory}/src/");
        let sources: Vec<&File> = files
            .iter()
            .filter(|file| file.path.starts_with(&src) && file.path.ends_with(".rs"))
            .collect();
        for file in sources.iter().filter(|file| !is_test(&file.path, &sources)) {
            *folders.entry(folder(&file.path, &sources)).or_default() += 1;
        }
    }
    for (folder, count) in &folders {
        if *count > MAX_FILES && !catalogs.contains(folder.as_str()) {
            offences.push(format!("{folder} has {count} files, more than {MAX_FILES}"));
        }
    }
    for catalog in catalogs {
        if !folders.contains_key(catalog) {
            offences.push(format!(
                "the table of catalogs lists {catalog}, which is not a folder"
            ));
        }
    }
    Ok(offences)
}

/// Whether a file is a module of tests: it is declared with `#[cfg(test)]`.
fn is_test(path: &str, sources: &[&File]) -> bool {
    let Some((parent, name)) = path.trim_end_matches(".rs").rsplit_once('/') else {
        return false;
    };
    let declaration = format!("#[cfg(test)]\nmod {name};");
    path.contains("/tests/")
        || sources
            .iter()
            .any(|file| file.path.starts_with(parent) && file.text.contains(&declaration))
}

/// Returns the folder that a file belongs to: `foo.rs` next to `foo/` belongs to `foo`.
fn folder(path: &str, sources: &[&File]) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let inside = format!("{stem}/");
    let has_modules =
        |file: &&File| file.path.starts_with(&inside) && !is_test(&file.path, sources);
    if sources.iter().any(has_modules) {
        return stem.to_owned();
    }
    path.rsplit_once('/')
        .map_or("", |(folder, _)| folder)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{File, MAX_FILES, offences};
    use serde_json::json;

    fn check(files: &[(String, String)], catalog: &str) -> Vec<String> {
        let page = format!("## Catalogs\n|folder|why|\n|-|-|\n| `{catalog}` | so |\n");
        let metadata = json!({
            "workspace_root": "/p",
            "packages": [{"name": "krate", "manifest_path": "/p/krate/Cargo.toml"}],
        });
        let file = |(path, text): &(String, String)| File {
            path: format!("krate/src/{path}"),
            text: text.clone(),
        };
        let files: Vec<File> = files.iter().map(file).collect();
        offences(&metadata, &files, &page).expect("a table")
    }

    #[test]
    fn folder_size_is_limited_except_for_catalogs() {
        let files = |count| -> Vec<(String, String)> {
            let numbered = (0..count).map(|number| format!("a/f{number}.rs"));
            let others = ["a/tests.rs", "a/deeper/mod.rs"].map(str::to_owned);
            let empty = numbered.chain(others).map(|path| (path, String::new()));
            let root = ("a.rs".to_owned(), "#[cfg(test)]\nmod tests;\n".to_owned());
            empty.chain([root]).collect()
        };
        assert_eq!(check(&files(MAX_FILES - 1), "krate/src/b").len(), 1);
        assert!(check(&files(MAX_FILES), "krate/src/a").is_empty());
        assert_eq!(
            check(&files(MAX_FILES), "krate/src/b"),
            [
                "krate/src/a has 17 files, more than 16",
                "the table of catalogs lists krate/src/b, which is not a folder"
            ]
        );
    }
}
