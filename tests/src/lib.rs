//! Helpers of the end-to-end tests: the standard plugins, and models to run them on.

pub mod by_type;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use passdock::Registry;

/// The standard passes of the graph level.
pub const PASSES: [&str; 5] = [
    "relax.transform.InferType",
    "relax.transform.FoldConstant",
    "relax.transform.CanonicalizeBindings",
    "relax.transform.EliminateCommonSubexpr",
    "relax.transform.DeadCodeElimination",
];

/// Returns a registry with the standard plugins, linked in.
///
/// # Panics
/// If they are invalid.
pub fn standard_registry() -> Registry {
    let registry = Registry::new();
    let plugins = [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
        passdock_plugins_tir::PLUGIN,
    ];
    for plugin in plugins {
        registry
            .load_static(plugin)
            .expect("the standard plugins are well made");
    }
    registry
}

/// Returns the paths of the example's model, and of the models in the directory `PASSDOCK_MODELS`.
///
/// # Panics
/// If that directory can't be read.
pub fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut models = vec![root.join("examples/models/digits.onnx")];
    if let Some(dir) = std::env::var_os("PASSDOCK_MODELS") {
        let files = std::fs::read_dir(dir)
            .expect("PASSDOCK_MODELS names a directory")
            .flatten();
        let found = files.map(|file| file.path());
        models.extend(found.filter(|path| path.extension().is_some_and(|e| e == "onnx")));
    }
    models.sort();
    models
}

/// Returns the library of a plugin that cargo built. It is in the directory `PASSDOCK_TEST_PLUGINS`, for plugins of
/// another version, or next to this test or benchmark, which depends on its crate. The examples of `tests/plugins` are
/// in a separate directory.
///
/// # Panics
/// If the test has no path, or if the examples don't build.
pub fn library(name: &str) -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let test = std::env::current_exe().expect("the test's own path");
    let directory_of_test = test.parent().expect("its directory");
    let other_age = std::env::var_os("PASSDOCK_TEST_PLUGINS").map(PathBuf::from);
    if other_age.is_none() {
        build_examples(directory_of_test);
    }
    let directory = other_age.as_deref().unwrap_or(directory_of_test);
    let file = format!("{DLL_PREFIX}{name}{DLL_SUFFIX}");
    let example = directory.with_file_name("examples").join(&file);
    match example.is_file() {
        true => example,
        false => directory.join(file),
    }
}

/// Builds the plugins of `tests/plugins` once, because cargo doesn't build examples of a test's dependencies. With
/// `PASSDOCK_TEST_BUILD`, they are already built.
fn build_examples(directory_of_test: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("PASSDOCK_TEST_BUILD").is_some() {
            return;
        }
        let target = directory_of_test
            .ancestors()
            .nth(2)
            .expect("the target directory");
        let mut cargo = Command::new(env!("CARGO"));
        let profile = if cfg!(debug_assertions) {
            "dev"
        } else {
            "bench"
        };
        cargo
            .args(["build", "--quiet", "--package", "passdock-test-plugins"])
            .args(["--examples", "--profile", profile, "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        let status = cargo.status().expect("cargo starts");
        assert!(status.success(), "the plugins don't build");
    });
}

/// Builds a plugin of one C file in a directory. Prints a message and returns `None` if there is no C compiler.
///
/// # Panics
/// If the file doesn't compile.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub fn build_c_plugin(source: &Path, dir: &Path) -> Option<PathBuf> {
    let name = source.file_stem().expect("a file has a name");
    let library = dir.join(name).with_extension("so");
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin-api/abi/include");
    let other_age = std::env::var_os("PASSDOCK_TEST_INCLUDE").map(PathBuf::from);
    let mut cc = Command::new("cc");
    if other_age.is_some() {
        // The structs of a future header have an additional field, which these initializers don't set.
        cc.arg("-Wno-missing-field-initializers");
    }
    let include = other_age.unwrap_or_else(own);
    cc.args([
        "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
    ]);
    // The manifest is next to the source.
    let dir_of_source = source.parent().expect("a file is in a directory");
    cc.arg("-I")
        .arg(include)
        .arg("-I")
        .arg(dir_of_source)
        .arg("-o")
        .arg(&library)
        .arg(source);
    match cc.status() {
        Ok(status) => assert!(status.success(), "cc rejects {}", source.display()),
        Err(error) => {
            eprintln!("skipped: cc can't be run: {error}");
            return None;
        }
    }
    Some(library)
}

/// The guides and the README. Their Rust code is compiled and run as documentation tests; `cargo xtask guides` runs
/// their commands.
pub mod guides {
    #[doc = include_str!("../../README.md")]
    pub mod readme {}
    #[doc = include_str!("../../docs/guides/use-the-pass-infrastructure.md")]
    pub mod use_the_pass_infrastructure {}
    #[doc = include_str!("../../docs/guides/write-a-pass.md")]
    #[allow(
        clippy::test_attr_in_doctest,
        reason = "the guide shows a file of tests, which its own commands run"
    )]
    pub mod write_a_pass {}
    #[doc = include_str!("../../docs/guides/write-an-instrument.md")]
    pub mod write_an_instrument {}
}
