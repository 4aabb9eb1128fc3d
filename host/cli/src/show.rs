//! What people see: tables, times, diagnostics; colour on a terminal only.

use std::io::{self, IsTerminal, Write};

use passdock::diagnostic::Diagnostic;
use serde::Serialize;

/// Writes text to standard output. A reader that went away is no error of ours.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes text to standard error.
pub(crate) fn print_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes one JSON value to standard output.
pub(crate) fn print_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&(text + "\n")),
        Err(error) => print_error(&format!("error: the JSON can't be written: {error}\n")),
    }
}

/// Writes a diagnostic to standard error.
pub(crate) fn diagnostic(diagnostic: &Diagnostic) {
    let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    print_error(&(diagnostic.render(color) + "\n"));
}

/// A time as people read it.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Which side of a column its cells are on.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table: headings, then rows, columns as wide as their widest cell.
pub(crate) struct Table<const N: usize> {
    columns: [(&'static str, Align); N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [(&'static str, Align); N]) -> Table<N> {
        Table {
            columns,
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// The text, each line ended; nothing if there are no rows.
    pub(crate) fn render(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let headings = self.columns.map(|(heading, _)| heading.to_owned());
        let width = |column: usize| {
            let cells = self
                .rows
                .iter()
                .chain([&headings])
                .map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: [usize; N] = std::array::from_fn(width);
        let mut text = String::new();
        for row in [&headings].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[at] - cell.chars().count());
                match self.columns[at].1 {
                    Align::Left => line.extend([cell.as_str(), &pad]),
                    Align::Right => line.extend([pad.as_str(), cell]),
                }
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
