//! The metadata and the licenses of the crates that can be published. `cargo xtask deep publish` packages and builds
//! them.

use serde_json::Value;

use super::{File, crates};

/// The keys of `[package]` that a registry shows.
const KEYS: [&str; 5] = ["description", "license", "readme", "keywords", "categories"];
/// The license files. Cargo packages only files of a crate's own directory, so each crate has links to them.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Returns an offence for each missing key and license of a published crate, and for each of its dependencies that
/// isn't published.
pub(super) fn offences(metadata: &Value, files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let published: Vec<&Value> = packages
        .filter(|package| package["publish"].is_null())
        .collect();
    let text = |path: String| files.iter().find(|file| file.path == path);
    for package in &published {
        let name = package["name"].as_str().unwrap_or_default();
        let is_empty =
            |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        for key in KEYS.iter().filter(|key| is_empty(&package[**key])) {
            offences.push(format!("{name} can be published, but has no `{key}`"));
        }
        let directory = crates(metadata).into_iter().find(|(own, _)| *own == name);
        for license in LICENSES {
            let own = directory.and_then(|(_, directory)| text(format!("{directory}/{license}")));
            let expected = text(license.to_owned()).map(|file| &file.text);
            if own.is_none_or(|own| Some(&own.text) != expected) {
                offences.push(format!(
                    "{name} can be published, but has no link to {license}"
                ));
            }
        }
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let own = dependencies.filter(|own| !own["path"].is_null() && own["kind"] != "dev");
        for dependency in own {
            if published
                .iter()
                .all(|other| other["name"] != dependency["name"])
            {
                let dependency = dependency["name"].as_str().unwrap_or_default();
                offences.push(format!(
                    "{name} can be published, but its dependency {dependency} can't"
                ));
            }
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn incomplete_packages_are_reported() {
        let dependencies = json!([
            {"name": "ir", "path": "/p/ir", "kind": null},
            {"name": "test", "path": "/p/test", "kind": null},
            {"name": "test", "path": "/p/test", "kind": "dev"},
            {"name": "half", "path": null, "kind": null},
        ]);
        let metadata = json!({"workspace_root": "/p", "packages": [
            {"name": "host", "manifest_path": "/p/host/Cargo.toml", "publish": null, "description": "A host.",
             "license": "MIT", "readme": "README.md", "keywords": ["host"], "categories": [],
             "dependencies": dependencies},
            {"name": "ir", "manifest_path": "/p/ir/Cargo.toml", "publish": null, "description": "An IR.",
             "license": "MIT", "readme": "README.md", "keywords": ["ir"], "categories": ["compilers"],
             "dependencies": []},
            {"name": "test", "manifest_path": "/p/test/Cargo.toml", "publish": [], "dependencies": []},
        ]});
        let file = |path: &str, text: &str| File {
            path: path.into(),
            text: text.into(),
        };
        let files = [
            file("LICENSE-APACHE", "Apache"),
            file("LICENSE-MIT", "MIT"),
            file("host/LICENSE-APACHE", "Apache"),
            file("host/LICENSE-MIT", "Apache"),
            file("ir/LICENSE-APACHE", "Apache"),
            file("ir/LICENSE-MIT", "MIT"),
        ];
        assert_eq!(
            offences(&metadata, &files),
            [
                "host can be published, but has no `categories`",
                "host can be published, but has no link to LICENSE-MIT",
                "host can be published, but its dependency test can't",
            ]
        );
    }
}
