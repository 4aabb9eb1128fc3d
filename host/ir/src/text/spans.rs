//! Spans of an op's parts in its line of text, for messages that underline them.

use std::ops::Range;

/// The bytes of an op's parts in its line. Of a line that isn't an op's, `whole` is all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpSpans {
    /// The op without attributes, types and what follows.
    pub whole: Range<usize>,
    /// Its name.
    pub name: Range<usize>,
    /// Each result, at its name.
    pub results: Vec<Range<usize>>,
    /// Each operand slot.
    pub operands: Vec<Range<usize>>,
    /// Each attribute by its name, value included.
    pub attrs: Vec<(String, Range<usize>)>,
}

impl OpSpans {
    /// The spans of the op that starts at byte `start` of a line; its regions are on other lines.
    pub fn new(line: &str, start: usize) -> OpSpans {
        let mut reader = Reader { line, at: start };
        reader.skip_space();
        let start = reader.at;
        let mut spans = OpSpans::default();
        // Only results have an `=` before anything in brackets.
        let equals = reader.find(|byte| matches!(byte, b'=' | b'(' | b'{'));
        if line.as_bytes().get(equals) == Some(&b'=') {
            let results = reader.list(equals);
            let first_word = |range: Range<usize>| {
                let word = Reader {
                    line,
                    at: range.start,
                }
                .find(|byte| byte == b' ');
                range.start..word.min(range.end)
            };
            spans.results = results.into_iter().map(first_word).collect();
            reader.at = equals + 1;
            reader.skip_space();
        }
        let name = reader.at;
        if line[name..].starts_with("symbol(") {
            reader.at += "symbol(".len();
            reader.at = (reader.find(|byte| byte == b')') + 1).min(line.len());
        }
        let end = reader.find(|byte| matches!(byte, b'(' | b'{' | b' '));
        spans.name = name..end;
        match &line[name..end] {
            "call" => {
                reader.at = end;
                reader.skip_space();
                reader.at = reader.find(|byte| byte == b'(');
            }
            "return" | "yield" => {
                reader.at = end;
                let end = reader.find(|byte| matches!(byte, b';' | b'}' | b'('));
                // What stands behind the operands is a word and brackets: `loc("…")`.
                let end = match line.as_bytes().get(end) {
                    Some(b'(') => line[..end].trim_end().rfind(' ').unwrap_or(end),
                    _ => end,
                };
                spans.operands = reader.list(end);
                spans.whole = start..trimmed(line, start..end).end;
                return spans;
            }
            _ => reader.at = end,
        }
        if line.as_bytes().get(reader.at) != Some(&b'(') {
            // A loop's short form, or no op: up to its body.
            let end = reader.find(|byte| matches!(byte, b'{' | b';'));
            spans.whole = trimmed(line, start..end);
            return spans;
        }
        reader.at += 1;
        let close = reader.find(|byte| byte == b')');
        spans.operands = reader.list(close);
        reader.at = (close + 1).min(line.len());
        spans.whole = start..reader.at;
        reader.skip_space();
        if line.as_bytes().get(reader.at) == Some(&b'{') {
            reader.at += 1;
            let close = reader.find(|byte| byte == b'}');
            for entry in reader.list(close) {
                let key = Reader {
                    line: &line[..entry.end],
                    at: entry.start,
                };
                let key = line[entry.start..key.find(|byte| byte == b'=')].trim();
                spans.attrs.push((key.trim_matches('"').to_owned(), entry));
            }
        }
        spans
    }
}

/// A reader of one line that skips strings and what is in brackets.
struct Reader<'t> {
    line: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next byte that `is_end`, outside of strings and of brackets opened from here on.
    fn find(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let bytes = self.line.as_bytes();
        let (mut at, mut depth, mut quoted) = (self.at, 0_u32, false);
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

    /// The parts between commas, up to `end`.
    fn list(&self, end: usize) -> Vec<Range<usize>> {
        let mut reader = Reader {
            line: &self.line[..end.max(self.at)],
            at: self.at,
        };
        let mut parts = Vec::new();
        while reader.at < reader.line.len() {
            let comma = reader.find(|byte| byte == b',');
            let part = trimmed(reader.line, reader.at..comma);
            if !part.is_empty() {
                parts.push(part);
            }
            reader.at = comma + 1;
        }
        parts
    }
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
    fn parts_of_ops() {
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
            r#"%y = call @f(%x) {a = 1}"#,
            expect![[r#"
                %y = call @f(%x)
                name     call
                results  %y
                operands %x
                attrs    a: a = 1"#]],
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
    fn any_line_has_spans() {
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
