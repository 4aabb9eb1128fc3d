//! `docs/diagnostics.md` explains exactly the codes of these passes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns each `relax::…` between two of these marks in a text.
fn codes(text: &str, mark: char) -> impl Iterator<Item = String> {
    text.split(mark)
        .filter(|part| {
            part.strip_prefix("relax::").is_some_and(|code| {
                !code.is_empty() && code.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            })
        })
        .map(str::to_owned)
}

fn sources() -> Vec<PathBuf> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory of the sources");
            open.extend(entries.map(|entry| entry.expect("an entry of it").path()));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn all_codes_are_documented() {
    let page = include_str!("../../../../docs/diagnostics.md");
    let explained: BTreeSet<String> = codes(page, '`').collect();
    let mut used = BTreeSet::new();
    for path in sources() {
        let text = std::fs::read_to_string(path).expect("a source");
        used.extend(codes(&text, '"'));
    }
    assert!(used.len() > 4, "{used:?}");
    assert_eq!(used, explained);
}
