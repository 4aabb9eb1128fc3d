//! Finding ONNX Runtime's library.
//!
//! If the user names a library, only that one is tried. Otherwise the standard locations are tried in order: the system
//! loader's search path, the directory of the executable, and the package `onnxruntime` of the `python3` in PATH.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::{Result, Runtime};

/// File names that the system's loader may find.
#[cfg(windows)]
const NAMES: [&str; 1] = ["onnxruntime.dll"];
#[cfg(target_os = "macos")]
const NAMES: [&str; 1] = ["libonnxruntime.dylib"];
#[cfg(not(any(windows, target_os = "macos")))]
const NAMES: [&str; 2] = ["libonnxruntime.so.1", "libonnxruntime.so"];

/// The environment variable with the library's path.
const LIBRARY_VARIABLE: &str = "ORT_DYLIB_PATH";

/// A Python program that prints the package's path without importing it. It doesn't search the working directory.
const FIND_SCRIPT: &str = "\
import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util
spec = importlib.util.find_spec('onnxruntime')
print('\\n'.join(spec.submodule_search_locations or []) if spec else '')
";

/// Finds and loads ONNX Runtime. `library` is the path that the user chose.
///
/// # Errors
/// A message with the locations that were searched.
pub(crate) fn runtime(library: Option<&Path>) -> Result<Runtime> {
    if let Some((source, path)) = chosen(library) {
        // Absolute, since the loader searches other directories for a bare file name.
        let path = std::path::absolute(&path).unwrap_or(path);
        return Runtime::load(&path).map_err(|error| {
            format!(
                "could not load ONNX Runtime from `{}` ({source}): {error}",
                path.display()
            )
        });
    }
    let mut searched = vec![format!(
        "the loader's search path (`{}`)",
        NAMES.join("`, `")
    )];
    for name in NAMES {
        match Runtime::load(Path::new(name)) {
            Ok(runtime) => return Ok(runtime),
            Err(error) if is_missing(name, &error) => {}
            Err(error) => searched.push(format!("`{name}` ({error})")),
        }
    }
    let (directories, python) = directories();
    for (directory, path) in directories {
        let Some(path) = path else {
            searched.push(format!("`{}`", directory.display()));
            continue;
        };
        match Runtime::load(path) {
            Ok(runtime) => return Ok(runtime),
            Err(error) => searched.push(format!("`{}` ({error})", path.display())),
        }
    }
    searched.extend(python.clone());
    Err(format!(
        "ONNX Runtime not found; searched {}; {LIBRARY_VARIABLE} is not set",
        searched.join(", ")
    ))
}

/// Allows loading ONNX Runtime from a sandbox. `library` is the path that the user chose.
pub(crate) fn allow(library: Option<&Path>) {
    if !passdock_sandbox::is_prepared() {
        return;
    }
    match chosen(library) {
        Some((_, path)) => passdock_sandbox::allow_library(&path),
        None => {
            let libraries = directories()
                .0
                .iter()
                .filter_map(|(_, library)| library.as_ref());
            libraries.for_each(|library| passdock_sandbox::allow_library(library));
        }
    }
}

/// Returns the library that the user chose, and how.
fn chosen(library: Option<&Path>) -> Option<(&'static str, PathBuf)> {
    let variable = || env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty());
    match library {
        Some(path) => Some(("option `library`", path.to_owned())),
        None => Some((LIBRARY_VARIABLE, variable()?.into())),
    }
}

/// The directories to search, each with its library; and a description of the search if there is no Python package.
type Directories = (Vec<(PathBuf, Option<PathBuf>)>, Option<String>);

/// Searches the directory of the executable and those of the Python package. This can't be done in a sandbox, so the
/// result is kept.
fn directories() -> &'static Directories {
    static DIRECTORIES: OnceLock<Directories> = OnceLock::new();
    DIRECTORIES.get_or_init(|| {
        let executable = env::current_exe().ok();
        let own = executable.as_deref().and_then(Path::parent);
        let (packages, python) = python_packages();
        let packages = packages.iter().map(|package| package.join("capi"));
        let all = own.map(Path::to_owned).into_iter().chain(packages);
        let all = all.map(|directory| {
            let library = in_directory(&directory);
            (directory, library)
        });
        (all.collect(), python)
    })
}

/// Whether a loader error means that there is no library of this name.
fn is_missing(name: &str, error: &str) -> bool {
    if cfg!(windows) {
        // ERROR_MOD_NOT_FOUND. The text of the message depends on the system's language.
        return error.ends_with("(os error 126)");
    }
    let rest = error.strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with(": cannot open shared object file: No such file"))
}

/// Finds the library in a directory: the newest version, if there are several.
fn in_directory(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_library = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(is_library_name)
    };
    paths.filter(is_library).max_by_key(|path| version_of(path))
}

/// Whether a file is named `libonnxruntime.so`, `libonnxruntime.so.1.22.0`, `libonnxruntime.1.22.0.dylib` or
/// `onnxruntime.dll`; not `libonnxruntime_providers_shared.so`.
fn is_library_name(name: &str) -> bool {
    let rest = name.strip_prefix("libonnxruntime.");
    if cfg!(windows) {
        name.eq_ignore_ascii_case("onnxruntime.dll")
    } else if cfg!(target_os = "macos") {
        rest.is_some_and(|rest| rest.ends_with("dylib"))
    } else {
        rest.is_some_and(|rest| rest == "so" || rest.starts_with("so."))
    }
}

/// Returns the numbers in a file's name.
fn version_of(path: &Path) -> Vec<u64> {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    name.split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// Returns the package's directories in the `python3` in PATH; if there is no package, a description of the search.
fn python_packages() -> (Vec<PathBuf>, Option<String>) {
    let output = Command::new("python3")
        .args(["-c", FIND_SCRIPT])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else {
        return (
            Vec::new(),
            Some("the packages of `python3` (no `python3` in PATH)".to_owned()),
        );
    };
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = lines.lines().filter(|line| !line.is_empty());
    let packages: Vec<PathBuf> = lines.map(PathBuf::from).collect();
    let none = || "the packages of `python3` (no `onnxruntime`)".to_owned();
    let missing = packages.is_empty().then(none);
    (packages, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn newest_library_of_a_directory_is_selected() {
        let directory = tempfile::tempdir().unwrap();
        let others = [
            "libonnxruntime_providers_shared.so",
            "onnxruntime.so",
            "libonnxruntime.a",
        ];
        for name in others {
            fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(in_directory(directory.path()), None);
        for name in [
            "libonnxruntime.so.1.9.1",
            "libonnxruntime.so.1.22.0",
            "libonnxruntime.so",
        ] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let found = in_directory(directory.path()).unwrap();
        assert!(found.ends_with("libonnxruntime.so.1.22.0"), "{found:?}");
    }

    #[test]
    fn library_option_has_no_fallback() {
        let error = runtime(Some(Path::new("/nowhere/libonnxruntime.so")))
            .err()
            .unwrap();
        let beginning =
            "could not load ONNX Runtime from `/nowhere/libonnxruntime.so` (option `library`): ";
        assert!(error.starts_with(beginning), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn unrelated_library_is_rejected() {
        let error = Runtime::load(Path::new("libc.so.6")).err().unwrap();
        assert_eq!(error, "not ONNX Runtime: missing `OrtGetApiBase`");
    }
}
