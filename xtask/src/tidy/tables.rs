//! Parsing of the tables in documents that define rules.

use anyhow::{Context, Result};

/// Returns the cells of the first table below a heading, row by row, without the header row.
pub(super) fn rows<'p>(page: &'p str, heading: &str) -> Result<Vec<Vec<&'p str>>> {
    let mut lines = page.lines();
    lines
        .find(|line| line.trim_start_matches('#').trim() == heading && line.starts_with('#'))
        .with_context(|| format!("document has no heading \"{heading}\""))?;
    let rows: Vec<Vec<&str>> = lines
        .take_while(|line| !line.starts_with('#'))
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            line.trim()
                .trim_matches('|')
                .split('|')
                .map(str::trim)
                .collect()
        })
        .collect();
    if rows.is_empty() {
        anyhow::bail!("document has no table below \"{heading}\"");
    }
    Ok(rows)
}

/// Returns the backquoted names in a cell.
pub(super) fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::{names, rows};

    #[test]
    fn table_under_a_heading_is_parsed() {
        let page = "## A\n|x|\n|-|\n|1|\n## B\ntext\n\n| c | d |\n|---|---|\n| `x`, `y` | why |\n| | z |\n\n|no|\n";
        let rows = rows(page, "B").expect("a table");
        assert_eq!(rows, [vec!["`x`, `y`", "why"], vec!["", "z"]]);
        assert_eq!(names(rows[0][0]).collect::<Vec<_>>(), ["x", "y"]);
        assert!(super::rows(page, "C").is_err());
        assert!(super::rows("## A\n## B\n|x|\n|-|\n|1|\n", "A").is_err());
    }
}
