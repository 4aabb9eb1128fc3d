//! Output for users: tables, times and diagnostics, with color on terminals.
//!
//! All output of the command goes through this module, which escapes it for terminals. Names and strings from files and
//! plugins are untrusted.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Context;
use passdock::diagnostic::json;
use passdock::diagnostic::table::wrap;
pub(crate) use passdock::diagnostic::table::{TextTable, bytes};
use passdock::files::StandardOutput;
use passdock::model_file::{self, Output, StagedModel, WriteOptions};
use passdock::pipeline::JSON_VERSION;
pub(crate) use passdock::terminal::line;
use passdock::waiting::waiting;
use passdock::{Diagnostic, ErrorKind, Module, PassError, Severity, terminal};
use passdock_tools::diff;
use serde::Serialize;

use crate::args::Color;

/// Writes escaped text to standard output.
pub(crate) fn print(text: &str) {
    write_out(&terminal::safe(text));
}

/// Writes a diff to standard output, with color if enabled.
pub(crate) fn print_diff(text: &str) {
    match has_color() {
        true => write_out(&diff::colored(text)),
        false => print(text),
    }
}

/// Writes text to standard output, or to standard error if standard output has the model.
pub(crate) fn print_summary(text: &str, to_stderr: bool) {
    match to_stderr {
        true => print_error(text),
        false => print(text),
    }
}

/// Writes escaped text to standard error.
pub(crate) fn print_error(text: &str) {
    write_error(&terminal::safe(text));
}

/// Writes a JSON object to standard output.
pub(crate) fn print_json(value: &impl Serialize) {
    write_out(&json(value));
}

/// Returns a versioned JSON object on one line.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    or_report_error(json::line(&versioned(value)))
}

/// Returns a versioned JSON object, pretty-printed.
pub(crate) fn json(value: &impl Serialize) -> String {
    or_report_error(json::pretty(&versioned(value)))
}

/// A value with the version of its JSON format.
#[derive(Serialize)]
struct Versioned<'v, T> {
    json_version: u32,
    #[serde(flatten)]
    value: &'v T,
}

fn versioned<T>(value: &T) -> Versioned<'_, T> {
    Versioned {
        json_version: JSON_VERSION,
        value,
    }
}

/// Returns JSON with a newline.
fn or_report_error(json: serde_json::Result<String>) -> String {
    match json {
        Ok(text) => text + "\n",
        Err(error) => {
            print_error(&format!("error: could not serialize the JSON: {error}\n"));
            String::new()
        }
    }
}

/// The JSON of a command: its result, exit status and error.
#[derive(Serialize)]
pub(crate) struct CommandOutput<T> {
    ok: bool,
    #[serde(flatten)]
    result: T,
    exit_status: u8,
    diagnostics: Vec<Diagnostic>,
}

impl<T> CommandOutput<T> {
    pub(crate) fn new(status: u8, result: T, error: Option<&PassError>) -> CommandOutput<T> {
        CommandOutput {
            ok: status == 0,
            result,
            exit_status: status,
            diagnostics: error.iter().map(|error| error.to_diagnostic()).collect(),
        }
    }
}

impl CommandOutput<serde_json::Value> {
    /// Returns the JSON of a command that failed without a result.
    pub(crate) fn failed(error: &PassError) -> CommandOutput<serde_json::Value> {
        CommandOutput::new(error.exit_status(), serde_json::json!({}), Some(error))
    }
}

/// Writes a diagnostic to standard error.
pub(crate) fn diagnostic(diagnostic: &Diagnostic) {
    write_error(&(diagnostic.render(error_has_color()) + "\n"));
}

/// Writes a non-fatal error to standard error, as a warning.
pub(crate) fn warn(error: impl Into<PassError>) {
    diagnostic(&as_warning(error));
}

/// Returns a non-fatal error as a warning.
pub(crate) fn as_warning(error: impl Into<PassError>) -> Diagnostic {
    let mut warning = error.into().to_diagnostic();
    warning.severity = Severity::Warning;
    warning
}

/// Returns a command's error as a [`PassError`]. Other errors come from output files that can't be written.
pub(crate) fn reported(error: anyhow::Error) -> PassError {
    let error = error.downcast::<PassError>();
    error.unwrap_or_else(|other| PassError::new(ErrorKind::Write, format!("{other:#}")))
}

/// Creates a directory and its parents.
pub(crate) fn create_dir(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir)
        .with_context(|| format!("could not create the directory `{}`", dir.display()))
}

/// Prints the result of a command that succeeded, as JSON or with `render`.
pub(crate) fn print_result<T: Serialize>(result: &T, json: bool, render: impl FnOnce(&T)) {
    match json {
        true => print_json(&CommandOutput::new(0, result, None)),
        false => render(result),
    }
}

/// Writes an error to standard error and returns its exit status.
pub(crate) fn fail(error: &PassError) -> u8 {
    diagnostic(&error.to_diagnostic());
    error.exit_status()
}

/// The first error of writing to standard output.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Writes text to standard output without escaping it.
pub(crate) fn write_out(text: &str) {
    let mut out = StandardOutput;
    let print = || out.write_all(text.as_bytes()).and_then(|()| out.flush());
    // A pager may block the write.
    written(waiting(print));
}

/// Records the result of writing to standard output for [`finish`]. A closed pipe isn't an error.
pub(crate) fn written(result: io::Result<()>) {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => _ = FAILED.set(error),
        _ => {}
    }
}

/// Stages the output model of a command. It is committed when the command has done everything else.
pub(crate) fn write_model(
    output: Output,
    module: &Module,
    options: WriteOptions,
) -> Result<(), PassError> {
    let emit = &mut |warning| diagnostic(&warning);
    let staging = staging_of(output.path());
    let staged = output.stage(module, options, staging, emit)?;
    add_output(staged);
    Ok(())
}

/// Returns the staging directory of an output, if this process is a worker.
fn staging_of(path: &Path) -> Option<&'static Path> {
    let mut given = STAGING.get()?.iter();
    let (_, staging) = given.find(|(known, _)| known == path)?;
    Some(staging)
}

/// Writes one of several models of a command. A worker stages it like [`write_model`]; otherwise it is committed now,
/// because a staged model locks its directory.
pub(crate) fn write_one_of(path: &Path, module: &Module) -> Result<(), PassError> {
    match staging_of(path) {
        Some(_) => write_model(Output::new(path)?, module, WriteOptions::default()),
        None => model_file::write(module, path, WriteOptions::default()),
    }
}

/// The paths of a worker's outputs, and their staging directories. If unset, [`write_model`] creates one.
pub(crate) static STAGING: OnceLock<Vec<(PathBuf, PathBuf)>> = OnceLock::new();

/// The staged outputs of the command, which are committed last.
static OUTPUTS: Mutex<Vec<StagedModel>> = Mutex::new(Vec::new());

/// Registers an output to commit when the command ends without an error.
pub(crate) fn add_output(output: StagedModel) {
    OUTPUTS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(output);
}

/// Takes the outputs registered by [`add_output`].
pub(crate) fn take_outputs() -> Vec<StagedModel> {
    std::mem::take(&mut OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Commits the outputs of a command that ends with `status`, if it succeeded. Returns the final status. A worker leaves
/// this to its supervisor, which has taken the outputs.
pub(crate) fn commit_outputs(status: u8) -> u8 {
    let outputs = take_outputs().into_iter().filter(|_| status == 0);
    let mut commits = outputs.map(|output| output.commit(&mut |note| diagnostic(&note)));
    match commits.find_map(Result::err) {
        Some(error) => fail(&error),
        None => status,
    }
}

/// Returns the final exit status of a command. If standard output couldn't be written, reports that and returns at
/// least `minimum`.
pub(crate) fn finish(status: u8, minimum: u8) -> u8 {
    let Some(error) = FAILED.get() else {
        return status;
    };
    let message = format!("could not write standard output: {error}");
    diagnostic(&PassError::new(ErrorKind::Write, message).to_diagnostic());
    status.max(minimum)
}

/// Writes text to standard error without escaping it. Errors are ignored: they can't be reported.
pub(crate) fn write_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The value of `--color`.
static COLOR: OnceLock<Color> = OnceLock::new();

/// Sets the value of `--color`. Only the first call has an effect.
pub(crate) fn set_color(color: Color) {
    _ = COLOR.set(color);
}

/// Returns `true` if output on standard output is colored.
pub(crate) fn has_color() -> bool {
    supports_color(StandardOutput::is_terminal())
}

/// Returns `true` if output on standard error is colored.
pub(crate) fn error_has_color() -> bool {
    supports_color(io::stderr().is_terminal())
}

fn supports_color(is_terminal: bool) -> bool {
    match COLOR.get().unwrap_or(&Color::Auto) {
        Color::Auto => terminal::supports_color(is_terminal),
        Color::Always => true,
        Color::Never => false,
    }
}

/// Describes where a model was written, for the report.
pub(crate) fn written_to(output: Option<&str>) -> String {
    match output {
        Some("-") => "written to standard output".to_owned(),
        Some(path) => format!("written to {path}"),
        None => "not written (no -o)".to_owned(),
    }
}

/// Returns the terminal's width in columns, or a default width for other outputs.
pub(crate) fn width() -> usize {
    /// Fits a typical terminal and half of an editor window.
    const ELSEWHERE: usize = 100;
    let size = StandardOutput::is_terminal().then(terminal_size::terminal_size);
    size.flatten()
        .map_or(ELSEWHERE, |(width, _)| width.0.into())
}

/// Returns the terminal's width in columns, or `None` for other outputs, whose lines aren't wrapped.
pub(crate) fn columns() -> Option<usize> {
    StandardOutput::is_terminal().then(width)
}

/// Wraps a comma-separated list at a given width. `head` starts the first line, `indent` the others.
pub(crate) fn wrapped(head: &str, items: &[impl AsRef<str>], indent: &str, width: usize) -> String {
    let items = items.iter().enumerate().map(|(at, item)| {
        let comma = if at + 1 < items.len() { "," } else { "" };
        safe(item.as_ref()) + comma
    });
    wrap(&safe(head), items, indent, width).join("\n") + "\n"
}

/// Formats a duration in seconds, as `1.5 ms`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Formats a change of a size in bytes. If both sizes round to the same text, the difference is added.
pub(crate) fn bytes_change(before: u64, after: u64) -> String {
    let [was, is] = [before, after].map(bytes);
    let sign = if after < before { '−' } else { '+' };
    match before.abs_diff(after) {
        0 => format!("{is} unchanged"),
        difference if was == is => format!("{was} → {is} ({sign}{})", bytes(difference)),
        _ => format!("{was} → {is}"),
    }
}

/// Formats a number with thousands separators: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", count(number / 1000), number % 1000),
    }
}

/// Formats a number of items: `1 tensor`, `2,048 tensors`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Escapes a string to show it on one line.
pub(crate) fn safe(text: &str) -> String {
    terminal::safe_line(text).into_owned()
}

/// Returns a name, quoted if it is empty or has spaces or hidden characters.
pub(crate) fn name(name: &str) -> String {
    let odd = |c: char| c == '"' || c.is_whitespace() || c.escape_debug().len() > 1 && c != '\'';
    match name.is_empty() || name.chars().any(odd) {
        true => format!("{name:?}"),
        false => name.to_owned(),
    }
}

/// Labeled facts, rendered as one line each.
#[derive(Default)]
pub(crate) struct Facts(Vec<(&'static str, String)>);

impl Facts {
    pub(crate) fn add(&mut self, about: &'static str, fact: impl Into<String>) {
        self.0.push((about, safe(&fact.into())));
    }

    /// Renders the facts as lines. A label that equals the one above is left out.
    pub(crate) fn render(&self) -> String {
        let width = self.0.iter().map(|(about, _)| about.len()).max();
        let width = width.unwrap_or(0);
        let mut text = String::new();
        let mut last = "";
        for (about, fact) in &self.0 {
            let shown = if *about == last { "" } else { about };
            text += format!("{shown:width$}  {fact}").trim_end();
            text.push('\n');
            last = about;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_formatted() {
        for (number, size, digits) in [
            (0, "0 B", "0"),
            (999, "999 B", "999"),
            (1000, "1.0 kB", "1,000"),
            (4_633_429, "4.6 MB", "4,633,429"),
            (999_949, "999.9 kB", "999,949"),
            (999_950, "1.0 MB", "999,950"),
            (u64::MAX, "18.4 EB", "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(bytes(number), size);
            assert_eq!(count(number), digits);
        }
        assert_eq!(counted(1, "tensor"), "1 tensor");
        assert_eq!(counted(0, "tensor"), "0 tensors");
    }

    #[test]
    fn size_changes_hidden_by_rounding_are_shown() {
        for (before, after, expected) in [
            (3_827_147, 3_827_147, "3.8 MB unchanged"),
            (3_827_147, 3_825_947, "3.8 MB → 3.8 MB (−1.2 kB)"),
            (3_827_147, 3_827_148, "3.8 MB → 3.8 MB (+1 B)"),
            (3_827_147, 3_727_147, "3.8 MB → 3.7 MB"),
            (141, 158, "141 B → 158 B"),
        ] {
            assert_eq!(bytes_change(before, after), expected);
        }
    }

    #[test]
    fn unusual_names_are_quoted_and_escaped() {
        for (raw, shown) in [
            ("conv1/bn.weight:0", "conv1/bn.weight:0"),
            ("layer's", "layer's"),
            ("größe", "größe"),
            ("", "\"\""),
            ("a b", "\"a b\""),
            ("a\"b", "\"a\\\"b\""),
            ("a\\b", "\"a\\\\b\""),
            ("\u{1b}[31m", "\"\\u{1b}[31m\""),
            ("\u{202e}x", "\"\\u{202e}x\""),
        ] {
            assert_eq!(name(raw), shown);
        }
        assert_eq!(
            safe("a \"b\" \\ 'c'\n\u{202e}"),
            "a \"b\" \\ 'c'\\n\\u{202e}"
        );
    }

    #[test]
    fn facts_are_aligned_and_repeated_labels_omitted() {
        let mut facts = Facts::default();
        facts.add("a", "1");
        facts.add("long", "2");
        facts.add("long", "3");
        assert_eq!(facts.render(), "a     1\nlong  2\n      3\n");
    }
}
