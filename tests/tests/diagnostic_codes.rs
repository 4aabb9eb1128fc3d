//! Checks that `docs/diagnostics.md` explains each code of the host.

/// Returns the strings in a source that look like codes and follow `mark`.
fn codes(source: &str, mark: &str) -> Vec<String> {
    let code = |rest: &str| {
        let text = rest.trim_start().strip_prefix('"')?.split('"').next()?;
        let is_code = |c: char| c.is_ascii_lowercase() || c == '-';
        (!text.is_empty() && text.chars().all(is_code)).then(|| text.to_owned())
    };
    let parts = source.split(mark).skip(1);
    parts.filter_map(code).collect()
}

#[test]
fn all_codes_are_documented() {
    let page = include_str!("../../docs/diagnostics.md");
    let kinds = passdock::ErrorKind::ALL.iter();
    let mut found: Vec<String> = kinds.map(|kind| kind.code().to_owned()).collect();
    assert!(found.len() > 10, "{found:?}");
    let host = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../host");
    let mut open = vec![host];
    while let Some(path) = open.pop() {
        if path.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory of the sources");
            open.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let text: String = text.lines().filter(is_code).collect();
            for level in ["Bug", "Error", "Warning", "Note", "Help"] {
                found.extend(codes(&text, &format!("Diagnostic::new(Severity::{level},")));
            }
        }
    }
    for code in found {
        let row = format!("| `{code}` |");
        assert!(page.contains(&row), "docs/diagnostics.md has no row {row}");
    }
}
