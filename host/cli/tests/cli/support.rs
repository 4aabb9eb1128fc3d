//! Helpers to run the command in a temporary directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;

/// A temporary directory in which the command finds the standard plugins.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Two consecutive Relus.
pub(crate) const RELUS: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Relu(%0) : f32[2]
    return %1
  }
}
"#;

impl Bench {
    pub(crate) fn new() -> Bench {
        build_plugins();
        Bench {
            dir: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Bench {
        std::fs::write(self.path(name), content).expect("a new file");
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a text file")
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Returns the prefix of plugin paths in messages.
    pub(crate) fn plugins(&self) -> String {
        format!("{}{}", install_dir().display(), std::path::MAIN_SEPARATOR)
    }

    /// Returns the sorted names of the files, to check that no others were left.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path())
            .expect("the directory")
            .flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Returns all files below the directory with their contents, sorted.
    pub(crate) fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut found, mut dirs) = (Vec::new(), vec![self.dir.path().to_path_buf()]);
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(&dir).expect("a directory").flatten() {
                let path = entry.path();
                match entry.file_type().expect("a type") {
                    kind if kind.is_dir() => {
                        dirs.push(path.clone());
                        found.push((path, Vec::new()));
                    }
                    kind if kind.is_file() => {
                        let bytes = std::fs::read(&path).expect("a file");
                        found.push((path, bytes));
                    }
                    _ => found.push((path, Vec::new())),
                }
            }
        }
        found.sort();
        found
    }

    /// Runs `passdock` with these arguments in the directory.
    pub(crate) fn passdock(&self, words: &str) -> Ran {
        self.run(words.split_whitespace(), "")
    }

    /// Like [`Bench::passdock`], with a string as standard input.
    pub(crate) fn run<'w>(&self, words: impl IntoIterator<Item = &'w str>, input: &str) -> Ran {
        self.run_with(&[], words, input)
    }

    /// Like [`Bench::run`], with environment variables.
    pub(crate) fn run_with<'w>(
        &self,
        variables: &[(&str, &str)],
        words: impl IntoIterator<Item = &'w str>,
        input: &str,
    ) -> Ran {
        self.finish(
            self.command(passdock())
                .args(words)
                .envs(variables.iter().copied()),
            input,
        )
    }

    /// Returns a command that runs in the directory, with an environment that doesn't depend on the machine.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).env("NO_COLOR", "1");
        command.env("HOME", self.dir.path());
        for variable in [
            "PASSDOCK_PLUGIN_PATH",
            "CONDA_PREFIX",
            "ORT_DYLIB_PATH",
            "VIRTUAL_ENV",
            "XDG_DATA_HOME",
            "CI",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a command to completion, with a string as standard input.
    pub(crate) fn finish(&self, command: &mut Command, input: &str) -> Ran {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        if let Some(mut stdin) = child.stdin.take() {
            // It may exit without reading its input.
            let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
        }
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().expect("its output");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        // A process that a signal terminated has no code.
        Ran {
            status: status.code().unwrap_or(-1),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }
}

/// The root of the repository.
pub(crate) const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Builds a plugin from a C file of the repository. Prints a message and returns `None` without a C compiler.
#[allow(clippy::print_stderr, reason = "a skipped test prints a message")]
pub(crate) fn compile_c_plugin(bench: &Bench, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let library = bench.path("plugin.so");
    let mut cc = Command::new("cc");
    cc.args([
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-function",
    ]);
    cc.args(["-shared", "-fPIC", "-I", "plugin-api/abi/include"]);
    // The manifest is next to the source.
    cc.arg("-I").args(Path::new(source).parent());
    cc.args(flags).args([source, "-lm", "-o"]).arg(&library);
    match cc.current_dir(REPOSITORY).status() {
        Ok(status) => assert!(status.success(), "cc rejects {source}"),
        Err(error) => {
            eprintln!("skipped: could not run cc: {error}");
            return None;
        }
    }
    Some(library)
}

impl Ran {
    /// Parses the object that `--json` printed.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "expected one JSON value ({error}):\n{}\n{}",
                self.stdout, self.stderr
            )
        })
    }
}

/// The plugins that the tests use. The command finds them in its directory.
const PLUGINS: [&str; 3] = ["passdock-onnx-ops", "passdock-relax", "passdock-tir"];

/// Plugins in `tests/plugins`, which cargo builds as examples.
const EXAMPLES: [&str; 2] = ["passdock-misbehaving", "passdock-tap"];

/// Returns the path of the command.
pub(crate) fn passdock() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_passdock"));
    install_dir().join(built.file_name().expect("a file's name"))
}

/// Returns the library of the plugin crate `name`.
pub(crate) fn plugin(name: &str) -> PathBuf {
    build_plugins();
    install_dir().join(library(name))
}

/// Returns the library of a plugin in `tests/plugins` outside of the command's directory, which the command doesn't
/// find.
pub(crate) fn plugin_elsewhere(name: &str) -> PathBuf {
    build_plugins();
    let built = Path::new(env!("CARGO_BIN_EXE_passdock"));
    built.with_file_name("examples").join(library(name))
}

fn library(name: &str) -> String {
    format!(
        "{}{}{}",
        std::env::consts::DLL_PREFIX,
        name.replace('-', "_"),
        std::env::consts::DLL_SUFFIX
    )
}

/// Returns the directory of the command and the plugins. Cargo's own directory also has the plugins of other tests.
pub(crate) fn install_dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/installed"))
}

/// Builds the plugins. Cargo builds only the command for these tests.
fn build_plugins() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet"])
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        match std::env::var("PASSDOCK_TEST_BUILD") {
            // Building single packages may enable other features of their dependencies. A caller that built more
            // packages passes them in this variable.
            Ok(words) => cargo.args(words.split_whitespace()),
            Err(_) => {
                cargo.args(PLUGINS.iter().flat_map(|package| ["--package", package]));
                cargo.args(["--package", "passdock-test-plugins", "--lib", "--examples"])
            }
        };
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let command = Path::new(env!("CARGO_BIN_EXE_passdock"));
        let built = command.parent().expect("its directory");
        let target = built.parent().expect("the target directory");
        cargo.arg("--target-dir").arg(target);
        assert!(
            cargo.status().expect("cargo starts").success(),
            "could not build the plugins"
        );
        install(command);
        for package in PLUGINS {
            install(&built.join(library(package)));
        }
        for example in EXAMPLES {
            install(&built.join("examples").join(library(example)));
        }
    });
}

/// Hard-links a file into the directory.
fn install(file: &Path) {
    let to = install_dir().join(file.file_name().expect("a file's name"));
    std::fs::create_dir_all(install_dir()).expect("a directory in cargo's");
    // Remove the file of an earlier run, if there is one.
    let _ = std::fs::remove_file(&to);
    std::fs::hard_link(file, &to)
        .or_else(|_| std::fs::copy(file, &to).map(drop))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// Replaces durations in a line with `TIME`. The width of table columns depends on durations, so runs of spaces are
/// collapsed.
pub(crate) fn without_time(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |pair: &[&str]| {
        let unit = pair[1].trim_end_matches([',', ':']);
        pair[0].parse::<f64>().is_ok() && ["ns", "µs", "ms", "s"].contains(&unit)
    };
    if let Some(at) = words.windows(2).position(is_time) {
        words.splice(at..at + 2, ["TIME"]);
        words.join(" ")
    } else if words.starts_with(&["pass", "time"]) {
        words.join(" ")
    } else {
        line.to_owned()
    }
}
