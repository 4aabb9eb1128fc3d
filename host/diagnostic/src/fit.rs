//! Columns that fit a terminal: cells of several lines.

/// The widths of columns that together, with two blanks between them, are within `most`: the widest are narrowed, none
/// below its least width. `None`: they can't be.
pub(crate) fn narrowed(widths: &[usize], least: &[usize], most: usize) -> Option<Vec<usize>> {
    let gaps = 2 * widths.len().saturating_sub(1);
    let mut widths = widths.to_vec();
    while widths.iter().sum::<usize>() + gaps > most {
        let columns = (0..widths.len()).filter(|&at| widths[at] > least[at]);
        let widest = columns.max_by_key(|&at| widths[at])?;
        widths[widest] -= 1;
    }
    Some(widths)
}

/// The width of the longest word of a cell, and of what it is indented by.
pub(crate) fn least(cell: &str) -> usize {
    let words = cell.split(' ').map(|word| word.chars().count());
    indent(cell) + words.max().unwrap_or(0)
}

fn indent(cell: &str) -> usize {
    cell.len() - cell.trim_start_matches(' ').len()
}

/// A cell as lines of this width, broken between words.
pub(crate) fn lines(cell: &str, width: usize) -> Vec<String> {
    if cell.chars().count() <= width {
        return vec![cell.to_owned()];
    }
    let indent = " ".repeat(indent(cell));
    let mut lines = Vec::new();
    let mut line = indent.clone();
    for word in cell.trim_start_matches(' ').split(' ') {
        let begun = line.len() > indent.len();
        let space = usize::from(begun);
        if begun && line.chars().count() + space + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, indent.clone()));
        } else if begun {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_are_narrowed_first() {
        assert_eq!(
            narrowed(&[10, 40, 5], &[10, 8, 5], 40),
            Some(vec![10, 21, 5])
        );
        assert_eq!(narrowed(&[30, 40], &[5, 5], 42), Some(vec![20, 20]));
        assert_eq!(narrowed(&[10, 40], &[10, 35], 40), None);
    }

    #[test]
    fn cells_are_broken_between_words() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("  a bb ccc", 6), ["  a bb", "  ccc"]);
        assert_eq!(lines("longest of all", 3), ["longest", "of", "all"]);
        assert_eq!(least("  a bb ccc"), 5);
    }
}
