//! Rules for source files: the first line, the length, forbidden words and paths, and that each is compiled and tested.

use std::path::Path;

use serde_json::Value;

use super::{File, crates};

const MAX_LINES: usize = 600;

/// Words that are forbidden in Rust sources, and why. They are split so that this file passes.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("todo", "!("), "is unfinished"),
    (concat!("unimplemented", "!("), "is unfinished"),
    (concat!("dbg", "!("), "is left over from debugging"),
    (concat!("#[", "ignore"), "hides a test"),
    (
        concat!("should_", "panic"),
        "does not check the panic message",
    ),
];
/// Parts of paths of a specific machine, which are forbidden in all text files.
const MACHINES: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
];

pub(super) fn offences(metadata: &Value, files: &[File]) -> Vec<String> {
    let untested = untested_crates(metadata);
    let is_rust = |file: &&File| file.path.ends_with(".rs");
    let sources: Vec<&File> = files.iter().filter(is_rust).collect();
    let mut offences = Vec::new();
    for File { path, text } in files {
        offences.extend(offences_in(path, text));
        if is_orphan(path, &sources) {
            offences.push(format!(
                "{path} is not part of a module; declare it with `mod`"
            ));
        }
        let is_untested = untested.iter().any(|src| path.starts_with(src));
        if is_untested && text.lines().any(|line| line.trim() == "#[test]") {
            offences.push(format!(
                "{path} has tests that never run: the manifest sets `test = false`"
            ));
        }
    }
    offences
}

/// Returns the `src` directories of crates with `test = false`.
fn untested_crates(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let untested = packages.filter(|package| {
        let mut targets = package["targets"].as_array().into_iter().flatten();
        let is_source = |kind: &Value| {
            ["lib", "rlib", "cdylib", "bin"]
                .iter()
                .any(|source| kind == source)
        };
        targets.any(|target| target["test"] == false && is_source(&target["kind"][0]))
    });
    let names: Vec<&Value> = untested.map(|package| &package["name"]).collect();
    let of_name = |(name, directory)| {
        names
            .iter()
            .any(|other| *other == name)
            .then(|| format!("{directory}/src/"))
    };
    crates(metadata).into_iter().filter_map(of_name).collect()
}

/// Whether a file below a `src` directory is neither a target nor a module, so that it is never compiled.
fn is_orphan(path: &str, sources: &[&File]) -> bool {
    let Some((_, inside)) = path
        .strip_suffix(".rs")
        .and_then(|path| path.split_once("/src/"))
    else {
        return false;
    };
    if ["lib", "main"].contains(&inside) || inside.starts_with("bin/") {
        return false;
    }
    let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let Some((folder, name)) = stem.rsplit_once('/') else {
        return false;
    };
    let parents = ["mod.rs", "lib.rs", "main.rs"].map(|parent| format!("{folder}/{parent}"));
    let declaration = format!("mod {name};");
    let declares = |file: &&File| {
        (parents.contains(&file.path) || file.path == format!("{folder}.rs"))
            && file
                .text
                .lines()
                .any(|line| line.trim_end().ends_with(&declaration))
    };
    !sources.iter().any(declares)
}

fn offences_in(file: &str, text: &str) -> Vec<String> {
    let mut offences = Vec::new();
    let extension = Path::new(file)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    let lines = text.lines().count();
    if ["rs", "py", "c", "cpp", "h", "hpp", "sh"].contains(&extension) && lines > MAX_LINES {
        offences.push(format!(
            "{file} has {lines} lines, more than {MAX_LINES}; split it by subject"
        ));
    }
    if extension == "rs" && !text.starts_with("//!") {
        offences.push(format!("{file} does not begin with a `//!` comment"));
    }
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        for (word, why) in FORBIDDEN
            .iter()
            .filter(|(word, _)| extension == "rs" && line.contains(word))
        {
            offences.push(format!("{file}:{at}: `{word}` {why}"));
        }
        for path in MACHINES.iter().filter(|path| line.contains(**path)) {
            offences.push(format!("{file}:{at}: `{path}` is a machine-specific path"));
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::{FORBIDDEN, File, MACHINES, MAX_LINES, is_orphan, offences_in, untested_crates};
    use serde_json::json;

    #[test]
    fn valid_files_have_no_offences() {
        assert!(offences_in("a.rs", "//! A file.\n").is_empty());
        assert!(offences_in("a.md", &"line\n".repeat(MAX_LINES + 1)).is_empty());
    }

    #[test]
    fn offences_are_reported_with_location() {
        assert_eq!(
            offences_in("a.rs", "fn main() {}\n"),
            ["a.rs does not begin with a `//!` comment"]
        );
        let long = "x = 1\n".repeat(MAX_LINES + 1);
        assert_eq!(
            offences_in("a.py", &long),
            ["a.py has 601 lines, more than 600; split it by subject"]
        );
        let (word, why) = FORBIDDEN[0];
        assert_eq!(
            offences_in("a.rs", &format!("//! A.\n{word})\n")),
            [format!("a.rs:2: `{word}` {why}")]
        );
        let path = MACHINES[0];
        assert_eq!(
            offences_in("a.toml", path),
            [format!("a.toml:1: `{path}` is a machine-specific path")]
        );
    }

    #[test]
    fn undeclared_files_are_orphans() {
        let file = |path: &str, text: &str| File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let files = [
            file("k/src/lib.rs", "mod a;\n#[cfg(test)] mod tests;\n"),
            file("k/src/a.rs", "pub(crate) mod b;\n"),
            file("k/src/a/b/mod.rs", ""),
        ];
        let files: Vec<&File> = files.iter().collect();
        for declared in ["lib.rs", "a.rs", "a/b/mod.rs", "tests.rs", "bin/tool.rs"] {
            assert!(
                !is_orphan(&format!("k/src/{declared}"), &files),
                "{declared}"
            );
        }
        for orphan in ["c.rs", "a/c.rs", "c/mod.rs"] {
            assert!(is_orphan(&format!("k/src/{orphan}"), &files), "{orphan}");
        }
    }

    #[test]
    fn crates_without_tests_are_found_in_metadata() {
        let package = |name: &str, kind: &str| {
            json!({"name": name, "manifest_path": format!("/p/{name}/Cargo.toml"),
                   "targets": [{"kind": [kind], "test": false}]})
        };
        let metadata = json!({"workspace_root": "/p", "packages": [package("a", "lib"), package("b", "bench")]});
        assert_eq!(untested_crates(&metadata), ["a/src/"]);
    }
}
