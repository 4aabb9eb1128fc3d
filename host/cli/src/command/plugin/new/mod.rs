//! `passdock plugin new`: creates a directory with a plugin that builds and has a test.

mod names;
mod sdk;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context;
use passdock::files::directory_of;
use passdock::reproducer::shell_path;
use passdock::{ErrorKind, PassError};

use crate::args::plugin::NewArgs;
use crate::show;

/// Includes a template as a string.
macro_rules! template {
    ($path:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/templates/",
            $path,
            ".in"
        ))
    };
}

/// File contents, with paths relative to a directory.
type Files = Vec<(String, String)>;

/// The files of every plugin and their templates.
const ALL: [(&str, &str); 5] = [
    ("pipeline.toml", template!("both/pipeline.toml")),
    ("model.ir", template!("both/model.ir")),
    ("pyproject.toml", template!("both/pyproject.toml")),
    ("build_wheel.py", template!("both/build_wheel.py")),
    (".gitignore", template!("both/gitignore")),
];
/// The other files of a Rust plugin.
const RUST: [(&str, &str); 5] = [
    ("Cargo.toml", template!("rust/Cargo.toml")),
    ("src/lib.rs", template!("rust/lib.rs")),
    ("tests/fuse_double_relu.rs", template!("rust/test.rs")),
    ("README.md", template!("rust/README.md")),
    (".github/workflows/ci.yml", template!("rust/ci.yml")),
];
/// The source of a plugin in C, and in C++.
const C_SOURCE: &str = template!("c/plugin.c");
const CPP_SOURCE: &str = template!("cpp/plugin.cpp");
/// The other files of a C or C++ plugin, except its source.
const C: [(&str, &str); 6] = [
    ("src/plugin.toml", template!("c/plugin.toml")),
    ("Makefile", template!("c/Makefile")),
    ("CMakeLists.txt", template!("c/CMakeLists.txt")),
    ("tests/after.ir", template!("c/after.ir")),
    ("README.md", template!("c/README.md")),
    (".github/workflows/ci.yml", template!("c/ci.yml")),
];
/// A note about the header in the README of a C++ plugin.
const CPP_NOTE: &str = "\n`passdock.hpp`, next to it, is the C++17 API. For functions without a C++ wrapper, \
                        call the C API.\n";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Rust,
    C,
    Cpp,
}

pub(in crate::command) fn new(args: NewArgs) -> anyhow::Result<u8> {
    let language = match (args.c, args.cpp) {
        (_, true) => Language::Cpp,
        (true, false) => Language::C,
        (false, false) => Language::Rust,
    };
    let name = names::plugin_name(&args.dir, args.name.as_deref())?;
    check_free(&args.dir)?;
    let files = files(&name, language)?;
    write(&args.dir, &files)
        .with_context(|| format!("could not write `{}`", args.dir.display()))?;
    let next = match language {
        Language::Rust => "cargo test",
        Language::C | Language::Cpp => "make test",
    };
    show::print(&show::line(&format!(
        "created plugin `{name}` in {dir}; next: `cd {typed} && {next}`",
        dir = args.dir.display(),
        typed = shell_path(&args.dir),
    )));
    Ok(0)
}

/// Rejects a path that exists, unless it is an empty directory.
fn check_free(dir: &Path) -> Result<(), PassError> {
    let shown = dir.display();
    let usage = |message: String| PassError::new(ErrorKind::Usage, message);
    let usage_error = |message: String| {
        let help = "name a directory that does not exist; existing files are never overwritten";
        Err(usage(message).help(help))
    };
    let unreadable =
        |error: io::Error| usage(format!("could not read the directory `{shown}`: {error}"));
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(error)),
        Ok(_) if dir.is_dir() => {}
        Ok(_) => return usage_error(format!("`{shown}` exists and is not a directory")),
    }
    match fs::read_dir(dir).map_err(unreadable)?.next() {
        None => Ok(()),
        Some(_) => usage_error(format!("the directory `{shown}` is not empty")),
    }
}

/// Returns all files of the plugin.
fn files(name: &str, language: Language) -> Result<Files, PassError> {
    let sdk = sdk::files().ok_or_else(|| {
        let message = "the SDK in this executable is corrupt";
        PassError::new(ErrorKind::Read, message).help("reinstall passdock")
    })?;
    let plugin = name.replace('-', "_");
    let library = format!("{DLL_PREFIX}{plugin}{DLL_SUFFIX}");
    let either = |cpp, c| if language == Language::Cpp { cpp } else { c };
    let source = format!("{plugin}.{}", either("cpp", "c"));
    let [debug_dir, release_dir, build, manifest] = match language {
        Language::Rust => [
            "target/debug",
            "target/release",
            r#"["cargo", "build", "--release", "--target-dir", "target"]"#,
            "Cargo.toml",
        ],
        Language::C | Language::Cpp => ["build", "build", r#"["make"]"#, "src/plugin.toml"],
    };
    // Values may contain the names below them.
    let values = [
        ("@debug_dir@", debug_dir),
        ("@release_dir@", release_dir),
        ("@build@", build),
        ("@manifest@", manifest),
        ("@crate@", name),
        ("@plugin@", &plugin),
        ("@pass@", &format!("{plugin}.transform.FuseDoubleRelu")),
        ("@library@", &library),
        ("@source@", &source),
        ("@sdk@", &sdk_version(&sdk)),
        ("@CC@", either("CXX", "CC")),
        ("@CFLAGS@", either("CXXFLAGS", "CFLAGS")),
        ("@compiler@", either("c++", "cc")),
        ("@language@", either("CXX", "C")),
        (
            "@mingw@",
            either("x86_64-w64-mingw32-g++", "x86_64-w64-mingw32-gcc"),
        ),
        ("@standard@", either("-std=c++17", "-std=c11")),
        ("@note@\n", either(CPP_NOTE, "")),
    ];
    let fill_in = |text: &str| {
        let filled = values.iter();
        filled.fold(text.to_owned(), |text, (name, by)| text.replace(name, by))
    };
    let templates = match language {
        Language::Rust => [&ALL[..], &RUST].concat(),
        Language::C => [&ALL[..], &C, &[("src/@source@", C_SOURCE)]].concat(),
        Language::Cpp => [&ALL[..], &C, &[("src/@source@", CPP_SOURCE)]].concat(),
    };
    let filled = templates.iter();
    let filled = filled.map(|(path, text)| (fill_in(path), fill_in(text)));
    let mut files: Files = filled.collect();
    let vendored = sdk.into_iter().filter_map(|(path, text)| match language {
        Language::Rust => Some((format!("vendor/passdock-plugin-api/{path}"), text)),
        Language::C | Language::Cpp => {
            // The directory is a prefix, as of an installation.
            let target = path.strip_prefix("abi/").filter(|path| {
                let parts = ["include/", "share/"];
                parts.iter().any(|part| path.starts_with(part))
            });
            let target = target.or_else(|| path.starts_with("LICENSE").then_some(path.as_str()));
            Some((format!("vendor/passdock/{}", target?), text))
        }
    });
    files.extend(vendored);
    Ok(files)
}

/// Returns the SDK's version from its manifest.
fn sdk_version(sdk: &Files) -> String {
    let manifest = sdk.iter().find(|(path, _)| path == "Cargo.toml");
    let mut lines = manifest.iter().flat_map(|(_, text)| text.lines());
    let version = lines.find_map(|line| line.strip_prefix("version = "));
    version.unwrap_or_default().trim_matches('"').to_owned()
}

/// Writes the files to a directory, which may exist if it is empty. If writing fails, a directory that this function
/// created is removed.
fn write(dir: &Path, files: &Files) -> io::Result<()> {
    let exists = dir.exists();
    let written = files.iter().try_for_each(|(path, text)| {
        let path = dir.join(path);
        fs::create_dir_all(directory_of(&path))?;
        fs::write(path, text)
    });
    if written.is_err() && !exists {
        // The first error is reported instead.
        _ = fs::remove_dir_all(dir);
    }
    written
}
