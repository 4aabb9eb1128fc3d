//! Text tables for reports and lists.

use std::time::Duration;

use crate::terminal::safe_line;

/// A text table with headings and rows. Columns are as wide as their widest cell, and empty columns are left out. A
/// column whose heading starts with `>` is right-aligned.
pub struct TextTable<const N: usize> {
    is_right: [bool; N],
    /// The headings, then the rows.
    rows: Vec<Row<N>>,
    width: usize,
}

/// A row, and the full-width lines below it.
struct Row<const N: usize> {
    cells: [String; N],
    lines: Vec<String>,
}

/// Maximum width to which columns are aligned. A longer cell shifts only the rest of its row.
const WIDEST: usize = 1000;

/// Indentation of a cell that is shown below its row.
const BELOW: &str = "      ";

impl<const N: usize> TextTable<N> {
    /// Creates a table without rows.
    pub fn new(headings: [&'static str; N]) -> TextTable<N> {
        let mut table = TextTable {
            is_right: headings.map(|heading| heading.starts_with('>')),
            rows: Vec::new(),
            width: usize::MAX,
        };
        table.row(headings.map(|heading| heading.trim_start_matches('>').to_owned()));
        table
    }

    /// Creates a table with these rows.
    pub fn from_rows(
        headings: [&'static str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> TextTable<N> {
        let mut table = TextTable::new(headings);
        rows.into_iter().for_each(|row| table.row(row));
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(Row {
            cells: cells.map(|cell| safe_line(&cell).into_owned()),
            lines: Vec::new(),
        });
    }

    /// Adds full-width lines below the last row.
    pub fn line(&mut self, text: &str) {
        if let Some(row) = self.rows.last_mut() {
            let lines = text.lines().map(|line| safe_line(line).into_owned());
            row.lines.extend(lines);
        }
    }

    /// Limits the width. Long cells are wrapped between words. If that isn't enough, the last columns are shown below
    /// the others.
    pub fn within(mut self, width: Option<usize>) -> TextTable<N> {
        self.width = width.unwrap_or(usize::MAX);
        self
    }

    /// Renders the table as newline-terminated lines, without headings if there are no rows.
    pub fn render(&self) -> String {
        let (columns, below) = self.layout();
        let lines = self.rows.iter().flat_map(|row| {
            let lines = match self.rows.len() {
                1 => Vec::new(),
                _ => self.row_lines(&row.cells, &columns, &below),
            };
            lines.into_iter().chain(row.lines.iter().cloned())
        });
        lines
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect()
    }

    /// Returns the aligned columns with their widths, and the columns to show below them.
    fn layout(&self) -> (Vec<(usize, usize)>, Vec<usize>) {
        let has_entry = |at: &usize| self.rows[1..].iter().any(|row| !row.cells[*at].is_empty());
        let mut columns: Vec<usize> = (0..N).filter(has_entry).collect();
        let bounds = columns.iter().map(|&at| {
            let widest = |measure: fn(&str) -> usize| {
                let cells = self.rows.iter().map(|row| measure(&row.cells[at]));
                cells.max().unwrap_or(0)
            };
            (widest(longest_token), widest(char_count))
        });
        let bounds: Vec<(usize, usize)> = bounds.collect();
        let mut counts = (1..=columns.len()).rev();
        let widths = counts.find_map(|count| narrowed(&bounds[..count], self.width));
        let widths =
            widths.unwrap_or_else(|| bounds.iter().take(1).map(|(word, _)| *word).collect());
        let below = columns.split_off(widths.len());
        (columns.into_iter().zip(widths).collect(), below)
    }

    fn row_lines(
        &self,
        cells: &[String; N],
        columns: &[(usize, usize)],
        below: &[usize],
    ) -> Vec<String> {
        let parts = columns.iter();
        let parts = parts.map(|&(at, width)| (at, width, cell_lines(&cells[at], width)));
        let parts: Vec<_> = parts.collect();
        let height = parts.iter().map(|(.., lines)| lines.len()).max();
        let lines = (0..height.unwrap_or(0)).map(|number| {
            let parts = parts.iter().map(|(at, width, lines)| {
                let part = lines.get(number).map_or("", String::as_str);
                let width = *width.min(&WIDEST);
                match self.is_right[*at] {
                    true => format!("{part:>width$}  "),
                    false => format!("{part:width$}  "),
                }
            });
            parts.collect()
        });
        let below = below.iter().map(|&at| &cells[at]);
        let below = below.filter(|cell| !cell.is_empty());
        let below = below.flat_map(|cell| cell_lines(&format!("{BELOW}{cell}"), self.width));
        lines.chain(below).collect()
    }
}

/// Narrows the widest columns until all fit in `most` characters with gaps of two spaces. No column gets narrower than
/// its longest word. Returns `None` if that is impossible. `bounds` has the longest word and the widest cell of each
/// column.
fn narrowed(bounds: &[(usize, usize)], most: usize) -> Option<Vec<usize>> {
    let gaps = 2 * bounds.len().saturating_sub(1);
    let limits = 0..=bounds.iter().map(|(_, widest)| *widest).max()?;
    let mut widths = limits.rev().map(|limit| -> Vec<usize> {
        let widths = bounds
            .iter()
            .map(|(word, widest)| *widest.min(&limit.max(*word)));
        widths.collect()
    });
    widths.find(|widths| widths.iter().sum::<usize>() + gaps <= most)
}

fn char_count(cell: &str) -> usize {
    cell.chars().count()
}

/// Returns the width of a cell's indentation and longest word.
fn longest_token(cell: &str) -> usize {
    indent(cell).len() + cell.split(' ').map(char_count).max().unwrap_or(0)
}

fn indent(cell: &str) -> &str {
    &cell[..cell.len() - cell.trim_start_matches(' ').len()]
}

/// Wraps a cell to lines of a given width.
fn cell_lines(cell: &str, width: usize) -> Vec<String> {
    let indent = indent(cell);
    wrap(indent, cell[indent.len()..].split(' '), indent, width)
}

/// Wraps words to lines of a given width. `head` starts the first line, `indent` the others. A word that is too long
/// gets a separate line.
pub fn wrap(
    head: &str,
    words: impl IntoIterator<Item: AsRef<str>>,
    indent: &str,
    width: usize,
) -> Vec<String> {
    let (mut lines, mut line, mut is_empty) = (Vec::new(), head.to_owned(), true);
    let mut line_width = char_count(head);
    for word in words {
        let word = word.as_ref();
        if !is_empty && line_width + 1 + char_count(word) > width {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            line_width = char_count(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
            line_width += 1;
        }
        line += word;
        line_width += char_count(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// Formats a number of bytes: `864 B`, `4.6 MB`.
pub fn bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        // A value that would round to 1000.0 gets the next unit.
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

/// Formats a duration: `12.3 µs`, `1.234 s`.
pub fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

/// Returns the percentage of a duration in another one, or 0 if that is zero.
pub fn percent(part: Duration, whole: Duration) -> f64 {
    match whole.is_zero() {
        true => 0.0,
        false => 100.0 * part.as_secs_f64() / whole.as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_are_omitted() {
        let mut table = TextTable::new(["a", ">b", ">c"]);
        table.row(["x".to_owned(), String::new(), "1".to_owned()]);
        table.row(["yy".to_owned(), String::new(), "22".to_owned()]);
        assert_eq!(table.render(), "a    c\nx    1\nyy  22\n");
    }

    #[test]
    fn wide_cells_wrap_or_move_below() {
        let row = [
            "name".to_owned(),
            "7".to_owned(),
            "what it is for".to_owned(),
        ];
        let table = |columns| {
            let table = TextTable::from_rows(["a", ">b", "c"], [row.clone()]);
            table.within(Some(columns)).render()
        };
        assert_eq!(table(30), "a     b  c\nname  7  what it is for\n");
        assert_eq!(table(16), "a     b  c\nname  7  what it\n         is for\n");
        assert_eq!(
            table(12),
            "a     b\n      c\nname  7\n      what\n      it is\n      for\n"
        );
        assert_eq!(
            table(6),
            "a\n      b\n      c\nname\n      7\n      what\n      it\n      is\n      for\n"
        );
    }

    #[test]
    fn cells_of_any_length_are_rendered() {
        let long = "n".repeat(70_000);
        let row = |cell: &str| [cell.to_owned(), "1".to_owned()];
        let table = || TextTable::from_rows(["a", ">b"], [row(&long), row("x")]);
        let blanks = " ".repeat(999);
        let text = format!("a{blanks}  b\n{long}  1\nx{blanks}  1\n");
        assert_eq!(table().render(), text);
        assert!(table().within(Some(80)).render().contains(&long));
    }

    #[test]
    fn extra_lines_do_not_widen_columns() {
        let mut table = TextTable::new(["a", ">b"]);
        table.row(["x".to_owned(), "1".to_owned()]);
        table.line("  longer than a column");
        table.line("  with a\nbreak and \u{1b}");
        table.row(["yy".to_owned(), "22".to_owned()]);
        let text = "a    b\nx    1\n  longer than a column\n  with a\nbreak and \\u{1b}\nyy  22\n";
        assert_eq!(table.render(), text);
    }

    #[test]
    fn widest_columns_are_narrowed_first() {
        assert_eq!(
            narrowed(&[(10, 10), (8, 40), (5, 5)], 40),
            Some(vec![10, 21, 5])
        );
        assert_eq!(narrowed(&[(5, 30), (5, 40)], 42), Some(vec![20, 20]));
        assert_eq!(narrowed(&[(10, 10), (35, 40)], 40), None);
    }

    #[test]
    fn cells_wrap_between_words() {
        assert_eq!(cell_lines("one two three", 7), ["one two", "three"]);
        assert_eq!(cell_lines("  a bb ccc", 6), ["  a bb", "  ccc"]);
        assert_eq!(cell_lines("longest of all", 3), ["longest", "of", "all"]);
        assert_eq!(longest_token("  a bb ccc"), 5);
        let words = ["4 ops,", "2 kB"];
        assert_eq!(
            wrap("model: ", words, "  ", 14),
            ["model: 4 ops,", "  2 kB"]
        );
    }
}
