//! Where the command looks for plugins besides what it is told, and where it keeps what they say.

use std::ffi::OsString;
use std::path::PathBuf;

use passdock::Registry;

/// What the command's own pass, `PrintIR`, does.
pub(crate) const OWN_PASS: &str = "Prints the module under a heading, and changes nothing.";

/// A registry with the instruments and the pass that the command has beside the library's.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    passdock_page::register(&registry);
    registry
}

/// `PASSDOCK_PLUGIN_PATH`, then the standard plugins beside the executable or in
/// `../lib/passdock/plugins`. None of them has to be there.
pub(crate) fn standard_dirs() -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = std::env::var_os("PASSDOCK_PLUGIN_PATH")
        .map(|paths| {
            std::env::split_paths(&paths)
                .filter(|p| !p.as_os_str().is_empty())
                .collect()
        })
        .unwrap_or_default();
    if let Some(beside) = program_dir() {
        // Not `beside/../lib`: messages name files of it.
        if let Some(prefix) = beside.parent() {
            dirs.push(prefix.join("lib/passdock/plugins"));
        }
        dirs.push(beside);
    }
    dirs
}

/// The directory of the executable.
pub(crate) fn program_dir() -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(dunce::canonicalize);
    executable.ok()?.parent().map(PathBuf::from)
}

/// The directory in which the manifests of plugins are kept between runs: the one that `PASSDOCK_CACHE`
/// names, none if that is `off`; otherwise `passdock` where the user's caches are.
pub(crate) fn manifest_cache() -> Option<PathBuf> {
    manifest_cache_of(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

fn manifest_cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match variable("PASSDOCK_CACHE") {
        Some(off) if off == "off" => return None,
        Some(dir) => return Some(dir.into()),
        None => {}
    }
    // A relative path there has no meaning, says the specification.
    let absolute = |dir: OsString| Some(PathBuf::from(dir)).filter(|dir| dir.is_absolute());
    let caches = variable("XDG_CACHE_HOME").and_then(absolute).or_else(|| {
        let home = variable("HOME").and_then(absolute)?;
        Some(home.join(".cache"))
    });
    Some(caches?.join("passdock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_user_says() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let found = manifest_cache_of(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            });
            assert_eq!(found, expected.map(PathBuf::from), "{variables:?}");
        };
        let home = ("HOME", "/people/a");
        check(&[home], Some("/people/a/.cache/passdock"));
        check(&[home, ("XDG_CACHE_HOME", "/c")], Some("/c/passdock"));
        check(
            &[home, ("XDG_CACHE_HOME", "c")],
            Some("/people/a/.cache/passdock"),
        );
        check(&[home, ("PASSDOCK_CACHE", "here")], Some("here"));
        check(&[home, ("PASSDOCK_CACHE", "off")], None);
        check(&[], None);
    }
}
