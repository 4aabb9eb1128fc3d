//! Running the `passdock` program on IR text.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::compare::{difference, Tolerance};

/// Runs all passes of the plugin under test on `before`, in the order of its manifest, and
/// compares with `after`: two texts of IR, whose layout doesn't matter.
///
/// Call it in a file of the crate's `tests/` directory, with
/// `crate-type = ["cdylib", "rlib"]` in `Cargo.toml`. The `passdock` program is the one that the
/// environment variable `PASSDOCK` names, or the one in `PATH`.
///
/// # Panics
/// With a diff if the IR differs, and with what is missing if the program or the plugin isn't
/// found.
#[track_caller]
pub fn check(before: &str, after: &str) {
    Check::new().run(before, after);
}

/// Checks, as [`check`] does, that the passes leave `text` as it is.
#[track_caller]
pub fn check_unchanged(text: &str) {
    check(text, text);
}

/// A check with passes, options or a plugin of one's choice.
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
    /// A check of all passes of the plugin under test.
    pub fn new() -> Check {
        Check::default()
    }

    /// Sets the passes, in this order; they may be other plugins' too.
    pub fn passes(mut self, names: &[&str]) -> Check {
        self.passes = Some(names.join(","));
        self
    }

    /// Further arguments of `passdock run`, in this order: `["--config", "acme.Quantize.bits=4"]`.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Check {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Lets floats differ from the expected ones by this part of them: 0.01 is one percent. Without a
    /// tolerance they are to be the same.
    ///
    /// A float may differ by the sum of both tolerances. Those are compared that the text writes as
    /// numbers: of attributes, and of constants but large ones, which are blobs in the text and to be
    /// the same. What isn't finite is to be the same, too.
    ///
    /// # Panics
    /// If it isn't a number, or is negative.
    #[track_caller]
    pub fn relative_tolerance(mut self, tolerance: f64) -> Check {
        assert!(tolerance >= 0.0, "a tolerance of {}", tolerance);
        self.tolerance.relative = tolerance;
        self
    }

    /// Lets floats differ from the expected ones by this much, as
    /// [`relative_tolerance`](Check::relative_tolerance) does by a part of them.
    ///
    /// # Panics
    /// If it isn't a number, or is negative.
    #[track_caller]
    pub fn absolute_tolerance(mut self, tolerance: f64) -> Check {
        assert!(tolerance >= 0.0, "a tolerance of {}", tolerance);
        self.tolerance.absolute = tolerance;
        self
    }

    /// Sets the plugin file, instead of the crate's own.
    pub fn plugin(mut self, file: impl Into<PathBuf>) -> Check {
        self.plugin = Some(file.into());
        self
    }

    /// Runs them on `before` and compares with `after`.
    ///
    /// # Panics
    /// As [`check`].
    #[track_caller]
    pub fn run(&self, before: &str, after: &str) {
        // Panics are raised here, so that they show the line of the test.
        let (expected, actual) = match self.texts(before, after) {
            Ok(texts) => texts,
            Err(message) => panic!("{}", message),
        };
        if let Some(difference) = difference(&expected, &actual, self.tolerance) {
            panic!(
                "the IR after the passes isn't the expected one:\n{}",
                difference
            );
        }
    }

    /// Runs them on `before`, and answers what `passdock` says meanwhile: diagnostics, and the reports
    /// of instruments that [`args`](Check::args) ask for (`--instrument`).
    ///
    /// # Panics
    /// As [`check`], if the passes fail.
    #[track_caller]
    pub fn messages(&self, before: &str) -> String {
        match self.output(before) {
            Ok(output) => output.messages,
            Err(message) => panic!("{}", message),
        }
    }

    /// The expected and the actual IR, both as the host prints them.
    fn texts(&self, before: &str, after: &str) -> Result<(String, String), String> {
        let convert = ["convert", "-", "-"].map(OsString::from);
        let expected = output(&convert, after, "read the expected IR")?;
        Ok((expected.text, self.output(before)?.text))
    }

    /// What a run of the passes prints.
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

/// What a run of the program prints.
struct Printed {
    text: String,
    messages: String,
}

/// What the program prints when it reads IR from its standard input; its messages, if it fails.
fn output(arguments: &[OsString], input: &str, what: &str) -> Result<Printed, String> {
    let program = find_program()?;
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let printed = command.spawn().and_then(|mut child| {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that doesn't read all of it says why.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    });
    let Output {
        status,
        stdout,
        stderr,
    } = printed.map_err(|e| format!("{} can't be run: {}", program.display(), e))?;
    let messages = String::from_utf8_lossy(&stderr).into_owned();
    if !status.success() {
        return Err(format!(
            "passdock couldn't {} ({}):\n{}",
            what, status, messages
        ));
    }
    match String::from_utf8(stdout) {
        Ok(text) => Ok(Printed { text, messages }),
        Err(_) => Err("passdock printed text that isn't UTF-8".to_owned()),
    }
}

fn find_program() -> Result<PathBuf, String> {
    if let Some(program) = env::var_os("PASSDOCK") {
        let program = PathBuf::from(program);
        if program.is_file() {
            return Ok(program);
        }
        return Err(format!(
            "the environment variable PASSDOCK names {}, which isn't a file",
            program.display()
        ));
    }
    let name = format!("passdock{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|directory| directory.join(&name))
        .find(|program| program.is_file())
        .ok_or_else(|| {
            "there is no `passdock` program in PATH: install it (`cargo install --path host/cli` \
             in its repository), or name it in the environment variable PASSDOCK"
                .to_owned()
        })
}

/// The library that cargo built of the crate whose test this is.
fn find_plugin() -> Result<PathBuf, String> {
    let package = env::var("CARGO_PKG_NAME").map_err(|_| {
        "the plugin under test isn't known outside `cargo test`: name it with `Check::plugin`"
            .to_owned()
    })?;
    let test = env::current_exe().map_err(|e| format!("the test doesn't find itself: {}", e))?;
    let name = format!(
        "{}{}{}",
        env::consts::DLL_PREFIX,
        package.replace('-', "_"),
        env::consts::DLL_SUFFIX
    );
    // target/<profile>/deps/<test>: cargo puts it beside the test, and links or copies it one up.
    let places: Vec<PathBuf> = test
        .ancestors()
        .skip(1)
        .take(2)
        .map(|dir| dir.join(&name))
        .collect();
    let found = places.iter().find(|place| place.is_file());
    found.cloned().ok_or_else(|| {
        let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
        format!(
            "the plugin under test isn't at {}; is `crate-type = [\"cdylib\", \"rlib\"]` in its \
             Cargo.toml, and is the library called as the package? Otherwise name it with \
             `Check::plugin`",
            places.join(" or ")
        )
    })
}

/// The names of a plugin's passes, from the manifest in the file.
fn passes_of(plugin: &Path) -> Result<String, String> {
    let bytes = fs::read(plugin).map_err(|e| format!("can't read {}: {}", plugin.display(), e))?;
    let names = pass_names(&bytes);
    if names.is_empty() {
        return Err(format!(
            "{} names no passes in its manifest; is there an `export_plugin!(PLUGIN)`?",
            plugin.display()
        ));
    }
    Ok(names.join(","))
}

/// Good enough for manifests that `plugin!` made; the host reads them properly.
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
    fn names_are_read_from_the_file_of_a_plugin() {
        let file =
            b"\x7fELF..\0[plugin]\nname = \"p\"\n\n[[pass]]\nname = \"a.B\"\nkind = \"module\"\n\
            \n[[pass]]\nname = \"c.D\"\n\0name = \"no\"";
        assert_eq!(pass_names(file), ["a.B", "c.D"]);
        assert_eq!(pass_names(b"[plugin]"), Vec::<String>::new());
    }
}
