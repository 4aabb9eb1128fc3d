//! The command on files in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;

/// A directory with the standard plugins at hand, gone when the test is over.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Two Relus, one after the other.
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
        std::fs::read_to_string(self.path(name)).expect("a file of text")
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The start of the plugins' paths in messages.
    pub(crate) fn plugins(&self) -> String {
        format!("{}{}", beside().display(), std::path::MAIN_SEPARATOR)
    }

    /// Files that are there, sorted: to see that nothing was left behind.
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

    /// Every file below the directory with its bytes, sorted.
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

    /// Runs `passdock` with these words, in the directory.
    pub(crate) fn passdock(&self, words: &str) -> Ran {
        self.run(words.split_whitespace(), "")
    }

    /// As [`Bench::passdock`], with a text on standard input.
    pub(crate) fn run<'w>(&self, words: impl IntoIterator<Item = &'w str>, input: &str) -> Ran {
        self.run_with(&[], words, input)
    }

    /// As [`Bench::run`], with environment variables.
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

    /// A program in the directory, whose environment doesn't depend on the machine.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).env("NO_COLOR", "1");
        for variable in [
            "PASSDOCK_PLUGIN_PATH",
            "ORT_DYLIB_PATH",
            "CI",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a command to its end, with a text on standard input.
    pub(crate) fn finish(&self, command: &mut Command, input: &str) -> Ran {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        if let Some(mut stdin) = child.stdin.take() {
            // It may end without reading its input.
            let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
        }
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        // A signal has no code.
        Ran {
            status: status.code().unwrap_or(-1),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }
}

/// The repository's root.
pub(crate) const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Builds a plugin of one C file of the repository; nothing, said aloud, where there is no C compiler.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn in_c(bench: &Bench, source: &str, flags: &[&str]) -> Option<PathBuf> {
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
    cc.args(flags).args([source, "-lm", "-o"]).arg(&library);
    match cc.current_dir(REPOSITORY).status() {
        Ok(status) => assert!(status.success(), "cc refuses {source}"),
        Err(error) => {
            eprintln!("skipped: cc can't be run: {error}");
            return None;
        }
    }
    Some(library)
}

impl Ran {
    /// The object that `--json` printed.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "this isn't one JSON value ({error}):\n{}\n{}",
                self.stdout, self.stderr
            )
        })
    }
}

/// The plugins that the tests use; the command finds them beside itself.
const PLUGINS: [&str; 3] = ["passdock-onnx-ops", "passdock-relax", "passdock-tir"];

/// Those of `tests/plugins`, which cargo builds as examples.
const EXAMPLES: [&str; 2] = ["passdock-misbehaving", "passdock-tap"];

/// One that isn't beside the command: its passes aren't in what the command lists.
const ELSEWHERE: &str = "passdock-outliner";

/// The command.
pub(crate) fn passdock() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_passdock"));
    beside().join(built.file_name().expect("a file's name"))
}

/// A library of the plugin crate `name`, as cargo leaves it.
pub(crate) fn plugin(name: &str) -> PathBuf {
    build_plugins();
    beside().join(library(name))
}

/// The library of the plugin that isn't beside the command.
pub(crate) fn plugin_elsewhere() -> PathBuf {
    build_plugins();
    let built = Path::new(env!("CARGO_BIN_EXE_passdock"));
    built.with_file_name("examples").join(library(ELSEWHERE))
}

fn library(name: &str) -> String {
    format!(
        "{}{}{}",
        std::env::consts::DLL_PREFIX,
        name.replace('-', "_"),
        std::env::consts::DLL_SUFFIX
    )
}

/// Where the command and the plugins lie: not cargo's own directory, which other tests' plugins
/// are in, too.
pub(crate) fn beside() -> &'static Path {
    Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/installed"))
}

/// Cargo builds the command for these tests, but not the plugins that it loads.
fn build_plugins() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet"])
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        match std::env::var("PASSDOCK_TEST_BUILD") {
            // Packages alone may have what they depend on built with other features: whoever built more says what.
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
            "the plugins don't build"
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

/// A second name of a file.
fn install(file: &Path) {
    let to = beside().join(file.file_name().expect("a file's name"));
    std::fs::create_dir_all(beside()).expect("a directory in cargo's");
    // Of an earlier run; it need not be there.
    let _ = std::fs::remove_file(&to);
    std::fs::hard_link(file, &to)
        .or_else(|_| std::fs::copy(file, &to).map(drop))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// A line that a command printed, with `TIME` for a time. Tables of times have other columns each time: their lines
/// are told word by word.
pub(crate) fn without_time(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |pair: &[&str]| {
        let unit = pair[1].trim_end_matches(',');
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
