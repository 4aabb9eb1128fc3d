//! Tables of text, as reports and lists have them.

use crate::terminal::safe_line;

/// A table: headings, then rows, columns as wide as their widest cell. The cells of a column whose
/// heading begins with `>` are on its right side.
pub struct Table<const N: usize> {
    columns: [&'static str; N],
    rows: Vec<[String; N]>,
    /// Lines below rows, each with the number of rows above it.
    lines: Vec<(usize, String)>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub fn new(columns: [&'static str; N]) -> Table<N> {
        Table {
            columns,
            rows: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// A table of these rows.
    pub fn of(columns: [&'static str; N], rows: impl IntoIterator<Item = [String; N]>) -> Table<N> {
        let mut table = Table::new(columns);
        rows.into_iter().for_each(|row| table.row(row));
        table
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows
            .push(cells.map(|cell| safe_line(&cell).into_owned()));
    }

    /// Adds lines below the last row, which go across all columns.
    pub fn line(&mut self, text: &str) {
        for line in text.lines() {
            let line = safe_line(line).into_owned();
            self.lines.push((self.rows.len(), line));
        }
    }

    /// The text, each line ended; without headings if there are no rows.
    pub fn render(&self) -> String {
        self.render_columns(|_| true)
    }

    /// The text of [`Table::render`] without the columns in which no row says anything.
    pub fn render_filled(&self) -> String {
        self.render_columns(|column| self.rows.iter().any(|row| !row[column].is_empty()))
    }

    fn render_columns(&self, shown: impl Fn(usize) -> bool) -> String {
        if self.rows.is_empty() {
            let lines = self.lines.iter().map(|(_, line)| format!("{line}\n"));
            return lines.collect();
        }
        let headings = self
            .columns
            .map(|heading| heading.trim_start_matches('>').to_owned());
        let rows = || [&headings].into_iter().chain(&self.rows);
        let width = |column: usize| {
            let cells = rows().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: [usize; N] = std::array::from_fn(width);
        let shown: [bool; N] = std::array::from_fn(shown);
        let mut text = String::new();
        let mut lines = self.lines.iter().peekable();
        for (above, row) in rows().enumerate() {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate().filter(|&(at, _)| shown[at]) {
                let width = widths[at];
                line += &match self.columns[at].starts_with('>') {
                    true => format!("{cell:>width$}  "),
                    false => format!("{cell:width$}  "),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
            while let Some((_, line)) = lines.next_if(|(rows, _)| *rows == above) {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// A number of bytes as people read it: `864 B`, `4.6 MB`.
pub fn bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        // What would be rounded to 1000.0 has the next unit.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_a_word_may_be_left_out() {
        let mut table = Table::new(["a", ">b", ">c"]);
        table.row(["x".to_owned(), String::new(), "1".to_owned()]);
        table.row(["yy".to_owned(), String::new(), "22".to_owned()]);
        assert_eq!(table.render_filled(), "a    c\nx    1\nyy  22\n");
        assert_eq!(table.render(), "a   b   c\nx       1\nyy     22\n");
    }

    #[test]
    fn a_line_stands_below_its_row_and_makes_no_column_wider() {
        let mut table = Table::new(["a", ">b"]);
        table.row(["x".to_owned(), "1".to_owned()]);
        table.line("  longer than a column");
        table.line("  with a\nbreak and \u{1b}");
        table.row(["yy".to_owned(), "22".to_owned()]);
        let text = "a    b\nx    1\n  longer than a column\n  with a\nbreak and \\u{1b}\nyy  22\n";
        assert_eq!(table.render(), text);
    }
}
