//! Spans of an op's parts in its line of IR text, for messages that underline them.

use std::ops::Range;

/// The byte ranges of an op's parts in its line. If the line isn't an op, only `whole` is set, to the whole line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpSpans {
    /// The op without its attributes, types and the rest of the line.
    pub whole: Range<usize>,
    /// The op's name.
    pub name: Range<usize>,
    /// The name of each result.
    pub results: Vec<Range<usize>>,
    /// Each operand.
    pub operands: Vec<Range<usize>>,
    /// The name of each attribute, and the span of name and value.
    pub attrs: Vec<(String, Range<usize>)>,
}

impl OpSpans {
    /// Computes the spans of the op that starts at byte `start` of a line; its regions are on other lines.
    pub fn new(line: &str, start: usize) -> OpSpans {
        let start = skip_space(line, start);
        let mut spans = OpSpans::default();
        let mut at = start;
        // Only results have an `=` before the first bracket.
        let equals = find(line, at, |byte| matches!(byte, b'=' | b'(' | b'{'));
        if line.as_bytes().get(equals) == Some(&b'=') {
            let first_ident = |range: Range<usize>| {
                range.start..find(line, range.start, |byte| byte == b' ').min(range.end)
            };
            let results = list(line, at..equals).into_iter();
            spans.results = results.map(first_ident).collect();
            at = skip_space(line, equals + 1);
        }
        let name = at;
        if line[name..].starts_with("symbol(") {
            let close = find(line, name + "symbol(".len(), |byte| byte == b')');
            at = (close + 1).min(line.len());
        }
        at = find(line, at, |byte| matches!(byte, b'(' | b'{' | b' '));
        spans.name = name..at;
        match &line[spans.name.clone()] {
            "return" | "yield" => {
                let end = find(line, at, |byte| matches!(byte, b';' | b'}' | b'('));
                // A word with brackets after the operands is a clause: `loc("…")`.
                let end = match line.as_bytes().get(end) {
                    Some(b'(') => line[..end].trim_end().rfind(' ').unwrap_or(end),
                    _ => end,
                };
                spans.operands = list(line, at..end);
                spans.whole = start..trimmed(line, start..end).end;
                return spans;
            }
            _ => {}
        }
        if line.as_bytes().get(at) != Some(&b'(') {
            // A loop in short form, or not an op: everything before the body.
            let end = find(line, at, |byte| matches!(byte, b'{' | b';'));
            spans.whole = trimmed(line, start..end);
            return spans;
        }
        let close = find(line, at + 1, |byte| byte == b')');
        spans.operands = list(line, at + 1..close);
        spans.whole = start..(close + 1).min(line.len());
        at = skip_space(line, spans.whole.end);
        if line.as_bytes().get(at) == Some(&b'{') {
            let close = find(line, at + 1, |byte| byte == b'}');
            for entry in list(line, at + 1..close) {
                let key = find(&line[..entry.end], entry.start, |byte| byte == b'=');
                let key = line[entry.start..key].trim().trim_matches('"');
                spans.attrs.push((key.to_owned(), entry));
            }
        }
        spans
    }
}

fn skip_space(line: &str, at: usize) -> usize {
    line.len() - line[at..].trim_start().len()
}

/// Returns the first byte from `at` on that satisfies `is_end`, outside strings and brackets opened since then.
fn find(line: &str, at: usize, is_end: impl Fn(u8) -> bool) -> usize {
    let bytes = line.as_bytes();
    let (mut at, mut depth, mut quoted) = (at, 0_u32, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            byte if depth == 0 && is_end(byte) => return at,
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Splits a range at commas.
fn list(line: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let line = &line[..range.end.max(range.start)];
    let mut at = range.start;
    let mut parts = Vec::new();
    while at < line.len() {
        let comma = find(line, at, |byte| byte == b',');
        let part = trimmed(line, at..comma);
        if !part.is_empty() {
            parts.push(part);
        }
        at = comma + 1;
    }
    parts
}

fn trimmed(line: &str, range: Range<usize>) -> Range<usize> {
    let text = &line[range.clone()];
    let start = range.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(line: &str, expected: Expect) {
        let spans = OpSpans::new(line, 0);
        let text = |range: &Range<usize>| line[range.clone()].to_owned();
        let all = |ranges: &[Range<usize>]| ranges.iter().map(text).collect::<Vec<_>>().join(" | ");
        let attrs: Vec<String> = spans
            .attrs
            .iter()
            .map(|(name, range)| format!("{name}: {}", text(range)))
            .collect();
        let shown = format!(
            "{}\nname     {}\nresults  {}\noperands {}\nattrs    {}",
            text(&spans.whole),
            text(&spans.name),
            all(&spans.results),
            all(&spans.operands),
            attrs.join(" | ")
        );
        expected.assert_eq(&shown);
    }

    #[test]
    fn spans_cover_the_parts_of_ops() {
        check(
            r#"  %0, %"a, = (b:0" = onnx.Conv(%x, %"w(1)", _) {pads = [1, 2], "k,=" = "}, x"} : f32[2] loc("c")"#,
            expect![[r#"
                %0, %"a, = (b:0" = onnx.Conv(%x, %"w(1)", _)
                name     onnx.Conv
                results  %0 | %"a, = (b:0"
                operands %x | %"w(1)" | _
                attrs    pads: pads = [1, 2] | k,=: "k,=" = "}, x""#]],
        );
        check(
            r#"return %x, %y loc("r") ; the end"#,
            expect![[r#"
                return %x, %y
                name     return
                results  
                operands %x | %y
                attrs    "#]],
        );
        check(
            r#"for %i in 0..128 step 2 unroll {"#,
            expect![[r#"
                for %i in 0..128 step 2 unroll
                name     for
                results  
                operands 
                attrs    "#]],
        );
        check(
            r#"%c = symbol("odd name")(%x) : f32[n] region then_branch {"#,
            expect![[r#"
                %c = symbol("odd name")(%x)
                name     symbol("odd name")
                results  %c
                operands %x
                attrs    "#]],
        );
    }

    #[test]
    fn malformed_lines_have_valid_spans() {
        let line = r#"%é, "{ = x.y((é[{}) "\" {a = é"#;
        for start in (0..=line.len()).filter(|&at| line.is_char_boundary(at)) {
            for end in (start..=line.len()).filter(|&at| line.is_char_boundary(at)) {
                let line = &line[..end];
                let spans = OpSpans::new(line, start);
                let attrs = spans.attrs.iter().map(|(_, range)| range);
                for range in [&spans.whole, &spans.name]
                    .into_iter()
                    .chain(&spans.results)
                    .chain(&spans.operands)
                    .chain(attrs)
                {
                    assert!(line.get(range.clone()).is_some(), "{line}: {range:?}");
                }
            }
        }
    }
}
