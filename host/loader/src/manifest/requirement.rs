//! The requirements of a plugin on other plugins: `acme >= 1.2`.

use std::fmt;

use semver::{Prerelease, Version, VersionReq};
use serde::{Serialize, Serializer};

use super::read;
use crate::error::PluginErrorKind as Kind;
use crate::names;

/// A range of versions of a plugin: `>= 1.2, < 2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange(VersionReq);

/// A requirement of a plugin on another one: its name, and optionally its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The requirement as written in the manifest.
    text: String,
    /// The name of the required plugin.
    pub name: String,
    /// The versions that satisfy it. `None` for any version, also one that isn't semantic.
    versions: Option<VersionRange>,
}

/// The reason why a version doesn't satisfy a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsatisfied {
    /// The version is outside the required range.
    OtherVersion,
    /// The version isn't a semantic version, so it can't be compared.
    NotSemantic,
}

impl VersionRange {
    /// Parses a range in Cargo's syntax. Returns `None` if it is invalid.
    pub fn parse(text: &str) -> Option<VersionRange> {
        VersionReq::parse(text).ok().map(VersionRange)
    }

    /// Checks a plugin's version.
    ///
    /// # Errors
    /// If the version isn't in the range.
    pub fn check(&self, version: &str) -> Result<(), Unsatisfied> {
        let mut version = Version::parse(version).map_err(|_| Unsatisfied::NotSemantic)?;
        // `>= 1.0` accepts a release candidate of 1.0, too, so that plugins can be tested with it.
        if self.0.comparators.iter().all(|one| one.pre.is_empty()) {
            version.pre = Prerelease::EMPTY;
        }
        match self.0.matches(&version) {
            true => Ok(()),
            false => Err(Unsatisfied::OtherVersion),
        }
    }
}

impl Requirement {
    /// Reads a requirement: a name, or a name, a space and versions.
    pub(super) fn parse(text: String) -> Result<Requirement, Kind> {
        let (name, versions) = match text.split_once(' ') {
            Some((name, versions)) => (name, VersionRange::parse(versions).map(Some)),
            None => (text.as_str(), Some(None)),
        };
        if let (Some(versions), true) = (versions, names::is_identifier(name)) {
            let name = name.to_owned();
            return Ok(Requirement {
                text,
                name,
                versions,
            });
        }
        let rule = "the name of a plugin, optionally with versions: `acme` or `acme >= 1.2, < 2`";
        Err(read::invalid(
            "item in `requires`",
            names::escaped(&text),
            rule,
        ))
    }

    /// Checks the version of the required plugin.
    pub(crate) fn check(&self, version: &str) -> Result<(), Unsatisfied> {
        let versions = self.versions.as_ref();
        versions.map_or(Ok(()), |versions| versions.check(version))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Requirement {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{Requirement, Unsatisfied};

    #[test]
    fn malformed_requirements_are_rejected() {
        for text in [
            "",
            "acme ",
            " acme",
            "acme>=1.2",
            "acme.ops",
            "acme, relax",
            "acme >= 1.2,",
            "acme >= 1.2 < 2",
            "acme > = 1.2",
            "acme 01.2",
            "acme latest",
        ] {
            let error = Requirement::parse(text.to_owned()).map(drop).unwrap_err();
            let error = error.to_string();
            assert!(error.ends_with(&format!("found `{text}`")), "{error}");
        }
        let error = Requirement::parse("acme latest".to_owned()).unwrap_err();
        expect!["invalid item in `requires` in the manifest: expected the name of a plugin, optionally with versions: \
                `acme` or `acme >= 1.2, < 2`, found `acme latest`"]
        .assert_eq(&error.to_string());
    }

    #[test]
    fn versions_are_compared_as_in_cargo_except_for_pre_releases() {
        let cases = [
            ("acme", ["1.2.0", "2024a", ""]),
            ("acme *", ["0.1.0", "1.0.0-beta", "2024a"]),
            ("acme 1.2", ["1.1.9", "1.9.0", "2.0.0"]),
            ("acme >= 1.2, < 2", ["1.2.0", "2.0.0", "1.2"]),
            ("acme =1.2.0", ["1.2.0", "1.2.0+build", "1.2.1"]),
            ("acme ~0.3", ["0.3.5", "0.4.0", "v0.3.0"]),
            ("acme  >=1.2.0-rc.1", ["1.2.0-rc.2", "1.3.0-rc.1", "1.3.0"]),
        ];
        let result = |requirement: &Requirement, version: &str| match requirement.check(version) {
            Ok(()) => "yes",
            Err(Unsatisfied::OtherVersion) => "no",
            Err(Unsatisfied::NotSemantic) => "not semantic",
        };
        let lines = cases.map(|(text, versions)| {
            let requirement = Requirement::parse(text.to_owned()).unwrap();
            let results = versions.map(|v| format!("`{v}` {}", result(&requirement, v)));
            format!("{requirement}: {}\n", results.join(", "))
        });
        expect![[r#"
            acme: `1.2.0` yes, `2024a` yes, `` yes
            acme *: `0.1.0` yes, `1.0.0-beta` yes, `2024a` not semantic
            acme 1.2: `1.1.9` no, `1.9.0` yes, `2.0.0` no
            acme >= 1.2, < 2: `1.2.0` yes, `2.0.0` no, `1.2` not semantic
            acme =1.2.0: `1.2.0` yes, `1.2.0+build` yes, `1.2.1` no
            acme ~0.3: `0.3.5` yes, `0.4.0` no, `v0.3.0` not semantic
            acme  >=1.2.0-rc.1: `1.2.0-rc.2` yes, `1.3.0-rc.1` no, `1.3.0` yes
        "#]]
        .assert_eq(&lines.concat());
    }
}
