//! Plugin files that were built for earlier versions of the plugin ABI, with other compilers.
//!
//! Each is loaded and runs as when it was built: `tests/old-plugins/abi-1.0` has the files with their hashes, a module and
//! the results. `cargo xtask deep keep-plugins` builds the files.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;
use passdock::LoadOptions;
use passdock::testing::run_on_text;
use passdock_tests::standard_registry;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("old-plugins/abi-1.0")
}

#[test]
fn plugins_for_abi_1_0_are_the_files_that_were_built_then() {
    let check = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "SHA256SUMS"])
        .current_dir(folder())
        .output()
        .expect("sha256sum");
    assert!(
        check.status.success(),
        "{}{}",
        String::from_utf8_lossy(&check.stdout),
        String::from_utf8_lossy(&check.stderr)
    );
}

#[test]
fn plugins_for_abi_1_0_run_as_then() {
    let source = std::fs::read_to_string(folder().join("model.ir")).expect("the module");
    let files = std::fs::read_dir(folder()).expect("the folder").flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "so"));
    files.sort();
    assert!(!files.is_empty(), "the folder has plugins");
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
            let result = run_on_text(&registry, &[&pass], &source, |context| context);
            _ = writeln!(results, "; --- {name}: {pass}\n{result}");
        }
    }
    expect_file![folder().join("results.txt")].assert_eq(&results);
}
