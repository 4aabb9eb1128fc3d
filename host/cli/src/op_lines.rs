//! Lines of IR text for terminals. Long lines are shortened to their beginning, changes and end.

use std::iter;
use std::ops::Range;

/// Maximum number of characters of an unshortened line.
const MAX_LEN: usize = 200;
/// Number of characters shown of a longer line: at its beginning, at its end, at each end of a change, and around a
/// change.
const HEAD: usize = 60;
const TAIL: usize = 50;
const CHANGED: usize = 50;
const CONTEXT: usize = 15;

/// Returns the lines of ops before and after a change, shortened.
pub(crate) fn excerpt(before: &[String], after: &[String]) -> (Vec<String>, Vec<String>) {
    if let ([old], [new]) = (before, after) {
        let (old, new) = changed(old, new);
        return (vec![old], vec![new]);
    }
    let each = |lines: &[String]| lines.iter().map(|line| shorten(line)).collect();
    (each(before), each(after))
}

/// Shortens a line to its beginning and end.
pub(crate) fn shorten(line: &str) -> String {
    cut(&line.chars().collect::<Vec<char>>(), None)
}

/// Shortens a line before and after a change.
fn changed(old: &str, new: &str) -> (String, String) {
    let [old, new]: [Vec<char>; 2] = [old, new].map(|line| line.chars().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let ends = old[same..].iter().rev().zip(new[same..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let part = |line: &[char]| cut(line, Some(same..line.len() - tail));
    (part(&old), part(&new))
}

fn cut(line: &[char], changed: Option<Range<usize>>) -> String {
    if line.len() <= MAX_LEN {
        return line.iter().collect();
    }
    let ends_of_change = changed.map(|changed| {
        let (from, to) = (changed.start.saturating_sub(CONTEXT), changed.end + CONTEXT);
        let first = from..to.min(changed.start + CHANGED);
        [first, from.max(changed.end.saturating_sub(CHANGED))..to]
    });
    let parts = iter::once(0..HEAD)
        .chain(ends_of_change.into_iter().flatten())
        .chain(iter::once(line.len() - TAIL..line.len()));
    let (mut text, mut end) = (String::new(), 0);
    for part in parts {
        let from = part.start.max(end);
        // Eliding three characters or fewer isn't worth a mark.
        let from = if from <= end + 3 { end } else { from };
        let to = part.end.min(line.len());
        if from >= to {
            continue;
        }
        if from > end {
            text.push('…');
        }
        text.extend(&line[from..to]);
        end = to;
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn operands(count: usize) -> String {
        let names: Vec<String> = (0..count).map(|at| format!("%value{at}")).collect();
        names.join(", ")
    }

    #[test]
    fn short_lines_are_not_truncated() {
        let lines =
            ["%a = onnx.Relu(%x) : f32[2]", "%a = onnx.Relu(%y) : f32[2]"].map(str::to_owned);
        assert_eq!(
            excerpt(&lines[..1], &lines[1..]),
            (vec![lines[0].clone()], vec![lines[1].clone()])
        );
    }

    #[test]
    fn long_lines_show_the_change_and_the_ends() {
        let all = operands(60);
        let old = format!("%joined = onnx.Concat({all}) {{axis = 1}} : f32[1,60,20,20]");
        let new = old.replace("%value41,", "%other,");
        check(
            changed(&old, &new),
            expect![["
            %joined = onnx.Concat(%value0, %value1, %value2, %value3, %v…39, %value40, %value41, %value42, %va…, \
              %value58, %value59) {axis = 1} : f32[1,60,20,20]
            %joined = onnx.Concat(%value0, %value1, %value2, %value3, %v…39, %value40, %other, %value42, %va…, \
              %value58, %value59) {axis = 1} : f32[1,60,20,20]
        "]],
        );
    }

    #[test]
    fn long_changes_are_truncated_in_the_middle() {
        let old = format!("%joined = onnx.Concat({}) : f32[60]", operands(60));
        let new = "%joined = onnx.Concat(%less) : f32[1]";
        check(
            changed(&old, new),
            expect![["
            %joined = onnx.Concat(%value0, %value1, %value2, %value3, %value4, %value…, %value56, %value57, \
              %value58, %value59) : f32[60]
            %joined = onnx.Concat(%less) : f32[1]
        "]],
        );
    }

    #[test]
    fn single_long_line_is_truncated_in_the_middle() {
        let line = format!("%joined = onnx.Concat({}) : f32[60]", operands(60));
        expect!["%joined = onnx.Concat(%value0, %value1, %value2, %value3, %v… %value56, %value57, %value58, %value59) \
            : f32[60]"].assert_eq(&shorten(&line));
    }

    #[track_caller]
    fn check((old, new): (String, String), expected: Expect) {
        expected.assert_eq(&format!("{old}\n{new}\n"));
    }
}
