//! Tables in reports.

use std::time::Duration;

/// A table of text: the first column is left-aligned, the others right-aligned.
pub(super) struct Table {
    last_is_left: bool,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(heads: &[&str]) -> Table {
        let heads = heads.iter().map(|head| (*head).to_owned()).collect();
        Table {
            last_is_left: false,
            rows: vec![heads],
        }
    }

    /// Aligns the last column left, since it holds text.
    pub(super) fn left_last(mut self) -> Table {
        self.last_is_left = true;
        self
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table's lines, with two spaces between columns.
    pub(super) fn render(&self) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                let width = cell.chars().count();
                match widths.get_mut(at) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                match at {
                    0 => line.push_str(&format!("{cell:width$}")),
                    _ if self.last_is_left && at + 1 == row.len() => {
                        line.push_str(&format!("  {cell}"));
                    }
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A duration as people read it.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

/// A number of bytes as people read it; units are powers of 1000.
pub(super) fn bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB"] {
        // A value that would be rounded to 1000.0 gets the next unit.
        if value < 999.95 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    match unit {
        "B" => format!("{bytes} B"),
        unit => format!("{value:.1} {unit}"),
    }
}
