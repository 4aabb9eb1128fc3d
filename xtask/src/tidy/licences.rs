//! Every third-party crate comes under a licence that `deny.toml` allows.
//!
//! `cargo deny` reads the same file and knows more; this check needs no tool.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::project::Project;

pub(super) fn offences(project: &Project) -> Result<Vec<String>> {
    let deny: toml::Table = fs::read_to_string(project.root.join("deny.toml"))?
        .parse()
        .context("deny.toml")?;
    let licenses = deny.get("licenses").context("deny.toml has no licenses")?;
    let allowed = allowed_by(licenses).context("deny.toml has no list licenses.allow")?;
    let exceptions = licenses.get("exceptions").and_then(|list| list.as_array());
    let exceptions: Vec<&toml::Value> = exceptions.into_iter().flatten().collect();
    let packages = project.metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let with_exceptions = |name: &str| {
        let own = exceptions.iter().filter(|one| {
            let of = one.get("crate").and_then(|of| of.as_str());
            of == Some(name)
        });
        let own = own.filter_map(|one| allowed_by(one)).flatten();
        allowed.iter().copied().chain(own).collect::<Vec<&str>>()
    };
    let mut offences = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        match package["license"].as_str() {
            None => offences.push(format!("crate {name} names no licence")),
            Some(licence) => match is_allowed(licence, &with_exceptions(name)) {
                Ok(true) => {}
                Ok(false) => offences.push(format!(
                    "crate {name} is under {licence}, which deny.toml doesn't allow"
                )),
                Err(error) => offences.push(format!("crate {name} is under `{licence}`: {error}")),
            },
        }
    }
    Ok(offences)
}

/// The licences that a table of `deny.toml` allows.
fn allowed_by(table: &toml::Value) -> Option<Vec<&str>> {
    let allow = table.get("allow")?.as_array()?;
    Some(
        allow
            .iter()
            .filter_map(|licence| licence.as_str())
            .collect(),
    )
}

/// Can the SPDX expression be met with allowed licences only?
fn is_allowed(expression: &str, allowed: &[&str]) -> Result<bool> {
    // Old manifests write "MIT/Apache-2.0" for "or".
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = either(&mut rest, allowed)?;
    if !rest.is_empty() {
        bail!("it isn't an SPDX expression");
    }
    Ok(met)
}

fn either(words: &mut &[&str], allowed: &[&str]) -> Result<bool> {
    let mut met = both(words, allowed)?;
    while take(words, "OR") {
        met |= both(words, allowed)?;
    }
    Ok(met)
}

fn both(words: &mut &[&str], allowed: &[&str]) -> Result<bool> {
    let mut met = one(words, allowed)?;
    while take(words, "AND") {
        met &= one(words, allowed)?;
    }
    Ok(met)
}

fn one(words: &mut &[&str], allowed: &[&str]) -> Result<bool> {
    if take(words, "(") {
        let met = either(words, allowed)?;
        if !take(words, ")") {
            bail!("a parenthesis isn't closed");
        }
        return Ok(met);
    }
    let Some((licence, rest)) = words.split_first() else {
        bail!("it ends too early")
    };
    *words = rest;
    let mut name = (*licence).to_owned();
    if take(words, "WITH") {
        let Some((exception, rest)) = words.split_first() else {
            bail!("it ends too early")
        };
        *words = rest;
        name = format!("{name} WITH {exception}");
    }
    Ok(allowed.contains(&name.as_str()))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    match words.split_first() {
        Some((first, rest)) if *first == word => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn reads_spdx() {
        let cases = [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT/GPL-3.0", true),
            ("GPL-3.0 OR MIT AND Zlib", true),
            ("(GPL-3.0 OR MIT) AND BSD-3-Clause", false),
            ("Apache-2.0 WITH LLVM-exception", false),
        ];
        for (expression, expected) in cases {
            let met = is_allowed(expression, &["MIT", "Zlib", "Apache-2.0"]).expect(expression);
            assert_eq!(met, expected, "{expression}");
        }
        for broken in ["", "(MIT", "MIT MIT", "MIT OR"] {
            assert!(is_allowed(broken, &["MIT"]).is_err(), "{broken}");
        }
    }
}
