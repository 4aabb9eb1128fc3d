//! Crates that say they have no unit tests: cargo would build them once more for tests that aren't there, and runs none if some
//! are.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::structure::Structure;

pub(super) fn offences(root: &Path, metadata: &Value, crates: &[Structure]) -> Result<Vec<String>> {
    let mut offences = Vec::new();
    for structure in crates {
        if !is_untested(metadata, &structure.name) {
            continue;
        }
        for file in &structure.files {
            let text =
                fs::read_to_string(root.join(&file.path)).with_context(|| file.path.clone())?;
            if has_tests(&text) {
                offences.push(format!(
                    "{} has tests that nothing runs: the manifest of {} says `test = false`",
                    file.path, structure.name
                ));
            }
        }
    }
    Ok(offences)
}

/// Whether a crate's library or one of its programs is never built for tests.
fn is_untested(metadata: &Value, name: &str) -> bool {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let own = packages
        .iter()
        .filter(|package| package["name"] == name && package["source"].is_null());
    own.flat_map(|package| list(&package["targets"]))
        .any(|target| {
            let kinds = list(&target["kind"]);
            let is_source = |kind: &Value| {
                ["lib", "rlib", "cdylib", "bin"]
                    .iter()
                    .any(|source| kind == source)
            };
            target["test"] == false && kinds.iter().any(is_source)
        })
}

fn has_tests(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "#[test]")
}

#[cfg(test)]
mod tests {
    use super::{has_tests, is_untested};
    use serde_json::json;

    #[test]
    fn a_target_of_the_sources_says_so() {
        let target = |kind: &str, test: bool| json!({"kind": [kind], "test": test});
        let metadata = json!({"packages": [
            {"name": "a", "source": null, "targets": [target("lib", false)]},
            {"name": "b", "source": null, "targets": [target("lib", true), target("bench", false)]},
            {"name": "c", "source": "registry", "targets": [target("lib", false)]},
        ]});
        assert_eq!(
            ["a", "b", "c"].map(|name| is_untested(&metadata, name)),
            [true, false, false]
        );
        assert!(has_tests("    #[test]\n    fn f() {}"));
        assert!(!has_tests("/// `#[test]`"));
    }
}
