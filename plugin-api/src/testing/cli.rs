//! Running the `passdock` program on IR text.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::compare::{difference, Tolerance};

/// Runs all passes of the plugin under test on `before`, in the order of its manifest, and compares the result with
/// `after`. Both are IR text, whose formatting doesn't matter.
///
/// Call it in a file of the crate's `tests/` directory, with `crate-type = ["cdylib", "rlib"]` in `Cargo.toml`. The
/// environment variable `PASSDOCK` names the `passdock` program; by default it is found in `PATH`.
///
/// # Panics
/// If the IR differs, with a diff; and if the program or the plugin isn't found.
#[track_caller]
pub fn check(before: &str, after: &str) {
    Check::new().run(before, after);
}

/// Checks that the passes don't change `text`, as [`check`].
#[track_caller]
pub fn check_unchanged(text: &str) {
    check(text, text);
}

/// A check with other passes, options, or another plugin.
///
/// # Examples
///
/// ```no_run
/// use passdock_plugin_api::testing::Check;
///
/// # let (before, after) = ("", "");
/// Check::new()
///     .passes(&["acme.transform.Quantize"])
///     .args(["--config", "acme.Quantize.bits=4", "-O3"])
///     .absolute_tolerance(1e-3)
///     .run(before, after);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Check {
    passes: Option<String>,
    arguments: Vec<OsString>,
    plugin: Option<PathBuf>,
    tolerance: Tolerance,
}

impl Check {
    /// Creates a check of all passes of the plugin under test.
    pub fn new() -> Check {
        Check::default()
    }

    /// Sets the passes, in order. They may belong to other plugins, too.
    pub fn passes(mut self, names: &[&str]) -> Check {
        self.passes = Some(names.join(","));
        self
    }

    /// Adds arguments of `passdock run`, in order: `["--config", "acme.Quantize.bits=4"]`.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Check {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the relative tolerance of floats: 0.01 is one percent. The default is 0: floats must be equal.
    ///
    /// A float may differ by the sum of both tolerances. The tolerance applies to numbers in the text: attributes and
    /// small constants. Large constants are blobs in the text and must be equal, as must infinities and NaNs.
    ///
    /// # Panics
    /// If it is negative or NaN.
    #[track_caller]
    pub fn relative_tolerance(mut self, tolerance: f64) -> Check {
        assert!(tolerance >= 0.0, "invalid tolerance {}", tolerance);
        self.tolerance.relative = tolerance;
        self
    }

    /// Sets the absolute tolerance of floats, as [`relative_tolerance`](Check::relative_tolerance).
    ///
    /// # Panics
    /// If it is negative or NaN.
    #[track_caller]
    pub fn absolute_tolerance(mut self, tolerance: f64) -> Check {
        assert!(tolerance >= 0.0, "invalid tolerance {}", tolerance);
        self.tolerance.absolute = tolerance;
        self
    }

    /// Sets the plugin file; the default is the crate's library.
    pub fn plugin(mut self, file: impl Into<PathBuf>) -> Check {
        self.plugin = Some(file.into());
        self
    }

    /// Runs the passes on `before` and compares the result with `after`.
    ///
    /// # Panics
    /// See [`check`].
    #[track_caller]
    pub fn run(&self, before: &str, after: &str) {
        // Panics here, so that the message has the line of the test.
        let (expected, actual) = match self.texts(before, after) {
            Ok(texts) => texts,
            Err(message) => panic!("{}", message),
        };
        if let Some(difference) = difference(&expected, &actual, self.tolerance) {
            panic!("unexpected IR after the passes:\n{}", difference);
        }
    }

    /// Runs the passes on `before`, and returns the messages of `passdock`: diagnostics, and the reports of instruments
    /// that [`args`](Check::args) name (`--instrument`).
    ///
    /// # Panics
    /// See [`check`]. If the passes fail.
    #[track_caller]
    pub fn messages(&self, before: &str) -> String {
        match self.output(before) {
            Ok(output) => output.messages,
            Err(message) => panic!("{}", message),
        }
    }

    /// Returns the expected and the actual IR, both as printed by the host.
    fn texts(&self, before: &str, after: &str) -> Result<(String, String), String> {
        let convert = ["convert", "-", "-"].map(OsString::from);
        let expected = output(&convert, after, "read the expected IR")?;
        Ok((expected.text, self.output(before)?.text))
    }

    /// Returns the output of a run of the passes.
    fn output(&self, before: &str) -> Result<Printed, String> {
        let plugin = match &self.plugin {
            Some(file) => file.clone(),
            None => find_plugin()?,
        };
        let passes = match &self.passes {
            Some(passes) => passes.clone(),
            None => passes_of(&plugin)?,
        };
        let mut run = ["run", "-", "-o", "-", "--passes", &passes, "--plugin"]
            .map(OsString::from)
            .to_vec();
        run.push(plugin.into());
        run.extend(self.arguments.iter().cloned());
        output(&run, before, &format!("run {}", passes))
    }
}

/// The output of the program.
struct Printed {
    text: String,
    messages: String,
}

/// Runs the program with IR on its standard input. Returns its output, or its messages if it fails.
fn output(arguments: &[OsString], input: &str, what: &str) -> Result<Printed, String> {
    let program = find_program()?;
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let printed = command.spawn().and_then(|mut child| {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that doesn't read all of it prints an error.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    });
    let Output {
        status,
        stdout,
        stderr,
    } = printed.map_err(|e| format!("could not run `{}`: {}", program.display(), e))?;
    let messages = String::from_utf8_lossy(&stderr).into_owned();
    if !status.success() {
        return Err(format!(
            "passdock could not {} ({}):\n{}",
            what, status, messages
        ));
    }
    match String::from_utf8(stdout) {
        Ok(text) => Ok(Printed { text, messages }),
        Err(_) => Err("the output of passdock is not valid UTF-8".to_owned()),
    }
}

fn find_program() -> Result<PathBuf, String> {
    if let Some(program) = env::var_os("PASSDOCK") {
        let program = PathBuf::from(program);
        if program.is_file() {
            return Ok(program);
        }
        return Err(format!(
            "invalid environment variable `PASSDOCK`: `{}` is not a file",
            program.display()
        ));
    }
    let name = format!("passdock{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|directory| directory.join(&name))
        .find(|program| program.is_file())
        .ok_or_else(|| {
            "could not find `passdock` in `PATH`; install it (`cargo install --path host/cli` in its \
             repository), or set the environment variable `PASSDOCK`"
                .to_owned()
        })
}

/// Returns the path of the library that cargo built from the crate under test.
fn find_plugin() -> Result<PathBuf, String> {
    let package = env::var("CARGO_PKG_NAME").map_err(|_| {
        "could not find the plugin outside `cargo test`; set it with `Check::plugin`".to_owned()
    })?;
    let test =
        env::current_exe().map_err(|e| format!("could not find the test executable: {}", e))?;
    let name = format!(
        "{}{}{}",
        env::consts::DLL_PREFIX,
        package.replace('-', "_"),
        env::consts::DLL_SUFFIX
    );
    // target/<profile>/deps/<test>: cargo puts the library next to the test, and links or copies it one level up.
    let candidates: Vec<PathBuf> = test
        .ancestors()
        .skip(1)
        .take(2)
        .map(|dir| dir.join(&name))
        .collect();
    let plugin = candidates.iter().find(|candidate| candidate.is_file());
    plugin.cloned().ok_or_else(|| {
        let candidates: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
        format!(
            "could not find the plugin at {}; set `crate-type = [\"cdylib\", \"rlib\"]` in its Cargo.toml, \
             or set the plugin with `Check::plugin` if its library is not named after the package",
            candidates.join(" or ")
        )
    })
}

/// Returns the names of a plugin's passes, from the manifest in the file.
fn passes_of(plugin: &Path) -> Result<String, String> {
    let bytes =
        fs::read(plugin).map_err(|e| format!("could not read `{}`: {}", plugin.display(), e))?;
    let names = pass_names(&bytes);
    if names.is_empty() {
        return Err(format!(
            "`{}` has no passes in its manifest; export the plugin with `export_plugin!(PLUGIN)`",
            plugin.display()
        ));
    }
    Ok(names.join(","))
}

/// Sufficient for manifests that `plugin!` generates; the host parses them properly.
fn pass_names(file: &[u8]) -> Vec<String> {
    const START: &[u8] = b"[plugin]\nname = \"";
    let start = match file.windows(START.len()).position(|window| window == START) {
        Some(start) => start,
        None => return Vec::new(),
    };
    let manifest = file[start..].split(|byte| *byte == 0).next().unwrap_or(&[]);
    let text = String::from_utf8_lossy(manifest);
    let mut lines = text.lines();
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        if line == "[[pass]]" {
            let name = lines.next().and_then(|line| line.strip_prefix("name = \""));
            names.extend(
                name.and_then(|name| name.strip_suffix('"'))
                    .map(str::to_owned),
            );
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::pass_names;

    #[test]
    fn pass_names_are_read_from_plugin_file() {
        let file =
            b"\x7fELF..\0[plugin]\nname = \"p\"\n\n[[pass]]\nname = \"a.B\"\nkind = \"module\"\n\
            \n[[pass]]\nname = \"c.D\"\n\0name = \"no\"";
        assert_eq!(pass_names(file), ["a.B", "c.D"]);
        assert_eq!(pass_names(b"[plugin]"), Vec::<String>::new());
    }
}
