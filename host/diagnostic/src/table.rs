//! Tables of text, as reports and lists have them.

use std::time::Duration;

use crate::fit;
use crate::terminal::safe_line;

/// A table: headings, then rows, columns as wide as their widest cell. The cells of a column whose
/// heading begins with `>` are on its right side.
pub struct TextTable<const N: usize> {
    columns: [&'static str; N],
    rows: Vec<[String; N]>,
    /// Lines below rows, each with the number of rows above it.
    lines: Vec<(usize, String)>,
    within: Option<usize>,
}

impl<const N: usize> TextTable<N> {
    /// A table without rows.
    pub fn new(columns: [&'static str; N]) -> TextTable<N> {
        TextTable {
            columns,
            rows: Vec::new(),
            lines: Vec::new(),
            within: None,
        }
    }

    /// A table of these rows.
    pub fn of(
        columns: [&'static str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> TextTable<N> {
        let mut table = TextTable::new(columns);
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

    /// Lines of at most so many columns: cells that are too long go on in the next line, and where that isn't enough
    /// the last columns stand below the others. Words aren't broken.
    pub fn within(mut self, columns: Option<usize>) -> TextTable<N> {
        self.within = columns;
        self
    }

    /// The text, each line ended; without headings if there are no rows.
    pub fn render(&self) -> String {
        self.render_columns((0..N).collect())
    }

    /// The text of [`TextTable::render`] without the columns in which no row says anything.
    pub fn render_filled(&self) -> String {
        let says = |column: &usize| self.rows.iter().any(|row| !row[*column].is_empty());
        self.render_columns((0..N).filter(says).collect())
    }

    fn render_columns(&self, shown: Vec<usize>) -> String {
        if self.rows.is_empty() {
            let lines = self.lines.iter().map(|(_, line)| format!("{line}\n"));
            return lines.collect();
        }
        let headings = self
            .columns
            .map(|heading| heading.trim_start_matches('>').to_owned());
        let layout = self.layout(&headings, shown);
        let rows = [&headings].into_iter().chain(&self.rows);
        let mut text = String::new();
        let mut lines = self.lines.iter().peekable();
        for (above, row) in rows.enumerate() {
            self.write_row(&mut text, row, &layout);
            while let Some((_, line)) = lines.next_if(|(rows, _)| *rows == above) {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }

    /// Which columns stand beside each other, how wide, and which ones below.
    fn layout(&self, headings: &[String; N], mut shown: Vec<usize>) -> Layout {
        let rows = || [headings].into_iter().chain(&self.rows);
        let widest = |measure: fn(&str) -> usize, shown: &[usize]| -> Vec<usize> {
            let column = |&at: &usize| rows().map(|row| measure(&row[at])).max();
            shown.iter().map(|at| column(at).unwrap_or(0)).collect()
        };
        let mut widths = widest(|cell| cell.chars().count(), &shown);
        let most = self.within.unwrap_or(usize::MAX);
        let least = widest(fit::least, &shown);
        let mut below = Vec::new();
        let narrow = loop {
            let narrow = fit::narrowed(&widths, &least[..widths.len()], most);
            if narrow.is_some() || shown.len() < 2 {
                break narrow;
            }
            below.splice(..0, shown.pop());
            widths.pop();
        };
        Layout {
            beside: shown.into_iter().zip(narrow.unwrap_or(widths)).collect(),
            below,
            most,
        }
    }

    fn write_row(&self, text: &mut String, row: &[String; N], layout: &Layout) {
        let columns = layout.beside.iter();
        let cells = columns.map(|&(at, width)| (at, width, fit::lines(&row[at], width)));
        let cells: Vec<(usize, usize, Vec<String>)> = cells.collect();
        let height = cells.iter().map(|(.., lines)| lines.len()).max();
        for at_line in 0..height.unwrap_or(0) {
            let mut line = String::new();
            for (at, width, lines) in &cells {
                let cell = lines.get(at_line).map_or("", String::as_str);
                let width = *width.min(&WIDEST);
                line += &match self.columns[*at].starts_with('>') {
                    true => format!("{cell:>width$}  "),
                    false => format!("{cell:width$}  "),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        for &at in layout.below.iter().filter(|&&at| !row[at].is_empty()) {
            let cell = format!("{BELOW}{}", row[at]);
            for line in fit::lines(&cell, layout.most) {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
    }
}

/// The width up to which columns are aligned: a longer cell moves the rest of its row only.
const WIDEST: usize = 1000;

/// What a cell below its row is indented by.
const BELOW: &str = "      ";

/// Where the columns of a table stand.
struct Layout {
    /// Columns and their widths.
    beside: Vec<(usize, usize)>,
    /// The columns that stand below the others.
    below: Vec<usize>,
    /// The width of the table.
    most: usize,
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

/// A duration as people read it: `12.3 µs`, `1.234 s`.
pub fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

/// The share of a duration in another one; 0 of none.
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
    fn columns_without_a_word_may_be_left_out() {
        let mut table = TextTable::new(["a", ">b", ">c"]);
        table.row(["x".to_owned(), String::new(), "1".to_owned()]);
        table.row(["yy".to_owned(), String::new(), "22".to_owned()]);
        assert_eq!(table.render_filled(), "a    c\nx    1\nyy  22\n");
        assert_eq!(table.render(), "a   b   c\nx       1\nyy     22\n");
    }

    #[test]
    fn what_is_too_wide_goes_on_in_the_next_line_or_below() {
        let row = [
            "name".to_owned(),
            "7".to_owned(),
            "what it is for".to_owned(),
        ];
        let table = |columns| {
            let table = TextTable::of(["a", ">b", "c"], [row.clone()]);
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
    fn a_cell_may_have_any_length() {
        let long = "n".repeat(70_000);
        let row = |cell: &str| [cell.to_owned(), "1".to_owned()];
        let table = || TextTable::of(["a", ">b"], [row(&long), row("x")]);
        let blanks = " ".repeat(999);
        let text = format!("a{blanks}  b\n{long}  1\nx{blanks}  1\n");
        assert_eq!(table().render(), text);
        assert!(table().within(Some(80)).render().contains(&long));
    }

    #[test]
    fn a_line_stands_below_its_row_and_makes_no_column_wider() {
        let mut table = TextTable::new(["a", ">b"]);
        table.row(["x".to_owned(), "1".to_owned()]);
        table.line("  longer than a column");
        table.line("  with a\nbreak and \u{1b}");
        table.row(["yy".to_owned(), "22".to_owned()]);
        let text = "a    b\nx    1\n  longer than a column\n  with a\nbreak and \\u{1b}\nyy  22\n";
        assert_eq!(table.render(), text);
    }
}
