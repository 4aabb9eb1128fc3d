//! Plugin files that were built for earlier versions of the plugin ABI, with other compilers.
//!
//! Each is loaded and runs as when it was built: `tests/old-plugins` has a module, and for each version of the ABI the
//! files with their hashes and the results. `cargo xtask deep keep-plugins` builds the files.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;
use passdock::LoadOptions;
use passdock::testing::run_on_text;
use passdock_tests::standard_registry;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/old-plugins");

/// Returns the folders of the ABI's versions.
fn versions() -> Vec<PathBuf> {
    let mut versions = entries(Path::new(FOLDER));
    versions.retain(|entry| entry.is_dir());
    assert!(!versions.is_empty(), "{FOLDER} has no version");
    versions
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

#[test]
fn old_plugins_are_the_files_that_were_built_then() {
    for folder in versions() {
        let check = Command::new("sha256sum")
            .args(["--check", "--strict", "--quiet", "SHA256SUMS"])
            .current_dir(folder)
            .output()
            .expect("sha256sum");
        assert!(
            check.status.success(),
            "{}{}",
            String::from_utf8_lossy(&check.stdout),
            String::from_utf8_lossy(&check.stderr)
        );
    }
}

#[test]
fn old_plugins_run_as_then() {
    let source = std::fs::read_to_string(format!("{FOLDER}/model.ir")).expect("the module");
    for folder in versions() {
        let results = results(&folder, &source);
        expect_file![folder.join("results.txt")].assert_eq(&results);
    }
}

/// Returns the results of all passes of a folder's plugins on a module.
fn results(folder: &Path, source: &str) -> String {
    let mut files = entries(folder);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "so"));
    assert!(!files.is_empty(), "{} has no plugins", folder.display());
    let mut results = String::new();
    for file in files {
        let registry = standard_registry();
        let shipped = registry.pass_names();
        let loaded = registry.load_plugin(&file, &LoadOptions::default());
        loaded.unwrap_or_else(|error| panic!("{error}"));
        let name = file.file_name().expect("a file").to_string_lossy();
        let mut passes = registry.pass_names();
        passes.retain(|pass| !shipped.contains(pass));
        // Without passes of its own, the plugin has definitions.
        passes.push("relax.transform.FoldConstant".to_owned());
        for pass in passes {
            let result = run_on_text(&registry, &[&pass], source, |context| context);
            _ = writeln!(results, "; --- {name}: {pass}\n{result}");
        }
    }
    results
}
