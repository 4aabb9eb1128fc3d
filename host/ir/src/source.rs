//! The text that a module was read from, kept to show its lines in messages.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

/// A text, and where its lines are.
#[derive(Debug)]
pub struct TextSource {
    name: Arc<str>,
    text: String,
    /// The start of each line; found when the first is asked for.
    starts: OnceLock<Vec<usize>>,
    /// The line of each `loc("…")`, 0 if there are several; found when the first is asked for.
    locs: OnceLock<FxHashMap<String, u32>>,
}

impl TextSource {
    /// Keeps a text under the name that locations give it. The bytes of large constants, which
    /// stand in blobs at its end, aren't kept.
    pub fn new(name: &str, text: &str) -> TextSource {
        let is_blob = |line: &&str| line.trim_start().starts_with("blob ");
        let blob = text.split_inclusive('\n').find(is_blob);
        let end = blob.map_or(text.len(), |line| {
            line.as_ptr() as usize - text.as_ptr() as usize
        });
        TextSource {
            name: name.into(),
            text: text[..end].to_owned(),
            starts: OnceLock::new(),
            locs: OnceLock::new(),
        }
    }

    /// The name that locations give it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A line by its number, from 1, without its end.
    pub fn line(&self, number: u32) -> Option<&str> {
        let starts = self.starts.get_or_init(|| {
            let ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let at = (number as usize).checked_sub(1)?;
        let start = *starts.get(at)?;
        let end = starts.get(at + 1).map_or(self.text.len(), |end| end - 1);
        Some(self.text[start..end].trim_end_matches('\r'))
    }

    /// The number of the only line whose op is said to come from `name`.
    pub fn line_of_loc(&self, name: &str) -> Option<u32> {
        let locs = self.locs.get_or_init(|| {
            let mut locs = FxHashMap::default();
            for (at, line) in self.text.lines().enumerate() {
                let Some((_, rest)) = line.rsplit_once(" loc(\"") else {
                    continue;
                };
                // Of several names, and of one with escapes, nothing is remembered.
                let name = rest.split_once("\")").map(|(name, _)| name);
                if let Some(name) = name.filter(|name| !name.contains(['"', '\\'])) {
                    let line = at as u32 + 1;
                    let known = locs.entry(name.to_owned()).or_insert(line);
                    *known = if *known == line { line } else { 0 };
                }
            }
            locs
        });
        locs.get(name).copied().filter(|&line| line > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_blobs_left_out() {
        let source = TextSource::new("m.ir", "module {\r\n  fn\n  blob 0 = \"AAAA\"\n}\n");
        let lines: Vec<_> = (0..5).map(|number| source.line(number)).collect();
        assert_eq!(
            lines,
            [None, Some("module {"), Some("  fn"), Some(""), None]
        );
        let source = TextSource::new("m.ir", "module { fn }");
        assert_eq!(source.line(1), Some("module { fn }"));
    }

    #[test]
    fn ops_are_found_by_where_they_come_from() {
        let text = "%0 = a(\"loc\") loc(\"x\")\n%1 = b() loc(\"y\") ; no loc\n%2 = c() loc(\"y\")\n%3 = d() loc(\"p\", \
            \"q\")\n";
        let source = TextSource::new("m.ir", text);
        let lines = ["x", "y", "p", "q", ""].map(|name| source.line_of_loc(name));
        assert_eq!(lines, [Some(1), None, None, None, None]);
    }
}
