//! Allowed dependencies between the workspace's crates.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::tables;

/// Crates in these directories may depend on all other crates.
const ABOVE: &[&str] = &["tests", "benches"];
/// Crates without third-party dependencies of any kind.
const BARE: &[&str] = &["passdock-abi", "passdock-plugin-api"];

/// Returns an offence for each dependency that isn't allowed, and for each crate that isn't in the table of
/// ARCHITECTURE.md.
pub(super) fn offences(metadata: &Value, page: &str) -> Result<Vec<String>> {
    let mut offences = Vec::new();
    let rows = tables::rows(page, "Dependencies between crates")?;
    let mut arrows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &rows {
        let [name, allowed] = row[..] else {
            anyhow::bail!("expected a crate and the crates that it may use, found {row:?}");
        };
        for name in tables::names(name) {
            arrows.insert(name, tables::names(allowed).collect());
        }
    }
    let root = metadata["workspace_root"]
        .as_str()
        .context("`cargo metadata` reports no workspace")?;
    let members = metadata["workspace_members"]
        .as_array()
        .context("`cargo metadata` lists no members")?;
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` lists no packages")?;
    for package in packages
        .iter()
        .filter(|package| members.contains(&package["id"]))
    {
        let name = package["name"].as_str().unwrap_or_default();
        let dependencies = package["dependencies"]
            .as_array()
            .context("package has no list of dependencies")?;
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let directory = manifest
            .strip_prefix(root)
            .and_then(|path| Path::new(path).components().nth(1));
        if directory
            .is_some_and(|directory| ABOVE.iter().any(|above| directory.as_os_str() == *above))
        {
            continue;
        }
        let Some(allowed) = arrows.get(name) else {
            offences.push(format!("crate {name} is missing in the table of arrows"));
            continue;
        };
        for dependency in dependencies {
            let to = dependency["name"].as_str().unwrap_or_default();
            let is_workspace_crate = !dependency["path"].is_null();
            let for_tests = dependency["kind"] == "dev";
            if BARE.contains(&name) && !is_workspace_crate {
                offences.push(format!(
                    "{name} must not have third-party dependencies, but has {to}"
                ));
            }
            if is_workspace_crate && !for_tests && !allowed.contains(&to) {
                offences.push(format!("{name} must not depend on {to}"));
            }
        }
    }
    Ok(offences)
}

#[cfg(test)]
mod tests {
    use super::offences;
    use serde_json::json;

    #[test]
    fn wrong_dependency_and_unknown_crate_are_reported() {
        let metadata = json!({
            "workspace_root": "/p",
            "workspace_members": ["ir", "abi", "new", "test"],
            "packages": [
                {"id": "ir", "name": "passdock-ir", "dependencies": [
                    {"name": "passdock-onnx", "path": "host/onnx", "kind": null},
                    {"name": "passdock-onnx", "path": "host/onnx", "kind": "dev"},
                    {"name": "half", "path": null, "kind": null},
                ]},
                {"id": "abi", "name": "passdock-abi", "dependencies": [{"name": "half", "path": null, "kind": "dev"}]},
                {"id": "new", "name": "passdock-new", "dependencies": []},
                {"id": "test", "name": "passdock-tests", "manifest_path": "/p/tests/deep/Cargo.toml",
                 "dependencies": []},
                {"id": "other", "name": "half", "dependencies": []},
            ],
        });
        let page = "### Dependencies between crates\n|crate|may use|\n|-|-|\n\
            | `passdock-abi` | |\n| `passdock-ir` | `passdock-abi` |\n";
        assert_eq!(
            offences(&metadata, page).expect("well formed"),
            [
                "passdock-ir must not depend on passdock-onnx",
                "passdock-abi must not have third-party dependencies, but has half",
                "crate passdock-new is missing in the table of arrows",
            ]
        );
    }
}
